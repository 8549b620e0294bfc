"""Completion in a shell, asked as the scripts of bash, zsh and fish ask: through the environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from leadline.cli import group

PROGRAM = "import sys; sys.argv[0] = 'leadline'; from leadline.cli import main; main()"


def ask(instruction: str, **variables: str) -> str:
    """Run the program as a shell does that wants completions; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"_LEADLINE_COMPLETE": instruction} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def complete(words: str) -> list[tuple[str, str]]:
    """Complete the last word; return kinds and values."""
    _, *given, last = words.split(" ")
    asked = ShellComplete(group, {}, "leadline", "_LEADLINE_COMPLETE")
    return [(item.type, item.value) for item in asked.get_completions(given, last)]


def values(words: str) -> list[str]:
    """Complete the last word; return the values that are no files."""
    return [value for kind, value in complete(words) if kind == "plain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("leadline eval", {"evaluate"}),
        ("leadline measures nDC", {"nDCG", "nDCGrel"}),
        ("leadline models BM", {"BM25", "BM25RF"}),
        ("leadline evaluate q r -m ndcg_c", {"ndcg_cut"}),
        ("leadline evaluate q r -m nDCG", {"nDCG", "nDCGrel"}),
        ("leadline evaluate q r -m AP,recip", {"AP,recip_rank"}),
        ("leadline report q r --measure mrr", {"mrr"}),
        ("leadline compare q a b --test W", {"Wilcoxon"}),
        ("leadline compare q a b --correction H", {"Holm", "Hochberg"}),
        ("leadline compare q a b --correction M", {"MaxT"}),
        ("leadline compare q a b -C interval=B", {"interval=BCa"}),
        ("leadline evaluate q r --config test.int", {"test.interval="}),
        ("leadline unjudged a b --method n", {"nruns"}),
        ("leadline pool a b --method R", {"RBP", "RRF"}),
        ("leadline pool a b --for RB", {"RBP"}),
        ("leadline search i q -m BM25", {"BM25", "BM25RF"}),
        ("leadline study components d q r --model BM25R", {"BM25RF"}),
        ("leadline predict a -m De", {"DeShaTo"}),
        ("leadline topics f", {"fit"}),
        ("leadline evaluate q r --profile trec", {"trec9", "trec10"}),
    ],
)
def test_names_are_completed(words: str, expected: set[str]) -> None:
    assert {*values(words)} >= expected
    last = words.rpartition(" ")[2].lower()
    assert all(value.lower().startswith(last) for value in values(words))


@pytest.mark.parametrize(
    "words",
    [
        "leadline evaluate q",
        "leadline evaluate qrels.txt r",
        "leadline check f",
        "leadline evaluate q r --query-slice f",
        "leadline evaluate q r -o f",
        "leadline report j r --pool p",
        "leadline judge p",
        "leadline index d",
        "leadline correlate t",
        "leadline agreement a --runs r",
        "leadline summary d",
        "leadline study judges q",
    ],
)
def test_files_are_left_to_the_shell(words: str) -> None:
    assert complete(words) == [("file", words.rpartition(" ")[2])]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("leadline evaluate q r -m rec", "plain,recall"),
        ("leadline compare q a b --test W", "plain,Wilcoxon"),
        ("leadline evaluate qr", "file,qr"),
        ("leadline evaluate q r -C read.order = r", "plain,rank"),
        ("leadline evaluate q r -C read.or", "plain,read.order="),
    ],
)
def test_bash_gets_kinds_and_values(words: str, expected: str) -> None:
    out = ask("bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
    assert expected in out.splitlines()


def test_what_is_neither_name_nor_file_is_not_completed() -> None:
    assert complete("leadline evaluate q r --confidence 0") == []
    assert complete("leadline evaluate q r -m P(rel=1,A") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str) -> None:
    script = ask(f"{shell}_source")
    assert f"_LEADLINE_COMPLETE={shell}_complete" in script
    assert "leadline" in script


def test_names_are_completed_without_numpy() -> None:
    code = f"{PROGRAM.rpartition(';')[0]}\ntry:\n    main()\nfinally:\n    print('numpy' in sys.modules)"
    words = "leadline evaluate q r -m nDC"
    asked = {"_LEADLINE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "5"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["plain,nDCG", "plain,nDCGrel", "False"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_titles_too(shell: str) -> None:
    words = "leadline compare q a b --test Wil"
    last = {"zsh": "6", "fish": "Wil"}[shell]
    out = ask(f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=last)
    assert "Wilcoxon" in out
    assert "Wilcoxon signed-rank test" in out
