"""The leaderboard's files: who is ranked where, what is never mixed, and that every link and number holds."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import opendesign
from opendesign.cli import cli
from opendesign.errors import StoreError, UsageError
from opendesign.site import build_site
from opendesign.site.pairs import pairs_of
from opendesign.site.ranking import ALL, groups_of, holm
from opendesign.site.reading import _steps, read_entry
from opendesign.site.serve import server_of
from opendesign.site.writing import Kept
from opendesign.types import CATEGORIES
from tests.unit import site_pages
from tests.unit.site_support import cases, made_up_board, pictures, publish_made_up

ASKED = cases(30)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five models in one table, one judged by another judge, one half done, two without a model as judge."""
    folder = tmp_path_factory.mktemp("site") / "results"
    made_up_board(folder, models=5, count=30, distinct=10)
    one = {"of": ASKED, "thumbnails": pictures(2)}
    publish_made_up(folder, "lab/elsewhere", strength=70, judge_model="other/judge", seed=8, **one)
    publish_made_up(folder, "lab/half", strength=75, scored=0.5, seed=9, cost_usd=None, **one)
    for name, strength in (("builtin/good", 90), ("builtin/bad", 60)):
        publish_made_up(folder, name, strength=strength, key_free=True, **one)
    return folder


@pytest.fixture(scope="module")
def site(results: Path) -> Path:
    build_site(results.parent / "out", results=results)
    return results.parent / "out"


def rows(page: Path, table: str) -> list[list[str]]:
    """Texts of the cells of a table with this id."""
    text = page.read_text()
    body = text.partition(f'id="{table}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    found = []
    for row in body.split("<tr")[1:]:
        reader = site_pages._Reader()
        reader.feed(f"<tr{row}")
        found.append(" ".join("|".join(reader.text).split()).strip("| "))
    return [[cell.strip() for cell in row.split("|") if cell.strip()] for row in found]


# Who stands where


def test_only_what_is_comparable_stands_together(results: Path) -> None:
    groups = groups_of(read_entry(path.parent) for path in results.glob("*/run.json"))
    models = [sorted(entry.model for entry in group.entries) for group in groups]
    board = sorted(["lab/half", *(f"lab-{n}/model-0{n}" for n in range(5))])
    assert models == [board, ["lab/elsewhere"], ["builtin/bad", "builtin/good"]]
    assert [group.smoke for group in groups] == [False, False, True]


def test_the_table_is_in_order_of_the_means_and_the_half_done_is_not_ranked(site: Path) -> None:
    found = rows(site / "index.html", "main-board")
    assert [row[0] for row in found] == ["1", "2", "3", "4", "5", "–"]
    assert "lab/half" in found[-1]
    means = [next(float(cell) for cell in row if cell.count(".") == 1 and "–" not in cell) for row in found]
    assert means[:-1] == sorted(means[:-1], reverse=True)
    assert "62%" not in found[-1]
    assert any(cell.endswith("%") and cell != "100%" for cell in found[-1]), "its coverage is shown"
    assert "unknown" in found[-1], "a cost without a price is never 0"


def test_a_rank_range_holds_its_rank_and_close_models_are_not_separated(tmp_path: Path) -> None:
    made = [
        publish_made_up(tmp_path, f"m/{n}", strength=strength, of=ASKED, seed=n)
        for n, strength in enumerate((80, 79.9, 60))
    ]
    (group,) = groups_of(map(read_entry, made))
    first, second, third = group.standings[ALL]
    assert (first.best, third.best, third.worst) == (1, 3, 3)
    assert first.worst == second.worst == 2
    assert first.tied_with_next
    assert not second.tied_with_next
    assert third.p_next is None
    for standing in group.standings[ALL]:
        mean = np.mean(list(standing.entry.means["static.total"].values()))
        assert standing.estimate is not None
        assert standing.estimate["mean"] == pytest.approx(mean)


def test_equal_models_share_their_ranks(tmp_path: Path) -> None:
    made = [publish_made_up(tmp_path, "same", strength=70, of=ASKED, name=f"r{n}") for n in range(3)]
    (group,) = groups_of(map(read_entry, made))
    assert [(s.best, s.worst) for s in group.standings[ALL]] == [(1, 3)] * 3
    assert all(s.tied_with_next for s in group.standings[ALL][:-1])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_are_what_runs_compare_says(results: Path) -> None:
    group = groups_of(read_entry(path.parent) for path in results.glob("lab-*/run.json"))[0]
    pair = pairs_of(group, Kept())[1]
    compared = opendesign.compare(str(pair.first.folder), str(pair.second.folder))
    found, theirs = pair.differences[ALL]["static.total"], compared.differences["static.total"]
    assert (found["mean"], found["n"]) == (theirs.estimate.mean, 30)
    assert (found["low"], found["high"]) == pytest.approx((theirs.estimate.low, theirs.estimate.high))
    assert (found["won"], found["lost"], found["tied"]) == (theirs.won, theirs.lost, theirs.tied)
    assert set(pair.differences) == {ALL, *CATEGORIES, "easy", "medium", "hard"}


# The pages


def test_every_link_leads_somewhere_and_no_page_holds_what_it_must_not(site: Path) -> None:
    found = site_pages.pages(site)
    names = {str(page.relative_to(site)).split("/")[0] for page in found}
    assert names >= {"index.html", "models", "cases", "compare", "studies.html", "method.html"}
    for page in found:
        assert [*site_pages.dead_links(page, site)] == [], page
        assert [*site_pages.dangers(page)] == [], page


def test_every_page_has_a_strict_policy_a_title_and_one_heading(site: Path) -> None:
    for page in site_pages.pages(site):
        found, _ = site_pages.read(page)
        (policy,) = [a["content"] for _, a in found if a.get("http-equiv") == "Content-Security-Policy"]
        allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
        assert {allowed[f"{kind}-src"] for kind in ("img", "style", "script")} == {"'self'"}
        assert [tag for tag, _ in found].count("h1") == 1
        tags = [tag for tag, _ in found]
        assert tags.index("meta") < tags.index("script"), "the policy comes before what it governs"


def test_smoke_and_reported_rows_stand_apart_and_say_so(site: Path) -> None:
    text = (site / "index.html").read_text()
    ranked, _, apart = text.partition("Key-free judges")
    assert "builtin/good" not in ranked
    assert "builtin/good" in apart
    smoke, _, reported = apart.partition("Reported, not re-run")
    assert "AesCoder-4B" not in ranked + smoke
    assert "AesCoder-4B" in reported
    assert "lab/elsewhere" not in text
    (other,) = site.glob("board-*.html")
    assert "lab/elsewhere" in other.read_text()
    assert f'href="{other.name}"' in text


def test_downloads_hold_every_case(site: Path, results: Path) -> None:
    with (site / "models" / "lab-0-model-00-0.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    document = json.loads((site / "models" / "lab-0-model-00-0.json").read_text())
    assert len(table) == len(document["cases"]) == 30
    assert float(table[0]["static.total"]) == document["cases"][0]["scores"]["static.total"]
    stored = json.loads((results / "lab-0-model-00-0" / "summary.json").read_text())
    assert document["summary"] == stored


def test_a_case_page_shows_all_pages_best_first_with_trace_and_reasons(site: Path) -> None:
    page = site / "cases" / "game-002.html"
    found, text = site_pages.read(page)
    pictures = [a["src"] for tag, a in found if tag == "img" and a.get("class") == "shot"]
    assert len(pictures) == 9
    assert all(a.get("loading") == "lazy" for tag, a in found if a.get("class") == "shot")
    assert "The layout is calm" in text
    assert "click button 2" in text
    assert "A page about 2, with a form that works" in text
    assert "The form can be sent." in text


# Built again


def test_a_second_build_writes_nothing_and_a_new_model_only_what_it_touches(
    results: Path, tmp_path: Path
) -> None:
    shutil.copytree(results, tmp_path / "results")
    first = build_site(tmp_path / "out", results=tmp_path / "results")
    assert first.written > first.pages
    again = build_site(tmp_path / "out", results=tmp_path / "results")
    assert (again.written, again.pages) == (0, first.pages)
    fresh = publish_made_up(tmp_path / "results", "lab/new", strength=66, of=ASKED, seed=99)
    grown = build_site(tmp_path / "out", results=tmp_path / "results")
    assert grown.pages == first.pages + 1 + 6, "its own page and its pairs"
    shutil.rmtree(fresh)
    back = build_site(tmp_path / "out", results=tmp_path / "results")
    assert back.pages == first.pages
    assert not [*(tmp_path / "out").rglob("*lab-new*")]


def test_what_is_kept_of_a_run_is_the_run(results: Path, tmp_path: Path) -> None:
    fresh, kept = read_entry(results / "lab-half-9"), Kept(tmp_path)
    assert read_entry(results / "lab-half-9", kept) == fresh
    assert read_entry(results / "lab-half-9", kept) == fresh
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text()[:100])
    assert read_entry(results / "lab-half-9", kept) == fresh


def test_a_build_from_nothing_equals_one_over_another(results: Path, site: Path, tmp_path: Path) -> None:
    build_site(tmp_path / "out", results=None, runs=[results / "lab-half-9"])
    build_site(tmp_path / "out", results=results)
    for page in site_pages.pages(site):
        assert (tmp_path / "out" / page.relative_to(site)).read_bytes() == page.read_bytes()


def test_files_of_others_are_never_touched(results: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="no site of ours"):
        build_site(tmp_path / "mine", results=results)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"):
        build_site(tmp_path / "file", results=results)


def test_what_cannot_be_read_is_told_and_left_out(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "results")
    (tmp_path / "results" / "lab-half-9" / "summary.json").write_text("{")
    (tmp_path / "results" / "studies").mkdir()
    (tmp_path / "results" / "studies" / "bad.json").write_text("[1")
    told: list[str] = []
    built = build_site(tmp_path / "out", results=tmp_path / "results", note=told.append)
    assert built.runs == 8
    assert len(told) == 2
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in told)
    with pytest.raises(StoreError, match="damaged"):
        build_site(tmp_path / "out", results=None, runs=[tmp_path / "results" / "lab-half-9"])


def test_without_a_single_run_there_is_a_site_that_says_so(tmp_path: Path) -> None:
    built = build_site(tmp_path / "out", results=None)
    text = (tmp_path / "out" / "index.html").read_text()
    assert built.runs == 0
    assert "No ranked results yet" in text
    assert "Reported, not re-run" in text
    for page in site_pages.pages(tmp_path / "out"):
        assert [*site_pages.dead_links(page, tmp_path / "out")] == []


# The command


def test_the_command_prints_one_document_and_serves_nothing_that_is_not_built(
    results: Path, tmp_path: Path
) -> None:
    run = CliRunner()
    out = str(tmp_path / "out")
    built = run.invoke(cli, ["leaderboard", "build", "--results", str(results), "--out", out, "--json"])
    assert json.loads(built.stdout)["runs"] == 9
    missing = run.invoke(cli, ["leaderboard", "build", "--results", "nowhere", "--out", out])
    assert isinstance(missing.exception, UsageError)
    assert "no folder nowhere" in str(missing.exception)
    nothing = run.invoke(cli, ["leaderboard", "serve", "--out", str(tmp_path / "none")])
    assert isinstance(nothing.exception, UsageError)


def test_a_port_in_use_is_one_sentence(site: Path) -> None:
    with server_of(site) as server, pytest.raises(UsageError, match="name another with --port"):
        server_of(site, server.server_address[1])


@pytest.mark.parametrize(
    ("word", "measured", "said"),
    [(True, False, "Nothing moved."), (True, True, "It opened."), (False, True, "It opened.")],
)
def test_a_step_is_told_by_whoever_decided(word: bool, measured: bool, said: str) -> None:
    told = {"did": "click", "word_why": "It opened.", "measured_why": "Nothing moved."}
    (step,) = _steps({"steps": [{**told, "word": word, "measured": measured}]})
    assert (step.worked, step.why) == (word and measured, said)
