"""Judge cards: what loads, what each error says, what a card's hash covers, and copies."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from click.testing import CliRunner

from opendesign import canonical
from opendesign.cli.judges import judges
from opendesign.errors import UnknownName, UsageError
from opendesign.judging import cards as room
from opendesign.judging.cards import copy_card, engine, load_card, read_card, verdict_of_model_failure
from opendesign.types import Case, Failure, Measure

CARD = """
name = "mine"
version = "1"
engine = "rules"
about = "A judge."
[measures.total]
low = -1
high = 3.5
headline = true
[measures.passed]
low = 0
high = 1
kind = "rate"
[settings]
threshold = 4
"""
CASE = Case(id="website-1", category="website", prompt="A page.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``./judges/mine`` under an empty working folder, holding ``CARD`` and a prompt."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENDESIGN_HOME", raising=False)
    folder = tmp_path / "judges" / "mine"
    folder.mkdir(parents=True)
    (folder / "judge.toml").write_text(CARD)
    (folder / "prompt.md").write_text("Is it good?\n")
    return folder


def test_a_card_holds_what_its_folder_holds(folder: Path) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "game.md").write_text("A game?")
    card = load_card("mine")
    assert (card.name, card.version, card.engine, card.path) == ("mine", "1", "rules", folder)
    assert card.measures["total"] == Measure(low=-1, high=3.5, headline=True)
    assert card.measures["passed"].kind == "rate"
    assert card.settings == {"threshold": 4}
    assert card.files == {"prompt.md": "Is it good?\n", "prompts/game.md": "A game?"}
    assert (card.live, card.needs_model, card.stands_in_for) == (False, False, None)


def test_the_working_folder_comes_before_what_is_shipped(folder: Path) -> None:
    shipped = load_card("execution")
    assert "execution" in {card.name for card in room.cards()[0]}
    copy_card("execution")
    assert load_card("execution").path == Path("judges/execution").absolute()
    assert load_card("execution").hash == shipped.hash


ERRORS: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text.replace('version = "1"\n', ""), "the key 'version' is missing"),
    (lambda text: text.replace('version = "1"', "version = 1"), "'version' is not right: input should be a"),
    (lambda text: text.replace('about = "A judge."', 'about = ""'), "'about' is not right"),
    (lambda text: text.replace("[settings]", "[setings]"), "unknown key 'setings': did you mean settings?"),
    (
        lambda text: text.replace("high = 1\n", "high = 1\nhihg = 1\n"),
        "'measures.passed.hihg': did you mean high?",
    ),
    (lambda text: text.replace('kind = "rate"', 'kind = "rat"'), "'measures.passed.kind' is not right"),
    (lambda text: text.replace("low = -1", "low = nan"), "'measures.total.low' is not right"),
    (lambda text: text.replace("low = -1", "low = 3.5"), "'measures.total': low (3.5) must be below high"),
    (
        lambda text: text.replace("high = 1", "high = 2"),
        "'measures.passed': a measure of kind rate has low = 0",
    ),
    (lambda text: text.replace("headline = true", ""), "no measure is the headline"),
    (lambda text: text.replace("[measures.total]", '[measures."a.b"]'), "the measure 'a.b' may hold only"),
    (lambda text: text.replace('"mine"', '"other"'), "the name is 'other' but the folder is 'mine'"),
    (lambda text: text.replace('"rules"', '"os; rm"'), "'engine' is not right"),
    (lambda text: text.replace("threshold = 4", "threshold = inf"), "only finite numbers"),
    (lambda text: text.replace("threshold = 4", "threshold = 2020-01-01"), "only finite numbers"),
    (lambda text: text + "= 1", "is not TOML"),
    (lambda text: "", "the key 'name' is missing. (4 more)"),
]


@pytest.mark.parametrize(("change", "says"), ERRORS, ids=[says for _, says in ERRORS])
def test_an_unsound_card_is_one_sentence_with_file_and_field(
    folder: Path, change: Callable[[str], str], says: str
) -> None:
    assert change(CARD) != CARD
    (folder / "judge.toml").write_text(change(CARD))
    with pytest.raises(UsageError) as caught:
        load_card("mine")
    assert says in str(caught.value)
    assert str(folder / "judge.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_card_names_the_nearest(folder: Path) -> None:
    with pytest.raises(UnknownName, match="no judge named 'execuiton': did you mean execution"):
        load_card("execuiton")
    with pytest.raises(UnknownName):
        load_card("../judges/mine")


def test_a_file_that_is_no_text_is_named(folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(UsageError, match=r"picture\.png is not UTF-8 text"):
        load_card("mine")


def test_the_hash_covers_values_and_texts_and_nothing_else(folder: Path) -> None:
    before = load_card("mine").hash
    for aside in (".hidden", "prompt.md~", "README.md", "__pycache__/x.txt"):
        (folder / aside).parent.mkdir(exist_ok=True)
        (folder / aside).write_text("x")
    (folder / "judge.toml").write_text("# a remark\n" + CARD)
    assert load_card("mine").hash == before
    (folder / "prompt.md").write_text("Is it good??\n")
    edited = load_card("mine").hash
    (folder / "prompt.md").write_text("Is it good?\n")
    (folder / "judge.toml").write_text(CARD.replace("threshold = 4", "threshold = 5"))
    assert len({before, edited, load_card("mine").hash}) == 3


def test_the_engine_is_found_by_entry_point(folder: Path) -> None:
    from opendesign.judging.rules import judge

    assert engine(load_card("mine")) is judge


def test_an_unknown_engine_names_the_nearest(folder: Path) -> None:
    (folder / "judge.toml").write_text(CARD.replace('"rules"', '"rulse"'))
    with pytest.raises(UnknownName, match="no judge engine named 'rulse': did you mean rules"):
        engine(load_card("mine"))


def _points(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    points = EntryPoints(EntryPoint("rules", value, room.GROUP) for value in values)
    monkeypatch.setattr(room, "entry_points", lambda group: points.select(group=group))


def test_an_engine_that_cannot_be_imported_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("not_there:judge", "opendesign.judging.rules:not_there"):
        _points(monkeypatch, value)
        with pytest.raises(UsageError, match=r"engine 'rules' \(.*\) cannot be imported"):
            engine(load_card("mine"))


def test_two_packages_with_one_engine_name_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _points(monkeypatch, "a:judge", "b:judge")
    with pytest.raises(UsageError, match="Two installed packages have a judge engine named 'rules'"):
        engine(load_card("mine"))


def test_a_model_failure_is_the_lowest_score_of_every_measure(folder: Path) -> None:
    failure = Failure(reason="truncated", detail="The reply was cut off.")
    verdict = verdict_of_model_failure(load_card("mine"), CASE, 2, failure)
    assert verdict.scores == {"total": -1, "passed": 0}
    assert (verdict.status, verdict.failure) == ("model_failure", failure)
    assert (verdict.case, verdict.sample, verdict.judge) == ("website-1", 2, "mine")


def test_a_failure_of_the_instrument_is_never_a_score(folder: Path) -> None:
    with pytest.raises(ValueError, match="network"):
        verdict_of_model_failure(load_card("mine"), CASE, 0, Failure(reason="network", detail="Down."))


def test_a_copy_takes_its_folders_name_and_can_be_edited(folder: Path) -> None:
    assert copy_card("mine", Path("judges/yours")) == Path("judges/yours")
    text = Path("judges/yours/judge.toml").read_text()
    assert tomllib.loads(text)["name"] == "yours"
    assert text.replace("yours", "mine") == CARD
    Path("judges/yours/prompt.md").write_text("Mine?")
    assert load_card("yours").files == {"prompt.md": "Mine?"}
    assert load_card("mine").files == {"prompt.md": "Is it good?\n"}


def test_a_copy_never_overwrites(folder: Path) -> None:
    for destination in (None, Path("judges"), Path("judges/mine")):
        with pytest.raises(UsageError, match="is there already"):
            copy_card("mine", destination)
    assert (folder / "judge.toml").read_text() == CARD


def test_a_copy_into_a_folder_keeps_the_name(folder: Path) -> None:
    Path("elsewhere").mkdir()
    copied = copy_card("execution", Path("elsewhere"))
    assert copied == Path("elsewhere/execution")
    assert read_card(copied).hash == load_card("execution").hash


def test_a_copy_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    Path("file").write_text("")
    with pytest.raises(UsageError, match="cannot be written to 'file/mine'"):
        copy_card("mine", Path("file/mine"))


def test_judges_list_shows_every_card(folder: Path) -> None:
    result = CliRunner().invoke(judges, ["list", "--json"], catch_exceptions=False)
    listed = {card["name"]: card for card in json.loads(result.stdout)["judges"]}
    assert listed["mine"]["hash"] == load_card("mine").hash
    assert {"mine", "execution", "execution-paper", "execution-literal"} <= set(listed)
    text = CliRunner().invoke(judges, ["list"], catch_exceptions=False).stdout
    assert "mine\t1\ttotal, -1 to 3.5\tthe stored page\tA judge.\n" in text


def test_judges_show_prints_the_texts_of_a_card(folder: Path) -> None:
    text = CliRunner().invoke(judges, ["show", "mine"], catch_exceptions=False).stdout
    assert "Is it good?" in text
    assert "threshold = 4" in text
    shown = json.loads(CliRunner().invoke(judges, ["show", "mine", "--json"], catch_exceptions=False).stdout)
    assert shown["files"] == {"prompt.md": "Is it good?\n"}
    assert shown == {**canonical.plain(load_card("mine"))}


def test_judges_copy_says_where_the_copy_is_found(folder: Path) -> None:
    done = CliRunner().invoke(judges, ["copy", "mine", "judges/yours"], catch_exceptions=False)
    assert "copied to judges/yours" in done.stdout
    assert not done.stderr
    done = CliRunner().invoke(judges, ["copy", "mine", "aside"], catch_exceptions=False)
    assert "found by name only in" in done.stderr
