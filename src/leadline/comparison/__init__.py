"""Compare runs: differences, intervals, significance tests, gates, correlation."""
