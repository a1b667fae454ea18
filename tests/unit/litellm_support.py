"""What the tests of LiteLLM models share: a page, a case, and a retry policy without long waits."""

from __future__ import annotations

from opendesign.answering.models import Model, resolve
from opendesign.answering.retry import RetryPolicy
from opendesign.testing import ScriptedServer
from opendesign.types import Case, GenerationSettings

PAGE = '<!doctype html>\n<html lang="en"><head><title>Bees</title></head><body><p>Bees</p></body></html>'
REPLY = f"Here you are:\n\n```html\n{PAGE}\n```\n"
KEY = "sk-not-a-real-key-0123456789"
QUICK = RetryPolicy(attempts=4, first_s=0.01, longest_s=0.05, total_s=30)
SETTINGS = GenerationSettings(timeout_s=5)


def case(number: int = 0, prompt: str = "A page about bees") -> Case:
    return Case(id=f"c{number}", category="website", prompt=f"{prompt}, number {number}.")


def model_at(server: ScriptedServer, name: str = "openai/anything", *, retry: RetryPolicy = QUICK) -> Model:
    return resolve(name, base_url=server.base_url, retry=retry)
