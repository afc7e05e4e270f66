# The whole interface of the repository. Every target does its own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BENCH := .bench-venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SIZE ?= full
ONLY ?=

.PHONY: demo test lint stubs docs bench faults fuzz coverage reproduce studio clean

demo: $(VENV)/.core           ## the whole loop on built-in data; writes report.html
	$(BIN)/sudare demo

test: $(VENV)/.dev            ## lint, types, docs and every test
	$(MAKE) --no-print-directory lint docs
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not spark and not postgres and not browser"
	$(BIN)/python -m pytest -m "spark or postgres or browser"

lint: $(VENV)/.dev            ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

stubs: $(VENV)/.core          ## the types of methods, attacks and metrics, after one was added
	$(BIN)/python -m sudare.stubs

docs: $(VENV)/.dev            ## the pages, with every warning an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(BENCH)/.done         ## side by side with the peers; ONLY=risk, SIZE=small
	$(BENCH)/bin/python -m benchmarks --size $(SIZE) $(if $(ONLY),--only $(ONLY))

faults: $(VENV)/.dev          ## bad input, faults and leaks, one line each
	SUDARE_KILLS=200 $(BIN)/python -m pytest tests -m fault -q --no-header -p tests.faults.scorecard

fuzz: $(VENV)/.dev            ## 10,000 examples of bad files and arguments
	SUDARE_FUZZ=10000 $(BIN)/python -m pytest tests/faults/test_fuzz.py -q

coverage: $(VENV)/.dev        ## lines of src that tests run
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n 2 --dist loadgroup -m "not spark and not postgres and not browser"
	$(BIN)/coverage run -m pytest -q -m "spark or postgres or browser"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

reproduce: $(VENV)/.dev       ## the reproduction book, from SUDARE_DATA
	$(BIN)/sudare reproduce -o docs/reproduction

studio: $(VENV)/.dev          ## the local web page on built-in data
	$(BIN)/sudare studio

clean:
	rm -rf $(VENV) $(BENCH) build dist site report.html artifacts

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/.core

$(BENCH)/.done: pyproject.toml constraints.txt benchmarks/peers.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/peers.txt
	touch $@
