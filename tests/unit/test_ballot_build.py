"""The file that people get: it names nobody, runs nothing of others, asks nobody, and is bounded."""

import base64
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from opendesign.balloting import Built, Key, build_ballot, read_key
from opendesign.balloting.pictures import BYTES, HEIGHT, WIDTH, fitted, has_contents, opened, spoilt
from opendesign.errors import StoreError, UsageError
from tests.unit import site_pages
from tests.unit.ballot_support import drawing, make_run, make_runs
from tests.unit.site_support import cases
from tests.unit.test_site_hostile import EVIL

SMALL: dict[str, Any] = {"pairs": 12, "repeats": 2, "checks": 2}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def built(runs: list[str]) -> Built:
    return build_ballot(runs, Path(runs[0]).parent.parent / "ballot.html", **SMALL)


def data(file: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text())
    assert found
    return dict(json.loads(found[1]))


def test_the_key_has_what_was_asked_for(built: Built) -> None:
    key = read_key(built.key)
    assert (built.pairs, built.repeats, built.checks) == (12, 2, 2)
    assert key.ballot == built.ballot == data(built.file)["ballot"]
    for question in key.questions:
        left, right = key.pages[question.left], key.pages[question.right]
        assert left.case == right.case
        if question.kind == "check":
            assert left.model == right.model
            assert not key.pages[question.good].spoilt
            assert sorted((left.spoilt, right.spoilt)) == [False, True]
        else:
            assert left.model != right.model
            assert not left.spoilt
        if question.kind == "repeat":
            first = next(q for q in key.questions if q.id == question.of)
            assert (first.left, first.right) == (question.right, question.left)


def test_the_ballot_shows_the_right_pictures_under_the_right_prompts(built: Built, runs: list[str]) -> None:
    key, text = read_key(built.key), built.file.read_text()
    prompts = {case["id"]: case["prompt"] for case in cases(10)}
    for asked, question in zip(data(built.file)["questions"], key.questions, strict=True):
        assert (asked["id"], asked["left"], asked["right"]) == (question.id, question.left, question.right)
        assert asked["prompt"] == prompts[key.pages[question.left].case]
    for id, page in key.pages.items():
        stored = re.search(rf'<script type="text/plain" id="{id}">(.*?)</script>', text)
        assert stored
        shown = Image.open(io.BytesIO(base64.b64decode(stored[1]))).convert("RGB").resize((32, 40))
        wanted = Image.open(io.BytesIO(drawing(f"{page.model} {page.case}"))).convert("RGB").resize((32, 40))
        far = sum(abs(a - b) for a, b in zip(shown.tobytes(), wanted.tobytes(), strict=True)) / len(
            shown.tobytes()
        )
        assert (far > 15) == page.spoilt, far


def test_nothing_in_it_says_whose_pages_they_are(built: Built) -> None:
    key, text = read_key(built.key), built.file.read_text()
    for name in [*key.runs, *key.runs.values(), *key.categories, key.benchmark["name"], "spoilt", "static"]:
        assert name not in text
    assert {field for question in data(built.file)["questions"] for field in question} == {
        "id", "left", "right", "prompt", "language",
    }  # fmt: skip
    own = sorted(key.pages, key=lambda id: key.pages[id].model)
    assert sorted(key.pages) not in (own, own[::-1])


def test_it_asks_nobody_and_runs_its_own_script_only(built: Built) -> None:
    text = built.file.read_text()
    elements = site_pages.elements(built.file)
    policy = next(a["content"] for tag, a in elements if a.get("http-equiv") == "Content-Security-Policy")
    script, style = (
        text.rpartition("<script>")[2].partition("</script>")[0],
        re.search("<style>(.*?)</style>", text, re.S),
    )
    assert style
    for directive, inside in (("script-src", script), ("style-src", style[1])):
        sha = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{sha}';" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|unsafe", text.partition("<script type=")[0] + script)
    assert not any(name.startswith("on") or name == "style" for _, a in elements for name in a)


def test_equal_arguments_make_equal_files_and_another_seed_others(
    built: Built, runs: list[str], tmp_path: Path
) -> None:
    again = build_ballot(runs[::-1], tmp_path / "b.html", **SMALL)
    assert again.file.read_bytes() == built.file.read_bytes()
    assert again.key.read_bytes() == built.key.read_bytes()
    assert build_ballot(runs, tmp_path / "c.html", seed=1, **SMALL).ballot != built.ballot


def test_texts_of_others_are_texts(tmp_path: Path) -> None:
    asked = cases(len(EVIL))
    for case, text in zip(asked, EVIL, strict=True):
        case |= {"prompt": text, "language": text[:40]}
    root = tmp_path / "runs"
    runs = [str(make_run(root, text, asked, name=f"r{at}")) for at, text in enumerate(EVIL[:3] + EVIL[7:])]
    built = build_ballot(runs, tmp_path / "x.html", pairs=90, repeats=0, checks=1)
    prompts = [question["prompt"] for question in data(built.file)["questions"]]
    assert set(prompts) == set(EVIL)
    ours = site_pages.elements(build_ballot(make_runs(tmp_path / "plain"), tmp_path / "y.html", **SMALL).file)
    found = site_pages.elements(built.file)
    assert {tag for tag, _ in found} == {tag for tag, _ in ours}
    assert sum(tag == "script" for tag, _ in found) == built.pictures + 2
    models = {page.model for page in read_key(built.key).pages.values()}
    assert models == set(EVIL[:3] + EVIL[7:])
    assert not re.search("<script>document|<img src|</b>x", built.file.read_text())


# Pictures


@pytest.mark.parametrize(("width", "height"), [(1280, 3000), (1280, 14_000), (200, 100), (1280, 1)])
def test_a_picture_is_bounded_and_marked_where_it_is_cut(width: int, height: int) -> None:
    page = fitted(opened(drawing("a", width=width, height=height), "a page"))
    assert page.width == min(width, WIDTH)
    assert page.height == min(HEIGHT, max(1, round(height * page.width / width)))
    assert page.cut == (height * page.width / width > HEIGHT)
    assert len(base64.b64decode(page.base64)) <= BYTES


def test_a_picture_that_does_not_pack_is_made_smaller_but_shown_at_its_size() -> None:
    noise = Image.effect_noise((960, 1500), 120).convert("RGB")
    page = fitted(noise)
    packed = Image.open(io.BytesIO(base64.b64decode(page.base64)))
    assert len(base64.b64decode(page.base64)) <= BYTES
    assert (page.width, page.height) == (960, 1500)
    assert packed.width < 960


def test_a_spoilt_picture_is_far_from_its_page_and_a_blank_page_is_not_taken() -> None:
    import random

    page = opened(drawing("a"), "a page")
    bad = spoilt(page, random.Random(1))
    assert bad.size == page.size
    assert bad.tobytes() != page.tobytes()
    assert has_contents(page)
    assert not has_contents(Image.new("RGB", (320, 400), "white"))


def test_checks_take_pages_that_show_something(tmp_path: Path) -> None:
    def draw(model: str, case: str) -> bytes:
        if model == "blank":
            out = io.BytesIO()
            Image.new("RGB", (320, 400), "white").save(out, "PNG")
            return out.getvalue()
        return drawing(f"{model} {case}")

    runs = [
        str(make_run(tmp_path, m, cases(6), strength=s, draw=draw)) for m, s in (("blank", 95), ("drawn", 50))
    ]
    key = read_key(build_ballot(runs, tmp_path / "b.html", pairs=6, repeats=0, checks=6).key)
    assert {key.pages[q.good].model for q in key.questions if q.good} == {"drawn"}
    runs = [str(make_run(tmp_path / "x", m, cases(6), draw=lambda *_: draw("blank", ""))) for m in "ab"]
    with pytest.raises(UsageError, match="only 0 pages show enough"):
        build_ballot(runs, tmp_path / "c.html", pairs=6, repeats=0, checks=1)


# Bad input


def test_pages_without_a_picture_are_left_out_and_told(tmp_path: Path) -> None:
    def draw(model: str, case: str) -> bytes | None:
        return None if model == "lab/two" and case > "d" else drawing(model + case)

    runs = [str(make_run(tmp_path, model, cases(10), draw=draw)) for model in ("lab/one", "lab/two")]
    built = build_ballot(runs, tmp_path / "b.html", pairs=10, repeats=1, checks=1)
    key: Key = read_key(built.key)
    assert built.pairs == 4
    assert {page.case[0] for page in key.pages.values() if not page.spoilt} <= {"3", "c", "d", "g", "w"}
    assert {key.pages[q.left].case[0] for q in key.questions if q.kind == "pair"} == {"3", "c"}
    assert [note[:28] for note in built.notes] == [
        "Cases without a picture cann",
        "There are 4 pairs to show, f",
    ]


def bad_runs(root: Path) -> dict[str, tuple[list[str], dict[str, Any], str]]:
    """What is wrong → runs, options, and words of the sentence."""
    one, two = make_runs(root, ("lab/one", "lab/two"))
    other = str(make_run(root, "lab/other", cases(7)))
    twin = str(make_run(root, "lab/one", cases(10), name="twin"))
    bare = str(make_run(root, "lab/bare", cases(10), draw=lambda *_: None))
    odd = str(make_run(root, "lab/odd", cases(10), draw=lambda *_: b"no picture"))
    return {
        "one run": ([one], {}, "two runs or more"),
        "no such run": ([one, "nobody"], {}, "no run named 'nobody'"),
        "one model twice": ([one, twin], {}, "both of lab/one"),
        "other cases": ([one, other], {}, "not comparable"),
        "no pictures": ([one, bare], {}, "no full-page picture"),
        "no picture at all": ([one, odd], {}, "cannot be read"),
        "no pairs": ([one, two], {"pairs": 0}, "--pairs is 0"),
        "too many pairs": ([one, two], {"pairs": 501}, "more make more than one ballot"),
        "too many repeats": ([one, two], {"repeats": 4}, "at most 3"),
        "fewer than no repeats": ([one, two], {"repeats": -1}, "--repeats is -1"),
        "too many checks": ([one, two], {"checks": 11}, "--checks is 11"),
    }


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], dict[str, Any], str]]:
    return bad_runs(tmp_path_factory.mktemp("bad"))


@pytest.mark.parametrize("kind", ["one run", "no such run", "one model twice", "other cases", "no pictures",
                                  "no picture at all", "no pairs", "too many pairs", "too many repeats",
                                  "fewer than no repeats", "too many checks"])  # fmt: skip
def test_what_cannot_be_asked_is_said_in_a_sentence(wrong: Any, kind: str, tmp_path: Path) -> None:
    runs, options, words = wrong[kind]
    with pytest.raises((UsageError, StoreError), match=re.escape(words)):
        build_ballot(runs, tmp_path / "b.html", **{"pairs": 10, "repeats": 1, "checks": 1, **options})
    assert [*tmp_path.iterdir()] == []


def test_the_key_of_another_ballot_is_not_written_over(runs: list[str], tmp_path: Path) -> None:
    first = build_ballot(runs, tmp_path / "b.html", **SMALL)
    before = first.key.read_bytes()
    with pytest.raises(UsageError, match="key of another ballot"):
        build_ballot(runs, tmp_path / "b.html", seed=5, **SMALL)
    assert first.key.read_bytes() == before
    build_ballot(runs, tmp_path / "b.html", **SMALL)


def test_a_place_that_cannot_be_written_is_said_in_a_sentence(runs: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        build_ballot(runs, tmp_path, **SMALL)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"):
        build_ballot(runs, tmp_path / "file" / "b.html", **SMALL)
