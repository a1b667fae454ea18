"""Training data out of judged samples: the best of n (RFT), and the best against the worst (DPO).

Sources are stored runs, whose verdicts are used as they are, and JSONL of ``opendesign train score``. The
recipe of Code Aesthetics with Agentic Reward Feedback's ablation, SFT → RFT or DPO → GRPO-AR:

    opendesign run --model SFT_MODEL --benchmark opendesign-train --samples 8 --run runs/samples …
    opendesign train data runs/samples --kind rft --out rft.jsonl     # then: opendesign train sft rft.toml
    opendesign train data runs/samples --kind dpo --out dpo.jsonl     # then: TRL's DPOTrainer, or trl dpo
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from opendesign.canonical import to_json
from opendesign.cases.reading import read_jsonl, shown
from opendesign.errors import UnknownName, UsageError
from opendesign.running.store import Store, find_run
from opendesign.train.channels import Evaluation, Found, evaluation_of
from opendesign.train.pairs import checked, checked_pair, refuse_mixed, silent
from opendesign.train.rows import rows_of
from opendesign.train.scoring import pair_of, written
from opendesign.types import Failure

__all__ = ["Kind", "Picked", "Sample", "pick", "read_samples", "write_data"]

Kind = Literal["rft", "dpo"]
_MOST = 1e9  # of a reward: sums and means of such are finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One judged answer. ``reward`` is None where a judge or an instrument failed."""

    prompt: Any  # a text or a conversation
    completion: Any
    reward: float | None
    gated: bool = False
    where: str = ""  # it comes from, as a person would look it up

    @property
    def asked(self) -> str:
        """Equal for samples that are compared."""
        return to_json(self.prompt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """Rows to train on and what they were picked from; ``reward`` is the mean of what is learned from."""

    rows: tuple[dict[str, Any], ...]
    prompts: int
    samples: int
    unscored: int
    reward: float | None
    reward_of_all: float | None
    test_cases: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        counts = {"rows": len(self.rows), "prompts": self.prompts, "samples": self.samples}
        means = {"unscored": self.unscored, "reward": self.reward, "reward_of_all": self.reward_of_all}
        return {**counts, **means, "test_cases": list(self.test_cases)}


def pick(samples: Iterable[Sample], kind: Kind, *, margin: float = 0.0) -> Picked:
    """The rows of ``kind``, one a prompt at most.

    RFT takes the best answer, DPO the best as chosen and the worst as rejected where they are more than
    ``margin`` apart. An answer that fails the gate is never learned from, one that is unscored or says
    nothing is never used. Of equal rewards the first sample counts.
    """
    if kind not in get_args(Kind):
        raise UnknownName("kind of data", str(kind), get_args(Kind))
    groups: dict[str, list[Sample]] = {}
    unscored = 0
    for sample in samples:
        group = groups.setdefault(sample.asked, [])
        if sample.reward is None:
            unscored += 1
        else:
            group.append(sample)
    rows, learned = [], []
    for group in groups.values():
        said = [one for one in group if not silent(one.completion)]
        best = max((one for one in said if not one.gated), key=_reward, default=None)
        if best is not None and (row := _row(kind, best, said, margin)):
            learned.append(_reward(best))
            rows.append(row)
    every = [_reward(sample) for group in groups.values() for sample in group]
    return Picked(
        rows=tuple(rows),
        prompts=len(groups),
        samples=len(every) + unscored,
        unscored=unscored,
        reward=_mean(learned),
        reward_of_all=_mean(every),
    )


def _reward(sample: Sample) -> float:
    assert sample.reward is not None
    return sample.reward


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 6) if values else None


def _row(kind: Kind, best: Sample, said: Sequence[Sample], margin: float) -> dict[str, Any] | None:
    if kind == "rft":
        return {"prompt": best.prompt, "completion": best.completion}
    # A judge may give one answer two scores.
    worst = min((one for one in said if one.completion != best.completion), key=_reward, default=None)
    if worst is None or not _reward(best) - _reward(worst) > margin:
        return None
    return {"prompt": best.prompt, "chosen": best.completion, "rejected": worst.completion}


def write_data(
    sources: Sequence[str],
    out: Path,
    kind: Kind,
    *,
    judges: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    margin: float = 0.0,
    allow_test_cases: bool = False,
) -> Picked:
    """Pick from all sources together and write the rows as JSONL to ``out``.

    ``judges`` and ``weights`` are for stored runs: by default the judges that they have, with the reward's
    weights. Raises ``UsageError`` for test cases that are not allowed, and where nothing can be picked.
    """
    from dataclasses import replace

    from opendesign.train.prompts import refuse_test_cases

    if any(Path(source).resolve() == out.resolve() for source in sources):
        raise UsageError(f"{out} is a file that is read: name another to write to.")
    samples = [sample for source in sources for sample in read_samples(source, judges, weights)]
    refuse_mixed((sample.where, sample.prompt) for sample in samples)
    prompts = list({sample.asked: sample.prompt for sample in samples}.values())
    cases = [row.case.prompt for row in rows_of(prompts, [""] * len(prompts), {})]
    found = refuse_test_cases(cases, allow=allow_test_cases)
    picked = replace(pick(samples, kind, margin=margin), test_cases=found)
    if not picked.rows:
        raise UsageError(
            f"Of {picked.samples} samples none can be learned from: they fail the gate, are unscored, or are "
            "equally good."
        )
    with written(out) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in picked.rows)
    return picked


def read_samples(
    source: str, judges: Sequence[str] = (), weights: Mapping[str, float] | None = None
) -> Iterator[Sample]:
    """The samples of a JSONL file with rewards, or of a stored run by path or name."""
    from opendesign.running.plan import RUNS

    if Path(source).is_file():
        return _from_file(Path(source))
    return _from_run(find_run(source, RUNS), judges, weights)


def _from_file(file: Path) -> Iterator[Sample]:
    for number, row in read_jsonl(file, Mapping[str, Any]):  # type: ignore[type-abstract]
        where = f"{shown(file)}, line {number}"
        prompt, completion = pair_of(row, where)
        if silent(completion):
            prompt = checked(prompt, "prompt", where)
        else:
            prompt, completion = checked_pair(prompt, completion, where)
        if "reward" not in row:
            raise UsageError(f"{where} has no 'reward': make it with opendesign train score.")
        reward = row["reward"]
        if reward is not None and (isinstance(reward, bool) or not isinstance(reward, (int, float))):
            raise UsageError(f"{where}: 'reward' is no number and not null.")
        if reward is not None and not abs(reward) <= _MOST:
            raise UsageError(f"{where}: 'reward' is no number from {-_MOST:g} to {_MOST:g}.")
        gated = row.get("gated", False)
        if not isinstance(gated, bool):
            raise UsageError(f"{where}: 'gated' is neither true nor false.")
        yield Sample(prompt=prompt, completion=completion, reward=reward, gated=gated, where=where)


def _from_run(folder: Path, judges: Sequence[str], weights: Mapping[str, float] | None) -> Iterator[Sample]:
    from opendesign.running.plan import stored_plan
    from opendesign.train.prompts import rows_for
    from opendesign.types import Answer

    store = Store(folder)
    cases, _, _ = stored_plan(store)
    asked = {case.id: row["prompt"] for case, row in zip(cases, rows_for(cases, chat=True), strict=True)}
    rewards = _rewards(store, judges, weights)
    for key, record in sorted(store.records("answers.jsonl").items()):
        answer = store.decode(record, Answer)
        evaluation = rewards.get(key)
        if key[0] in asked and answer.text:
            yield Sample(
                prompt=asked[key[0]],
                completion=[{"role": "assistant", "content": answer.text}],
                reward=evaluation.total if evaluation else None,
                gated=evaluation.gated if evaluation else False,
                where=shown(folder),
            )


def _rewards(
    store: Store, judges: Sequence[str], weights: Mapping[str, float] | None
) -> dict[tuple[str, int], Evaluation]:
    """The reward that stored verdicts amount to, where every judge has given one."""
    from opendesign.judging.cards import load_card
    from opendesign.train.evaluating import found_of
    from opendesign.train.panel import channel_of, role_of, weighted
    from opendesign.types import Verdict

    stored = store.judges()
    for judge in judges:
        if judge not in stored:
            raise UnknownName("judge with verdicts in this run", judge, stored)
    cards = {role_of(card): card for card in (load_card(name) for name in judges or stored)}
    if len(cards) < len(judges or stored):
        raise UsageError(f"{store.folder} has several judges for one role: name one each with --judges.")
    channels = weighted([channel_of(role, card, "unit") for role, card in cards.items()], weights)
    gate = next((channel for channel in channels if channel.name == "execution"), None)
    found: dict[tuple[str, int], dict[str, Found]] = {}
    for card in cards.values():
        for key, record in store.records(f"verdicts-{card.name}.jsonl").items():
            found.setdefault(key, {})[card.name] = found_of(store.decode(record, Verdict))
    for key, failure in _own_failures(store, gated=gate is not None):
        found[key] = {name: Found(failure=failure, of_page=True) for name in found.get(key, {})}
    return {
        key: evaluation_of(channels, of, gate=gate, seconds=0.0)
        for key, of in found.items()
        if len(of) == len(cards)
    }


def _own_failures(store: Store, *, gated: bool) -> Iterator[tuple[tuple[str, int], Failure]]:
    """Answers that no judge can make good: without a page, with one that cannot be drawn, or with one that
    the gate would not take as whole."""
    from opendesign.train.evaluating import lacking
    from opendesign.types import Answer, Artifact

    for key, record in store.records("answers.jsonl").items():
        answer = store.decode(record, Answer)
        lack = lacking(answer.document) if gated and answer.document is not None else None
        if failure := answer.failure or lack:
            yield key, failure
    for key, record in store.records("artifacts.jsonl").items():
        if failure := store.decode(record, Artifact).failure:
            yield key, failure
