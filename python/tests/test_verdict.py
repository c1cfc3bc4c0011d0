"""Each reason of an unsettled verdict comes out of a run that deserves it, and the guide has it."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import warpquad as wq

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "is-my-answer-right.md"
SQUARE = {"x": wq.uniform(-3, 3), "y": wq.uniform(-3, 3)}


def bell(x, y):
    return -x * x - y * y


def run(log_f, priors=SQUARE, **options):
    return wq.integrate(log_f, priors, **{"budget": 40, "seed": 1, "progress": False, **options})


def few():
    return run(bell, budget=12)


def identical():
    return run(lambda x, y: -1e10, budget=25)


def line(budget):
    """A line under vague priors."""
    x = np.linspace(0, 10, 8)
    y = 3 + 0.5 * x
    priors = {"a": wq.normal(0, 1000), "b": wq.normal(0, 1000), "s": wq.log_uniform(1e-3, 1e3)}

    def log_f(a, b, s):
        return float(-0.5 * ((y + np.sin(9 * x) - a - b * x) ** 2).sum() / s**2 - 8 * np.log(s))

    return run(log_f, priors, budget=budget)


def rising():
    """Stopped on the way up."""
    return line(25)


def one_climb():
    """Stopped before a look elsewhere."""
    return line(80)


def winding(x):
    """A ridge that winds through four parameters."""
    return float(-0.5 * ((x[1:] - np.sin(4 * x[:-1])) ** 2).sum() / 0.1**2)


def tail():
    return run(winding, {k: wq.normal(0, 1) for k in "abcd"}, argument="array")


def wide():
    return tail()


def models():
    return tail()


def moved():
    """The last values see another peak, ten times as high."""
    seen = [*(0.05 + 0.014 * np.arange(24)), 0.45, 0.55, 0.65, 0.72]

    def log_f(x):
        other = math.log(10) - 0.5 * ((x - 0.8) / 0.05) ** 2
        return np.logaddexp(-0.5 * ((x - 0.2) / 0.05) ** 2, other)

    initial = (np.array(seen)[:, None], [float(log_f(x)) for x in seen])
    return run(log_f, {"x": wq.uniform(0, 1)}, initial=initial, budget=1)


def node_error():
    """Ten nodes in three dimensions."""
    priors = {k: wq.uniform(-3, 3) for k in "xyz"}
    return run(lambda x, y, z: bell(x, y) - z * z, priors, nodes=10, budget=60)


def audit():
    """A needle that only a draw of the prior's part of the audit meets."""

    def log_f(x):
        return max(-0.5 * ((x - 0.25) / 0.04) ** 2, 4 - 0.5 * ((x - 0.7) / 0.01) ** 2)

    points = np.arange(20)[:, None] * 0.024 + 0.02
    known = {"method": "mmlt-literal", "initial": points, "audit": 0.45}
    runs = (run(log_f, {"x": wq.uniform(0, 1)}, seed=seed, **known) for seed in range(40))
    return next(r for r in runs if "audit" in codes(r))


def noise():
    rng = np.random.default_rng(3)
    return run(lambda x, y: bell(x, y) + 0.3 * rng.normal(), budget=60)


def failures():
    """Nothing is known of half of the bell."""

    def log_f(x, y):
        if x > 0:
            raise RuntimeError("no value here")
        return bell(x, y)

    return run(log_f, on_failure="skip", budget=60)


def thin_prior():
    draws = np.random.default_rng(0).normal(size=(2000, 2))
    return run(lambda x0, x1: -0.5 * ((x0 - 2.5) ** 2 + (x1 - 2.5) ** 2) / 0.3**2, draws)


def prior():
    return run(bell, {"x": wq.normal(0, 1), "y": wq.normal(0, 1)}).reweight(
        {"x": wq.normal(4, 0.01), "y": wq.normal(4, 0.01)}
    )


CASES = [
    few, identical, rising, tail, wide, moved, models,
    node_error, audit, noise, failures, one_climb, thin_prior, prior,
]  # fmt: skip


def codes(r):
    return [reason["code"] for reason in r.reasons]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_code_comes_out_of_a_run(case):
    r = case()
    assert case.__name__ in codes(r) and r.verdict == "unsettled"
    # ... with a sentence of its own, in the first line of what is printed.
    reason = r.reasons[0]["sentence"]
    assert reason.endswith(".") and str(r).splitlines()[0].split()[:1] == ["verdict"]


def test_while_a_climb_has_hardly_begun_nothing_is_known():
    low, high = rising().interval(0.95)
    assert high - low > 20


def test_the_needle_of_a_decay_is_found():
    """The noise may explain all over most of the prior; the peak is at the foot of a cliff."""
    t, ends = np.linspace(0.2, 3, 6), (1e-2, 1e1)
    y = 2 * np.exp(-t) + np.array([0.06, -0.04, 0.01, -0.05, 0.03, 0.02])

    def log_f(amplitude, rate, noise):
        squares = ((y - amplitude * np.exp(-rate * t)) ** 2).sum()
        return float(-0.5 * squares / noise**2 - 6 * np.log(noise))

    # The noise goes in closed form; panels of a hundredth in the logarithms of the others.
    v = np.linspace(*np.log(ends), 1401)
    rate = np.exp(-np.exp(v)[:, None] * t)
    squares = ((y - np.exp(v)[:, None, None] * rate) ** 2).sum(-1)
    low, high = (scipy.special.gammainc(3, 0.5 * squares / end**2) for end in ends)
    parts = np.log(low - high) - 3 * np.log(0.5 * squares)
    truth = scipy.special.logsumexp(parts) + 2 * np.log(v[1] - v[0]) - 3 * np.log(np.log(1e3))
    r = run(log_f, {k: wq.log_uniform(*ends) for k in ("amplitude", "rate", "noise")}, budget=200)
    assert r.verdict == "settled" and abs(r.log_z - truth) < 0.05


def test_the_guide_has_a_line_for_each_code():
    listed = re.findall(r"^\| `(\w+)` \|", GUIDE.read_text(), re.MULTILINE)
    # It takes two climbs to say `peaks`: the tests of verdict.rs have it.
    listed.remove("peaks")
    assert listed == [case.__name__ for case in CASES]
