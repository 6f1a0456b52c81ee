# make demo    install into .venv and run the demo
# make test    every check that CI runs
#
# PYTHON names the interpreter .venv is made from; TORCH is what pip is asked for first, options included, for a
# build that suits your GPU. Both are read only when .venv is (re)made.

PYTHON ?= python3
TORCH ?= torch==2.13.0

VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo base test test-slow format clean

demo: $(VENV)/.installed
	$(BIN)/rlsh demo --resume

# Train the small base model that ships in the package anew.
base: $(VENV)/.installed
	$(BIN)/rlsh base --resume
	mkdir -p src/rlsh/shipped && cp -r runs/base/shipped/. src/rlsh/shipped/

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -m slow

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# The stamps are younger than pyproject.toml once what it lists is installed. Torch goes first and by its exact
# version, so that the range in pyproject.toml is already satisfied and pip does not choose a build by itself.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install $(TORCH)
	$(BIN)/pip install -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install -e '.[dev]'
	touch $@

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "rlsh needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1):" \
	         "name another one, as in: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot make virtual environments: install its venv package" \
	         "(Debian, Ubuntu: sudo apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
