"""pyright says the same of a user's script as mypy does."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from test_types import RIGHT, WRONG, script  # noqa: E402


def checked(path):
    """The lines that pyright has an error for, with what it says."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    found = json.loads(done.stdout[done.stdout.index("{") :])["generalDiagnostics"]
    return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found if one["severity"] == "error"]


def test_what_is_right_is_accepted(tmp_path):
    assert checked(script(tmp_path, RIGHT)) == []


def test_mistakes_are_errors(tmp_path):
    said = checked(script(tmp_path, "import warpquad as wq\n" + "\n".join(WRONG) + "\n"))
    for number, line in enumerate(WRONG, start=2):
        assert any(place == number for place, _ in said), (line, said)
