"""Stop words: a short list of English function words, and the lists of the package stop-words."""

from __future__ import annotations

from functools import cache

from leadline.errors import UsageError
from leadline.text import tokens

# Words that only join others; nothing that a query could be about. The English list of the package
# has 1,333 words, among them computer, information, research, system and test.
BASIC = """a about above after again against all also am an and any are aren as at be because been before
being below between both but by can cannot could couldn d did didn do does doesn doing don down during each
either for from further had hadn has hasn have haven having he her here hers herself him himself his how i if
in into is isn it its itself just ll m me might more most must my myself nor not of off on once only or other
our ours ourselves out over own re s same shall she should shouldn so some such t than that the their theirs
them themselves then there these they this those through thus to too under until up upon us ve very was wasn
we were weren what when where whether which while who whom whose why will with within without won would
wouldn you your yours yourself yourselves"""


def languages() -> list[str]:
    """Give the languages that have a list in the package."""
    import stop_words

    return sorted(stop_words.AVAILABLE_LANGUAGES)


@cache
def stop_words_of(name: str) -> frozenset[str]:
    """Give the stop words of a list: `none`, `basic`, or a language.

    An entry that is parted into tokens (don't) stops each of them.

    >>> "the" in stop_words_of("basic"), "wing" in stop_words_of("english")
    (True, False)
    """
    if name == "none":
        return frozenset()
    if name == "basic":
        return frozenset(BASIC.split())
    import stop_words

    if name not in stop_words.AVAILABLE_LANGUAGES:
        raise UsageError(f"no stop words for '{name}'; expected " + ", ".join(languages()))
    entries = stop_words.get_stop_words(name)
    return frozenset(token for entry in entries for token in tokens.words(entry))
