"""Posteriors of made data with several narrow peaks under vague priors: frames are tuned on them.

`python -m benchmarks.climbs.peaks` runs the installed package on them and says how far each answer
is off; with --truths it works the log evidences out again, in some minutes.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from scipy import stats

import warpquad as wq

from ..suite.posteriors import normal_terms
from ..suite.problem import Array, Prior, Problem
from ..suite.real import truths
from ..suite.real.common import normals
from .__main__ import priors

# ln Z and its standard error, by `truths`.
TRUTHS: dict[str, tuple[float, float]] = {
    "peaks_flip_flop_3d": (-1.9380, 0.0015),
    "peaks_absorbed_1_4d": (-18.9204, 0.0012),
    "peaks_absorbed_2_4d": (-22.3342, 0.0012),
    "peaks_absorbed_3_4d": (-20.1626, 0.0020),
    "peaks_absorbed_4_4d": (-15.4658, 0.0011),
    "peaks_alias_4d": (-102.7252, 0.0011),
    "peaks_flip_flop_4d": (-4.6086, 0.0009),
    "peaks_signs_4d": (-40.4270, 0.0012),
    "peaks_decays_5d": (-1.6873, 0.0011),
    "peaks_labels_5d": (-312.2896, 0.0015),
}

BUDGETS = {2: (50, 100, 200), 3: (50, 100, 200), 4: (50, 100, 200)}
MANY = (200, 400)


def problem(name: str, about: str, priors: dict[str, Prior], function: object, *truth: float) -> Problem:
    """A problem of the tuning half."""
    full = f"peaks_{name}_{len(priors)}d"
    return Problem(full, "tune", about, priors, function, *(truth or TRUTHS.get(full, ())))  # type: ignore[arg-type]


def two_bells(d: int, apart: float, share: float) -> Problem:
    """Two correlated normals of different widths, far apart in all parameters."""
    rng = np.random.default_rng(d)
    a, b = rng.normal(0.0, 1.0, (2, d, d))
    centers = apart * rng.normal(size=(2, d))
    scales = 10.0 ** rng.uniform(-1.0, 0.5, (2, d))
    roots = [scales[k][:, None] * np.linalg.qr(m)[0] * np.linspace(0.3, 1.0, d) for k, m in enumerate((a, b))]

    def f(x: Array) -> Array:
        terms = []
        for center, root, part in zip(centers, roots, (share, 1.0 - share)):
            y = np.linalg.solve(root, (x - center).T)
            terms.append(np.log(part) - 0.5 * (y * y).sum(0) - np.linalg.slogdet(root)[1] - 0.5 * d * np.log(2 * np.pi))
        return np.logaddexp(*terms)

    # The integral of each against the prior is the density of a sum of two normals.
    wide = [stats.multivariate_normal(np.zeros(d), root @ root.T + 1e4 * np.eye(d)) for root in roots]
    log_z = np.logaddexp(*(np.log(p) + law.logpdf(c) for p, law, c in zip((share, 1.0 - share), wide, centers)))
    name, each = f"two_bells_{round(100 * share)}", normals([f"x{i}" for i in range(d)], 100.0)
    return problem(name, two_bells.__doc__ or "", each, f, float(log_z))


def flip_flop(noise: float | None) -> Problem:
    """A drug that is taken in at one rate and leaves at another; the rates may change places."""
    rng = np.random.default_rng(21)
    t = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12.0])

    def level(fast: Array, slow: Array, volume: Array) -> Array:
        # (e^{-a t} - e^{-b t}) / (b - a), which is smooth where the rates are the same.
        apart = np.where(np.abs(fast - slow) < 1e-9, 1e-9, fast - slow)
        return np.log(100.0 * fast / volume * (np.exp(-slow * t) - np.exp(-fast * t)) / apart)

    y = level(np.array(1.8), np.array(0.25), np.array(20.0)) + rng.normal(0.0, 0.1, len(t))
    each: dict[str, Prior] = {"absorbed": ("lognormal", 0.0, 2.0), "eliminated": ("lognormal", 0.0, 2.0), "volume": ("lognormal", 2.0, 3.0)}
    if noise is None:
        each |= {"noise": ("halfcauchy", 1.0)}

    def f(x: Array) -> Array:
        fast, slow, volume = x.T[:3, :, None]
        with np.errstate(all="ignore"):
            at = normal_terms(y - level(fast, slow, volume), x[:, 3:4] if noise is None else noise)
        return np.where(np.isfinite(at), at, -np.inf)

    return problem("flip_flop", flip_flop.__doc__ or "", each, f)


def absorbed(number: int, noise: float) -> Problem:
    """A drug whose two rates may change places, and whose volume has the prior of the noise."""
    t = np.array([0.1, 0.3, 0.6, 1.1, 2, 3.5, 5, 7, 9, 12, 24.0])

    def level(fast: Array, slow: Array, volume: Array) -> Array:
        apart = np.where(np.abs(fast - slow) < 1e-9, 1e-9, fast - slow)
        return 4.0 / volume * fast * (np.exp(-slow * t) - np.exp(-fast * t)) / apart

    y = level(np.array(1.5), np.array(0.08), np.array(0.5)) + np.random.default_rng(number).normal(0.0, noise, len(t))

    def f(x: Array) -> Array:
        fast, slow, volume = x.T[:3, :, None]
        with np.errstate(all="ignore"):
            at = normal_terms(y - level(fast, slow, volume), x[:, 3:4])
        return np.where(np.isfinite(at), at, -np.inf)

    each: dict[str, Prior] = {"absorbed": ("loguniform", 0.01, 100.0), "eliminated": ("loguniform", 0.01, 100.0)}
    each |= {"volume": ("loguniform", 0.001, 100.0), "noise": ("loguniform", 0.001, 100.0)}
    return problem(f"absorbed_{number}", absorbed.__doc__ or "", each, f)


def labels() -> Problem:
    """Two normals in one sample, whose means have different priors, so that their peaks differ."""
    rng = np.random.default_rng(22)
    y = np.concatenate([rng.normal(10.0, 2.0, 60), rng.normal(22.0, 3.0, 40)])

    def f(x: Array) -> Array:
        first, second, sd_first, sd_second, share = x.T[..., None]

        def part(mean: Array, sd: Array) -> Array:
            return -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)

        return np.logaddexp(np.log(share) + part(first, sd_first), np.log1p(-share) + part(second, sd_second)).sum(1)

    each: dict[str, Prior] = {"first": ("normal", 0.0, 30.0), "second": ("normal", 50.0, 60.0)}
    each |= {"sd_first": ("halfcauchy", 5.0), "sd_second": ("halfcauchy", 5.0), "share": ("beta", 2.0, 1.0)}
    return problem("labels", labels.__doc__ or "", each, f)


def alias() -> Problem:
    """A star that is seen once a night, almost: a day's alias of its period fits nearly as well."""
    rng = np.random.default_rng(23)
    t = np.arange(40.0) + rng.normal(0.0, 0.03, 40)
    y = 12.0 + 4.0 * np.cos(2 * np.pi * t / 3.7) + 3.0 * np.sin(2 * np.pi * t / 3.7) + rng.normal(0.0, 1.5, 40)

    def f(x: Array) -> Array:
        period, cos, sin, offset = x.T[:4, :, None]
        angle = 2 * np.pi * t / period
        return normal_terms(y - offset - cos * np.cos(angle) - sin * np.sin(angle), 1.5)

    each: dict[str, Prior] = {"period": ("loguniform", 1.2, 6.0), **normals(["cos", "sin", "offset"], 100.0)}
    return problem("alias", alias.__doc__ or "", each, f)


def signs() -> Problem:
    """A speed of which only the square is seen, under a prior that prefers one sign."""
    rng = np.random.default_rng(24)
    t = np.linspace(0.0, 5.0, 25)
    y = 3.0 + 2.0 * t + 0.5 * (1.7 * t) ** 2 + rng.normal(0.0, 0.5, 25)

    def f(x: Array) -> Array:
        height, slope, speed, noise = x.T[..., None]
        return normal_terms(y - height - slope * t - 0.5 * (speed * t) ** 2, noise)

    each: dict[str, Prior] = {**normals(["height", "slope"], 100.0), "speed": ("normal", 20.0, 30.0), "noise": ("halfcauchy", 5.0)}
    return problem("signs", signs.__doc__ or "", each, f)


def decays() -> Problem:
    """Two decays whose rates have one prior and whose sizes have different ones."""
    rng = np.random.default_rng(25)
    t = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 10, 12, 16, 24.0])
    y = np.log(12 * np.exp(-1.4 * t) + 3 * np.exp(-0.12 * t)) + rng.normal(0.0, 0.08, len(t))

    def f(x: Array) -> Array:
        one, rate, other, other_rate, noise = x.T[..., None]
        with np.errstate(all="ignore"):
            at = normal_terms(y - np.logaddexp(np.log(one) - rate * t, np.log(other) - other_rate * t), noise)
        return np.where(np.isfinite(at), at, -np.inf)

    each: dict[str, Prior] = {"one": ("lognormal", 0.0, 3.0), "one_rate": ("lognormal", 0.0, 3.0)}
    each |= {"other": ("lognormal", 2.0, 1.5), "other_rate": ("lognormal", 0.0, 3.0), "noise": ("halfcauchy", 1.0)}
    return problem("decays", decays.__doc__ or "", each, f)


def problems() -> list[Problem]:
    """All of them, in order of dimension."""
    made = [two_bells(2, 10.0, 0.7), two_bells(3, 10.0, 0.9), two_bells(4, 30.0, 0.5), two_bells(6, 10.0, 0.4)]
    made += [flip_flop(0.1), flip_flop(None), labels(), alias(), signs(), decays()]
    made += [absorbed(1, 0.6), absorbed(2, 0.6), absorbed(3, 0.3), absorbed(4, 0.3)]
    return sorted(made, key=lambda p: (p.d, p.name))


def answers(one: Problem, seed: int) -> list[str]:
    """How far ln Z is off after each budget, half of the width of its interval, and the verdict."""
    session = wq.Session(priors(one), seed=seed)
    out = []
    for budget in BUDGETS.get(one.d, MANY):
        while session.evaluations < budget:
            (task,) = session.ask()
            session.tell(task, log_f=one.log_likelihood(task.array))
        found = session.result()
        low, high = (end - one.log_z for end in found.interval())
        missed = "" if low <= 0.0 <= high else " MISSED"
        peaks = (found.report.get("climb") or {}).get("peaks", 0)
        why = ",".join(reason["code"] for reason in found.reasons) or found.verdict
        out.append(f"{budget}: {found.log_z - one.log_z:+.3g} +- {0.5 * (high - low):.2g} {peaks} {why}{missed}")
    return out


def main() -> None:
    """Run all problems, or work their truths out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of problems")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--truths", action="store_true")
    args = parser.parse_args()
    for one in problems():
        if args.names and not any(name in one.name for name in args.names):
            continue
        if args.truths:
            print(json.dumps(truths.answers(one)), flush=True)
            continue
        for seed in range(100, 100 + args.seeds):
            print(f"{one.name:24} {seed}  " + "  |  ".join(answers(one, seed)), flush=True)


if __name__ == "__main__":
    main()
