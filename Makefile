# Everything a developer types. Nothing is assumed but make, Python >= 3.11 and a way to the package registries.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ARGS   ?=

# How many processes run the tests; 0 runs them in this one. They must agree on the order of sets (PYTHONHASHSEED).
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help setup check fix test demo docs serve bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the environment in .venv (again only when pyproject.toml changed)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Toryo needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv module is missing: install python3-venv" >&2; exit 2; }
	@echo "Setting up $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

check: $(READY) ## lint, format, types, arrows between packages, generated documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

fix: $(READY) ## mend what can be mended by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(READY) ## run the tests (ARGS="tests/cli -k demo" for some of them)
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

demo: $(READY) ## see a team at work, from nothing: no model, no key
	$(BIN)/toryo demo $(ARGS)

docs: $(READY) ## write docs/reference anew from the code
	$(BIN)/python docs/generate.py

serve: $(READY) ## a server and a Coordinator here, until ^C
	$(BIN)/toryo up $(ARGS)

bench: $(READY) ## measure, side by side with the floors
	for each in benchmarks/*.py; do echo "== $$each"; $(BIN)/python $$each $(ARGS) || exit 1; done
