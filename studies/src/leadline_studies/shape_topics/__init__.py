"""The number of topics of DeShaTo."""
