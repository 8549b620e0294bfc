"""Information Difference of systems."""
