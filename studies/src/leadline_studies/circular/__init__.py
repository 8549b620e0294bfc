"""The run that a machine judge favours, and the coverage of the intervals of `agreement --runs`."""
