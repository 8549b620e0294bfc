"""`leadline study` where the studies are not installed."""

from __future__ import annotations

import pytest

from conftest import Leadline
from leadline.cli import study


@pytest.mark.parametrize("arguments", [(), ("--help",), ("circular", "qrels.txt", "a.run", "-o", "out")])
def test_studies_that_are_not_installed_are_refused_with_how_to_install_them(
    leadline: Leadline, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(study, "PACKAGE", "leadline_studies_elsewhere")
    assert "pip install ./studies" in leadline("study", *arguments).refusal
