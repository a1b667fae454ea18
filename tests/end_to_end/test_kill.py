"""Ended at any moment: resuming gives what an uninterrupted run gives, and nothing is left behind."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from opendesign.testing import ScriptedServer

from . import support_provider as provider
from . import support_runs as support
from .support_runs import Place, Running

pytestmark = pytest.mark.browser

LIMIT = 15  # cases of the normal tests
PATIENCE_S = 5.0  # a browser may live on so long after its run was killed
JUDGES = "execution,computed"  # those whose verdicts no load of the machine can change


@dataclass
class World:
    """One provider for all runs, since its address is part of what a run is, and one run left alone."""

    place: Place
    provider: provider.Provider
    server: ScriptedServer
    limit: int
    judges: str

    @property
    def prompts(self) -> dict[str, str]:
        return provider.cases(self.limit)

    @property
    def reference(self) -> Path:
        return self.place.folder / "reference" / "run"

    def arguments(self, run: Path) -> tuple[str, ...]:
        model = f"run --model openai/anything --base-url {self.server.base_url} --limit {self.limit}"
        return (*model.split(), "--judges", self.judges, "--run", str(run), "--json")

    def start(self, run: Path) -> Running:
        return self.place.start(*self.arguments(run))

    def asked(self, since: int = 0) -> list[str]:
        """Cases that the server was asked for, in order."""
        return [self.prompts[request.prompt] for request in self.server.requests[since:]]

    def check_finished(self, run: Path) -> None:
        """The records and pages are those of the run that nothing disturbed, and nothing was done twice."""
        expected = support.final(self.reference)
        assert {file: len(records) for file, records in expected.items()} == {
            "answers.jsonl": self.limit,
            "artifacts.jsonl": sum(provider.KINDS[provider.kind_of(p)] is None for p in self.prompts),
            **{f"verdicts-{judge}.jsonl": self.limit for judge in self.judges.split(",")},
        }
        assert support.final(run) == expected
        assert support.done_again(run) == []
        pages = support.blobs(run.parent)
        assert pages == support.blobs(self.reference.parent)
        assert all(name.partition(".")[0] == digest for name, digest in pages.items())
        assert support.torn(run) == []
        assert support.unfinished(run.parent) == []


@contextmanager
def world(folder: Path, limit: int, judges: str) -> Iterator[World]:
    script = provider.Provider()
    with support.place(folder) as place, ScriptedServer(script) as server:
        made = World(place, script, server, limit, judges)
        running = made.start(made.reference)
        assert running.wait() == 0, running.stderr
        assert sorted(made.asked()) == sorted(made.prompts.values())
        yield made


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("kill"), LIMIT, JUDGES) as made:
        yield made


class Killer:
    """Kills runs at moments drawn by a seed, resumes them, and looks at what is left each time."""

    def __init__(self, world: World, seed: int, wanted: int) -> None:
        self.world, self.wanted = world, wanted
        self._rng = random.Random(seed)
        self.kills = 0
        self.inside = 0  # of which with something stored and something left to do
        self._before = set(world.place.left())

    def round(self, run: Path) -> None:
        """One run, killed until it finishes or there have been enough kills, and then finished."""
        stored: set[str] = set()
        torn: list[str] = []
        mark = len(self.world.server.requests)
        while True:
            running = self.world.start(run)
            survived = self.kills >= self.wanted or not self._wait(running, run)
            if survived:
                assert running.wait() == 0, running.stderr
            else:
                children = running.kill()
                self.kills += 1
                self.inside += 0 < support.count_records(run) < support.count_records(self.world.reference)
                self._look(children)
            again = set(self.world.asked(mark)) & stored
            assert not again, f"asked again for stored answers, after kill {self.kills}"
            if survived:
                told = "records were cut short" in running.stderr
                assert told == bool(torn), running.stderr
                break
            stored, mark = support.answered(run), len(self.world.server.requests)
            self._tear(run)
            torn = support.torn(run)
        self.world.check_finished(run)

    def _wait(self, running: Running, run: Path) -> bool:
        """Wait for the moment; False where the run was finished before it came."""
        if self._rng.random() < 0.15:  # any time from the start on, its imports among them
            end = time.monotonic() + self._rng.uniform(0, 5)
            return running.until(lambda: time.monotonic() >= end) and not running.ended
        files = 2 + self.world.judges.count(",") + 1
        left = self.world.limit * files - support.count_records(run)
        kills_left = self.wanted - self.kills
        more = support.count_records(run) + self._rng.randint(0, max(1, round(1.5 * left / kills_left)))
        if not running.until(lambda: support.count_records(run) >= more):
            return False
        time.sleep(self._rng.uniform(0, 0.2))
        return not running.ended

    def _look(self, children: list[support.psutil.Process]) -> None:
        left = support.left_after(
            PATIENCE_S, lambda: [*support.alive(children), *self.world.place.processes()]
        )
        assert left == [], f"left {PATIENCE_S:g} s after kill {self.kills}"
        piled = set(self.world.place.left()) - self._before
        # The driver, which lives on for a moment, removes its own; our folder for the browser's home stays.
        assert all(name.startswith("opendesign-browser-") for name in piled), piled
        assert len(piled) <= self.kills

    def _tear(self, run: Path) -> None:
        """Every other time, what a kill in the middle of a write leaves: a line without its end."""
        path = run / "answers.jsonl"
        if 0 < len(support.answered(run)) < self.world.limit and self._rng.random() < 0.5:
            line = path.read_bytes().splitlines()[0]
            with path.open("ab") as file:
                file.write(line[: self._rng.randint(1, len(line))])


def kill(world: World, folder: Path, *, seed: int, wanted: int) -> Killer:
    """As many kills as wanted, of as many runs as that takes: some finish before their moment comes."""
    killer = Killer(world, seed, wanted)
    for number in range(wanted):
        killer.round(folder / f"killed-{number}" / "run")
        if killer.kills == wanted:
            return killer
    raise AssertionError(f"runs end before they can be killed: {killer.kills} of {wanted}")


def test_killed_three_times(short: World) -> None:
    assert kill(short, short.place.folder, seed=3, wanted=3).inside >= 1


@pytest.mark.long
def test_killed_at_thirty_moments(tmp_path: Path) -> None:
    with world(tmp_path, 60, JUDGES) as made:
        assert kill(made, tmp_path, seed=30, wanted=30).inside >= 10


# -- stopped by a person -----------------------------------------------------------------------------------


def test_stopped_by_a_signal_and_kept_from_a_second_process(short: World) -> None:
    """SIGTERM to the process, then a Ctrl-C, which a terminal sends to the whole group; then to its end."""
    run = short.place.folder / "stopped" / "run"
    begun = len(short.server.requests)
    prompt = next(prompt for prompt in short.prompts if provider.kind_of(prompt) == "page")
    short.provider.held = {prompt}  # so that it cannot be finished before it is stopped
    try:
        before = short.place.left()
        running = _under_way(short, run, prompt)
        _check_second_is_refused(short, run, running)
        os.kill(running.process.pid, signal.SIGTERM)
        _check_stopped(short, running)
        assert short.place.left() == before
        stored, mark = support.answered(run), len(short.server.requests)
        running = _under_way(short, run, prompt)
        os.killpg(running.process.pid, signal.SIGINT)
        _check_stopped(short, running)
        assert not set(short.asked(mark)) & stored
    finally:
        short.provider.held = set()
    running = short.start(run)
    assert running.wait() == 0, running.stderr
    short.check_finished(run)
    assert short.asked(begun).count(short.prompts[prompt]) == 3


def _under_way(short: World, run: Path, held: str) -> Running:
    """A run with a browser that waits for the answer which is held, and has a page more than it had."""
    mark, pages = len(short.server.requests), len(support.lines(run, "artifacts.jsonl"))
    wanted = min(pages + 1, len(support.lines(short.reference, "artifacts.jsonl")) - 1)
    running = short.start(run)
    assert running.until(
        lambda: (
            short.prompts[held] in short.asked(mark) and len(support.lines(run, "artifacts.jsonl")) >= wanted
        )
    ), running.stderr
    return running


def _check_second_is_refused(short: World, run: Path, running: Running) -> None:
    second = short.start(run)
    assert second.wait() == 2
    assert second.stdout == ""
    (sentence,) = second.stderr.splitlines()
    assert sentence.startswith(f"Error: Another process (id {running.process.pid}) is writing to ")
    assert not running.ended


def _check_stopped(short: World, running: Running) -> None:
    """Soon, with one sentence, and no browser left."""
    started = time.monotonic()
    assert running.wait() == 130, running.stderr
    assert time.monotonic() - started < 10 * support.business()
    said = [line for line in running.stderr.splitlines() if line and " cases · " not in line]
    assert said == ["Stopped. What is done is stored: the same command again goes on from there."]
    assert running.stdout == ""
    assert support.left_after(PATIENCE_S, short.place.processes) == []


# -- a full disk -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own of 32 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a disk of its own takes root and mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(disk)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a disk of its own cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_disk_that_is_full_in_the_middle(short: World, small_disk: Path) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"
    space = os.statvfs(small_disk)
    ballast.write_bytes(bytes(space.f_bavail * space.f_frsize - 150_000))
    running = short.start(run)
    assert running.wait() == 2, running.stderr
    said = [line for line in running.stderr.splitlines() if " cases · " not in line]
    assert len(said) == 1, running.stderr
    assert said[0].startswith("Error: Cannot write ")
    assert "no space left on device" in said[0]
    assert running.stdout == ""
    assert support.left_after(PATIENCE_S, short.place.processes) == []

    stored, mark = support.answered(run), len(short.server.requests)
    assert stored
    assert support.count_records(run) < support.count_records(short.reference)
    assert support.torn(run) == []
    assert support.unfinished(small_disk) == []
    kept = support.blobs(small_disk)
    assert all(name.partition(".")[0] == digest for name, digest in kept.items())

    ballast.unlink()
    running = short.start(run)
    assert running.wait() == 0, running.stderr
    assert not set(short.asked(mark)) & stored
    short.check_finished(run)
