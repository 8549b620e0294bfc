"""Judging by people: a store of what they did, a queue for each, and the page in their browser."""
