"""Names → models: controls, descriptions in TOML, LiteLLM names, and what is said of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from opendesign.answering import catalogue
from opendesign.answering.budget import Budget
from opendesign.answering.described import load_described
from opendesign.answering.disk import DiskModel
from opendesign.answering.litellm_model import LiteLLMModel
from opendesign.answering.models import BuiltinModel, Model, listed, resolve
from opendesign.cli.models import models as models_command
from opendesign.errors import UnknownName, UsageError
from opendesign.types import CATEGORIES, Case, GenerationSettings

SETTINGS = GenerationSettings()
KEY = "sk-not-a-real-key-0123456789"


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for provider in catalogue.KEY_VARIABLES:
        for name in catalogue.key_variables(provider):
            monkeypatch.delenv(name, raising=False)


def described(text: str) -> None:
    Path("models.toml").write_text(text)


# -- controls ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["template", "plain", "broken"])
async def test_controls_answer_every_category_the_same_each_time(control: str) -> None:
    model = resolve(f"builtin/{control}")
    assert isinstance(model, Model)
    for category in CATEGORIES:
        case = Case(id=f"{category}-1", category=category, prompt="A page about bees.")
        answer = await model.answer(case, 0, SETTINGS)
        assert answer.status == "ok"
        assert answer.document
        assert "<html" in answer.document.lower()
        assert answer == await resolve(f"builtin/{control}").answer(case, 0, SETTINGS)
    with pytest.raises(UsageError, match="cases only"):
        await model.chat([])


def test_the_configuration_of_a_control_holds_its_code() -> None:
    config = resolve("builtin/template").config(SETTINGS)
    assert config["model"] == "builtin/template"
    assert len(config["controls"]) == 16
    assert config["controls"] == resolve("builtin/plain").config(SETTINGS)["controls"]


# -- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("builtin/templte", r"no model named 'builtin/templte': did you mean builtin/template"),
        ("builtin", "did you mean builtin/"),
        ("opnai/gpt-5", "no model provider named 'opnai': did you mean openai"),
        ("anthropc/claude", "did you mean anthropic"),
        ("gpt-5", "did you mean openai/gpt-5"),
        ("quen-local", "did you mean qwen-local"),
        ("openai/", "There is no model named"),
        ("", "There is no model named"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, said: str) -> None:
    described('[qwen-local]\nmodel = "hosted_vllm/q"\nbase_url = "http://localhost:1/v1"')
    with pytest.raises(UsageError, match=said) as error:
        resolve(name)
    assert str(error.value).count("\n") == 0


def test_a_provider_needs_its_key_unless_the_server_is_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="set the environment variable OPENAI_API_KEY"):
        resolve("openai/gpt-5")
    assert isinstance(resolve("openai/x", base_url="http://localhost:8000/v1"), LiteLLMModel)
    assert isinstance(resolve("ollama/llama3"), LiteLLMModel), "a provider that wants no key"
    with pytest.raises(UsageError, match="base URL"):
        resolve("hosted_vllm/qwen")
    assert isinstance(resolve("hosted_vllm/qwen", base_url="http://localhost:8000/v1"), LiteLLMModel)
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        resolve("gemini/gemini-2.5-pro")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert isinstance(resolve("gemini/gemini-2.5-pro"), LiteLLMModel)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = resolve("openai/gpt-5")
    assert model.name == "openai/gpt-5"
    assert KEY not in json.dumps(model.config(SETTINGS)) + repr(model.__dict__["_described"])


def test_paths_are_answers_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.html").write_text("x")
    (tmp_path / "mistral").mkdir()
    for name in ("mine", "./mine", str(folder), "answers:mine"):
        assert isinstance(resolve(name), DiskModel)
        assert resolve(name).name == name


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://user:secret@host/v1", "key in its base_url"),
        ("http://host/v1?api_key=abc", "key in its base_url"),
        ("http://host/v1?x=1&key=abc", "key in its base_url"),
        ("http://host/sk-abcdefghijklmnopqrst/v1", "key in its base_url"),
        ("ftp://host/v1", "no http"),
        ("localhost:8000", "no http"),
        ("http://", "no http"),
        ("http://[::1/v1", "no http"),
    ],
)
def test_an_address_with_a_key_or_that_is_none(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        resolve("openai/x", base_url=url)
    assert "secret" not in str(error.value)
    described(f'[x]\nmodel = "openai/x"\nbase_url = "{url}"')
    with pytest.raises(UsageError, match=f"{said}|holds a key"):
        load_described()


# -- descriptions ------------------------------------------------------------------------------------------


def test_a_description_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QWEN_KEY", KEY)
    described("""
        [qwen]
        model = "hosted_vllm/Qwen/Qwen3"
        base_url = "http://localhost:8000/v1"
        api_key_env = "QWEN_KEY"
        requests_per_minute = 60
        tokens_per_minute = 100_000
        concurrency = 2
        timeout_s = 30
        max_tokens = 16_384
        vision = true
        json_schema = false
        reasoning = true
        prices = { input = 1, output = 2.5 }
        parameters = { top_p = 0.9, extra_body = { top_k = 20 } }
    """)
    model = resolve("qwen", budget=Budget(1.0))
    assert isinstance(model, LiteLLMModel)
    assert model.name == "qwen"
    assert model.description.vision is True
    settings = GenerationSettings(temperature=0.7, max_tokens=20_000, system={"game": "g"})
    assert model.config(settings) == {
        "model": "qwen",
        "asked": "hosted_vllm/Qwen/Qwen3",
        "base_url": "http://localhost:8000/v1",
        "max_tokens": 16_384,
        "temperature": None,
        "system": {"game": "g"},
        "parameters": {"top_p": 0.9, "extra_body": {"top_k": 20}},
    }
    case = Case(id="a", category="game", prompt="x" * 1_000)
    worst = model.worst_case_usd(case, settings)
    assert worst is not None
    assert 16_384 * 2.5e-6 + 1_001e-6 <= worst < 16_384 * 2.5e-6 + 1_100e-6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "must be a table"),
        ("[x]\nvision = true", "needs a LiteLLM name"),
        ('[x]\nmodel = "a/b"\nconcurency = 2', "did you mean concurrency"),
        ('[x]\nmodel = "a/b"\nconcurrency = true', "must be a whole number"),
        ('[x]\nmodel = "a/b"\nconcurrency = 0', "must be above 0"),
        ('[x]\nmodel = "a/b"\ntimeout_s = inf', "must be above 0"),
        ('[x]\nmodel = "a/b"\nrequests_per_minute = nan', "must be above 0"),
        ("[x]\nmodel = 5", "must be a text"),
        ('[x]\nmodel = "a/b"\nprices = { input = 1 }', "needs both prices"),
        ('[x]\nmodel = "a/b"\nprices = { input = -1, output = 1 }', "must be 0 or more"),
        ('[x]\nmodel = "a/b"\nprices = { in = 1, output = 1 }', "did you mean input"),
        ('[x]\nmodel = "a/b"\napi_key = "abc"', "holds a key .api_key."),
        (f'[x]\nmodel = "a/b"\napi_key_env = "{KEY}"', "holds a key .api_key_env."),
        ('[x]\nmodel = "a/b"\napi_key_env = "not-a-variable"', "name of an environment variable"),
        ('[x]\nmodel = "a/b"\nparameters = { api_key = "abc" }', "holds a key"),
        (
            '[x]\nmodel = "a/b"\nparameters = { extra_headers = { Authorization = "Bearer x" } }',
            "holds a key",
        ),
        (f'[x]\nmodel = "a/b"\nparameters = {{ extra_headers = {{ X = ["{KEY}"] }} }}', "holds a key"),
        ('[x]\nmodel = "a/b"\nparameters = { stream = true }', "parameters cannot hold stream"),
        ("[x\n", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_with_a_description_is_said_in_one_sentence(text: str, said: str) -> None:
    described(text)
    with pytest.raises(UsageError, match=said) as error:
        resolve("x")
    assert "\n" not in str(error.value)
    assert KEY not in str(error.value)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        resolve("x", models_file=tmp_path / "none.toml")
    assert load_described() == {}


# -- tokens and prices -------------------------------------------------------------------------------------


def test_tokens_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    known, unknown = resolve("openai/gpt-4o"), resolve("openai/anything")
    assert isinstance(known, LiteLLMModel)
    assert isinstance(unknown, LiteLLMModel)
    assert known.max_tokens(SETTINGS) == 16_384
    assert unknown.max_tokens(SETTINGS) == 32_768
    assert unknown.max_tokens(GenerationSettings(min_max_tokens=50_000)) == 50_000
    assert known.max_tokens(GenerationSettings(max_tokens=8_192)) == 8_192


def test_temperature_is_left_out_for_models_that_take_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    warm = GenerationSettings(temperature=0.7)
    assert resolve("openai/gpt-4o").config(warm)["temperature"] == 0.7
    assert resolve("openai/gpt-5").config(warm)["temperature"] is None
    assert resolve("openai/o3").config(warm)["temperature"] is None
    assert resolve("openai/anything").config(warm)["temperature"] == 0.7


def test_a_budget_needs_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert resolve("openai/gpt-5", budget=Budget(1.0)).name == "openai/gpt-5"
    for base_url, name in ((None, "openai/anything"), ("http://localhost:1/v1", "openai/gpt-5")):
        with pytest.raises(UsageError, match="A budget needs prices"):
            resolve(name, base_url=base_url, budget=Budget(1.0))


def test_the_catalogue_knows_what_litellm_ships() -> None:
    assert {"openai", "anthropic", "openrouter", "hosted_vllm", "ollama"} <= catalogue.providers()
    assert catalogue.known("openai/gpt-5")["litellm_provider"] == "openai"
    assert catalogue.known("anthropic/gpt-5") == {}, "another provider's model of that name"
    price = catalogue.prices("openai/gpt-4o")
    assert price is not None
    assert 0 < price[0] < price[1] < 1_000, "USD a million tokens"
    assert catalogue.prices("openai/anything") is None
    assert catalogue.most_tokens("openai/gpt-4o") == 16_384
    assert catalogue.most_tokens("openai/anything") is None


def test_half_of_a_window_that_prompt_and_reply_share(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"max_output_tokens": 131_072, "max_input_tokens": 131_072}
    monkeypatch.setattr(catalogue, "known", lambda model: row)
    assert catalogue.most_tokens("deepinfra/some") == 65_536


# -- listing -----------------------------------------------------------------------------------------------


def test_list_names_variables_and_never_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    described('[mine]\nmodel = "openai/x"\nbase_url = "http://localhost:1/v1"\napi_key_env = "MINE"')
    rows = {row.name: row for row in listed()}
    assert rows["builtin/template"].ready
    assert (rows["mine"].key, rows["mine"].ready) == ("MINE", False)
    assert (rows["anthropic/…"].ready, rows["openai/…"].ready) == (True, False)
    plain = CliRunner().invoke(models_command, ["list"])
    as_json = CliRunner().invoke(models_command, ["list", "--json"])
    assert plain.exit_code == as_json.exit_code == 0
    assert "ANTHROPIC_API_KEY is set" in plain.output
    assert {row["name"] for row in json.loads(as_json.output)["models"]} == set(rows)
    assert KEY not in plain.output + as_json.output


def test_naming_and_listing_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from opendesign.answering.models import listed, resolve\n"
        "from opendesign.types import GenerationSettings\n"
        "listed(); resolve('openai/gpt-5').config(GenerationSettings())\n"
        "heavy = {'litellm', 'openai', 'httpx', 'playwright', 'pandas', 'numpy', 'scipy', 'markdown_it'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=60)


def test_builtin_names_are_not_guessed_from_outside() -> None:
    with pytest.raises(UnknownName):
        BuiltinModel("template")
