"""The program on a real terminal of 80 columns: one line that stays, and colours only if wanted."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from conftest import program

PROBLEM = """
[integrand]
command = ["python3", "-uc", "import sys, json, time\\nfor line in sys.stdin:\\n    t = json.loads(line)\\n    time.sleep(0.05)\\n    print(json.dumps({'id': t['id'], 'log_f': -t['x'][0] ** 2}))"]
[parameters]
x = { normal = [0, 1] }
[budget]
evaluations = 24
"""


def on_terminal(problem, stream="stderr", **environment):
    """What a terminal of 80 columns gets of a run on that stream."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    words = [str(program()), "integrate", str(problem)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    child = subprocess.Popen(words, **streams, env={**plain, "TERM": "xterm-256color", **environment})
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end has closed
            break
        if not part:
            break
        written += part
    assert child.wait() == 0
    os.close(ours)
    return written.decode()


@pytest.mark.parametrize("colour", [True, False])
def test_progress_is_one_line_within_the_width(tmp_path, colour):
    problem = tmp_path / "problem.toml"
    problem.write_text(PROBLEM)
    written = on_terminal(problem, **({} if colour else {"NO_COLOR": "1"}))
    assert ("\x1b[36m" in written) == colour
    assert written.startswith("nothing will be kept of this run")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.split("\n", 1)[1])
    lines = [line for line in re.split(r"[\r\n]", shown) if line.strip()]
    assert any("/24" in line for line in lines)
    assert max(map(len, lines)) <= 80
    # It never scrolls: after the notice there is no line end.
    assert "\n" not in shown


@pytest.mark.parametrize("colour", [True, False])
def test_the_report_is_grouped_and_within_the_width(tmp_path, colour):
    problem = tmp_path / "problem.toml"
    problem.write_text(PROBLEM.replace("evaluations = 24", "evaluations = 4"))
    written = on_terminal(problem, "stdout", **({} if colour else {"NO_COLOR": "1"}))
    assert ("\x1b[" in written) == colour
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written).split("\r\n")
    # Four values are too few, and the sentence that says so takes more than a line.
    assert lines[0] == "verdict  unsettled" and max(map(len, lines)) <= 80
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings == ["verdict  unsettled", "answer", "checks", "cost", "made with"]
