"""Compute the log evidence of each problem in two independent ways, and write truths.csv.

Usage: python -m benchmarks.suite.truths [NAME ...]

Without names it does all problems whose data are there, in some 40 minutes. Rows of other problems
stay as they are.

Every truth is found in two ways. A closed form is checked by a numerical way. Where there is none,
up to three dimensions it is a grid, checked by importance sampling. Above, it is importance
sampling from a mixture fitted to tempered particles, checked by the same with other particles at
another temperature, another mixture and quasi-random points (or by what a problem's structure
allows). A disagreement of more than four standard errors is an error.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.special import logsumexp

from . import TRUTHS, absorbers, cubature, defined, read_truths, sampling
from .problem import Array, Problem

FIELDS = ["name", "log_z", "error", "method", "second_log_z", "second_error", "second_method"]
# What rounding leaves of a sum of millions of terms.
ROUNDING = 1e-11


@dataclass(frozen=True)
class Answer:
    """A log evidence, its standard error, and how it was found."""

    log_z: float
    error: float
    method: str


def closed(problem: Problem) -> Answer:
    """The formula of the problem's docstring."""
    return Answer(problem.log_z, 0.0, "closed form")


# Panels of a grid for each dimension. The finer grid is the answer, its difference from the coarser
# one the error.
PANELS = {1: (200, 400), 2: (250, 500), 3: (30, 45)}


def grid(problem: Problem) -> Answer:
    """A tensor grid of Gauss and Legendre's panels."""
    coarse, fine = (cubature.log_integral(problem, n) for n in PANELS[problem.d])
    return Answer(
        fine, max(abs(fine - coarse), ROUNDING), f"grid of {PANELS[problem.d][1]} panels an axis"
    )


def fitted(problem: Problem, count: int = 2**20, particles: int = 6000) -> Answer:
    """Importance sampling from Student t laws fitted to particles of the posterior."""
    z, log_z = sampling.tempered(problem, particles, seed=1)
    proposal = sampling.fit(z, components=16, df=8.0, widen=1.1, seed=1)
    found, error, share = sampling.importance(problem, proposal, count, seed=11, sobol=False)
    print(f"  {problem.name}: particles say {log_z:.3f}; effective share {share:.3f}", flush=True)
    return Answer(found, error, f"importance sampling of {count} points")


def tempered(problem: Problem, count: int = 2**20, particles: int = 6000) -> Answer:
    """Quasi-random importance sampling from normals fitted to particles of f^(1/2)."""
    z, _ = sampling.tempered(problem, particles, seed=2, until=0.5)
    proposal = sampling.fit(z, components=8, df=np.inf, widen=1.1, seed=2)
    found, error, share = sampling.importance(problem, proposal, count, seed=22, sobol=True)
    print(f"  {problem.name}: effective share {share:.3f} at twice the temperature", flush=True)
    return Answer(found, error, f"tempered quasi-random importance sampling of {count} points")


def chain(problem: Problem, panels: tuple[int, int] = (150, 250)) -> Answer:
    """One integral after another: a term of the Rosenbrock function couples two neighbours only."""
    lo, hi = problem.bounds[0]

    def by(panels: int) -> float:
        x, w = cubature.rule(lo, hi, panels)
        # The two-dimensional function is one term.
        a, b = np.meshgrid(x, x, indexing="ij")
        term = problem.function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
        log_w, right = np.log(w / (hi - lo)), np.zeros(len(x))
        for _ in range(problem.d - 1):
            right = logsumexp(term + log_w + right, axis=1)
        return float(logsumexp(log_w + right))

    coarse, fine = map(by, panels)
    return Answer(
        fine, max(abs(fine - coarse), ROUNDING), f"integrals along the chain, {panels[1]} panels"
    )


class Exchangeable(sampling.Proposal):
    """A proposal for three exchangeable absorbers: its density is averaged over their orders."""

    def log_density(self, z: Array) -> Array:
        """log density at each row."""
        pairs = z.reshape(len(z), -1, 2)
        orders = [list(p) for p in permutations(range(pairs.shape[1]))]
        each = [super(Exchangeable, self).log_density(pairs[:, p].reshape(z.shape)) for p in orders]
        return logsumexp(each, axis=0) - np.log(len(orders))


def shuffled(
    problem: Problem,
    count: int,
    particles: int,
    seed: int,
    until: float,
    components: int,
    df: float,
) -> Answer:
    """Importance sampling for exchangeable absorbers: sorted particles, a density without order."""
    z, log_z = sampling.tempered(problem, particles, seed, until=until, moves=12)
    pairs = z.reshape(len(z), -1, 2)
    order = np.argsort(pairs[:, :, 0], axis=1)
    z = np.take_along_axis(pairs, order[:, :, None], axis=1).reshape(z.shape)
    fit = sampling.fit(z, components, df, widen=1.1, seed=seed)
    proposal = Exchangeable(fit.weights, fit.means, fit.factors, fit.df)
    found, error, share = sampling.importance(problem, proposal, count, seed, sobol=np.isinf(df))
    print(f"  {problem.name}: particles say {log_z:.3f}; effective share {share:.3f}", flush=True)
    return Answer(
        found, error, f"importance sampling of {count} points at temperature {1.0 / until:g}"
    )


def reproduction(problem: Problem) -> Answer:
    """The cubature of the reproduction."""
    spectrum, count = absorbers.SPECTRA[problem.name]
    with (absorbers.ROOT / "docs" / "reproduction" / "dla_truth.csv").open() as file:
        row = next(
            r for r in csv.DictReader(file) if r["id"] == spectrum and int(r["absorbers"]) == count
        )
    return Answer(
        float(row["log_evidence"]), float(row["log_sd"]), "docs/reproduction/dla_truth.csv"
    )


Way = Callable[[Problem], Answer]
SPECIAL: dict[str, tuple[Way, Way]] = {
    "rosenbrock_4d": (chain, fitted),
    "planet_7d": (
        lambda p: fitted(p, particles=20_000, count=2**21),
        lambda p: tempered(p, particles=20_000, count=2**21),
    ),
    "hare_lynx_5d": (fitted, tempered),
    "dla_clear_2d": (reproduction, lambda p: fitted(p, 2**16, 1000)),
    "dla_edge_2d": (reproduction, lambda p: fitted(p, 2**16, 1000)),
    "dla_6d": (
        lambda p: shuffled(p, 2**18, 3000, seed=1, until=1.0, components=50, df=8.0),
        lambda p: shuffled(p, 2**17, 3000, seed=2, until=0.7, components=30, df=np.inf),
    ),
}


def ways(problem: Problem) -> tuple[Way, Way]:
    """The first and the second way of a problem."""
    if problem.name in SPECIAL:
        return SPECIAL[problem.name]
    if problem.d <= 3:
        first, second = grid, fitted
    else:
        first, second = fitted, tempered
    return (first, second) if np.isnan(problem.log_z) else (closed, first)


def answers(problem: Problem) -> dict[str, str]:
    """The row of a problem."""
    start = time.perf_counter()
    # The surer one is the truth.
    one, two = sorted((way(problem) for way in ways(problem)), key=lambda answer: answer.error)
    allowed = 4.0 * np.hypot(one.error, two.error) + 1e-9
    print(
        f"{problem.name}: {one.log_z:.6f} +- {one.error:.1e}, {two.log_z:.6f} +- {two.error:.1e} "
        f"({time.perf_counter() - start:.0f} s)",
        flush=True,
    )
    if not abs(one.log_z - two.log_z) < allowed:
        raise ArithmeticError(
            f"{problem.name}: {one} and {two} disagree by more than {allowed:.1e}"
        )
    shown = [
        f"{one.log_z:.10f}",
        f"{one.error:.1e}",
        one.method,
        f"{two.log_z:.6f}",
        f"{two.error:.1e}",
        two.method,
    ]
    return dict(zip(FIELDS, [problem.name, *shown]))


def main(names: list[str]) -> None:
    """Compute the rows of these problems, or of all."""
    if absorbers.missing():
        print(absorbers.missing())
    failed = []
    for problem in defined():
        if names and problem.name not in names:
            continue
        try:
            save(answers(problem))
        except ArithmeticError as error:
            failed.append(str(error))
    if failed:
        sys.exit("\n".join(failed))


def save(row: dict[str, str]) -> None:
    """Put a row in the table, at once, so that a killed run loses nothing."""
    rows = read_truths() | {row["name"]: row}
    order = {p.name: i for i, p in enumerate(defined())}
    with TRUTHS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(rows.values(), key=lambda r: (order.get(r["name"], len(order)), r["name"]))
        )


if __name__ == "__main__":
    main(sys.argv[1:])
