# `make demo` and `make test` need Python 3.11 or newer and make; a C compiler makes the kernels fast.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml setup.py $(wildcard src/leadline/kernels/*.py)

.PHONY: demo test lint docs clean

demo: .venv/demo.stamp
	$(BIN)/leadline demo

test: .venv/test.stamp
	$(BIN)/python -m pytest

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/test.stamp
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv build src/leadline/kernels/compiled/*.so

.venv/demo.stamp: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

.venv/test.stamp: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch .venv/demo.stamp $@
