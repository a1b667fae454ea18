"""Which browser is chosen, what a person is told when there is none, and how its processes are watched."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from opendesign.errors import UsageError
from opendesign.rendering import browser, processes, watchdog
from opendesign.rendering.browser import browsers, find_browser
from opendesign.rendering.pool import default_pages_at_once


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser: programs in ``bin``, Playwright's folder ``own``."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "own"))
    monkeypatch.delenv("OPENDESIGN_BROWSER", raising=False)
    return tmp_path


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def own(machine: Path, revision: str, *, shell: bool = True) -> Path:
    if shell:
        return program(
            machine / "own" / f"chromium_headless_shell-{revision}" / "chrome-linux" / "headless_shell"
        )
    return program(machine / "own" / f"chromium-{revision}" / "chrome-linux" / "chrome")


def test_none_is_one_sentence_with_the_command() -> None:
    with pytest.raises(UsageError, match=r"run `playwright install chromium-headless-shell`") as caught:
        find_browser()
    assert "\n" not in str(caught.value)


def test_an_argument_goes_before_the_environment_and_that_before_all(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(machine, "1")
    given, named = program(machine / "a" / "chrome"), program(machine / "b" / "my-headless-thing")
    monkeypatch.setenv("OPENDESIGN_BROWSER", str(named))
    assert (find_browser(given).path, find_browser(given).source) == (given, "argument")
    assert (find_browser().path, find_browser().source) == (named, "environment")
    assert find_browser().kind == "chromium-headless-shell"


def test_playwrights_own_goes_before_the_systems_and_a_shell_before_a_browser(machine: Path) -> None:
    program(machine / "bin" / "chromium-headless-shell")
    full = own(machine, "1300", shell=False)
    assert find_browser().path == full
    shell = own(machine, "1200")
    assert find_browser().path == shell
    assert [found.source for found in browsers()] == ["playwright", "playwright", "system"]


def test_the_revision_of_this_playwright_goes_before_a_newer_one(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "_revision", lambda: "1100")
    own(machine, "1300")
    own(machine, "900")
    newest = find_browser().path
    assert "1300" in str(newest)
    wanted = own(machine, "1100")
    assert find_browser().path == wanted


def test_the_systems_in_their_order(machine: Path) -> None:
    chrome = program(machine / "bin" / "google-chrome")
    assert (find_browser().path, find_browser().kind) == (chrome, "google-chrome")
    chromium = program(machine / "bin" / "chromium")
    assert (find_browser().path, find_browser().kind) == (chromium, "chromium")
    shell = program(machine / "bin" / "chromium-headless-shell")
    assert (find_browser().path, find_browser().kind) == (shell, "chromium-headless-shell")


def test_a_name_on_the_path_will_do(machine: Path) -> None:
    there = program(machine / "bin" / "chromium")
    assert find_browser("chromium").path == there


def test_a_named_browser_that_is_not_there_is_said_so(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "bin" / "chromium")
    with pytest.raises(UsageError, match=r"'/none/chrome' \(the browser given\)"):
        find_browser("/none/chrome")
    monkeypatch.setenv("OPENDESIGN_BROWSER", "/none/other")
    with pytest.raises(UsageError, match=r"\$OPENDESIGN_BROWSER"):
        find_browser()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may run everything that anybody may")
def test_a_file_that_cannot_be_run_is_no_browser(machine: Path) -> None:
    with pytest.raises(UsageError):
        find_browser(program(machine / "x" / "chrome", mode=0o644))


def test_the_revision_is_read_off_playwright() -> None:
    assert browser._revision().isdigit()


def test_there_is_room_for_one_page_more_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert default_pages_at_once() in (2, 3)  # fewer in a container with a quota
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(200)), raising=False)
    assert default_pages_at_once() <= 16


_FAMILY = """
import subprocess, sys, threading
sleeper = [sys.executable, "-c", "print('started', flush=True); input()"]
def start():
    subprocess.Popen(sleeper)
    threading.Event().wait()
threading.Thread(target=start, daemon=True).start()
input()
"""


@pytest.mark.parametrize("by_psutil", [False, True])
def test_a_family_is_read_and_only_that_very_process_ended(
    by_psutil: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_psutil:
        monkeypatch.setattr(processes, "_has_children_files", lambda: False)
    with subprocess.Popen(
        [sys.executable, "-c", _FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == b"started\n"
        mother, child = processes.family(parent.pid)
        known = psutil.Process(child.pid)
        assert (mother.pid, known.ppid()) == (parent.pid, parent.pid), "a thread's child is found"
        assert processes.command(child.pid)[1:] == ["-c", "print('started', flush=True); input()"]
        assert child.rss_mb == pytest.approx(known.memory_info().rss / 2**20, rel=0.5)
        assert 0 <= child.cpu_s <= sum(known.cpu_times()[:2]) + 0.02
        if not by_psutil:
            assert processes.family(parent.pid, childless={parent.pid}) == [mother]
        processes.end(replace(child, started=child.started - 1))
        assert known.is_running(), "another process that had the same id"
        processes.end(child)
        for _ in range(100):
            if len(processes.family(parent.pid)) == 1 or known.status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(0.05)
        else:
            pytest.fail("it was not ended")
        processes.end(mother)
        parent.wait(5)
    assert processes.family(parent.pid) == []
    assert processes.command(parent.pid) == []


def test_the_watchdog_looks_again_as_soon_as_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "INTERVAL_S", 0.01)
    monkeypatch.setattr(watchdog, "IDLE_S", 60.0)
    looks = threading.Semaphore(0)

    class Tree(watchdog.ProcessTree):
        def sample(self, *, thorough: bool = False) -> None:
            looks.release()

        def end_heavy(self, memory_mb: float) -> None: ...

    dog = watchdog.Watchdog(1_000)
    dog.watch(Tree(os.getpid()))
    while looks.acquire(blocking=False):
        pass
    dog.start()
    try:
        assert not looks.acquire(timeout=0.3), "nothing is being worked on"
        with dog.guard(Tree(os.getpid()), 60):
            assert all(looks.acquire(timeout=10) for _ in range(4))
    finally:
        started = time.monotonic()
        dog.stop()
    assert time.monotonic() - started < 10
