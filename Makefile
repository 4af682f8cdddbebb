# Everything a developer types. Nothing is assumed but make, Python >= 3.11 and a way to the package registries.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ARGS   ?=

# How many processes run the tests; 0 runs them in this one.
# Each takes the next file when it is through with one (tests/conftest.py says in which order).
# Where compiled files may not be kept (PYTHONDONTWRITEBYTECODE), each of them would compile every test again.
WORKERS ?= 3

PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The dashboard: built from web/ with Node, into the package. `make demo` needs it only to be looked at (--keep).
NODE_IS_THERE := node -e 'process.exit(parseInt(process.versions.node) < 20)' 2>/dev/null && npm --version >/dev/null
WITH_NODE     := PATH="$$PATH:$(CURDIR)/$(BIN)"
PAGES         := src/toryo/server/static/index.html
PAGE_SOURCES  := $(shell find web/src web/public web/index.html web/*.ts web/package.json -type f ! -name schema.ts 2>/dev/null)

# The types of the dashboard's calls, from the server's declarations. Not in git; nothing of them is in the pages.
TYPES := web/node_modules/.types

.DEFAULT_GOAL := help
.PHONY: help setup check fix types test test-deep mutations demo docs translations serve bench soak web screenshots pictures recording site wheel lock audit reliability

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) bin/toryo ## install everything into .venv (again only after pyproject.toml has changed)

# What people add to their PATH: the command alone. With .venv/bin, agents and checks would get Toryo's own Python.
bin/toryo: $(READY)
	@mkdir -p bin && ln -sf ../$(BIN)/toryo $@

$(READY): pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Toryo needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv module is missing: install python3-venv" >&2; exit 2; }
	@echo "Setting up $(VENV) with all tools of development: about 500 MB, one or two minutes ..."
	@$(PIP) --require-hashes --requirement requirements/dev.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

check: $(READY) $(TYPES) ## check style, format, types, imports between packages, and generated documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/translations.py --check
	cd web && $(WITH_NODE) npm run --silent check

fix: $(READY) $(TYPES) ## fix what ruff and eslint can fix automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd web && $(WITH_NODE) npm run --silent fix

PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# The tests of the pages run beside the others, and tell at the end.
test: $(READY) $(PAGES) ## run the tests of a commit: 8 minutes (ARGS="tests/cli -k demo" for some of them)
	@mkdir -p build; \
	$(if $(ARGS),,(cd web && $(WITH_NODE) npm run --silent test >../build/vitest.log 2>&1) & pages=$$!;) \
	$(PYTEST) -m "not deep" $(ARGS); status=$$?; \
	$(if $(ARGS),,wait $$pages || { status=$$?; grep -a 'FAIL' build/vitest.log; }; tail -n 12 build/vitest.log;) \
	exit $$status

test-deep: $(READY) $(PAGES) ## run all other tests: real agent programs, every view, kills at every step, PostgreSQL for all (ARGS as above)
	$(PYTEST) -m deep $(ARGS)

mutations: $(READY) ## plant faults and say which make test finds; fails below the thresholds (ARGS="--packages domain"; hours)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.mutations $(ARGS)

demo: $(READY) $(if $(findstring --keep,$(ARGS)),$(PAGES)) ## set everything up and run a demo team (no model, no API key)
	$(BIN)/toryo demo $(ARGS)

translations: $(READY) ## add new sentences to the gettext catalogues in src/toryo/locale, drop old ones
	$(BIN)/python docs/translations.py

docs: $(READY) ## write docs/reference and docs/figures from the code
	$(BIN)/python docs/generate.py

# The documentation site has its own environment, which changes to the code do not need.
SITE := .venv-docs
# The variable silences a notice about the successor of Material for MkDocs, which is not ready for two languages.
MKDOCS = NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs
site: $(SITE)/.ready ## build the documentation site into build/site (ARGS=--serve: serve it and rebuild after changes)
	@mkdir -p build/site-source
	$(if $(findstring --serve,$(ARGS)),$(MKDOCS) serve $(filter-out --serve,$(ARGS)),$(MKDOCS) build --strict \
		--site-dir build/site/$$($(SITE)/bin/python docs/site/versions.py) $(ARGS))
	$(if $(findstring --serve,$(ARGS)),,$(SITE)/bin/python docs/site/versions.py build/site)

$(SITE)/.ready: requirements/docs.txt
	@test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	@echo "Setting up $(SITE) for the documentation site: 160 MB on disk ..."
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/docs.txt
	@touch $@

serve: $(READY) $(PAGES) ## run a server and a Coordinator here, until ^C
	$(BIN)/toryo up $(ARGS)

web: $(PAGES) ## build the dashboard into the package

types: $(TYPES) ## write web/src/api/schema.ts, the types of the dashboard's calls, from the code

$(TYPES): web/node_modules/.ready docs/generate.py $(shell find src/toryo -name '*.py')
	@$(BIN)/python docs/generate.py --openapi > web/node_modules/openapi.json
	@cd web && $(WITH_NODE) npm run --silent types > /dev/null
	@touch $@

$(PAGES): web/node_modules/.ready $(PAGE_SOURCES) | $(TYPES)
	@echo "Building the dashboard: less than a minute ..."
	@cd web && $(WITH_NODE) npm run --silent build

# Node 20 or newer: the machine's own, else the one that PyPI brings.
web/node_modules/.ready: web/package-lock.json $(READY)
	@$(NODE_IS_THERE) || { echo "Fetching Node.js from PyPI: about 60 MB ..."; \
		$(PIP) --require-hashes --requirement requirements/node.txt; }
	@echo "Fetching the dashboard's tools with npm: about 100 MB, 340 MB on disk ..."
	@cd web && $(WITH_NODE) npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

wheel: $(READY) $(PAGES) ## build a wheel with the dashboard into dist/
	$(BIN)/python -m hatchling build -t wheel

# One lock for every supported Python and platform. Commit what changes, after `make check test`.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'
LOCK = $(COMPILE) pyproject.toml
lock: $(READY) ## lock the newest allowed Python dependencies with their hashes, in requirements/
	@$(PIP) uv
	$(LOCK) --extra telemetry --output-file requirements/runtime.txt
	$(LOCK) --extra telemetry --extra dev --constraint requirements/runtime.txt --output-file requirements/dev.txt
	$(LOCK) --extra node --constraint requirements/runtime.txt --output-file requirements/node.txt
	$(COMPILE) requirements/docs.in --output-file requirements/docs.txt

audit: $(READY) web/node_modules/.ready ## look for known vulnerabilities in the locked dependencies (asks public databases)
	@$(PIP) pip-audit
	@status=0; \
	$(BIN)/python requirements/audit.py $(BIN)/python -m pip_audit --require-hashes --disable-pip \
		--requirement requirements/dev.txt || status=$$?; \
	$(BIN)/python requirements/audit.py $(BIN)/python -m pip_audit --require-hashes --disable-pip \
		--requirement requirements/docs.txt || status=$$?; \
	cd web && $(WITH_NODE) $(CURDIR)/$(BIN)/python ../requirements/audit.py npm audit || status=$$?; \
	exit $$status

screenshots: $(READY) $(PAGES) ## take screenshots of the dashboard's views into docs/screenshots (ARGS="overview board": only these)
	$(BIN)/python docs/screenshots.py $(ARGS)

recording: $(READY) $(PAGES) ## record the dashboard while the demo runs into docs/pictures/dashboard.webp (two minutes)
	$(BIN)/python docs/recording.py $(ARGS)

pictures: $(READY) ## record the demo for the README into docs/pictures/demo.svg
	$(BIN)/python docs/pictures.py $(ARGS)

bench: $(READY) $(PAGES) ## measure the targets beside their floors and rivals, into benchmarks/results.md (under 9 minutes)
	$(BIN)/python benchmarks/report.py $(ARGS)

reliability: $(READY) ## run what is quick of the evidence, write docs/reliability.md from the last runs (ARGS=--last: run nothing; ARGS=--long: the faults of the world too)
	$(BIN)/python -m tests.reliability $(ARGS)

soak: $(READY) ## let everything go wrong for ten minutes on SQLite, then on PostgreSQL and Redis (ARGS="--minutes 3")
	$(BIN)/python -m tests.soak $(ARGS)
	$(BIN)/python -m tests.soak --postgres $(ARGS)
