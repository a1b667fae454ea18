"""A provider that fails: every case ends well or with its owner and reason, and no key is written."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import REASONS
from opendesign.running.store import Store
from opendesign.testing import Fault, ScriptedReply, ScriptedRequest, ScriptedServer

from . import support_provider as provider
from . import support_runs as support
from .support_runs import Place

pytestmark = pytest.mark.browser

KEY = "sk-Zq7Lw9Xc4Vb8Nm2Kj6Hg3Fd5"
WRONG = "sk-wR0ngTy5Ui8Op2As6Df9Gh3Jk"
TIMEOUT_S, ATTEMPTS, LIMIT = 8.0, 2, 30
RETRY_AFTER_S = 0.7
#: Kind of fault → the reason of an answer that it ended; a passing one is tried again.
PASSING = {
    "rate_limit": "rate_limited",
    "server_error": "provider_error",
    "reset": "network",
    "stall": "network",
    "invalid_json": "provider_error",
}
LASTING = {"empty": "empty", "content_filter": "content_filter"}
JUDGES = ("execution", "computed")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with support.place(tmp_path, KEY) as made:
        yield made


def command(
    server: ScriptedServer, limit: int, *more: str, model: str = "openai/anything"
) -> tuple[str, ...]:
    asked = f"run --model {model} --base-url {server.base_url} --limit {limit} --run runs/one --json"
    return (*asked.split(), *more)


def describe(place: Place, timeout_s: float = 120.0, **more: object) -> None:
    """How patient the run is, as a user says it: in ``models.toml``. It may be changed between resumes."""
    settings = {"model": "openai/anything", "timeout_s": timeout_s, "attempts": ATTEMPTS}
    spelled = "".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items())
    spelled += "".join(f"{k} = {v}\n" for k, v in more.items())
    (place.folder / "models.toml").write_text(f'["openai/anything"]\n{spelled}')


def records(run: Path, file: str) -> dict[str, dict[str, Any]]:
    """Case → its last record."""
    return {record["case"]: record for record in support.lines(run, file)}


def reason(record: dict[str, Any]) -> str | None:
    failure = record["value"]["failure"]
    return failure["reason"] if failure else None


def check_no_key(place: Place, *keys: str) -> None:
    """No eight characters of a key in a row in any file: records, pages, logs, and what was said."""
    parts = {key[at : at + 8].encode() for key in keys for at in range(3, len(key) - 7)}
    files = [path for path in place.folder.rglob("*") if path.is_file()]
    assert {"answers.jsonl", "run.json", "0.out", "0.err"} <= {path.name for path in files}
    found = [(path.name, part) for path in files for part in parts if part in path.read_bytes()]
    assert found == []


# -- a fault on a third of the calls -----------------------------------------------------------------------


class Faulty(provider.Provider):
    """A third of the calls fail, drawn by a seed; prompts in ``broken`` meet one fault every time."""

    def __init__(self, broken: Mapping[str, str], seed: int) -> None:
        super().__init__()
        self.broken, self.seed, self.mended = dict(broken), seed, False
        self._asked: Counter[str] = Counter()

    def __call__(self, request: ScriptedRequest) -> ScriptedReply | Fault:
        self._asked[request.prompt] += 1
        rng = random.Random(f"{self.seed}:{self._asked[request.prompt]}:{request.prompt}")
        drawn = rng.choice([*PASSING, *LASTING]) if rng.random() < 1 / 3 else None
        kind = self.broken.get(request.prompt, drawn)
        if kind is None or self.mended:
            return super().__call__(request)
        return Fault(kind, retry_after=RETRY_AFTER_S if kind == "rate_limit" else None)


def ending(calls: list[tuple[ScriptedRequest, str]]) -> str | None:
    """The reason that the calls of a case have to end with; None for a page."""
    for (request, outcome), (following, _) in itertools.pairwise(calls):
        late = following.at - request.at >= TIMEOUT_S  # a good reply that came too late is asked for again
        assert outcome in PASSING or late, f"asked again after {outcome}"
    assert len(calls) <= ATTEMPTS
    request, outcome = calls[-1]
    if outcome in PASSING:
        assert len(calls) == ATTEMPTS, f"gave up after one {outcome}"
        return PASSING[outcome]
    return LASTING[outcome] if outcome in LASTING else provider.KINDS[provider.kind_of(request.prompt)]


def check_outcomes(run: Path, expected: dict[str, str | None], shown: dict[str, Any]) -> None:
    """Records and summary say what happened to each case; what the instrument failed has no score at all."""
    answers = records(run, "answers.jsonl")
    assert {case: reason(record) for case, record in answers.items()} == expected
    unscored = {case for case, why in expected.items() if why and REASONS[why] != "model"}
    for judge in JUDGES:
        verdicts = records(run, f"verdicts-{judge}.jsonl")
        assert set(verdicts) == set(expected) - unscored
        for case, verdict in verdicts.items():
            assert reason(verdict) == expected[case]
            assert verdict["value"]["scores"], "the lowest scores for a model's failure, else the page's"
        assert shown["coverage"][judge] == pytest.approx(1 - len(unscored) / len(expected))
    assert shown["cases"] == len(expected)
    assert shown["failures"] == Counter(why for why in expected.values() if why)
    assert shown["scores"]["computed.total"]["n"] == len(expected) - len(unscored)
    owners = Counter(REASONS[why].value for why in expected.values() if why)
    assert shown["failures_by_owner"] == owners
    pages = [case for case, why in expected.items() if why is None]
    assert set(records(run, "artifacts.jsonl")) == set(pages)
    assert all(
        records(run, "verdicts-computed.jsonl")[case]["value"]["scores"]["total"] > 0 for case in pages
    )


def test_a_fault_on_a_third_of_the_calls(place: Place) -> None:
    prompts = provider.cases(LIMIT)
    script = Faulty(dict(zip(prompts, [*PASSING, *LASTING], strict=False)), seed=5)
    echo = next(p for p in prompts if p not in script.broken and provider.kind_of(p) == "page")
    said = provider.page(echo).replace("Nothing yet.", f"You sent Bearer {KEY}, and {KEY} again.")
    script.instead[echo] = lambda: ScriptedReply(text=said, reasoning=f"The key is {KEY}.")
    describe(place, TIMEOUT_S)
    run = place.folder / "runs" / "one"
    with ScriptedServer(script, key=KEY) as server:
        asked = command(server, LIMIT, "--judges", ",".join(JUDGES))
        running = place.run(*asked)
        log = list(zip(server.requests, server.outcomes, strict=True))
        assert sum(outcome != "reply" for _, outcome in log) >= len(log) / 4
        calls = {case: [one for one in log if one[0].prompt == prompt] for prompt, case in prompts.items()}
        assert all(calls.values()), "a case was never asked for"
        expected = {case: ending(made) for case, made in calls.items()}
        assert set(expected.values()) >= {*PASSING.values(), *LASTING.values(), None}
        assert running.wait() == 1, running.stderr
        check_outcomes(run, expected, json.loads(running.stdout))
        check_retry_after(calls)
        assert "Traceback" not in running.stderr
        assert not (run / "errors.log").exists()
        check_no_key(place, KEY)

        unscored = {case for case, why in expected.items() if why and REASONS[why] != "model"}
        files = ("answers.jsonl", "verdicts-execution.jsonl", "verdicts-computed.jsonl")
        before = {file: records(run, file) for file in files}
        script.mended = True
        describe(place)
        running = place.run(*asked)
        assert running.wait() == 0, running.stderr
        again = [prompts[request.prompt] for request in server.requests[len(log) :]]
    assert sorted(again) == sorted(unscored), "what others failed is asked for once more, and nothing else"
    kinds = {case: provider.KINDS[provider.kind_of(prompt)] for prompt, case in prompts.items()}
    mended = {case: kinds[case] if case in unscored else why for case, why in expected.items()}
    check_outcomes(run, mended, json.loads(running.stdout))
    for file, old in before.items():
        new = records(run, file)
        assert all(new[case] == record for case, record in old.items() if case not in unscored)
    check_no_key(place, KEY)


def check_retry_after(calls: dict[str, list[tuple[ScriptedRequest, str]]]) -> None:
    """A second call comes no sooner than the provider has said."""
    waits = [
        second.at - first.at
        for made in calls.values()
        for (first, outcome), (second, _) in itertools.pairwise(made)
        if outcome == "rate_limit"
    ]
    assert min(waits) >= RETRY_AFTER_S


def test_a_wrong_key_stops_a_model_and_is_written_nowhere(place: Place) -> None:
    """The provider repeats the key in its refusal. With the right one the same run is done."""
    describe(place)
    limit, run = 10, place.folder / "runs" / "one"
    with ScriptedServer(provider.Provider(), key=KEY) as server:
        asked = command(server, limit, "--judges", "execution", "--concurrency", "2")
        running = place.run(*asked, OPENAI_API_KEY=WRONG)
        assert running.wait() == 1, running.stderr
        assert set(server.outcomes) == {"wrong_key"}
        assert len(server.outcomes) <= 2, "a refused key is not tried again"
        shown = json.loads(running.stdout)
        assert shown["failures"] == {"provider_error": limit}
        assert shown["failures_by_owner"] == {"instrument": limit}
        assert shown["coverage"] == {"execution": 0.0}
        assert shown["scores"] == {}
        answers = records(run, "answers.jsonl")
        assert sorted(answers) == sorted(provider.cases(limit).values())
        assert all("refused the key (401)" in a["value"]["failure"]["detail"] for a in answers.values())
        running = place.run(*asked)
        assert running.wait() == 0, running.stderr
        assert json.loads(running.stdout)["coverage"] == {"execution": 1.0}
        assert server.outcomes.count("reply") == limit
    check_no_key(place, KEY, WRONG)


# -- a budget ----------------------------------------------------------------------------------------------

INPUT_USD, OUTPUT_USD, MOST_TOKENS = 10.0, 1_000.0, 1_000  # prices are for a million tokens


class Ledger(provider.Provider):
    """A provider that writes bills: for replies, and for what it has made and we could not read."""

    def __init__(self) -> None:
        super().__init__()
        self.billed_usd = 0.0
        self.spoilt: set[str] = set()  # prompts whose first answer cannot be read

    def __call__(self, request: ScriptedRequest) -> ScriptedReply | Fault:
        asked = len(json.dumps(request.body["messages"])) // 4
        if request.prompt in self.spoilt:
            self.spoilt.discard(request.prompt)
            self._bill(asked, MOST_TOKENS)
            return Fault("invalid_json")
        given = self.tokens(request.prompt)
        self._bill(asked, given)
        reply = provider.reply(request.prompt)
        return ScriptedReply(text=reply.text, finish_reason=reply.finish_reason, prompt_tokens=asked,
                             completion_tokens=given, latency_s=reply.latency_s)  # fmt: skip

    def _bill(self, asked: int, given: int) -> None:
        self.billed_usd += (asked * INPUT_USD + given * OUTPUT_USD) / 1e6

    @staticmethod
    def tokens(prompt: str) -> int:
        return 200 + int(provider.chance(prompt, "tokens") * (MOST_TOKENS - 200))


def test_a_budget_is_never_passed_and_a_larger_one_goes_on(place: Place) -> None:
    describe(place, max_tokens=MOST_TOKENS, prices=f"{{ input = {INPUT_USD}, output = {OUTPUT_USD} }}")
    limit, run, ledger = 12, place.folder / "runs" / "one", Ledger()
    prompts = provider.cases(limit)
    ledger.spoilt = {prompt for prompt in prompts if provider.chance(prompt, "spoilt") < 0.5}
    assert ledger.spoilt
    worst = MOST_TOKENS * OUTPUT_USD / 1e6
    total = sum(ledger.tokens(prompt) for prompt in prompts) * OUTPUT_USD / 1e6 + len(ledger.spoilt) * worst
    budget = round(total / 2, 2)
    assert budget > 2 * worst
    with ScriptedServer(ledger, key=KEY) as server:
        asked = command(server, limit, "--judges", "execution", "--budget")
        running = place.run(*asked, str(budget))
        assert running.wait() == 1, running.stderr
        assert budget / 4 < ledger.billed_usd <= budget
        assert Store(run).spent_usd() >= ledger.billed_usd - 1e-6, "calls that failed are forgotten"
        answers = records(run, "answers.jsonl")
        exhausted = {case for case, record in answers.items() if reason(record) == "budget_exhausted"}
        assert sorted(answers) == sorted(prompts.values())
        assert 0 < len(exhausted) < limit
        assert set(records(run, "verdicts-execution.jsonl")) == set(answers) - exhausted
        shown = json.loads(running.stdout)
        assert shown["failures_by_owner"]["instrument"] == len(exhausted)
        assert shown["coverage"] == {"execution": pytest.approx(1 - len(exhausted) / limit)}

        mark, larger = len(server.requests), total + 2 * worst
        running = place.run(*asked, str(larger))
        assert running.wait() == 0, running.stderr
        assert ledger.billed_usd <= larger
        again = {prompts[request.prompt] for request in server.requests[mark:]}
    assert again == exhausted
    assert json.loads(running.stdout)["coverage"] == {"execution": 1.0}
