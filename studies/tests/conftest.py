"""Of what the tests of leadline may ask for: the command line and the real data."""

from __future__ import annotations

from conftest import leadline, shared_data

__all__ = ["leadline", "shared_data"]
