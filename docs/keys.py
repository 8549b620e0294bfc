"""Meanings of the keys of JSON that the docstrings of records do not give.

`RECORDS` says which records are the objects at a path; `KEYS` has the other keys, by command, and `SHARED`
those of several commands, by the end of the path. The longest path is used.
"""

from __future__ import annotations

SHARED = {
    "measures[]": "The measures, by their canonical names.",
    "queries[]": "Queries included in a mean.",
    "runs[].name": "Name of the run.",
    "runs[].tag": "Last column of a TREC run; empty for other formats.",
    "runs[].missing": "Judged queries that the run lacks.",
    "runs[].missing[]": "A judged query that the run lacks.",
    "counts.documents_read": "Rows read from the run.",
    "counts.documents": "Documents retrieved for judged queries.",
    "counts.unjudged_documents": "Those that are not judged.",
    "counts.top_documents": "Documents at ranks 1 to 10 for judged queries.",
    "counts.unjudged_top_documents": "Those that are not judged.",
    "counts.queries": "Judged queries that the run has.",
    "counts.missing_queries": "Judged queries that the run lacks.",
    "counts.empty_queries": "Judged queries for which the run has a list without documents.",
    "counts.unjudged_queries": "Queries of the run without judgments; they are left out.",
    "counts.tied_lists": "Lists in which a judged document is tied with another document.",
    "counts.tied_cutoffs": "Lists in which a cutoff falls within such a tie.",
    "counts.remark_lines": "Lines at the top that begin with `# `: remarks, which are not read.",
    "counts.other_tags": "Tags in the file besides the last.",
    "counts.ignored_columns": "Lines with more than six columns, of which the first six are used.",
    "counts.rank_disagrees": "Lists whose rank column contradicts the scores.",
    "counts.repeated_documents": "Repeated documents that were dropped.",
    "counts.dropped_scores": "Documents dropped because their score is NaN.",
    "counts.identical_ids": "Documents dropped because their id is that of their query.",
    "counts.absent_queries": "Selected queries that the run lacks (`--config read.queries_in`).",
}
AGREEMENT = {
    "value": "Mean over pairs of judges, at most 1.",
    "low": "Lower limit of its interval; `null` without one.",
    "high": "Upper limit.",
    "acceptable": "Whether the value is at least 2/3; `null` below 50 pairs.",
    "between[].a": "First judge of the pair.",
    "between[].b": "Second judge of the pair.",
    "between[].pairs": "Query-document pairs that both judged.",
    "between[].value": "Coefficient of these two judges, at most 1.",
    "between[].low": "Lower limit of its interval; `null` without one.",
    "between[].high": "Upper limit.",
    "between[].acceptable": "Whether this value is at least 2/3; `null` below 50 pairs.",
}
OVER_ALL = {
    "value": "Value over all judges, at most 1.",
    "pairs": "Query-document pairs that it is computed from.",
}
KEYS = {
    "evaluate": {
        "runs[].mean.<measure>": "Mean over the queries.",
        "runs[].queries.<query>.<measure>": "Value of the query; 0 for a query that the run lacks, or `null` "
        "where it is not in the mean.",
        "runs[].intervals.<measure>.low": "Lower limit of the confidence interval of the mean "
        "(`--intervals`), not clipped to the range of the measure.",
        "runs[].intervals.<measure>.high": "Upper limit.",
        "runs[].bounds.<measure>.ties[]": "Lowest, highest and expected mean over all orders of ties "
        "(`--bounds`); `null` if the measure has no bounds.",
        "runs[].bounds.<measure>.unjudged[]": "Lowest and highest mean over all grades of unjudged "
        "documents.",
        "runs[].query_bounds.<query>.<measure>.ties[]": "The same for the query.",
        "runs[].query_bounds.<query>.<measure>.unjudged[]": "The same for the query.",
    },
    "compare": {
        "primary": "The first measure.",
        "queries[]": "Queries of the comparison.",
        "pairs[].changed[].query": "Id of the query; the three of largest difference are listed.",
        "pairs[].changed[].a": "Value of the first run.",
        "pairs[].changed[].b": "Value of the second run.",
        "pairs[].changed[].difference": "`a` minus `b`.",
        "pairs[].sentence": "The row as a sentence.",
    },
    "difference": {
        "k": "Cutoff of the lists; `null` for whole lists.",
        "systems[]": "Names of the runs, in the order of rows and columns below.",
        "queries": "Queries over which means are taken: those with a relevant document and a second grade.",
        "ric.<run>": "Mean RIC of the run, in bits.",
        "concordance.<run>": "Mean weighted concordance of the run, -1 to 1.",
        "wrong_way.<run>": "Queries for which most pairs of documents are in the wrong order.",
        "id[][]": "Mean Information Difference of row and column, in bits.",
        "only_first[][]": "Mean information of the row that the column does not give, in bits.",
        "competitors.Jaccard[][]": "Mean Jaccard coefficient of the documents, 0 to 1.",
        "competitors.Overlap@10[][]": "Mean overlap of the first ten documents, 0 to 1.",
        "competitors.RBO[][]": "Mean rank-biased overlap, 0 to 1.",
        "competitors.Kendall[][]": "Mean of Kendall's tau over common documents, -1 to 1.",
        "competitors.correlation(AP)[][]": "Pearson correlation of AP over queries, -1 to 1.",
        "competitors.distance(RIC)[][]": "Absolute difference of mean RIC, in bits.",
        "same_score_far_apart": "Pairs of similar RIC and large id, with the keys of `nearest`; at most "
        "five.",
        "near_but_unequal": "Pairs of small id and different RIC, with the keys of `nearest`; at most five.",
    },
    "curve": {
        "levels[]": "Levels of recall, 0 to 1.",
        "runs[].precision[]": "Mean interpolated precision at each level, 0 to 1.",
        "runs[].points.<query>[][]": "Rank, recall and precision at each relevant document retrieved; none "
        "if there is none.",
    },
    "explain": {
        "run": "Name of the run.",
        "query": "Id of the query.",
        "measure": "The measure.",
        "steps[].rank": "Rank, from 1.",
        "steps[].document": "Id of the document.",
        "steps[].score": "Score in the run.",
        "steps[].tie": "Range of tied ranks, such as `2-4`; `null` if not tied.",
        "steps[].grade": "Grade; `null` if not judged.",
        "steps[].relevant": "1 if relevant, else 0. This key and those below it depend on the measure.",
        "steps[].found": "Relevant documents up to this rank.",
        "steps[].precision": "`found` divided by `rank`.",
        "steps[].sum": "Sum of the precision at relevant documents up to this rank.",
        "sums[]": "Lines of the derivation below the ranks.",
        "value": "Value of the measure for this query.",
    },
    "suite": {
        "collections[].name": "Name of the collection.",
        "collections[].queries": "Queries included in a mean.",
        "collections[].runs": "Runs on the collection.",
        "collections[].missing[]": "Names of runs that lack the collection.",
        "runs[].collections": "Collections that the run has.",
        "runs[].means.<collection>.<measure>": "Mean over the queries of the collection.",
        "runs[].macro.<measure>": "Mean over collections of these means; `null` for a run that lacks one.",
        "runs[].averages": "Values of the averages that the suite defines, by name and measure.",
        "missing[].run": "Run that lacks a collection.",
        "missing[].collection": "This collection.",
        "averages": "Averages that the suite defines: `name`, `members`.",
    },
    "check": {
        "files[].path": "The file.",
        "files[].kind": "`run`, `qrels` or `index`.",
        "files[].format": "Name of the format.",
        "files[].queries": "Number of queries.",
        "files[].rows": "Number of rows.",
        "files[].problems[].code": "Name of the problem, the same in all versions.",
        "files[].problems[].line": "Line of the first; `null` if there is none.",
        "files[].problems[].message": "What is printed.",
        "files[].problems[].count": "How often it occurs.",
        "files[].problems[].level": "`error` (refused by `evaluate`) or `remark`.",
    },
    "collection": {"grades.<grade>": "Judgments of this grade.", "sources[]": "Files that were read."},
    "agreement": {
        "judges[]": "Names of the judges.",
        "reference": "Judge with whom the others are compared; `null` if all pairs are.",
        "pairs": "Query-document pairs compared: those that all judges judged (`-C over=all`).",
        "queries[]": "Queries of these pairs.",
        "grades[]": "Grades in use, in the order of the confusion tables.",
        **{
            f"{name}.{key}": says
            for name in ("agreement", "scott", "cohen")
            for key, says in AGREEMENT.items()
        },
        **{
            f"{name}.{key}": says
            for name in ("fleiss", "krippendorff")
            for key, says in (AGREEMENT | OVER_ALL).items()
        },
        "confusion[].a": "First judge: rows.",
        "confusion[].b": "Second judge: columns.",
        "confusion[].counts[][]": "Number of pairs by the grades of both.",
        "chance[].pooled[]": "Proportion of a grade, in the order of `grades`.",
        "per_query.<query>.agreement": "Percent agreement on the query, 0 to 1, a mean over pairs of judges.",
        "per_query.<query>.scott": "Scott's pi on the query, at most 1.",
        "per_query.<query>.cohen": "Cohen's kappa on the query, at most 1.",
        "per_query.<query>.krippendorff": "Krippendorff's alpha on the query, at most 1.",
        "ranking": "With runs: their means by each judge, and how the judges change them.",
        "audit": "With runs and two judges or `--reference`: bias and order of the runs by the labels of "
        "each other judge.",
        "forms": "Of the store of a judging page: its forms of presentation compared, as by `compare`.",
        "needed": "With runs or `-C within=WIDTH`: number of judgments that kappa needs.",
    },
    "pool": {
        "queries": "Queries with a pair to judge.",
        "pairs": "Pairs to judge.",
        "pooled": "All pairs of the pool, those judged before included.",
        "drawn": "Pairs with an inclusion probability below 1.",
        "runs[].brought": "Documents that the run contributed.",
        "runs[].alone": "Those that no other run contributed.",
        "pool": "File of the pool.",
    },
    "evaluate --pool": {
        "runs[].new": "Whether the run did not contribute to the pool.",
        "runs[].mean.<measure>": "The estimate; `null` where undefined or withheld.",
        "proxy": "Source of the predicted grades of unjudged pairs.",
    },
    "sampled": {
        "runs[].mean.<measure>.value": "Estimated mean over the queries.",
        "runs[].mean.<measure>.low": "Lower limit of the interval over samples and queries; `null` where "
        "withheld.",
        "runs[].mean.<measure>.high": "Upper limit.",
        "runs[].mean.<measure>.sampling_low": "Lower limit of the interval over samples, with the queries "
        "fixed.",
        "runs[].mean.<measure>.sampling_high": "Upper limit.",
        "runs[].mean.<measure>.bias": "Estimated remaining bias.",
        "runs[].mean.<measure>.uncorrected": "Mean from ranks that count each sampled document N/n times.",
        "runs[].mean.<measure>.withheld": "Why there is no interval; `null` if there is one.",
    },
    "histogram": {
        "definition": "Options of `hsa` and `do`, in words.",
        "as_printed": "Whether HSA is defined as in the paper.",
        "runs[].do": "Distributional Overlap; grows with the number of documents.",
        "runs[].relevant": "Relevant documents in the histogram.",
        "runs[].nonrelevant": "Other documents in the histogram.",
        "runs[].bins[].center": "Centre of the bin, in normalised scores, 0 to 1.",
        "runs[].bins[].relevant": "Relevant documents in the bin.",
        "runs[].bins[].nonrelevant": "Other documents in the bin.",
        "runs[].hsa_low": "Lower limit of the 95 % interval of `hsa`.",
        "runs[].hsa_high": "Upper limit.",
        "runs[].hsa_sampling_low": "Lower limit of the 95 % interval of `hsa` over samples alone; `null` "
        "without a sample.",
        "runs[].hsa_sampling_high": "Upper limit.",
        "runs[].hsa_robust_low": "Lower limit of the 95 % interval of `hsa_robust`.",
        "runs[].hsa_robust_high": "Upper limit.",
        "runs[].largest_bin_share": "Largest proportion of the scores in one bin, 0 to 1.",
        "runs[].sensitivity[].bins": "Number of bins.",
        "runs[].sensitivity[].hsa": "`hsa` with this number of bins.",
        "runs[].sensitivity[].hsa_robust": "`hsa_robust` with this number of bins.",
    },
    "predict": {
        "predictors[]": "The predictors, by their canonical names.",
        "queries[]": "Queries of the runs.",
        "runs[].mean.<predictor>": "Mean over the queries; larger predicts better, without a unit.",
        "runs[].queries.<query>.<predictor>": "Prediction for the query; `null` where undefined.",
    },
    "unjudged": {
        "method": "Name of the method.",
        "estimator": "The same with its parameters.",
        "scores.<run>": "Mean score over queries; larger predicts better.",
        "used.<run>": "Documents that the scores are computed from.",
    },
    "abtest": {
        "unit": "Unit of analysis, `user` or `row`.",
        "metric": "What is compared, `users` or `rows` with a click.",
        "lift.value": "Difference divided by the clickthrough of A.",
        "lift.low": "Lower limit of its interval; `null` if undefined.",
        "lift.high": "Upper limit.",
        "always_valid.looks": "Number of times the data were tested: once for counts, else after every user.",
        "power.wanted": "Requested power, 0 to 1.",
        "power.detectable": "Smallest difference that is detected with this power.",
        "power.smallest": "Smallest relevant difference (`--config test.smallest`).",
        "power.users_needed": "Users per arm that detect it.",
        "sample_ratio": "With `--planned`: test of the split of the users.",
    },
}
RECORDS = {
    "compare": {"pairs[]": "ComparedPair"},
    "rank": {"runs[]": "RankedRun"},
    "difference": {"nearest[]": "DifferencePair", "farthest[]": "DifferencePair"},
    "suite": {
        "runs[].win_rate.<measure>": "WinRate",
        "comparisons.<collection>[]": "ComparedPair",
        "pairs[]": "SuitePair",
        "pairs[].within": "Scope",
        "pairs[].over": "Scope",
    },
    "agreement": {"chance[]": "ChanceAgreement"},
    "collection": {"": "Collection"},
    "evaluate --pool": {"runs[].estimate.<measure>": "Estimate"},
    "histogram": {"runs[]": "RunHistograms"},
    "abtest": {"arms[]": "Arm", "": "ArmDifference", "always_valid": "AlwaysValid"},
}
