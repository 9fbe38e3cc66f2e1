# make dashboard: environment, data, app.  make test: environment, tests.  make help lists the rest.
PYTHON ?= python3
PORT ?= 8501
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

SCRIPTS := tests/js

# The checks and tests of the JavaScript; ESLint and tsc are installed when they are first needed.
NODE_IS_NEW := node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
scripts = if command -v npm >/dev/null && $(NODE_IS_NEW) 2>/dev/null; then cd $(SCRIPTS) && npm run -s $(1); \
  else echo "skipped the $(1) of JavaScript: it needs Node 20.19 or newer with npm"; fi

.PHONY: help dashboard class test lint format bench load results pictures first screenshots docs data release lowest \
  container clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

dashboard: $(RUNTIME)  ## make the environment, get the data, serve the app on localhost
	$(BIN)/bup dashboard --port $(PORT) $(ARGS)

class: $(RUNTIME)  ## the same for a class: others reach it, phones get a QR code
	$(BIN)/bup class --port $(PORT) $(ARGS)

test: $(DEV)  ## make the environment, run every test
	$(BIN)/python -m pytest -n $(WORKERS) --ignore tests/browser $(ARGS)
	@$(call scripts,test)
	$(BIN)/python -m pytest tests/browser $(ARGS)

lint: $(DEV)  ## ruff, mypy, which folder may use which, unused code; ESLint, tsc
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.tools.unused_code
	@$(call scripts,lint)

format: $(DEV)  ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV)  ## speed, as ratios to named peers within one run
	$(BIN)/python -m tests.bench $(ARGS)

load: $(DEV)  ## how long 1 to 100 visitors at once wait; ARGS="--visitors 50" chooses
	$(BIN)/python -m tests.bench.load $(ARGS)

results: $(DEV)  ## measure what is stored for the package, remake docs/results.md from it
	$(BIN)/python -m tests.tools.results $(ARGS)

pictures: $(DEV)  ## draw the pictures of docs/results.md from stored runs
	$(BIN)/python -m tests.tools.pictures

first: $(DEV)  ## train the run that the app opens on, and put it into the package
	$(BIN)/python -m tests.tools.first_run

screenshots: $(DEV)  ## take the pictures of the README from the running app
	$(BIN)/python -m tests.tools.screenshots

docs: $(RUNTIME)  ## make the documentation as a site in build/docs; a broken link fails
	$(PIP) install -r requirements-docs.txt
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "to read it, with its search: $(BIN)/python -m http.server --directory build/docs"

data: $(RUNTIME)  ## fetch the citation graphs into the cache
	$(BIN)/bup graphs --fetch

release: $(DEV)  ## build the packages in dist/ and check them; uploads nothing
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest tests/package/test_release.py tests/package/test_wheel.py

lowest: $(DEV)  ## run tests with the lowest versions that pyproject.toml allows
	$(BIN)/python -m tests.tools.lowest $(ARGS)

container: $(DEV)  ## run the steps of the Dockerfile in a clean folder; ARGS=--here installs less
	$(BIN)/python -m tests.tools.container $(ARGS)

clean:  ## remove the environment and what tools left behind; results and data stay
	rm -rf $(VENV) dist build $(SCRIPTS)/node_modules .pytest_cache .hypothesis .mypy_cache .ruff_cache *.egg-info

# The stamp is written last: an interrupted install is simply done again.
$(RUNTIME): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version): make PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a minute or two the first time) ..."
	$(PIP) install -r requirements.txt
	$(PIP) install --no-deps -e .
	@touch $@

$(DEV): $(RUNTIME) requirements-dev.txt
	$(PIP) install -r requirements-dev.txt
	$(PIP) install --no-deps netcal==1.4.0
	@touch $@
