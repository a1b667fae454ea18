"""Starting a browser: sandboxed, with an environment that holds no secret, in a process tree of our own.

Chromium refuses its sandbox as root even where namespaces work. So as root the browser is started as an
unprivileged user, by a small script that hands it its profile folder first; only where a sandboxed start
fails is it started without, and every record says so (``sandboxed``).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shlex
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opendesign.errors import UsageError
from opendesign.rendering.browser import GET_ONE, BrowserFound
from opendesign.rendering.watchdog import ProcessTree

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

__all__ = ["Launched", "Launcher"]

LAUNCH_S = 30.0
_PREFIX = "opendesign-browser-"
#: Below the driver, nothing but the page's own proxy can be reached; WebGL without a GPU; the same pixels
#: for the same page wherever the same fonts are.
ARGUMENTS = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-quic",
    # Drawing on the processor: SwiftShader as the compositor costs three times as much, and its pixels vary.
    "--disable-gpu-compositing",
    "--enable-unsafe-swiftshader",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--autoplay-policy=user-gesture-required",
    "--password-store=basic",
)
_KEPT = ("PATH", "LANG", "LC_ALL", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "LD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(slots=True)
class Launched:
    """A running browser and its processes."""

    browser: Browser
    tree: ProcessTree
    sandboxed: bool
    user: str

    async def close(self, patience_s: float = 5.0) -> None:
        """End it; by force where it does not end in time. Nothing of it is left afterwards."""
        from playwright.async_api import Error

        with contextlib.suppress(TimeoutError, Error):
            await asyncio.wait_for(self.browser.close(), patience_s)
        await asyncio.to_thread(self.tree.kill)


class Launcher:
    """Starts browsers of one kind in one way, which the first start decides. Owns a private folder."""

    def __init__(self, playwright: Playwright, found: BrowserFound) -> None:
        self._playwright = playwright
        self.found = found
        _sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._count = 0
        self._way: tuple[str | None, bool] | None = None  # user to change to, sandboxed
        self.sandbox_problem = ""  # why there is no sandbox, one line

    async def launch(self) -> Launched:
        """A new browser. Raises ``UsageError`` where none can be started."""
        from playwright.async_api import Error

        ways = [self._way] if self._way else self._ways()
        problem = ""
        for way in ways:
            try:
                launched = await self._start(*way)
            except Error as error:
                problem = problem or _first_lines(str(error))
                continue
            if self._way is None:
                self._way = way
                self.sandbox_problem = self.sandbox_problem or ("" if way[1] else problem)
            return launched
        raise UsageError(
            f"The browser {self.found.path} cannot be started ({problem}): try another, `{GET_ONE}` gets one."
        )

    def close(self) -> None:
        """Remove the private folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ways(self) -> list[tuple[str | None, bool]]:
        """(user, sandboxed) to try in turn. A start that failed once may have been the machine's load."""
        if os.name != "posix" or os.geteuid() != 0:
            return [(None, True), (None, True), (None, False)]
        user, problem = _unprivileged_user(self.found.path)
        if user is None:
            self.sandbox_problem = problem
            return [(None, False), (None, False)]
        return [(user, True), (user, True), (None, False)]

    async def _start(self, user: str | None, sandboxed: bool) -> Launched:
        pid_file = self._folder / f"pid-{self._count + 1}"
        script = self._script(user, self.found.path, [f"echo $$ > {shlex.quote(str(pid_file))}"])
        browser = await self._playwright.chromium.launch(
            executable_path=script,
            chromium_sandbox=sandboxed,
            args=list(ARGUMENTS),
            env={**self.environment()},
            timeout=LAUNCH_S * 1000,
        )
        pid = int(pid_file.read_text(encoding="ascii"))
        return Launched(browser, ProcessTree(pid), sandboxed, user or _own_name())

    def tethered(self, program: Path) -> Path:
        """A script that runs another program as the browser's user, with the browser's ``sandboxed``.

        It expects a line on its standard input when all is over: where that is closed without one, because we
        were killed, the program is ended.
        """
        assert self._way is not None, "the first browser decides how all are started"
        lines = [
            "exec 3<&0 </dev/null",
            "(read -r _ <&3 || kill -9 $$) >/dev/null 2>&1 &",
            "exec 3<&-",
        ]
        return self._script(self._way[0], program, lines)

    @property
    def sandboxed(self) -> bool:
        """Whether browsers are started with their sandbox; known once one has been."""
        return bool(self._way and self._way[1])

    def _script(self, user: str | None, program: Path, before: list[str]) -> Path:
        """What is started instead of a program: does what comes ``before``, changes the user, becomes it."""
        self._count += 1
        lines = ["#!/bin/sh", *before]
        home = self._folder / "home"
        home.mkdir(exist_ok=True)
        target = shlex.quote(str(program))
        if user:
            entry = pwd.getpwnam(user)
            os.chown(home, entry.pw_uid, entry.pw_gid)
            self._folder.chmod(0o711)
            owner = f"{entry.pw_uid}:{entry.pw_gid}"
            lines.append(
                'for a in "$@"; do case "$a" in --user-data-dir=*) '
                f'chown -R {owner} "${{a#--user-data-dir=}}";; esac; done'
            )
            as_user = f"--reuid {entry.pw_uid} --regid {entry.pw_gid} --clear-groups --no-new-privs"
            target = f"setpriv {as_user} -- {target}"
        lines.append(f'exec {target} "$@"')
        script = self._folder / ("as-" + (user or "self"))
        script = script.with_name(f"{script.name}-{self._count}")
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        script.chmod(0o700)
        return script

    def environment(self) -> dict[str, str]:
        """No key of a provider, nor anything else of ours, is in the browser's reach."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        home = str(self._folder / "home")
        kept |= {"HOME": home, "TMPDIR": home, "TZ": "UTC", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        return kept


def _sweep() -> None:
    """Remove the folders of processes that were killed: their owner is gone, and so for an hour."""
    import psutil

    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            old = time.time() - folder.stat().st_mtime > 3600
            if owner.isdecimal() and old and not psutil.pid_exists(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user(program: Path) -> tuple[str | None, str]:
    """The user the browser runs as where we are root, or None and why not."""
    if shutil.which("setpriv") is None:
        return None, "setpriv (util-linux) is not installed, so the browser cannot leave root"
    try:
        pwd.getpwnam("nobody")
    except KeyError:
        return None, "there is no user 'nobody' to run the browser as"
    real = program.resolve()
    for part in (real, *real.parents):
        if not part.stat().st_mode & 0o001:
            return None, f"'{part}' may not be entered by the user 'nobody'"
    return "nobody", ""


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _first_lines(text: str) -> str:
    """What went wrong, out of Playwright's long report."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "FATAL" in line or "ERROR" in line or "No usable sandbox" in line]
    return (told or lines or ["no reason given"])[0][:200]
