# Every task of the repository. Needs Rust and Python 3.10 or later; the rest goes into .venv.

PYTHON ?= python3
VENV := .venv
# Rust tests start a real UM-Bridge server with this interpreter.
export WARPQUAD_TEST_PYTHON := $(CURDIR)/$(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help test test-rust test-python lint fmt-check clippy doc bench oracle clean-venv

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

test: test-rust test-python ## all tests, Rust and Python

test-rust: $(VENV)/.test ## Rust tests, doctests included
	cargo test --release --workspace

test-python: $(VENV)/.test ## Python tests: the oracle tables agree with their scripts
	$(VENV)/bin/python -m pytest -p no:cacheprovider python/tests

lint: fmt-check clippy doc ## rustfmt, clippy and rustdoc, warnings denied

fmt-check: ## rustfmt, without changing anything
	cargo fmt --all --check

clippy: ## clippy, warnings denied
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## rustdoc, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

bench: $(VENV)/.bench ## ratios of the core's times to LAPACK's, on this machine
	$(VENV)/bin/python benchmarks/lapack_ratio.py

ORACLES := special gauss sobol measures bivariate warps closed_forms

oracle: $(VENV)/.test ## make all tables of data/oracle afresh, in several minutes
	set -e; for name in $(ORACLES); do echo "$$name"; $(VENV)/bin/python tools/oracle/$$name.py; done

clean-venv: ## remove the virtual environment
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or later is needed: set PYTHON")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.test: requirements-test.txt requirements-bench.txt | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	touch $@

$(VENV)/.bench: requirements-bench.txt | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	touch $@
