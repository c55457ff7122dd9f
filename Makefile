# Sets up, tests and measures, on a fresh machine with Python 3.11 to 3.13 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

SEED ?= $(shell date +%s)
TESTS ?= tests
# One file of every part; the frameworks' own tests are left to `make test`.
QUICK := $(addprefix tests/test_,$(addsuffix .py,captures columns compiler \
	compiler_language docs docs_architecture docs_compiler effects errors explain frames function impure layers ledger llvm \
	profile random records remedies rules settings source stacking threads vectorize vmap))

.PHONY: demo test test-quick test-anywhere coverage test-torch lint docs bench dist clean

demo: $(VENV)/.core
	$(BIN)/upshift demo

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-quick: $(VENV)/.everything
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(QUICK)

# In a copy whose path is a nuisance, in random order (SEED=... gives the same one again), not as root.
test-anywhere: $(VENV)/.everything
	bash .ci/anywhere "$(CURDIR)/$(BIN)/python" -n $(WORKERS) --dist worksteal --shuffle $(SEED) $(TESTS)

# Which branches of the package the tests take.
coverage: $(VENV)/.everything
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report term

# PyTorch is large: it is in an environment of its own, with nothing else that is not needed.
test-torch: build/torch/.ready
	build/torch/bin/python -m pytest tests/test_torch.py

build/torch/.ready: pyproject.toml
	$(PYTHON) -m venv build/torch
	build/torch/bin/python -m pip install --quiet --disable-pip-version-check -e '.[torch]' pytest
	touch $@

lint: $(VENV)/.everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site of the documentation, in build/site.
docs: $(VENV)/.everything
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/.everything
	$(BIN)/python -m benchmarks --readme
	$(BIN)/python -m benchmarks map-fn-vs-loop -o docs/questions/map-fn-vs-loop.md

# The wheel is made from the sdist, installed into an empty environment, and shows the demonstration from there.
dist:
	rm -rf dist build
	$(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install --quiet --disable-pip-version-check build
	build/tools/bin/python -m build --outdir dist .
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && empty/bin/upshift demo

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

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
