"""The released prompts become local cards, read as data; another shape is named in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from opendesign.cli.judges import judges
from opendesign.errors import UsageError
from opendesign.judging.asking import fill
from opendesign.judging.cards import load_card, trait
from opendesign.judging.importing import import_judges

PROMPTS = '''
open("executed", "w").write("this module was run")
SYSTEM_PROMPT_HTML_AESTHETIC = """
You try out pages. Rules {in braces} stay.
<GAME_EXTRA_PROMPT>
Answer as Thought and Score.
"""
GAME_EXTRA_PROMPT = """
- For a game, press keys.
"""
judge_single = """
Topic: <topic>. Asked for: <user_instruction>. Give {"alignment_score": 0}.
"""
'''
ASKING = """
from util.arena_judge_prompt import judge_single
def judgment(args):
    user_prompt = args["user_prompt"]
    return [{"text": f"{user_prompt}\\n Here is the picture: \\n"}]
def main(kwargs):
    kwargs["judge_model"] = configs["judge_model"]
    kwargs["system_prompt"] = "You are " + "fair."
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of the released structure, with words of our own; the test works in a folder beside it."""
    scripts = tmp_path / "checkout" / "OpenDesign" / "scripts"
    (scripts / "util").mkdir(parents=True)
    (scripts / "util" / "arena_judge_prompt.py").write_text(PROMPTS, encoding="utf-8")
    (scripts / "gen_judgment_ta_image.py").write_text(ASKING, encoding="utf-8")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path / "checkout"


def edit(checkout: Path, name: str, old: str, new: str) -> None:
    path = checkout / "OpenDesign" / "scripts" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_two_cards_with_the_released_words_and_the_paper_settings(checkout: Path) -> None:
    static, agent = import_judges(checkout)
    assert (static.name, agent.name) == ("static-released", "interactive-released")
    assert static == load_card("static-released"), "it is found by name where it was written"
    for card in (static, agent):
        trait(card, "CHECK")(card)  # its engine can use it
    for card, paper in ((static, "static-paper"), (agent, "interactive-paper")):
        original = load_card(paper)
        assert (card.engine, card.settings, card.measures) == (
            original.engine,
            original.settings,
            original.measures,
        )
        assert card.hash != original.hash
    asked = fill(static, "user.md", {"category": "Game dev", "prompt": "Snake {{category}}"})
    assert asked == (
        'Topic: Game dev. Asked for: Snake {{category}}. Give {"alignment_score": 0}.'
        "\n\n Here is the picture:"
    )
    assert static.files["system.md"] == "You are fair.\n"
    told = fill(agent, "system.md", {"nonce": "0f0f"})
    assert told.startswith("You try out pages. Rules {in braces} stay.\n- For a game, press keys.\nAnswer as")
    assert "<page-text 0f0f>" in told


def test_nothing_of_the_checkout_is_run(checkout: Path) -> None:
    import_judges(checkout)
    assert not list(checkout.rglob("executed"))
    assert not Path("executed").exists()


@pytest.mark.parametrize("inside", ["", "OpenDesign"])
def test_the_checkout_or_its_folder(checkout: Path, inside: str) -> None:
    assert len(import_judges(checkout / inside)) == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("util/arena_judge_prompt.py", "judge_single =", "judge_pair =", "judge_single"),
        ("util/arena_judge_prompt.py", "<topic>", "{topic}", "<topic>"),
        ("util/arena_judge_prompt.py", "<user_instruction>", "", "<user_instruction>"),
        ("util/arena_judge_prompt.py", "GAME_EXTRA_PROMPT = ", "GAME_PROMPT = ", "GAME_EXTRA_PROMPT"),
        ("util/arena_judge_prompt.py", "\n<GAME_EXTRA_PROMPT>", "", "<GAME_EXTRA_PROMPT>"),
        ("util/arena_judge_prompt.py", "judge_single = ", "judge_single = open('x') + ", "judge_single"),
        ("util/arena_judge_prompt.py", "{in braces}", "{{case}}", "{{case}}"),
        ("util/arena_judge_prompt.py", "open(", "open((", "Python"),
        ("gen_judgment_ta_image.py", '"system_prompt"]', '"system"]', "system_prompt"),
        ("gen_judgment_ta_image.py", "{user_prompt}", "{prompt}", "user_prompt"),
    ],
)  # fmt: skip
def test_another_shape_is_one_sentence_and_writes_nothing(
    checkout: Path, name: str, old: str, new: str, said: str
) -> None:
    edit(checkout, name, old, new)
    with pytest.raises(UsageError) as caught:
        import_judges(checkout)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("judges").exists()


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no OpenDesign/scripts/util/arena_judge_prompt\.py"):
        import_judges(tmp_path, tmp_path / "judges")


def test_a_card_that_is_there_is_kept_and_nothing_is_written(checkout: Path) -> None:
    Path("judges/interactive-released").mkdir(parents=True)
    with pytest.raises(UsageError, match="is there already"):
        import_judges(checkout)
    assert not Path("judges/static-released").exists()


def test_the_command(checkout: Path) -> None:
    done = CliRunner().invoke(judges, ["import", str(checkout), "mine", "--json"])
    assert done.exit_code == 0, done.output
    assert '"name": "static-released"' in done.output
    assert Path("mine/interactive-released/system.md").is_file()
    assert "belong to its authors" in Path("mine/static-released/README.md").read_text(encoding="utf-8")
