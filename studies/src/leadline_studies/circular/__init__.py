"""The run that an LLM judge favors, and the coverage of the intervals of `agreement --runs`."""
