"""The commands with their sections and first sentences.

Made by docs/generate.py from the files of the commands: run `make docs` after a change.
"""

COMMANDS = {
    "abtest": ("Experiments", "Plan and analyse A/B tests of clickthrough"),
    "agreement": ("Judging", "Measure inter-assessor agreement: kappa, Krippendorff's alpha"),
    "check": ("Files and collections", "Check runs, qrels and indexes for errors"),
    "collection": ("Files and collections", "Describe a test collection"),
    "compare": ("Evaluation", "Compare runs: differences with intervals and significance tests"),
    "convert": ("Files and collections", "Convert a run or qrels to another format"),
    "correlate": ("Evaluation", "Compute the rank correlation between two scores of the same runs"),
    "curve": ("Evaluation", "Compute precision-recall curves"),
    "demo": ("Files and collections", "Evaluate eight embedded runs on Cranfield and write a report"),
    "difference": ("Evaluation", "Compute Information Difference and RIC of runs"),
    "estimate": ("Estimation", "Estimate measures from a sample of judgments, with intervals"),
    "evaluate": ("Evaluation", "Evaluate runs against judgments: MAP, MRR, nDCG and more"),
    "explain": ("Evaluation", "Show step by step how the value of a measure is computed"),
    "help": ("Help", "Show the help of a command, or list all commands"),
    "histogram": ("Estimation", "Compare score distributions of relevant and other documents"),
    "index": ("Retrieval", "Index a document collection"),
    "judge": ("Judging", "Judge pooled documents on a page in the browser"),
    "measures": ("Evaluation", "List the measures, or explain one"),
    "merge": ("Evaluation", "Merge the saved results of parts of a run"),
    "models": ("Retrieval", "List the retrieval models, or explain one"),
    "pool": ("Judging", "Select documents to judge: depth-k pooling, or sampling"),
    "predict": ("Estimation", "Predict query performance (QPP) without relevance judgments"),
    "report": ("Evaluation", "Write an evaluation report of runs as one HTML page"),
    "sampled": ("Estimation", "Estimate rank measures from sampled candidate documents"),
    "score": ("Retrieval", "Score given query-document pairs with a retrieval model"),
    "search": ("Retrieval", "Search an index and write a run"),
    "study": ("Experiments", "Run a published experiment on your own data"),
    "summary": ("Retrieval", "Summarise a document, statically or for a query"),
    "topics": ("Retrieval", "Fit and apply topic models: LDA and polylingual LDA"),
    "unjudged": ("Estimation", "Rank systems without relevance judgments"),
    "verify": ("Evaluation", "Verify saved results: hashes of the inputs and a sample of values"),
    "why-different": ("Evaluation", "Find why two tables of the same measure differ"),
}
