"""Pools as files: what is written comes back, any pairs are a pool, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import compare, evaluate, pool, read_qrels
from leadline.data.judgment_tables import DrawnPool, Pooled
from leadline.errors import InputError, LeadlineError
from leadline.estimation.pool_designs import pool_for
from leadline.io.id_lists import read_pairs
from leadline.io.pool_files import read_design, read_drawn_pool, read_pool, write_drawn_pool, write_pool

IDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\x85\u2028\u2029"),
    min_size=1,
    max_size=6,
)
ROWS = st.dictionaries(
    st.tuples(IDS, IDS),
    st.tuples(st.floats(1e-9, 1), st.dictionaries(st.text(max_size=5), st.integers(1, 99), max_size=3)),
    min_size=1,
    max_size=5,
)


@given(ROWS, st.sampled_from(["pool.tsv", "pool.jsonl", "pool.tsv.gz", "pool"]))
def test_a_pool_comes_back_as_it_was(
    tmp_path: Path, rows: dict[tuple[str, str], tuple[float, dict[str, int]]], name: str
) -> None:
    made = Pooled(
        [query for query, _ in rows],
        [document for _, document in rows],
        np.array([share for share, _ in rows.values()]),
        [ranks for _, ranks in rows.values()],
    )
    write_pool(made, tmp_path / name)
    found = read_pool(tmp_path / name)
    assert (found.queries, found.documents, found.contributors) == (
        made.queries,
        made.documents,
        made.contributors,
    )
    assert (found.probability == made.probability).all()
    assert read_pairs(tmp_path / name) == made.pairs()


def test_a_run_may_have_any_name(tmp_path: Path) -> None:
    ranks = {'a "b", {c}': 1, "tab\there": 2, "\u202e": 3}
    write_pool(Pooled(["q"], ["d"], np.ones(1), [ranks]), tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text().splitlines()[0] == (
        "query_id\tdoc_id\tprobability\tcontributors"
    )
    assert read_pool(tmp_path / "pool.tsv").contributors == [ranks]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.txt", "q1 0 d1 2\nq1 0 d2 0\n"),
        ("a.run", "q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.4 x\n"),
        ("pairs.csv", "doc_id,query_id\nd1,q1\nd2,q1\n"),
        ("qrels.json", '{"q1": {"d1": 1, "d2": 0}}'),
    ],
)
def test_any_pairs_are_a_pool_of_certain_documents(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_pool(tmp_path / name)
    assert found.by_query() == {"q1": {"d1": 1.0, "d2": 1.0}}
    assert found.contributors == [{}, {}]


@pytest.mark.parametrize(("name", "form"), [("pool.json", "[{}, {}]"), ("pool.jsonl", "{}\n{}\n")])
def test_a_pool_in_json_keeps_its_probabilities(tmp_path: Path, name: str, form: str) -> None:
    rows = [{"query_id": "q1", "doc_id": "d1", "probability": 0.5}]
    rows += [{"query_id": "q1", "doc_id": "d2", "probability": 0.25}]
    (tmp_path / name).write_text(form.format(*map(json.dumps, rows)))
    assert read_pool(tmp_path / name).by_query() == {"q1": {"d1": 0.5, "d2": 0.25}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "query_id\tdoc_id\tprobability\nq\td\t0\n",
            "pool.tsv:2: probability '0' must be a number greater than 0",
        ),
        ("query_id\tdoc_id\tprobability\nq\td\tnan\n", "probability 'nan'"),
        ("query_id\tdoc_id\tprobability\nq\td\t1.5\n", "and at most 1"),
        ("query_id\tdoc_id\tprobability\nq\td\t1\nq\td\t1\n", "pool.tsv:3: document 'd' appears twice"),
        ("query_id\tdoc_id\tcontributors\nq\td\t[1]\n", "the contributors must be a JSON object"),
        ("query_id\tdoc_id\tcontributors\nq\td\t{\n", "the contributors must be a JSON object"),
        ("query_id\tother\tmore\nq\td\t1\n", "no column 'doc_id'. The columns are query_id, other, more."),
        ("# drawn\nquery_id\tother\nq\td\n", "pool.tsv:2: no column 'doc_id'"),
        ("query_id\tdoc_id\nq\t\n", "the query id or the document id is empty"),
        ("query_id\tdoc_id\n", "contains no query-document pairs"),
    ],
)
def test_a_broken_pool_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pool.tsv").write_text(text)
    with pytest.raises(InputError) as rejected:
        read_pool(tmp_path / "pool.tsv")
    assert said in str(rejected.value)


@pytest.mark.parametrize("name", ["pool.csv", "pool.json", "pool.parquet", "pool.csv.gz"])
def test_a_pool_is_not_written_under_the_name_of_another_format(tmp_path: Path, name: str) -> None:
    made = Pooled(["q"], ["d1"], np.ones(1), [{}])
    with pytest.raises(
        InputError, match=r"a pool cannot be written as \.\w+\. Use a file name that ends in \.tsv or"
    ):
        write_pool(made, tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["d\t1", "d\udcff"])
def test_an_id_with_a_tab_or_of_another_encoding_needs_json(tmp_path: Path, name: str) -> None:
    made = Pooled(["q"], [name], np.ones(1), [{}])
    with pytest.raises(InputError, match=r"Use a file name that ends in \.jsonl"):
        write_pool(made, tmp_path / "pool.tsv")
    assert not (tmp_path / "pool.tsv").exists()
    write_pool(made, tmp_path / "pool.jsonl")
    assert read_pool(tmp_path / "pool.jsonl").documents == [name]


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """Write a pool of two drawn pairs (lines 5 and 6) and two others of the frame (lines 2 and 3)."""
    pool = DrawnPool(
        ["q"] * 4,
        ["d1", "d2", "d3", "d4"],
        np.array([1.0, 0.5, 0.5, 0.25]),
        np.array([0.1, 0.2, 0.7, 0.9]),
        [{"a": 1}] * 4,
        np.array([True, True, False, False]),
        {"measures": ["P@10"], "seed": 0},
    )
    path = tmp_path / "pool.tsv"
    write_drawn_pool(pool, path, [])
    return path


def test_a_drawn_pool_that_was_read_is_written_alike(drawn: Path, tmp_path: Path) -> None:
    pool = read_drawn_pool(drawn)
    assert pool.design == {"measures": ["P@10"], "seed": 0}
    write_drawn_pool(pool, tmp_path / "again.tsv", [])
    assert (tmp_path / "again.tsv").read_bytes() == drawn.read_bytes()


@pytest.mark.parametrize("line", [2, 3, 5, 6])
def test_a_pair_of_a_drawn_pool_is_there_once(drawn: Path, line: int) -> None:
    lines = drawn.read_text().splitlines()
    lines.insert(line, lines[line - 1])
    drawn.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="twice") as caught:
        read_drawn_pool(drawn)
    assert str(caught.value).startswith(f"{drawn}:{line + 1}:")


@pytest.mark.parametrize("line", [2, 3, 5, 6])
def test_a_drawn_pool_that_lacks_a_line_is_refused_if_it_has_a_checksum(drawn: Path, line: int) -> None:
    lines = drawn.read_text().splitlines()
    del lines[line - 1]
    drawn.write_text("\n".join(lines) + "\n")
    for kept in (lines, lines[:4]):
        drawn.write_text("\n".join(kept) + "\n")
        with pytest.raises(InputError, match=r"the file has changed|contains no query-document pairs"):
            read_drawn_pool(drawn)
    lines[0] = '# leadline pool {"measures": ["P@10"], "seed": 0}'
    drawn.write_text("\n".join(lines) + "\n")
    assert len(read_drawn_pool(drawn).queries) == 3


@pytest.mark.parametrize("line", [2, 5])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\t1\t", "\tabc\t", "probability 'abc'"),
        ("\t1\t", "\t\t", "probability ''"),
        ("\t1\t", "\tnan\t", "probability 'nan'"),
        ("\t0.1\t", "\tabc\t", "order 'abc'"),
        ("\t0.1\t", "\t\t", "order ''"),
        ("\t0.1\t", "\t", "the row has 4 cells"),
    ],
)
def test_a_faulty_cell_is_named(drawn: Path, line: int, old: str, new: str, said: str) -> None:
    lines = drawn.read_text().splitlines()
    row = lines[4].replace("\td1\t", "\td5\t").replace(old, new)
    lines[line - 1] = row if line == 5 else f"# frame\t{row}"
    drawn.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        read_drawn_pool(drawn)
    assert str(caught.value).startswith(f"{drawn}:{line}: {said}")


def test_quotes_mean_in_a_pool_what_they_mean_in_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "pool.tsv"
    path.write_text('query_id\tdoc_id\tprobability\nq1\t"d1"\t0.5\nq1\t"d""2"\t1\nq1\td"3\t1\n')
    assert read_pool(path).pairs() == read_pairs(path) == [("q1", "d1"), ("q1", 'd"2'), ("q1", 'd"3')]
    assert read_drawn_pool(path).documents == ["d1", 'd"2', 'd"3']
    drawn = pool_for({"a": {"q": ['"d1"', '"x', "d2"]}}, "P@2", budget=2, seed=1).pool
    assert {'"d1"', '"x'} <= set(drawn.documents)
    write_drawn_pool(drawn, path, [])
    assert sorted(read_drawn_pool(path).documents) == sorted(drawn.documents)


def test_a_pool_may_be_parquet(tmp_path: Path) -> None:
    table = pa.table({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "probability": [0.5, 1.0]})
    pyarrow.parquet.write_table(table, tmp_path / "pool.parquet")
    for read in (read_pool, read_drawn_pool):
        found = read(tmp_path / "pool.parquet")
        assert (found.documents, found.probability.tolist()) == (["d1", "d2"], [0.5, 1.0])
    assert read_design(tmp_path / "pool.parquet") == {}


def test_a_damaged_description_is_not_said_to_be_a_fault_of_the_contributors(tmp_path: Path) -> None:
    path = tmp_path / "pool.tsv"
    path.write_text("# leadline pool {\nquery_id\tdoc_id\nq1\td1\n")
    for read in (read_design, read_drawn_pool):
        with pytest.raises(InputError, match=r"pool\.tsv:1: the description of the pool"):
            read(path)


def test_a_frame_as_pool_is_refused_in_one_line() -> None:
    frame = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "probability": [0.5]})
    for wrong in (frame, {"q1": frame}):
        for call in (evaluate, compare):
            with pytest.raises(LeadlineError) as caught:
                call({"q1": {"d1": 1}}, {"a": {"q1": {"d1": 1.0}}}, measures="P@1", pool=wrong)
            assert "\n" not in str(caught.value)
            assert "doc_id" not in str(caught.value)


def test_what_is_no_pool_is_refused_as_such() -> None:
    run = {"q1": {"d1": 1.0}}
    other: Any = pool([run], depth=1)
    with pytest.raises(LeadlineError, match="not drawn with"):
        pool([run], measure="P@1", budget=1, earlier=other)
    with pytest.raises(InputError, match=r"^pool: contains no query-document pairs"):
        evaluate({"q1": {"d1": 1}}, [run], measures="P@1", pool={})
    with pytest.raises(LeadlineError, match="Pass runs, or both documents and queries, with random or"):
        pool()


def test_ap_is_advised_only_where_the_pool_has_a_frame() -> None:
    judged, runs = {"q1": {"d1": 1}}, [{"q1": {"d1": 2.0, "d2": 1.0}}]
    for source, advised in (
        (pool(runs, measure="P@2", budget=2), True),
        ({"q1": {"d1": 0.5, "d2": 0.5}}, False),
    ):
        with pytest.raises(LeadlineError, match="Judge the rest of the pool") as caught:
            evaluate(judged, runs, measures="statAP", pool=source)
        assert ("use AP" in str(caught.value)) == advised


def test_a_pool_passed_as_judgments_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "pool.tsv"
    pool([{"q1": {"d1": 1.0}}], measure="P@1", budget=1).write(path)
    header = next(n for n, line in enumerate(path.read_text().splitlines(), 1) if line.startswith("query_id"))
    with pytest.raises(InputError, match=rf"pool\.tsv:{header}: no grades .* This is a pool"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format", 2, "Install a newer version"),
        ("runs", 5, "'runs'"),
        ("looks", "x", "'looks'"),
        ("seed", None, "'seed'"),
        ("owners", [1], "'owners'"),
    ],
)
def test_a_description_with_an_invalid_value_is_refused_at_its_line(
    key: str, value: object, said: str, drawn: Path
) -> None:
    head, *rest = drawn.read_text().split("\n")
    design = json.loads(head.removeprefix("# leadline pool ")) | {key: value}
    drawn.write_text("\n".join([f"# leadline pool {json.dumps(design)}", *rest]))
    for read in (read_drawn_pool, read_design):
        with pytest.raises(InputError, match=rf"{drawn}:1: .*{said}"):
            read(drawn)


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv"])
def test_two_columns_without_a_header_are_told_to_have_one(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("q1,d1\n".replace(",", "\t" if name.endswith("tsv") else ","))
    with pytest.raises(InputError, match=rf"{name}:1: .*no header.*query_id"):
        read_drawn_pool(path)


def test_a_damaged_pool_is_refused_in_one_line_or_a_pool_of_other_pairs(tmp_path: Path) -> None:
    runs = {
        name: {q: [f"{q}d{(5 * n + k) % 9}" for n in range(8)] for q in "uvw"} for k, name in enumerate("ab")
    }
    path = tmp_path / "pool.tsv"
    write_drawn_pool(pool_for(runs, "P@3", budget=3, seed=2).pool, path, ["a note"])
    lines = re.sub(r', "checksum": \d+', "", path.read_text()).split("\n")
    assert sum(line.startswith("# frame") for line in lines) > 2
    rng = np.random.default_rng(4)
    pieces = [
        "",
        "\t",
        "#",
        "{}",
        "# frame\t",
        "nan",
        "2",
        "-1",
        "\r",
        "# leadline pool {}",
        "x\ty\t1\t0.1\t{}",
    ]
    refused = []
    for _ in range(400):
        changed = list(lines)
        place, piece = int(rng.integers(len(lines))), pieces[int(rng.integers(len(pieces)))]
        kind = int(rng.integers(6))
        if kind == 0:
            del changed[place]
        elif kind == 1:
            changed.insert(int(rng.integers(len(lines))), changed[place])
        elif kind == 2:
            changed.insert(place, piece)
        else:
            cells = changed[place].split("\t")
            cells[int(rng.integers(len(cells)))] = piece
            changed[place] = "\t".join(cells)
        path.write_text("\n".join(changed))
        try:
            found = read_drawn_pool(path)
        except InputError as error:
            refused.append(str(error))
            continue
        pairs = list(zip(found.queries, found.documents, strict=True))
        assert len(set(pairs)) == len(pairs)
        assert ((found.probability >= 0) & (found.probability <= 1)).all()
        assert found.probability[found.drawn].all()
    assert 100 < len(refused) < 400
    assert all(message.startswith(str(path)) and "\n" not in message for message in refused)
