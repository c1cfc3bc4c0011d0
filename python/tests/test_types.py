"""What a type checker says of a user's script: mistakes are errors, and what is right is not."""

import subprocess
import sys
from pathlib import Path

import pytest
import warpquad as wq

RIGHT = """
import functools
import numpy as np
import warpquad as wq

priors = {"x": wq.normal(0, 1), "c": 2.0, "beta": wq.uniform(-1, 1, size=3)}
r = wq.integrate(lambda x, c, beta: -c * x**2, priors, method="smc", budget=100, progress=False)
z: float = r.log_z
draws = r.posterior(10)["x"].mean()
wq.integrate(lambda x: -x**2, {"x": wq.student_t(3, 0, 1)}, kernel="matern52", on_failure="skip")
wq.like_dynesty(lambda x: 0.0, lambda u: u, 2, logl_args=[1], budget=20)
s = wq.Session(priors, acquisition="look-ahead", tuning={"nugget": 1e-6})
task = s.ask()[0]
s.tell(task, log_f=float(task.x["x"]))
"""
# A mistake on each line, and a word of what is said of it.
WRONG = {
    "wq.nromal(0, 1)": "nromal",
    'wq.normal("a", 1)': "float",
    'wq.normal("a")': "normal",
    "wq.normal(0, 1, size=1.5)": "int",
    "wq.uniform(0, 1, 2)": "uniform",
    'wq.integrate(len, {}, method="smcc")': "smcc",
    'wq.integrate(len, {}, budget="many")': "budget",
    "wq.integrate(len, {}, bugdet=3)": "bugdet",
    'wq.integrate(len, {}, argument="tuple")': "tuple",
    'wq.Session({}, kernel="matern99")': "matern99",
    'wq.resume("run", len, method="smc")': "method",
}


def script(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text)
    return path


def checked(path: Path) -> list[str]:
    """What mypy says, a line each."""
    cache = Path(__file__).resolve().parents[2] / "target" / "mypy"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "--python-executable", sys.executable]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=path.parent)
    return [line for line in done.stdout.splitlines() if "script.py" in line]


def test_what_is_right_is_accepted(tmp_path):
    assert checked(script(tmp_path, RIGHT)) == []


def test_mistakes_are_errors(tmp_path):
    said = checked(script(tmp_path, "import warpquad as wq\n" + "\n".join(WRONG) + "\n"))
    for number, (line, word) in enumerate(WRONG.items(), start=2):
        about = [text for text in said if text.startswith(f"script.py:{number}: error:")]
        assert about and any(word in text for text in about), (line, about)


def test_everything_public_is_listed_and_has_an_example():
    assert "WarpedGPRegressor" in dir(wq) and "normal" in dir(wq) and "like_dynesty" in dir(wq)
    for name in dir(wq):
        thing = getattr(wq, name)
        if not name.startswith("_") and name != "adapters" and name != "sklearn":
            assert ">>>" in (thing.__doc__ or ""), name


@pytest.mark.parametrize("name", ["nromal", "CONSTRUCTORS"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'warpquad' has no attribute '{name}'"):
        getattr(wq, name)
