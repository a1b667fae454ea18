# Two commands do all the set-up on a fresh Debian or Ubuntu machine: make demo, make test.
.PHONY: demo test test-train test-long lint bench setup clean

PY := .venv/bin/python

demo:
	@tools/setup
	@tools/demo

setup:
	@tools/setup --tests

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

test: lint
	$(PY) -m pytest -n 2 --dist loadfile -m "not long and not train"

# Real torch and TRL, which nothing else needs.
test-train:
	@tools/setup-train
	OMP_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist loadfile -m train tests/train

test-long: lint
	$(PY) -m pytest -n 2 --dist loadfile -m "not train"

bench: setup
	$(PY) -m tests.performance

clean:
	rm -rf .venv .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
