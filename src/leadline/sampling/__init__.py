"""Say which documents to score or to judge: samples drawn by hash.

A sample is a function of seed, query and document alone. No generator of random numbers is asked, nothing is
kept between calls, and everybody who names the same three gets the same documents, in any order, on any
number of threads, from any part of a collection.
"""
