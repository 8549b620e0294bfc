# `make demo` and `make test` need Python 3.11 or newer and make; a C compiler makes the kernels fast.
# Compiled modules are kept, also where the environment says not to: the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE
# Each of the processes of the tests has one core.
export OPENBLAS_NUM_THREADS ?= 1
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml setup.py studies/pyproject.toml $(wildcard src/leadline/kernels/*.py src/leadline/kernels/*.[ch])

.PHONY: demo test lint docs figures site clean

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

figures: .venv/test.stamp
	$(BIN)/python docs/figures.py

site: .venv/site.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "built: build/site/index.html (open it in a browser)"

clean:
	rm -rf .venv build src/leadline/kernels/compiled/*.so

.venv/demo.stamp: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

.venv/test.stamp: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]' -e ./studies
	touch .venv/demo.stamp $@

.venv/site.stamp: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.6'
	touch $@
