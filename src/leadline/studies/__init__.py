"""One file per published experiment: reproduces a paper's table on the data it is given."""
