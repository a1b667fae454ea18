"""A live page under Selenium: a chromedriver and a browser of its own, held as tightly as Playwright's.

Nothing but the page's own gate can be reached (the browser is started with that proxy, and with the same
resolver rules), chromedriver and browser run as the browser's unprivileged user under the same watchdog, and
both end with the session, or with us.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError, failed
from opendesign.rendering.driver import ScriptFailed
from opendesign.rendering.launch import ARGUMENTS, LAUNCH_S, Launcher
from opendesign.rendering.page import REPORT, STAY, Events, Vanished, init_script, note_report
from opendesign.rendering.selenium_driver import SeleniumDriver
from opendesign.rendering.session import LONGEST_S
from opendesign.rendering.watchdog import ProcessTree

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

    from opendesign.rendering.network import Gate
    from opendesign.rendering.watchdog import Watchdog
    from opendesign.types import RenderSettings

__all__ = ["SeleniumPage", "check_installed", "selenium_page"]

QUIT_S = 5.0
#: What Playwright also sets, so that both draw the same page; and no window but the page's own.
_ALSO = (
    "--headless",
    "--remote-debugging-pipe",  # no port; and the browser ends with chromedriver
    "--block-new-web-contents",
    "--hide-scrollbars",
    "--mute-audio",
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--disable-dev-shm-usage",
    "--disable-component-update",
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)
_PORT = re.compile(rb"started successfully on port (\d+)")
_GET_PACKAGE = "pip install 'opendesign[selenium]'"
_GET_DRIVER = "apt-get install chromium-driver"

# In the isolated world of every frame: a book of what the page would have done, and what went wrong in it; a
# frame of the page's origin writes into the book of the top one.
_BOOK = """((secret) => {
  let book = [];
  try { book = top.__book ??= book; } catch { /* another origin's */ }
  const put = (kind, text) => { if (book.length < 200) book.push([kind, `${text}`.slice(0, 1000)]); };
  document.addEventListener(secret, (event) => put("report", event.detail));
  addEventListener("click", (event) => {
    const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement && one.href);
    if (!link || event.defaultPrevented) return;
    if (link.hasAttribute("download")) put("download", link.href);
    else if (link.target === "_blank") put("popup", link.href); // it is not opened
  });
})"""
# In the page's world, before `init.js`, which takes the reporter away again; and no service worker. Errors
# are heard only in the world that made them.
_REPORTER = """((secret, name) => {
  const { apply } = Reflect, { dispatchEvent } = EventTarget.prototype, { stringify } = JSON;
  const Told = CustomEvent, page = document;
  const tell = (detail) => { apply(dispatchEvent, page, [new Told(secret, { __proto__: null, detail })]); };
  globalThis[name] = tell;
  const wrong = (message) => tell(stringify({ __proto__: null, kind: "script_error", message }));
  addEventListener("error", (event) => { if (event.message) wrong(event.message); });
  addEventListener("unhandledrejection", (event) => {
    try { wrong(`${event.reason}`); } catch { wrong("Unhandled rejection"); }
  });
  if (globalThis.ServiceWorkerContainer) {
    ServiceWorkerContainer.prototype.register = async () => {};
  }
})"""


def check_installed() -> tuple[type[Exception], ...]:
    """The errors of Selenium. Raises ``UsageError`` where it or chromedriver is not installed."""
    try:
        from selenium.common.exceptions import WebDriverException
        from urllib3.exceptions import HTTPError
    except ImportError:
        raise UsageError(f"Selenium is not installed: `{_GET_PACKAGE}` gets it.") from None
    _chromedriver()
    return (WebDriverException, HTTPError)


class SeleniumPage:
    """A page that is open under Selenium; implements ``Opened``.

    Events of the page are fetched whenever it is asked whether it still answers.
    """

    def __init__(
        self, driver: SeleniumDriver, tree: ProcessTree, gate: Gate, settings: RenderSettings
    ) -> None:
        self.gate, self.settings, self._events = gate, settings, Events()
        self.crashed = driver.crashed
        self._driver, self._tree = driver, tree

    def driver(self) -> SeleniumDriver:
        return self._driver

    async def load(self, *, stay: bool = False) -> None:
        if stay:
            await self._driver.add_script(STAY, "page")
        await self._driver.navigate()
        await self.forget_history()

    async def forget_history(self) -> None:
        from selenium.common.exceptions import WebDriverException

        with contextlib.suppress(WebDriverException):  # too early, the browser may say no
            await self._driver.cdp("Page.resetNavigationHistory")

    async def look(self, source: str, argument: Mapping[str, Any]) -> Any:
        from selenium.common.exceptions import WebDriverException

        try:
            return await self._driver.evaluate(f"({source})({json.dumps(argument)})", "apart")
        except ScriptFailed as error:
            raise Vanished(str(error)) from error
        except WebDriverException as error:
            if self._driver.gone(error):
                raise Vanished from error
            raise

    async def where(self) -> str:
        return str(await self.look("() => location.href", {}))

    async def answers(self, patience_s: float) -> bool:
        from selenium.common.exceptions import WebDriverException
        from urllib3.exceptions import HTTPError

        try:
            async with asyncio.timeout(patience_s):  # see page.py
                await self._driver.hear()
        except TimeoutError:
            return False
        except (WebDriverException, HTTPError, ScriptFailed):
            return True  # gone or going: somebody else hears of that
        return True

    async def end(self) -> None:
        self._driver.ended = True
        self.crashed.set()
        await asyncio.to_thread(self._tree.kill)

    @property
    def events(self) -> Events:
        heard, self._driver.heard = self._driver.heard, []
        for kind, text in heard:
            if kind == "report":
                note_report(self._events, text)
            elif kind == "download":
                self._events.downloads += 1
            else:
                self._events.popups += 1
        return self._events


@contextlib.asynccontextmanager
async def selenium_page(
    launcher: Launcher, watchdog: Watchdog, gate: Gate, settings: RenderSettings
) -> AsyncIterator[SeleniumPage]:
    """A live page in a browser of its own. Raises ``UsageError`` where chromedriver does not fit the browser,
    ``Failed`` (``browser_crash``) where it cannot be started.
    """
    async with _chromedriver_process(launcher) as (address, tree):
        watchdog.watch(tree)
        try:
            with watchdog.guard(tree, LONGEST_S):
                async with _browser(address, tree, launcher, gate, settings) as driver:
                    await _prepare(driver, settings)
                    yield SeleniumPage(driver, tree, gate, settings)
        finally:
            watchdog.forget(tree)


@contextlib.asynccontextmanager
async def _chromedriver_process(launcher: Launcher) -> AsyncIterator[tuple[str, ProcessTree]]:
    """A chromedriver: its address and its processes, of which none is left afterwards."""
    script = launcher.tethered(_chromedriver())
    said = script.with_suffix(".out")
    process = _start(script, said, launcher.environment())
    tree = ProcessTree(process.pid)
    try:
        try:
            port = await asyncio.wait_for(_port(process, said), LAUNCH_S)
        except TimeoutError:
            raise failed("browser_crash", "chromedriver did not start in time.") from None
        yield f"http://127.0.0.1:{port}", tree
    finally:
        await asyncio.shield(asyncio.to_thread(_end, process, tree))


def _start(script: Path, said: Path, environment: Mapping[str, str]) -> Popen[bytes]:
    """chromedriver, writing into the file ``said``: a file is never full and need not be read to its end.

    Not in asyncio's way, which waits for ever where it is cancelled half-way.
    """
    with said.open("wb") as out:
        ports = "--port=0"  # any that is free
        return Popen([script, ports], bufsize=0, stdin=PIPE, stdout=out, stderr=DEVNULL, env=environment)


def _end(process: Popen[bytes], tree: ProcessTree) -> None:
    """Nothing of it is left afterwards."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # it has ended already
        process.stdin.write(b"over\n")
    tree.kill()
    process.wait()
    process.stdin.close()


async def _port(process: Popen[bytes], said: Path) -> int:
    while process.poll() is None:
        if found := _PORT.search(await asyncio.to_thread(said.read_bytes)):
            return int(found[1])
        await asyncio.sleep(0.02)
    raise failed("browser_crash", "chromedriver ended as soon as it was started.")


@contextlib.asynccontextmanager
async def _browser(
    address: str, tree: ProcessTree, launcher: Launcher, gate: Gate, settings: RenderSettings
) -> AsyncIterator[SeleniumDriver]:
    """A browser started by that chromedriver; all of ``tree`` is ended with it."""
    from selenium.common.exceptions import WebDriverException
    from urllib3.exceptions import HTTPError

    try:
        starting = asyncio.to_thread(_open, address, launcher, gate, settings)
        remote = await asyncio.wait_for(starting, 2 * LAUNCH_S)
    except TimeoutError:
        raise failed("browser_crash", "The browser did not start under chromedriver in time.") from None
    except (WebDriverException, HTTPError) as error:
        said = str(error).splitlines()[0][:300]
        if "only supports" in said:
            raise UsageError(
                f"{_chromedriver()} does not fit {launcher.found.path} ({said}): "
                f"`{_GET_DRIVER} chromium`, then OPENDESIGN_BROWSER=/usr/bin/chromium."
            ) from error
        raise failed("browser_crash", f"The browser did not start under chromedriver: {said}") from error
    driver = SeleniumDriver(remote, gate.url, settings.width, settings.height)
    try:
        yield driver
    finally:
        with contextlib.suppress(TimeoutError, WebDriverException, HTTPError):
            if not driver.crashed.is_set():
                await asyncio.wait_for(driver.quit(), QUIT_S)
        await asyncio.to_thread(tree.kill)
        await asyncio.to_thread(driver.shut)


def _open(address: str, launcher: Launcher, gate: Gate, settings: RenderSettings) -> WebDriver:
    """Start a browser. Blocks."""
    from selenium.webdriver import ChromeOptions, Remote
    from selenium.webdriver.chrome.remote_connection import ChromeRemoteConnection
    from selenium.webdriver.common.proxy import Proxy, ProxyType
    from selenium.webdriver.remote.client_config import ClientConfig

    options = ChromeOptions()
    options.binary_location = str(launcher.found.path)
    options.page_load_strategy = "none"  # what is waited for is ours to say
    options.unhandled_prompt_behavior = "accept"
    options.accept_insecure_certs = True  # the gate's own
    size = f"--window-size={settings.width},{settings.height}"
    own = () if launcher.sandboxed else ("--no-sandbox",)
    for argument in (*ARGUMENTS, *_ALSO, size, f"--proxy-server={gate.proxy}", *own):
        options.add_argument(argument)
    direct = Proxy({"proxyType": ProxyType.DIRECT})  # whatever the environment says of proxies
    client = ClientConfig(remote_server_addr=address, proxy=direct, timeout=int(LONGEST_S))
    return Remote(command_executor=ChromeRemoteConnection(address, client_config=client), options=options)


async def _prepare(driver: SeleniumDriver, settings: RenderSettings) -> None:
    """What Playwright does to a new context."""
    secret = secrets.token_hex(16)
    told = json.dumps([secret, REPORT])[1:-1]
    await driver.add_script(f'{_BOOK}("{secret}")', "apart")
    await driver.add_script(f"{_REPORTER}({told});\n{init_script(frozen=False, accept=True)}", "page")
    size = {"width": settings.width, "height": settings.height, "deviceScaleFactor": settings.scale}
    await driver.cdp("Emulation.setDeviceMetricsOverride", mobile=False, **size)
    await driver.cdp("Emulation.setFocusEmulationEnabled", enabled=True)
    await driver.cdp("Emulation.setLocaleOverride", locale="en-US")
    await driver.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
    await driver.cdp("Browser.setDownloadBehavior", behavior="deny")


def _chromedriver() -> Path:
    found = shutil.which("chromedriver")
    if found is None:
        raise UsageError(f"chromedriver is not installed: `{_GET_DRIVER}` gets it.")
    return Path(found)
