# mlbench: one line of help stands behind the ## of each target.

PYTHON ?= python3
BIN := .venv/bin
PRESET ?= bert-open-tiny-2xcpu-dp
ARGS ?=
ONLY ?=
# Where pip looks for torch, such as an index of CPU builds; empty: where it looks for the rest.
TORCH_INDEX ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test lint fmt bench fuzz docs published lock clean

help:  ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | \
	  awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: .venv/ready  ## Make .venv with mlbench and its pinned dependencies

.venv/ready: requirements.lock setup.cfg pyproject.toml setup.py $(wildcard mlbench/runlog/_*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one: make setup PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) \
	  "$$(grep '^torch==' requirements.lock)"
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps \
	  --no-build-isolation --editable .
	@touch $@

run: setup  ## Train a tiny BERT to its target, check the log, show the leaderboard
	$(BIN)/mlbench data prepare $(PRESET)
	$(BIN)/mlbench run $(PRESET) $(ARGS)

test: lint docs  ## Run everything CI runs; one part: make test ARGS=tests/config
	$(BIN)/python -m pytest $(or $(ARGS),--cov --cov-report=term --cov-fail-under=90)

lint: setup  ## Check style, types and layers
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: setup  ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

bench: setup  ## Measure mlbench itself into build/bench.json; one part: ONLY=cli
	$(BIN)/python -m tests.bench $(ONLY)

fuzz: setup  ## Mutate logs at random, 32000 of them: the reader's nightly test
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest --timeout=3600 tests/runlog/test_fuzz.py

docs: setup  ## Build the documentation into build/site
	$(BIN)/python -m tests.reference
	$(BIN)/mkdocs build --quiet --strict

published: setup  ## Write the table of published BERT results anew: ROUNDS=folder of the rounds
	$(BIN)/python -m tests.published $(ROUNDS)

lock: setup  ## Pin the versions now installed in .venv
	$(BIN)/python -m pip freeze --all --exclude-editable | \
	  grep -v '^pip==' | sed 's/+cpu$$//' > requirements.lock

clean:  ## Remove .venv, build and caches; results and data stay
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
