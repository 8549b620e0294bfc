"""Which test, interval and correction keep their promise on retrieval scores, by simulation.

The questions are those of Smucker, Allan and Carterette (2007), Carterette (2012) and Urbano, Lima and
Hanjalic (2019); the answers, with how they were found, are in docs/studies/significance.md.
"""
