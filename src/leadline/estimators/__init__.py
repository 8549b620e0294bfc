"""Rank systems without judgments: votes between systems, and the shape of topic distributions.

The room is called `estimators` because `leadline.unjudged` is the verb.
"""
