"""No command writes over a file that it reads, by whatever name the output is given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline, example_of
from judging_pages import event, save
from leadline.cli import group
from leadline.cli._help import OutputPath
from leadline.io import read_paths
from leadline.judging.events import parse_event
from leadline.judging.store import Store
from leadline.retrieval.index.builder import build_index

# A working line for every output of every command. Every word that names a file of the folder is an input;
# OUT stands for the output, with the suffix that it needs. Without a line here, `COMMAND -o` is tried with
# the example of the help.
LINES = {
    "abtest assign -o": "abtest assign users.txt --fraction 0.5 --salt s -o OUT",
    "abtest deviations -o": "abtest deviations items.csv -C document=doc --position rank -o OUT",
    "abtest plan -o": "",  # reads no file
    "judge -o": "judge --store store.sqlite --export new.qrels -o OUT",
    "topics perplexity -o": "topics perplexity model.npz docs.jsonl -o OUT",
    "abtest test -o": "abtest test clicks.csv --arm arm --click click -o OUT",
    "abtest test --plot": "abtest test clicks.csv --arm arm --click click -o OUT.svg",
    "agreement -o": "agreement ann.qrels qrels.txt --runs bm25.run -o OUT",
    "agreement --plot": "agreement ann.qrels qrels.txt -o OUT.svg",
    "check -o": "check qrels.txt bm25.run --docs docs.index --qrels ann.qrels -o OUT",
    "check --fix -o": "check bm25.run --fix -o OUT",
    "compare -o": "compare qrels.txt bm25.run dense.run --config read.known=known.txt -o OUT",
    "compare --plot": "compare qrels.txt bm25.run dense.run --config read.known=known.txt -o OUT.svg",
    "convert OUT": "convert bm25.run OUT --overwrite",
    "convert -o": "convert bm25.run -o OUT --overwrite",
    "correlate -o": "correlate a.json:AP b.json:AP --team teams.tsv:team -o OUT",
    "correlate --plot": "correlate a.json:AP b.json:AP -o OUT.svg",
    "curve -o": "curve qrels.txt bm25.run -o OUT",
    "curve --plot": "curve qrels.txt bm25.run -o OUT.svg",
    "demo -o": "",  # reads what is embedded
    "demo --files": "",
    "difference -o": "difference qrels.txt bm25.run dense.run -o OUT",
    "difference --plot": "difference qrels.txt bm25.run dense.run --group teams.tsv:team -o OUT.svg",
    "evaluate -o": "evaluate qrels.txt bm25.run --config read.known=known.txt -o OUT",
    "evaluate --pool -o": "evaluate qrels.txt bm25.run --pool pool.tsv -o OUT",
    "evaluate -f trec -o": "evaluate qrels.txt bm25.run -f trec -o OUT",
    "evaluate --plot": "evaluate qrels.txt bm25.run --config read.known=known.txt -o OUT.svg",
    "evaluate --save": "evaluate qrels.txt bm25.run --config read.known=known.txt -o OUT.parquet",
    "evaluate --parts -o": "evaluate qrels.txt bm25.run --parts --config read.known=known.txt -o OUT",
    "explain -o": "explain qrels.txt bm25.run -m nDCG@10 --query-id knots -C known=known.txt -o OUT",
    "histogram -o": "histogram qrels.txt bm25.run -o OUT",
    "histogram --plot": "histogram qrels.txt bm25.run -o OUT.svg",
    "index -o": "index docs.jsonl --keep good.tsv:good>=1 --overwrite -o OUT",
    "judge --export": "judge pool.tsv --docs docs.jsonl --store store.sqlite --export OUT",
    "judge --simulate -o": "judge pool.tsv --store store.sqlite --simulate rag.qrels -o OUT",
    "merge -o": "merge saved.parquet -o OUT.parquet",
    "measures -o": "",
    "models -o": "",
    "pool -o": "pool bm25.run dense.run --depth 5 -C known=ann.qrels -o OUT",
    "predict -o": "predict bm25.run --index docs.index --queries queries.jsonl -m WIG(length=root) -o OUT",
    "predict --plot": "predict bm25.run -m NQC(tail) -o OUT.svg",
    "rank -o": "rank qrels.txt bm25.run dense.run --config read.known=known.txt -o OUT",
    "rank --plot": "rank qrels.txt bm25.run dense.run --config read.known=known.txt -o OUT.svg",
    "replicate -o": "replicate bm25.run dense.run dense.run bm25.run qrels.txt ann.qrels -o OUT",
    "replicate --plot": "replicate bm25.run dense.run dense.run bm25.run qrels.txt -o OUT.svg",
    "report -o": "report qrels.txt bm25.run dense.run -m AP --config read.known=known.txt -o OUT",
    "sampled --draw": "sampled qrels.txt --docs docs.jsonl --sample 2 --draw OUT",
    "estimates -o": "evaluate qrels.txt bm25.run --pool pool.tsv --machine ann.qrels -o OUT",
    "estimates --save": "evaluate qrels.txt bm25.run --pool pool.tsv -o OUT.parquet",
    "estimates --plot": "evaluate qrels.txt bm25.run --pool pool.tsv -o OUT.svg",
    "sampled -o": "sampled qrels.txt bm25.run -m AP --population 20 -o OUT",
    "sampled --plot": "sampled qrels.txt bm25.run -m AP --population 20 -o OUT.svg",
    "score -o": "score docs.index queries.jsonl pairs.tsv -m BM25 -o OUT",
    "search -o": "search docs.index queries.jsonl -m RM3(learn=judged) --feedback qrels.txt -o OUT",
    "show -o": "show saved.parquet -o OUT.json",
    "study -o": "",  # a folder: tested below
    "suite -o": "suite suite.toml -o OUT",
    "suite --plot": "suite suite.toml -o OUT.svg",
    "summary -o": "summary docs.jsonl --doc d01 -o OUT",
    "summary of an index -o": "summary docs.index --doc d01 -o OUT",
    "topics fit -o": "topics fit docs.jsonl -T 2 -C sweeps=3 -o OUT",
    "topics infer -o": "topics infer model.npz docs.jsonl -o OUT.jsonl",
    "topics search -o": "topics search model.npz docs.jsonl more.jsonl -o OUT",
    "verify -o": "verify saved.parquet -o OUT",
    "why-different -o": "why-different a.json b.json -C name=bm25 --qrels qrels.txt --run bm25.run -o OUT",
    "unjudged -o": "unjudged bm25.run dense.run --method nruns --one-vote-per teams.tsv:team -o OUT",
    "unjudged --plot": "unjudged bm25.run dense.run --method nruns -o OUT.svg",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with one file of every kind that a command reads."""
    folder = tmp_path_factory.mktemp("inputs")
    for path in (REPOSITORY / "docs" / "examples").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    shutil.copy(folder / "qrels.txt", folder / "ann.qrels")
    shutil.copy(folder / "docs.jsonl", folder / "more.jsonl")
    documents = str(folder / "docs.jsonl")
    build_index(documents, folder / "docs.index", store_text=True)
    from leadline.topics.model import fit

    fit(documents, 2, sweeps=3).save(folder / "model.npz")
    run = ll.read_run(str(folder / "bm25.run")).to_dict()
    pairs = [f"{query}\t{name}\t{score}" for query, found in run.items() for name, score in found.items()]
    (folder / "pairs.tsv").write_text("\n".join(["query_id\tdoc_id\tscore", *pairs]) + "\n")
    runs = [str(folder / name) for name in ("bm25.run", "dense.run")]
    for name in ("a.json", "b.json"):
        results = ll.evaluate(str(folder / "qrels.txt"), runs, ["AP"])
        results.write(folder / name)
    results.write(folder / "saved.parquet")
    (folder / "teams.tsv").write_text("run\tteam\nbm25\tx\ndense\ty\n")
    names = [json.loads(line)["doc_id"] for line in Path(documents).read_text().splitlines()]
    (folder / "good.tsv").write_text("doc_id\tgood\n" + "".join(f"{name}\t1\n" for name in names))
    items = [f"u{n},d{n % 3},{n % 4 + 1},{n % 2}" for n in range(24)]
    (folder / "items.csv").write_text("\n".join(["user,doc,rank,click", *items]) + "\n")
    with closing(Store.open(str(folder / "store.sqlite"))) as store:
        store.add_pairs([("knots", "d01", 1.0)])
        store.add_judge("ann")
        act = event(store.pairs()[0].id, grade=1)
        save(store, "ann", [parse_event(act | {"key": f"ann-{act['key']}"})])
    return folder


def outputs(command: click.Command, path: str, context: click.Context) -> Iterator[str]:
    """Return every output of every command: what has the type, and what has the usual names."""
    if isinstance(command, click.Group) and path != " study":
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from outputs(found, f"{path} {name}", context)
        return
    if isinstance(command, click.Group):
        name = command.list_commands(context)[0]
        found = command.get_command(context, name)
        assert found is not None
        command = found
    for parameter in command.params:
        usual = {"-o", "--output", "--summary"} & set(parameter.opts)
        typed = isinstance(parameter.type, OutputPath)
        assert typed or not usual, f"{path} {parameter.opts}: expected type=OUTPUT"
        if typed:
            option = parameter.opts[0] if isinstance(parameter, click.Option) else "OUT"
            yield f"{path.strip()} {option}"


OUTPUTS = set(outputs(group, "", click.Context(group)))
LINES |= {
    output: f"{example_of(output.removesuffix(' -o'))} -o OUT"
    for output in sorted(OUTPUTS - set(LINES))
    if output.endswith(" -o") and output.count(" ") == 1
}


def test_every_output_of_every_command_is_tried() -> None:
    assert set(LINES) >= OUTPUTS


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "sqlite-" not in path.name
    }


def read_by(line: str, folder: Path) -> list[str]:
    """Return the input files that a line names; of an index its header and one of its arrays."""
    found: dict[str, None] = {}
    for word in line.split():
        name = word.split(":")[0]
        if (folder / name).is_dir():
            found |= dict.fromkeys((f"{name}/index.json", f"{name}/id_text.bin"))
        elif (folder / name).is_file():
            found[name] = None
    return list(found)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("line", [line for line in LINES.values() if line])
def test_no_input_is_overwritten_by_any_of_its_names(
    line: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(inputs, folder)
    monkeypatch.chdir(folder)
    word = next(word for word in line.split() if word.startswith("OUT"))
    suffix = word.removeprefix("OUT")
    names = read_by(line, folder)
    assert names

    def run(target: str) -> tuple[int, str]:
        done = leadline(*(target if each == word else each for each in line.split()))
        return done.status, done.err

    for name in names:
        absolute = folder / name
        (folder / f"soft{suffix}").symlink_to(absolute)
        (folder / f"hard{suffix}").hardlink_to(absolute)
        before = snapshot(folder)
        is_index = line.startswith("index ")  # its output is a folder, so it refuses any file
        for target in (f"soft{suffix}", f"hard{suffix}", name, f"./{name}", str(absolute)):
            status, error = run(target)
            assert status == 2, (target, error)
            if target.endswith(suffix) and not is_index and not line.startswith("report "):
                assert "would overwrite an input" in error
            assert error.count("\n") == 1
        assert snapshot(folder) == before
        for link in ("soft", "hard"):
            (folder / f"{link}{suffix}").unlink()
    status, error = run(f"new{suffix}")
    assert status in (0, 1), error
    assert (folder / f"new{suffix}").exists()


@pytest.mark.parametrize(
    "line",
    [
        "evaluate qrels.txt - -m AP -f csv -o bm25.run < bm25.run",
        "evaluate qrels.txt - -m AP -f csv -o link < bm25.run",
        "evaluate qrels.txt /dev/stdin -m AP -f csv -o bm25.run < bm25.run",
        "evaluate qrels.txt bm25.run -m AP -f csv >> bm25.run",
        "convert bm25.run - >> bm25.run",
    ],
)
def test_a_redirected_stream_is_the_file_behind_it(line: str, inputs: Path, tmp_path: Path) -> None:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    (tmp_path / "link").symlink_to("bm25.run")
    before = snapshot(tmp_path)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m leadline {line}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "would overwrite an input" in done.stderr
    assert snapshot(tmp_path) == before


def test_a_folder_is_not_filled_when_one_of_its_files_is_an_input(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "BM25.run").hardlink_to("qrels.txt")
    before = snapshot(tmp_path)
    asked = ["-m", "RM3(learn=judged)", "-m", "BM25", "--feedback", "qrels.txt", "-o", "out"]
    assert "would overwrite an input" in leadline("search", "docs.index", "queries.jsonl", *asked).refusal
    assert snapshot(tmp_path) == before


def test_a_python_program_may_replace_a_file_by_what_was_not_read_from_it(tmp_path: Path) -> None:
    path = str(tmp_path / "a.run")
    ll.write_run({"q1": {"d1": 1.0}}, path)
    with read_paths.recorded():
        ll.read_run(path)
        with pytest.raises(ll.UsageError, match="would overwrite an input"):
            ll.write_run({"q1": {"d2": 1.0}}, path)
    run = ll.read_run(path)
    with pytest.raises(ll.UsageError, match="would overwrite an input"):
        ll.write_run(run, path)
    ll.write_run({"q1": {"d2": 1.0}}, path)
    assert list(ll.read_run(path)["q1"]) == ["d2"]
    assert os.listdir(tmp_path) == ["a.run"]
