"""DeShaTo of good and of bad lists."""
