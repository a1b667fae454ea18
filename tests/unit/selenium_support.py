"""Whether Selenium can drive the browser that is here."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

from opendesign.errors import UsageError
from opendesign.rendering.browser import find_browser


@cache
def no_selenium() -> str:
    """Why it cannot, or nothing."""
    driver = shutil.which("chromedriver")
    if driver is None:
        return "there is no chromedriver here"
    try:
        programs = (driver, str(find_browser().path))
    except UsageError as error:
        return str(error)
    said = [subprocess.run([one, "--version"], capture_output=True, text=True).stdout for one in programs]
    majors = {found[0] for text in said if (found := re.search(r"\d+", text))}
    return "" if len(majors) == 1 else f"chromedriver does not fit the browser: {' and '.join(said)}"
