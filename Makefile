# Every task of the repository. Needs Rust and Python 3.10 or later, 3.12 for the adapters; the rest
# goes into .venv.

PYTHON ?= python3
VENV := .venv
# The packages that adapters are for have an environment of their own, on a Python that the newest
# of them run on.
TOOLS := .venv-tools
NEWER := python3.12 python3.13 $(wildcard $(HOME)/.pyenv/versions/3.1[23]*/bin/python)
RUNNING := for p in $(NEWER); do $$p -c '' 2>/dev/null && echo $$p; done
TOOLS_PYTHON ?= $(firstword $(shell $(RUNNING)) $(PYTHON))
WHEELS := target/wheels
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
PIP_OF_TOOLS := $(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check
# Rust tests start a real UM-Bridge server with this interpreter.
export WARPQUAD_TEST_PYTHON := $(CURDIR)/$(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: chromium help docs pictures test test-rust test-python test-tools wheel installed program \
	lint fmt-check clippy doc bench benchmark oracle fuzz clean-venv

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

test: test-rust test-python test-tools ## all tests, Rust and Python

test-rust: $(VENV)/.test ## Rust tests, doctests included
	cargo test --release --workspace

test-python: $(VENV)/.test installed program chromium ## Python tests and types, on the built wheel
	$(VENV)/bin/mypy --cache-dir target/mypy -p warpquad
	$(VENV)/bin/python -m pytest -p no:cacheprovider python/tests
	$(VENV)/bin/python tools/wheel_versions.py $(WHEELS)/*.whl

test-tools: $(TOOLS)/.tools wheel ## adapters against the real packages, on the built wheel
	$(PIP_OF_TOOLS) --force-reinstall --no-deps $(WHEELS)/*.whl
	$(TOOLS)/bin/python -m pytest -p no:cacheprovider python/tests_tools

# The tests of a run's page need a real browser. Without root they are left out, and say so.
chromium: ## install Debian's chromium for the tests of a run's page
	@if command -v chromium > /dev/null || [ -n "$$WARPQUAD_TEST_CHROMIUM" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core; \
	else echo "no chromium: the tests of a run's page are left out;" \
	"install it, or set WARPQUAD_TEST_CHROMIUM"; fi

wheel: $(VENV)/.test ## build the Python package: target/wheels
	rm -rf $(WHEELS)
	$(VENV)/bin/maturin build --quiet --release --out $(WHEELS)

# The wheel in place of whatever is in the virtual environment.
installed: wheel
	$(PIP) --force-reinstall --no-deps $(WHEELS)/*.whl

program:
	cargo build --release --package warpquad-cli

lint: fmt-check clippy doc ## rustfmt, clippy and rustdoc, warnings denied

fmt-check: ## rustfmt, without changing anything
	cargo fmt --all --check

clippy: ## clippy, warnings denied
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## rustdoc, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# One site: the guide, the reference of the Python package as built, and rustdoc's pages. Warnings
# are errors.
docs: $(VENV)/.docs installed doc ## the book, in target/site
	rm -rf target/site
	$(VENV)/bin/python -m sphinx -q -W --keep-going -E -b html -c docs . target/site
	$(VENV)/bin/python tools/check_site.py target/site

pictures: $(VENV)/.test installed program chromium ## the pictures of the guide: docs/pictures
	$(VENV)/bin/python tools/pictures.py

bench: $(VENV)/.bench installed program ## ratios of times, to LAPACK's and to the program's
	$(VENV)/bin/python benchmarks/lapack_ratio.py
	$(VENV)/bin/python benchmarks/python_ratio.py

# Everybody on everything takes days of one core: say what, as in BENCHMARK="--quick" or
# BENCHMARK="--peers warpquad-auto qmc --seeds 3".
BENCHMARK ?= --quick
benchmark: $(VENV)/.test wheel ## ourselves beside other packages (BENCHMARK="--peers ...")
	$(VENV)/bin/python -m benchmarks.run $(BENCHMARK)
	$(VENV)/bin/python -m benchmarks.report

ORACLES := special gauss sobol measures t_test voigt bivariate warps closed_forms

oracle: $(VENV)/.test ## make all tables of data/oracle afresh, in several minutes
	set -e; for name in $(ORACLES); do echo "$$name"; $(VENV)/bin/python tools/oracle/$$name.py; done

FUZZ_TARGETS := problem_file formula journal tell_lines csv_table
FUZZ_SECONDS ?= 60
# Needs a nightly Rust and cargo-fuzz. What is found new goes into fuzz/work; fuzz/corpus is what is
# committed.
fuzz: ## feed each reader of input with mutations for FUZZ_SECONDS, within 2 GB and 5 s a call
	set -e; for name in $(FUZZ_TARGETS); do mkdir -p fuzz/work/$$name; \
	cargo +nightly fuzz run $$name fuzz/work/$$name fuzz/corpus/$$name -- \
	-max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=5; done

clean-venv: ## remove the virtual environments
	rm -rf $(VENV) $(TOOLS)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and \
	"Python 3.10 or later is needed: set PYTHON")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.test: requirements-test.txt requirements-bench.txt | $(VENV)/bin/python
	$(PIP) -r requirements-test.txt
	touch $@

$(TOOLS)/bin/python:
	$(TOOLS_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12) and \
	"Python 3.12 or later is needed for the tests of adapters: set TOOLS_PYTHON")'
	$(TOOLS_PYTHON) -m venv $(TOOLS)

# pocoMC needs PyTorch, which is too heavy for a test; its priors do not.
$(TOOLS)/.tools: requirements-tools.txt | $(TOOLS)/bin/python
	$(PIP_OF_TOOLS) -r requirements-tools.txt
	$(PIP_OF_TOOLS) --no-deps pocomc==1.2.6
	touch $@

$(VENV)/.docs: requirements-docs.txt | $(VENV)/.test
	$(PIP) -r requirements-docs.txt
	touch $@

$(VENV)/.bench: requirements-bench.txt | $(VENV)/bin/python
	$(PIP) -r requirements-bench.txt
	touch $@
