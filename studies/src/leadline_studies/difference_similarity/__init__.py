"""Information Difference of systems of one team and of different teams."""
