"""What others wrote is text on a page and nothing else: names, prompts, feedback, titles, studies, files."""

import json
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import StoreError
from opendesign.site import build_site
from opendesign.site.pages import model_csv
from opendesign.site.reading import read_entry, slug_of
from opendesign.site.studies import read_studies
from tests.unit import site_pages
from tests.unit.site_support import cases, publish_made_up

EVIL = (
    "<script>document.title='hit'</script>",
    '"><img src=x onerror="document.title=\'hit\'">',
    "'; alert(1); //' & &amp; <b>",
    "\u202egnp.exe\u202c \u2066\u0000\ufffe",
    "{{ 7*7 }}{% for x in y %}",
    "../../../etc/passwd",
    "javascript:document.title='hit'",
    "\ud800 lone",
    "long " + "x" * 10_000,
)


def hostile_results(folder: Path) -> Path:
    """A run for each hostile text, with that text wherever a stranger's text can be."""
    for at, text in enumerate(EVIL):
        asked = cases(6)
        asked[0] |= {"prompt": text, "id": "website-000", "language": text[:40]}
        asked[0]["requirements"] = [{"kind": "behaviour", "text": text}]
        for name in (text, f"{text} again"):
            publish_made_up(
                folder, name, strength=60, of=asked, said=text, failed=text, name=f"r{at}-{len(name)}"
            )
    (folder / "studies").mkdir()
    study = {
        "study": "s",
        EVIL[0]: EVIL[1],
        "rows": [{EVIL[1]: EVIL[0], "b": 1.5}],
        "deep": {"a": {"b": {"c": [EVIL[0]]}}},
    }
    (folder / "studies" / "evil.json").write_text(json.dumps(study))
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    build_site(folder / "out", results=hostile_results(folder / "results"))
    return folder / "out"


def test_no_page_has_an_element_of_theirs(site: Path) -> None:
    for page in site_pages.pages(site):
        assert [*site_pages.dangers(page)] == []
        assert [*site_pages.dead_links(page, site)] == []
        scripts = [a["src"].rpartition("/")[2] for tag, a in site_pages.elements(page) if tag == "script"]
        assert scripts == ["theme.js", "site.js"]


def test_their_text_is_shown_as_it_is(site: Path) -> None:
    models = "".join(site_pages.read(page)[1] for page in (site / "models").glob("*.html"))
    asked = "".join(site_pages.read(page)[1] for page in (site / "cases").glob("*.html"))
    for text in EVIL[:3] + EVIL[4:7]:
        assert text in models
        assert asked.count(text) >= 3, "as a prompt, a requirement and a reason"


def test_a_very_long_name_is_cut_where_it_is_a_name_and_whole_as_a_prompt(site: Path) -> None:
    assert not any("x" * 400 in page.read_text() for page in site.glob("*.html"))
    assert not any("x" * 2_001 in page.read_text() for page in (site / "models").glob("*.html"))
    assert any("x" * 10_000 in page.read_text() for page in (site / "cases").glob("*.html"))


def test_every_file_lies_inside_the_site(site: Path) -> None:
    assert {path.parent.name for path in site.rglob("*.html")} == {"out", "models", "cases", "compare"}
    assert all(len(path.name) < 200 and path.name.isascii() for path in site.rglob("*.html"))


@pytest.mark.parametrize("text", EVIL)
def test_a_slug_is_plain_and_no_two_texts_share_one(text: str) -> None:
    assert set(slug_of(text)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert slug_of(text) != slug_of(f"{text}!") != slug_of(text.upper() + "?")


def test_a_cell_is_no_formula_for_a_spreadsheet(tmp_path: Path) -> None:
    asked = cases(5)
    asked[0]["id"] = "=HYPERLINK(1)"
    table = model_csv(read_entry(publish_made_up(tmp_path, "m", strength=60, of=asked))).decode()
    assert "'=HYPERLINK(1)" in table
    assert "\n=" not in table


# Damage


def edited(folder: Path, file: str, **changes: Any) -> None:
    """Change the value of every record in a file."""
    lines = []
    for line in (folder / file).read_text().splitlines():
        record = json.loads(line)
        record["value"] |= changes
        lines.append(json.dumps(record))
    (folder / file).write_text("\n".join(lines) + "\n")


DAMAGES: list[tuple[str, dict[str, Any]]] = [
    ("artifacts.jsonl", {"thumbnail": "../../../etc/passwd"}),
    ("artifacts.jsonl", {"thumbnail": ["a"]}),
    ("artifacts.jsonl", {"thumbnail": "0" * 64 + ".webp"}),
    ("verdicts-interactive.jsonl", {"evidence": {"steps": "no list", "files": 3}}),
    ("verdicts-interactive.jsonl", {"evidence": {"steps": [7, None, {"did": {"a": 1}, "before": [1]}]}}),
    ("verdicts-interactive.jsonl", {"evidence": ["a list"]}),
    ("verdicts-static.jsonl", {"reasons": None}),
    ("verdicts-static.jsonl", {"reasons": "a text"}),
    ("verdicts-static.jsonl", {"reasons": [{"a": 1}, 7]}),
]


@pytest.mark.parametrize(("file", "changes"), DAMAGES)
def test_odd_records_are_gaps_on_a_page(tmp_path: Path, file: str, changes: dict[str, Any]) -> None:
    edited(publish_made_up(tmp_path / "results", "m", strength=60, of=cases(5)), file, **changes)
    built = build_site(tmp_path / "out", results=tmp_path / "results")
    assert (built.runs, built.pictures) == (1, 0)
    assert "Picture not published" in (tmp_path / "out" / "cases" / "game-002.html").read_text()


@pytest.mark.parametrize("text", ['{"case": 1}\n', '{"case": "website-000"}\n'])
def test_a_damaged_run_is_left_out_in_one_sentence(tmp_path: Path, text: str) -> None:
    folder = publish_made_up(tmp_path / "results", "m", strength=60, of=cases(5))
    (folder / "artifacts.jsonl").write_text(text)
    told: list[str] = []
    assert build_site(tmp_path / "out", results=tmp_path / "results", note=told.append).runs == 0
    assert len(told) == 1
    assert "damaged" in told[0]


@pytest.mark.parametrize("name", ["judges", "scores", "headline", "engines", "benchmark", "by_difficulty"])
def test_a_summary_without_a_part_is_one_sentence(tmp_path: Path, name: str) -> None:
    folder = publish_made_up(tmp_path, "m", strength=60, of=cases(5))
    summary = json.loads((folder / "summary.json").read_text())
    del summary[name]
    (folder / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(StoreError, match="writes it again"):
        read_entry(folder)


def test_equal_scores_two_cases_and_a_judge_that_scored_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = publish_made_up(tmp_path / "results", name, strength=60, of=cases(2))
        edited(folder, "verdicts-static.jsonl", scores={"total": 50.0})
    publish_made_up(tmp_path / "results", "c", strength=60, of=cases(2), scored=0.0)
    build_site(tmp_path / "out", results=tmp_path / "results")
    text = (tmp_path / "out" / "index.html").read_text()
    assert "nan" not in text.lower()
    assert "not separated from b" in text
    assert [*site_pages.dead_links(tmp_path / "out" / "index.html", tmp_path / "out")] == []


# Studies


def test_a_study_is_shown_as_tables_with_one_note_for_all_gaps(tmp_path: Path) -> None:
    figure = {"value": 0.5, "n": 6, "ranges": {"one left out": [0.4, 0.6]}, "why": "Few models."}
    rankings = [
        {"category": c, "spearman": figure, "points": [{"ours": "m", "our_score": 1.0}]} for c in "ab"
    ]
    (tmp_path / "one.json").write_text(
        json.dumps({"study": "x", "notes": ["One.", "Two."], "rankings": rankings})
    )
    (study,) = read_studies(tmp_path, lambda _: None)
    ranked, inside, _ = study["tables"]
    assert study["facts"] == [("Notes", "One. Two.")]
    assert ranked["rows"] == [["a", "0.500 [0.400, 0.600]"], ["b", "0.500 [0.400, 0.600]"]]
    assert ranked["numbers"] == [False, True]
    assert ranked["notes"] == ["In brackets: with one left out.", "Few models."]
    assert (ranked["folded"], inside["folded"]) == (False, True)


def test_judges_stand_against_judges_in_a_matrix(tmp_path: Path) -> None:
    pairs = [("a", "b", 0.5), ("a", "c", 0.25), ("b", "c", -1.0)]
    found = [{"first": a, "second": b, "kendall": {"value": tau, "n": 4}} for a, b, tau in pairs]
    (tmp_path / "r.json").write_text(json.dumps({"study": "robustness", "pairings": found}))
    matrix = read_studies(tmp_path, lambda _: None)[0]["tables"][0]
    assert matrix["columns"] == ["", "a", "b", "c"]
    assert matrix["rows"][1] == ["b", "0.500", "–", "-1.000"]
    assert [row[0] for row in matrix["rows"]] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["[]", "{", "[" * 5_000, '"text"', "\ufffe"])
def test_a_study_that_is_none_is_told_and_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    told: list[str] = []
    assert read_studies(tmp_path, told.append) == []
    assert len(told) == 1
