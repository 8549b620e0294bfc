"""A/B tests of deployed systems."""
