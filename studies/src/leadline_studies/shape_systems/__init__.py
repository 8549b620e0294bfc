"""DeShaTo as an estimator of the ranking of systems."""
