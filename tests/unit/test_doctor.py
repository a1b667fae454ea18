"""``opendesign doctor``: what works here, in words and as JSON, and no key's value anywhere."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from opendesign.cli.doctor import doctor
from opendesign.rendering import inspection
from opendesign.rendering.browser import browsers
from opendesign.rendering.inspection import Finding, inspect

HAS_BROWSER = any(True for _ in browsers())


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a browser and with one key."""
    from opendesign.answering.catalogue import KEY_VARIABLES, OTHER_VARIABLES

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("OPENDESIGN_BROWSER", raising=False)
    for names in (tuple(KEY_VARIABLES.values()), *OTHER_VARIABLES.values()):
        for name in names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-print-me")


@pytest.mark.usefixtures("bare")
def test_without_a_browser_it_says_so_and_how_to_get_one() -> None:
    result = CliRunner().invoke(doctor, [], standalone_mode=False)
    assert result.return_value == 1
    assert "NO  browser" in result.output
    assert "mend: playwright install chromium-headless-shell" in result.output
    assert "OPENAI_API_KEY" in result.output
    assert "sk-do-not-print-me" not in result.output


@pytest.mark.usefixtures("bare")
def test_json_is_one_document() -> None:
    result = CliRunner().invoke(doctor, ["--json"], standalone_mode=False)
    told = json.loads(result.stdout)
    assert told["works"] is False
    names = [finding["name"] for finding in told["findings"]]
    assert names == ["browser", "fonts", "keys", "network", "plots"]
    assert "sk-do-not-print-me" not in result.output


@pytest.mark.usefixtures("bare")
async def test_hosts_that_cannot_be_reached_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def reach(hosts: list[str]) -> list[bool]:
        return [host == "up.test" for host in hosts]

    monkeypatch.setattr(inspection, "_reach", reach)
    up = await inspect(None, ("*.x.test", "up.test", "down.test"))
    assert up[-1] == Finding(name="network", ok=True, detail="up.test can be reached")
    down = await inspect(None, ("down.test",))
    assert not down[-1].ok
    assert "down.test cannot be reached" in down[-1].detail


@pytest.fixture
def no_browser(tmp_path: Path) -> str:
    """A program that can be run and is no browser."""
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    return str(fake)


async def test_a_program_that_is_no_browser_is_no_traceback(no_browser: str) -> None:
    browser = (await inspect(no_browser))[0]
    assert not browser.ok
    assert "cannot be started" in browser.detail


@pytest.mark.browser
@pytest.mark.skipif(not HAS_BROWSER, reason="there is no browser here")
async def test_with_a_browser_it_has_rendered_a_page() -> None:
    findings = {finding.name: finding for finding in await inspect()}
    assert findings["browser"].ok
    assert findings["webgl"].ok
    assert findings["sandbox"].ok or findings["sandbox"].mend
