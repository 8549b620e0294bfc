"""Names of the measures of ir_measures, from its objects or as it prints them."""

from __future__ import annotations

import re

from leadline.errors import UsageError

PACKAGE = "ir_measures"
PRINTED = re.compile(r"(?P<name>[^\s()@=,]+)\((?P<parameters>[^()]*)\)(?P<rest>.*)")
BETWEEN = re.compile(r",(?![^{}]*\})")  # commas outside {0:1,1:3}
# Parameters that state what holds anyway.
NOTHING_SAID = frozenset(
    {"judged_only=False", "relative=False", "normalize=True", "dcg=log2", "min_rel=0", "gains={}"}
)
WITH_MAX_REL = frozenset({"BPM", "SDCG", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11"})
# Its objects whose names mean something else in leadline, and ours.
OBJECTS = (
    (re.compile(r"Accuracy\b"), "PairAccuracy"),
    (re.compile(r"IPrec(?:\((.*)\))?@"), r"IPrec(rule=trec9,\1)@"),
)


def is_of_ir_measures(value: object) -> bool:
    """Return whether a value is an object of ir_measures, which need not be installed."""
    return type(value).__module__.partition(".")[0] == PACKAGE


def text_of(measure: object) -> str:
    """Return the text of an object of ir_measures in names of leadline.

    Examples
    --------
    >>> text_of("Accuracy@10"), text_of("IPrec@0.1"), text_of("NumRet(rel=2)")
    ('PairAccuracy@10', 'IPrec(rule=trec9)@0.1', 'NumRelRet(rel=2)')
    """
    text = str(measure)
    if hasattr(measure, "ours"):  # made by `leadline.ir_measure`
        return text
    if re.match(r"RBP\b(?!.*rel=)", text):
        raise UsageError(
            f"{text} of ir_measures takes the grade as gain. Write RBP(rel=1), or for graded relevance the "
            "text 'RBP(gain=graded,max_grade=N)', where N is the largest grade"
        )
    for pattern, ours in OBJECTS:
        text = re.sub(r",\)", ")", pattern.sub(ours, text))
    return in_our_names(text)


def in_our_names(text: str) -> str:
    """Return a text with the parameters of ir_measures in those of leadline; other texts unchanged.

    >>> in_our_names("nDCG(dcg='exp-log2')@10"), in_our_names("SetP(rel=2,relative=True)")
    ('nDCG(gain=exp)@10', 'SetRelP(rel=2)')
    >>> in_our_names("nDCG(gains={0:1,3:7})@10"), in_our_names("BPM(max_rel=4)@10")
    ('GnDCG(gains=0:1/3:7)@10', 'BPM(max_grade=4)@10')
    """
    parts = PRINTED.fullmatch(text)
    if parts is None:
        return text
    name, kept = parts["name"], []
    for written in BETWEEN.split(parts["parameters"]):
        key, equals, value = (each.strip() for each in written.partition("="))
        given = key + equals + (value[1:-1] if value[:1] in ("'", '"') else value)
        if given in NOTHING_SAID:
            continue
        if given == "relative=True" and name == "SetP":
            name = "SetRelP"
        elif given == "dcg=exp-log2":
            kept.append("gain=exp")
        elif key == "gains" and value.startswith("{"):
            name = "GnDCG" if name.lower() == "ndcg" else name
            kept.append("gains=" + value.strip("{}").replace(" ", "").replace(",", "/"))
        elif key == "max_rel" and name.upper() in WITH_MAX_REL:
            kept.append("max_grade=" + value)
        else:
            kept.append(given)
    if name == "NumRet" and any(each.startswith("rel=") for each in kept):
        name = "NumRelRet"
    return name + (f"({','.join(kept)})" if kept else "") + parts["rest"]
