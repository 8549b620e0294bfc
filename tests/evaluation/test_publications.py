"""The publications that the measures come from, as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline
from leadline.evaluation.catalogue import LEADLINE, REFERENCES, Reference, bibliography, cited_in
from leadline.measures import MEASURES

SOURCES = sorted((REPOSITORY / "src" / "leadline").rglob("*.py"))
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "book": {"author", "title", "publisher", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "misc": {"author", "title"},
}


def parsed(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Read BibTeX: the type and the fields of every entry by key; nothing else may stand between them."""
    entries: dict[str, tuple[str, dict[str, str]]] = {}
    place = 0
    while place < len(text.rstrip()):
        head = re.compile(r"\s*@(\w+)\{([^,\s]+),").match(text, place)
        assert head, text[place : place + 40]
        kind, key = head.groups()
        assert key not in entries
        place, fields = head.end(), {}
        while field := re.compile(r"\s*(\w+) = \{").match(text, place):
            start = place = field.end()
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[place], 0)
                place += 1
            assert field[1] not in fields
            fields[field[1]] = text[start : place - 1]
            assert text[place] == ","
            place += 1
        end = re.compile(r"\s*\}").match(text, place)
        assert end, key
        place = end.end()
        entries[key] = kind, fields
    return entries


def test_every_part_of_a_source_names_a_publication_or_a_program() -> None:
    for kind in MEASURES.classes.values():
        for part in kind.source.split("; "):
            assert cited_in(part), (kind, part)


def test_every_publication_is_the_source_of_a_measure() -> None:
    used = {one for kind in MEASURES.classes.values() for one in cited_in(kind.source)}
    assert used == set(REFERENCES.values())


def test_the_entries_have_the_fields_that_their_type_requires() -> None:
    entries = parsed(bibliography(kind.source for kind in MEASURES.classes.values()))
    assert len(entries) == len(REFERENCES) + 1
    for kind, fields in entries.values():
        assert set(fields) >= REQUIRED[kind]
        assert all(value.isascii() and value.strip() for value in fields.values())
        for name in ("title", "author", "journal", "booktitle"):
            assert not re.search(r"(?<!\\)[&_#%$]", fields.get(name, ""))
        assert re.fullmatch(r"\d{4}", fields.get("year", "2000"))
        assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1000/x"))


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=lambda one: one.key)
def test_the_name_of_a_reference_has_its_authors_and_year(reference: Reference) -> None:
    if not reference.year or reference.key == reference.cited.lower():  # a program, named by its own name
        return
    named = re.fullmatch(r"(.*) (\d{4})[a-z]?", reference.cited)
    assert named
    families = [plain(name.partition(",")[0]) for name in reference.author.split(" and ")]
    if named[1].endswith(" et al."):
        assert families[0] == named[1].removesuffix(" et al.")
        assert len(families) > 2
    else:
        assert families == re.split(", | and ", named[1])
    assert reference.year == named[2]
    first = re.sub("[^a-z]", "", families[0].lower())
    assert re.fullmatch(rf"{first}{reference.year}[a-z]?", reference.key)


def plain(name: str) -> str:
    """Write a family name as the sources do, without accents."""
    decomposed = unicodedata.normalize("NFKD", name.replace("ü", "ue"))
    return "".join(letter for letter in decomposed if letter.isascii())


def test_no_two_references_share_a_key_a_title_or_a_doi() -> None:
    for field in ("cited", "key", "title", "doi"):
        values = [value for one in REFERENCES.values() if (value := getattr(one, field))]
        assert len(values) == len(set(values))


def test_the_doi_agrees_with_the_year_where_the_publisher_writes_it() -> None:
    springer = {
        "10.1007/978-3-642-04417-5": "2009",
        "10.1007/978-3-030-99739-7": "2022",
    }  # the ISBN of the volume
    acm: dict[str, tuple[str, str]] = {}  # the number of a volume, with its series and year
    for one in REFERENCES.values():
        if one.doi.startswith("10.1007/"):
            assert springer[one.doi.partition("_")[0]] == one.year
        elif one.kind == "inproceedings" and one.doi.startswith("10.1145/"):
            volume = one.doi.removeprefix("10.1145/").partition(".")[0]
            assert acm.setdefault(volume, (one.venue, one.year)) == (one.venue, one.year)
    by_number = sorted((int(volume), year) for volume, (_, year) in acm.items())
    assert [year for _, year in by_number] == sorted(year for _, year in by_number)


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=lambda one: one.key)
def test_pages_and_volume_that_docstrings_name_are_those_of_the_reference(reference: Reference) -> None:
    if not reference.volume or not reference.year:
        return
    name = re.escape(reference.cited.removesuffix(f" {reference.year}"))
    for path in SOURCES:
        for found in re.finditer(
            rf"{name} \({reference.year}\), [^;.]*? (\d+)\((\d+)\)", path.read_text("utf-8")
        ):
            assert found.groups() == (reference.volume, reference.number), path


def test_accents_are_written_for_latex() -> None:
    assert 'J{\\"a}rvelin, Kalervo' in REFERENCES["Jarvelin and Kekalainen 2002"].bibtex


@pytest.mark.parametrize("name", ["nDCG", "ndcg_cut_10"])
def test_the_command_prints_the_sources_of_a_measure_and_the_program(name: str, leadline: Leadline) -> None:
    done = leadline("measures", name, "--bibtex")
    assert list(parsed(done.out)) == [LEADLINE.key, "jarvelin2002", "trec_eval"]


def test_the_command_prints_all_sources_once_and_writes_them(leadline: Leadline, tmp_path: Path) -> None:
    file = tmp_path / "measures.bib"
    leadline("measures", "--bibtex", "-o", file)
    assert set(parsed(file.read_text())) == {LEADLINE.key, *(one.key for one in REFERENCES.values())}


def test_bibtex_is_no_other_format(leadline: Leadline, tmp_path: Path) -> None:
    file = tmp_path / "measures.bib"
    assert "--bibtex and -f json" in leadline("measures", "nDCG", "--bibtex", "-f", "json").refusal
    assert "--bibtex and -o a.csv" in leadline("measures", "nDCG", "--bibtex", "-o", "a.csv").refusal
    assert leadline("measures", "nDCG", "--bibtex", "-f", "none", "-o", file).out == ""
    assert file.read_text().startswith("@misc{leadline,")


def test_the_program_is_cited_as_in_citation_cff() -> None:
    cff = (Path(__file__).resolve().parents[2] / "CITATION.cff").read_text()
    (_, fields) = parsed(LEADLINE.bibtex)["leadline"]
    assert f"name: {fields['author'].strip('{}')}" in cff
    assert f"version: {fields['howpublished'].removeprefix('Version ')}" in cff


def test_the_json_of_a_measure_names_its_references(leadline: Leadline) -> None:
    (measure,) = leadline("measures", "RBP", "-f", "json").data["measures"]
    assert [one["key"] for one in measure["references"]] == ["moffat2008"]
    assert measure["references"][0]["doi"] == "10.1145/1416950.1416952"
