"""The committed oracle tables agree with the scripts that make them.

Tables that take seconds are made afresh in a copy of the tree; of the others a few rows are
computed again, through the script's own functions. Every script runs in a process of its own,
because each sets the precision it needs.
"""

import csv
import json
import shutil
import subprocess
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tools" / "oracle"
TABLES = ROOT / "data" / "oracle"
DIRECTIONS = Path("crates/warpquad/src/numeric/sobol_directions.rs")
TOLERANCE = Decimal("1e-20")

# How to compute a few rows again, and how many cells at the start of a row say which row it is.
SAMPLES = {
    "bivariate": (
        3,
        "[[repr(v) for v in c] + [nstr(v, 25) for v in row(*c)] for c in list(cases())[::40]]",
    ),
    "warps": (7, "[main_row(i) for i in range(8, len(cases()), 24)]"),
    "warps_ln": (7, "[ln_table_row(i) for i in (0, 5, 10, 25)]"),
    "closed_forms": (14, "[row for i in (0, 4, 11, 20, 25) for row in case_rows(i)]"),
}


def read(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def same(a, b):
    """Equal as text, or as numbers to 20 digits."""
    if a == b:
        return True
    try:
        a, b = Decimal(a), Decimal(b)
    except InvalidOperation:
        return False
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def assert_same(rows, others):
    assert len(rows) == len(others)
    for row, other in zip(rows, others):
        assert len(row) == len(other) and all(map(same, row, other)), f"{row} is not {other}"


def run(*command, **options):
    return subprocess.run(
        [sys.executable, "-B", *command], check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A tree with the scripts and nothing else."""
    root = tmp_path_factory.mktemp("tree")
    shutil.copytree(SCRIPTS, root / "tools" / "oracle")
    (root / "data" / "oracle").mkdir(parents=True)
    (root / DIRECTIONS).parent.mkdir(parents=True)
    return root


@pytest.mark.parametrize("name", ["special", "gauss", "sobol", "measures", "t_test", "voigt"])
def test_a_table_made_afresh_is_the_committed_one(copy, name):
    run(copy / "tools" / "oracle" / f"{name}.py")
    table = f"{name}.csv"
    assert_same(read(copy / "data" / "oracle" / table), read(TABLES / table))


def test_the_direction_numbers_are_those_of_the_script(copy):
    run(copy / "tools" / "oracle" / "sobol.py")
    assert (copy / DIRECTIONS).read_text().split() == (ROOT / DIRECTIONS).read_text().split()


@pytest.mark.parametrize("table", SAMPLES)
def test_rows_computed_again_are_the_committed_ones(table):
    keys, expression = SAMPLES[table]
    script = table.removesuffix("_ln")
    code = f"import json\nfrom {script} import *\nprint(json.dumps({expression}))"
    again = json.loads(run("-c", code, cwd=SCRIPTS))
    committed = {tuple(row[:keys]): row for row in read(TABLES / f"{table}.csv")}
    assert again
    assert_same(again, [committed[tuple(row[:keys])] for row in again])


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.csv")), ids=lambda path: path.stem)
def test_every_row_of_a_table_is_as_long_as_its_header(path):
    header, *rows = read(path)
    rows = [row for row in rows if row[0] != "checksum"]
    assert rows and all(len(row) == len(header) for row in rows)
