"""Reply → code: which text of a reply is the program, and whose fault it is where there is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opendesign.answering.extract_code import extract_code
from opendesign.answering.models import Reply
from opendesign.answering.outcome import answer_of
from opendesign.cases.benchmark import load_benchmark

CODE = "import matplotlib.pyplot as plt\nplt.plot(df['a'])"
MORE = "plt.title('A')\nplt.show()"
WRONG = "plt.plot(df['a']"
CASE = load_benchmark("plots-mini").cases[0]


def fenced(text: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{text}\n{fence}\n"


@pytest.mark.parametrize(
    ("reply", "code", "how"),
    [
        pytest.param(fenced(CODE), CODE, "fence", id="a block"),
        pytest.param(f"Sure!\n\n{fenced(CODE, 'Py')}\nEnjoy.", CODE, "fence", id="prose around, other tag"),
        pytest.param(fenced(CODE, "python", "~~~~"), CODE, "fence", id="tildes"),
        pytest.param(
            f"1. Draw:\n\n   ```python\n   {MORE.split(chr(10))[1]}\n   ```\n",
            "plt.show()",
            "fence",
            id="list",
        ),
        pytest.param(fenced(CODE, ""), CODE, "fence", id="no tag"),
        pytest.param(fenced("Hello", "") + fenced(CODE, ""), CODE, "fence", id="a block that is no code"),
        pytest.param(fenced(MORE, "") + fenced(CODE), CODE, "fence", id="tagged before untagged"),
        pytest.param(fenced("pip install x", "bash") + fenced(CODE), CODE, "fence", id="another language"),
        pytest.param(fenced(CODE) + "then\n" + fenced(MORE), f"{CODE}\n\n{MORE}", "fence", id="joined"),
        pytest.param(
            fenced(WRONG) + fenced(CODE) + fenced("x = 1"), CODE, "fence", id="largest that compiles"
        ),
        pytest.param(fenced(WRONG), WRONG, "fence", id="a single one, though wrong"),
        pytest.param(fenced(WRONG) + fenced(WRONG), f"{WRONG}\n\n{WRONG}", "fence", id="none compiles"),
        pytest.param(f"```python\n{CODE}", CODE, "unfinished", id="fence never closed"),
        pytest.param(CODE, CODE, "bare", id="bare"),
        pytest.param(
            f"# A plot\nimport numpy\n{WRONG}",
            f"# A plot\nimport numpy\n{WRONG}",
            "bare",
            id="bare and wrong",
        ),
        pytest.param(f"%matplotlib inline\n{CODE}", f"# %matplotlib inline\n{CODE}", "bare", id="magic"),
        pytest.param(
            fenced(f"!pip install seaborn\n{CODE}"), f"# !pip install seaborn\n{CODE}", "fence", id="shell"
        ),
        pytest.param(
            fenced("x = 7\ny = (x\n% 2)\nprint(y)"), "x = 7\ny = (x\n% 2)\nprint(y)", "fence", id="modulo"
        ),
        pytest.param("I cannot do that.", None, "none", id="prose"),
        pytest.param("Nothing", None, "none", id="a word is Python too"),
        pytest.param(fenced('{"a": 1}', "json"), None, "none", id="json"),
        pytest.param("", None, "none", id="empty"),
        pytest.param(
            f"<think>Let me see\n{fenced(CODE)}", None, "open_thought", id="never left its reasoning"
        ),
    ],
)
def test_the_program_is_found(reply: str, code: str | None, how: str) -> None:
    found = extract_code(reply)
    assert (found.document, found.how) == (code, how)


def test_reasoning_is_kept_apart() -> None:
    found = extract_code(f"<think>First\n```\nx\n```\nthen</think>\n{fenced(CODE)}")
    assert found.document == CODE
    assert found.reasoning.startswith("First")


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet=st.sampled_from("`~ \n\r\t<>think/python=()[]'\"\\0\x00%!#"), max_size=80))
def test_it_never_raises(reply: str) -> None:
    assert extract_code(reply).how


def test_what_python_cannot_take_in_is_no_crash() -> None:
    for text in ("(" * 100_000, "x = " + "-" * 100_000 + "1", "x = 1\x00", "x" * 300_000):
        assert extract_code(fenced(text)).document == text
    for text in (" #c\n" * 3_000 + "x y", "\n" * 100_000 + "x y"):  # a careless pattern never ends here
        assert extract_code(text).how == "none"


@pytest.mark.parametrize(
    ("reply", "reason", "says"),
    [
        (Reply(text="Here is what I would do."), "no_document", "no code"),
        (Reply(text=""), "empty", "empty"),
        (Reply(text=fenced("")), "empty", "code in the reply is empty"),
        (Reply(text="I'm sorry, I can't help."), "refused", "refused"),
        (Reply(text=fenced(CODE), finish_reason="length"), "truncated", "limit"),
    ],
)
def test_an_answer_without_code_says_whose_fault(reply: Reply, reason: str, says: str) -> None:
    failure = answer_of(CASE, 0, reply).failure
    assert failure is not None
    assert failure.reason == reason
    assert says in failure.detail


def test_a_case_about_a_plot_takes_code_and_no_page() -> None:
    assert answer_of(CASE, 0, Reply(text=fenced(CODE))).document == CODE
    page = "<!DOCTYPE html><html><body>x</body></html>"
    assert answer_of(CASE, 0, Reply(text=page)).document is None
