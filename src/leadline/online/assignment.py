"""Which users see the variant: the same user always the same arm, without a list of users."""

from __future__ import annotations

import hashlib

from leadline.online.planning import checked_fraction

ARMS = ("control", "variant")


def arm_of(user: str, *, fraction: float, salt: str) -> str:
    """Give the arm of a user: the variant for about a share `fraction` of all users.

    The first 64 bits of BLAKE2b of salt and user, as a number from 0 to 1, are below `fraction` or not. So a
    larger fraction keeps everybody who already sees the variant, and another salt (one an experiment)
    draws others, independent of the last.

    >>> arm_of("ann", fraction=0.5, salt="new snippets"), arm_of("ann", fraction=0.5, salt="new snippets")
    ('variant', 'variant')
    """
    checked_fraction(fraction)
    key = salt.encode("utf-8", "surrogateescape") + b"\0" + user.encode("utf-8", "surrogateescape")
    number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    return ARMS[number < fraction * 2.0**64]
