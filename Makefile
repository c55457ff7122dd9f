# In: a fresh checkout, Python 3.11 to 3.13 and make. Out: a demonstration, a test run, a lint run, the figures.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test lint bench clean

demo: $(VENV)/.core
	$(BIN)/upshift demo

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.everything
	$(BIN)/python -m benchmarks --readme

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Upshift needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# The stamps say what is installed; pip runs again only when pyproject.toml changed.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.everything: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	touch $(VENV)/.core $@
