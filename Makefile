# Sottovoce. `make demo` tells the story, `make test` checks it, `make test-all` checks everything; all set themselves up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
MUTATION := .venv-mutation/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all checks lint types js compiled coverage docs reproduce compare bench mutation dist constraints clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(STAMP)  ## create .venv and install everything, pinned by constraints.txt

$(STAMP): pyproject.toml constraints.txt
	@echo "==> setting up $(VENV) (once; a minute or two)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sottovoce needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup  ## a service, a million devices, seven surveys, a dashboard, report.html (KEEP=1 leaves it running)
	@$(BIN)/sottovoce demo $(if $(KEEP),--keep)

# Hundreds of processes are started, and each would compile every module anew where bytecode is not kept.
test test-all coverage: export PYTHONDONTWRITEBYTECODE =
# There is a process of tests for every core: with threads besides, they would mostly wait for each other. Two more
# use the time in which others wait for a browser, a service or a cluster to start.
test test-all coverage: export OPENBLAS_NUM_THREADS = 1
test test-all coverage: export PYTEST_XDIST_AUTO_NUM_WORKERS = $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 2)")
IN_PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder

test: checks  ## style, types, clients, everything that is fast and one of everything that is slow (12 minutes)
	@echo "==> tests, without those marked slow (make test-all runs them too)"
	@PYTHON=$(PYTHON) tools/with_java tools/with_browser $(BIN)/python -m pytest $(IN_PARALLEL) -m "not slow"

test-all: checks  ## every check: repeated kills, statistics, clusters, distributions, all pages, tutorials, fuzzing (35 minutes)
	@echo "==> all tests"
	@PYTHON=$(PYTHON) tools/with_nginx tools/with_java tools/with_browser $(BIN)/python -m pytest $(IN_PARALLEL)

checks: setup
	@$(MAKE) --no-print-directory -j2 lint types js compiled

lint: setup  ## style only
	@echo "==> style (ruff)"
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup  ## types only
	@echo "==> types (mypy --strict)"
	@$(BIN)/mypy

js: setup  ## the client for browsers and Node, and the pages: types, shared vectors, exact channels, size
	@PYTHON=$(PYTHON) tools/test_clients

# Every process of tests reads every test and loop. Compiled once before they start, none of them compiles it again;
# what is wrong there, the tests tell.
compiled: setup
	@SOTTOVOCE_TEST_REQUIRE= $(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

coverage: setup js  ## what the tests reach, branch by branch and in every process; fails below 95 %
	@rm -rf .coverage
	@echo "==> compiled loops, measured as plain Python"
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest tests/exact/test_kernel_*.py
	@echo "==> tests, measured"
	@PYTHON=$(PYTHON) tools/with_nginx tools/with_java tools/with_browser $(BIN)/python -m coverage run -m pytest $(IN_PARALLEL); echo $$? > .coverage/status
	@$(BIN)/python -m coverage combine --quiet && rm -f .coverage/data.*  # of processes that were killed while writing
	@$(BIN)/python -m coverage html --quiet --fail-under 0
	@$(BIN)/python -m coverage json --quiet --fail-under 0
	@$(BIN)/python tools/coverage_table.py .coverage/figures.json
	@$(BIN)/python -m coverage report --format total >/dev/null
	@exit $$(cat .coverage/status)

docs: setup  ## build the documentation into docs/_build/html
	@echo "==> documentation"
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "    open docs/_build/html/index.html"

reproduce: setup  ## the paper's Table 1 measured and its claims checked, in reproduction/ (ARGS='coverage --out coverage')
	@$(BIN)/python -m evidence reproduce $(ARGS)

compare: setup  ## mechanisms and other packages on a column of your data (ARGS='--data people.csv --column city')
	@$(BIN)/python -m evidence compare $(ARGS)

bench: setup  ## speed and memory, as ratios against peers measured in the same run
	@$(BIN)/python -m evidence.benchmarks

mutation: setup $(MUTATION)  ## faults planted one by one: do the tests notice? (an hour; ONLY=randomness, ARGS='--sample 0.1')
	@$(BIN)/python -m tools.mutation $(ONLY) $(ARGS)

$(MUTATION): tools/mutation/requirements.txt
	@echo "==> setting up .venv-mutation (once)"
	@test -x .venv-mutation/bin/python || $(PYTHON) -m venv .venv-mutation
	@.venv-mutation/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

dist: setup  ## wheels, source, npm package, bill of materials and checksums in dist/, the same bytes for the same commit
	@$(BIN)/python -m tools.dist $(ARGS)

constraints: setup  ## pin again what .venv holds now
	@$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

clean:  ## remove everything that was built
	rm -rf $(VENV) .venv-node .venv-peers .venv-solvers .venv-accounting .venv-mutation .venv-dist .mutation dist docs/_build .pytest_cache .mypy_cache .ruff_cache .coverage report.html
