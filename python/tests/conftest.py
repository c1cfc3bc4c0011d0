"""What the tests share: the package as installed, and the program `warpquad` as built."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def program() -> Path:
    """The command line's program: built by `make`, or named by WARPQUAD_TEST_PROGRAM."""
    named = os.environ.get("WARPQUAD_TEST_PROGRAM")
    path = Path(named) if named else ROOT / "target" / "release" / "warpquad"
    if not path.exists():
        pytest.skip("no program; build it with: cargo build --release")
    return path


@pytest.fixture
def cli() -> Any:
    """Run the command line; its standard output, as JSON where `--json` asks for it."""

    def run(*args: Any, stdin: str = "", code: int = 0) -> Any:
        words = [str(program()), *map(str, args)]
        done = subprocess.run(words, input=stdin, capture_output=True, text=True)
        assert done.returncode == code, done.stderr + done.stdout
        if code != 0:
            return done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    return run
