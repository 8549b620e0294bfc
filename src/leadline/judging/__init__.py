"""Collection of relevance judgments: pools, the judging page, its store, and inter-assessor agreement."""
