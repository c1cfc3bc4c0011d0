"""Compute the log evidence of each real posterior in two independent ways, and write truths.csv.

Usage: python -m benchmarks.suite.real.truths [NAME ...]

Without names, those problems that the table lacks, in some 10 minutes of one processor for all. The
first way is importance sampling from a mixture of Student t laws, fitted to particles and then
again to its own weighted draws until they are even. The second is bridge sampling (Meng and Wong
1996) between other particles and normals fitted to their other half. Particles are tempered ones
and some about the tops of climbs from the prior, as tempering alone loses modes. Draws of a model
that does not change when labels are swapped are swapped at random before every fit, so that its
mirrored modes count in full. The narrowest parameter is that with the smallest standard deviation
of the posterior in the prior's normal scores, where that of the prior is 1.
"""

from __future__ import annotations

import csv
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from .. import read_truths, sampling
from ..problem import Array, Problem
from . import TRUTHS, defined, tops
from .symmetries import shuffled

FIELDS = ["name", "log_z", "error", "share", "bridge_log_z", "bridge_error", "narrowest", "narrowest_sd"]
# Particles, their steps at each temperature, and at the last: under vague priors the early
# temperatures are funnels that few steps do not even out.
PARTICLES, MOVES, LAST_MOVES = 2000, 20, 150
# Jumps between modes in each round of the last steps.
ROUNDS, JUMPS = 3, 40
# Draws of a round of fitting, and of the last, whose error is reported.
ROUND, LAST, MOST = 2**13, 2**16, 2**21
WANTED_ERROR = 0.002
# With two parameters answers are that good after 100 evaluations.
WANTED_ERROR_OF_TWO = 2e-4


@dataclass(frozen=True)
class Answer:
    """A log evidence and its standard error."""

    log_z: float
    error: float


def particles(problem: Problem, seed: int, effort: int) -> Array:
    """Particles of the posterior, with so many times the usual steps: tempered ones and some about
    every top, until each mode has its share."""
    rng = np.random.default_rng(seed + 100)
    z, _ = sampling.tempered(problem, PARTICLES, seed, moves=effort * MOVES)
    z = np.concatenate([z, tops.around(problem, seed + 200)])
    for _ in range(ROUNDS):
        z = sampling.moved(problem, z, 1, effort * LAST_MOVES // ROUNDS, rng)[0]
        z = shared(problem, z, effort * JUMPS, seed, rng)
    return z[rng.permutation(len(z))[:PARTICLES]]


def shared(problem: Problem, z: Array, jumps: int, seed: int, rng: np.random.Generator) -> Array:
    """The particles after Metropolis jumps to draws of a mixture fitted to them, which go from mode
    to mode."""
    proposal = sampling.fit(shuffled(problem, z, rng), components(problem), 5.0, 1.2, seed)

    def log_weight(z: Array) -> Array:
        return sampling.log_f(problem, z) + sampling.log_standard(z) - proposal.log_density(z)

    z, weight = z.copy(), log_weight(z)
    for _ in range(jumps):
        new = proposal.draw(rng.standard_normal(z.shape), rng.uniform(size=len(z)), rng)
        at = log_weight(new)
        taken = np.log(rng.uniform(size=len(z))) < at - weight
        z[taken], weight[taken] = new[taken], at[taken]
    return z


def resampled(problem: Problem, proposal: sampling.Proposal, count: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Draws of the posterior by importance resampling, weights cut at a fiftieth of all, and the
    effective share of the draws."""
    z = proposal.draw(rng.standard_normal((count, problem.d)), rng.uniform(size=count), rng)
    log_w = sampling.log_f(problem, z) + sampling.log_standard(z) - proposal.log_density(z)
    w = np.exp(log_w - logsumexp(log_w))
    share = 1.0 / (w * w).sum() / count
    w = np.minimum(w, 0.02)
    return z[rng.choice(count, count // 2, p=w / w.sum())], float(share)


def components(problem: Problem) -> int:
    """Laws of a mixture: more where there are modes, fewer where a particle must count for many
    numbers."""
    return 10 if problem.d <= 8 else 6


def importance(problem: Problem, draws: Array, seed: int) -> tuple[Answer, float, Array]:
    """The first way, the effective share of its points, and the posterior's standard deviation in
    each score."""
    rng = np.random.default_rng(seed)
    fit = sampling.fit(shuffled(problem, draws, rng), components(problem), 5.0, 1.2, seed)
    best, most = fit, 0.0
    for round_ in range(2):
        z, share = resampled(problem, fit, ROUND, rng)
        if share > most:
            best, most = fit, share
        fit = sampling.fit(shuffled(problem, z, rng), components(problem), 5.0, 1.1, seed + round_)
    _, share = resampled(problem, fit, ROUND, rng)
    best = fit if share > most else best
    sds = resampled(problem, best, ROUND, rng)[0].std(0)
    count = LAST
    wanted_error = WANTED_ERROR if problem.d > 2 else WANTED_ERROR_OF_TWO
    while True:
        log_z, error, share = sampling.importance(problem, best, count, seed + 10, sobol=False)
        if error < wanted_error or count >= MOST:
            return Answer(log_z, error), share, sds
        count *= 4


def bridge(problem: Problem, draws: Array, seed: int) -> Answer:
    """The second way: half of the particles for the fit, the other half, moved on, for the
    bridge."""
    rng = np.random.default_rng(seed)
    draws = shuffled(problem, draws[rng.permutation(len(draws))], rng)
    half = len(draws) // 2
    proposal = sampling.fit(draws[:half], components(problem) // 2, np.inf, 1.0, seed)
    times = 8
    paths = np.stack([shuffled(problem, z, rng) for z in sampling.moved(problem, draws[half:], times, 10, rng)])
    count = 2**15
    other = proposal.draw(rng.standard_normal((count, problem.d)), rng.uniform(size=count), rng)

    def ratio(z: Array) -> Array:
        return sampling.log_f(problem, z) + sampling.log_standard(z) - proposal.log_density(z)

    one, two = ratio(paths.reshape(-1, problem.d)).reshape(times, half), ratio(other)
    # The particles are neighbours of one another: as many draws count as there are particles and
    # twice that.
    share = 3.0 * half / (3.0 * half + count)
    log_z = float(np.median(one))
    for _ in range(200):
        above = two - np.logaddexp(np.log(share) + two, np.log1p(-share) + log_z)
        below = -np.logaddexp(np.log(share) + one, np.log1p(-share) + log_z)
        new = float(logsumexp(above) - np.log(count) - logsumexp(below) + np.log(one.size))
        done, log_z = abs(new - log_z) < 1e-10, new
        if done:
            break
    top, bottom = np.exp(above - logsumexp(above) + np.log(count)), np.exp(below - logsumexp(below) + np.log(one.size))
    # The means over each particle's path are nearly independent of one another.
    error = np.sqrt(top.var() / count + 2.0 * bottom.mean(0).var() / half)
    return Answer(log_z, float(error))


def answers(problem: Problem, effort: int = 1) -> dict[str, str]:
    """The row of a problem; where the two ways disagree or are coarse, once more with five times
    the steps."""
    start = time.process_time()
    first, second = (particles(problem, seed, effort) for seed in (1, 2))
    tempered = time.process_time() - start
    one, share, sds = importance(problem, first, seed=11)
    two = bridge(problem, second, seed=22)
    narrowest = int(np.argmin(sds))
    print(
        f"{problem.name}: {one.log_z:.4f} +- {one.error:.4f} (share {share:.2f}), bridge {two.log_z - one.log_z:+.4f} +- {two.error:.4f}, "
        f"narrowest {sds[narrowest]:.1e} "
        f"({tempered:.0f} + {time.process_time() - start - tempered:.0f} s)",
        flush=True,
    )
    allowed = 4.0 * np.hypot(one.error, two.error)
    good = abs(one.log_z - two.log_z) < allowed and one.error < 0.003 and two.error < 0.02
    if not good and effort == 1:
        return answers(problem, 5)
    if not good:
        raise ArithmeticError(f"{problem.name}: {one} and {two} disagree by more than {allowed:.1e}, or are coarse")
    shown = [f"{one.log_z:.6f}", f"{one.error:.1e}", f"{share:.2f}", f"{two.log_z:.4f}", f"{two.error:.1e}"]
    return dict(zip(FIELDS, [problem.name, *shown, problem.names[narrowest], f"{sds[narrowest]:.1e}"]))


def save(row: dict[str, str]) -> None:
    """Put a row in the table, at once, so that a killed run loses nothing."""
    rows = read_truths(TRUTHS) | {row["name"]: row}
    with TRUTHS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[p.name] for p in defined() if p.name in rows)


def wanted(names: list[str]) -> list[Problem]:
    """The problems of these names, or all that the table lacks."""
    problems = {p.name: p for p in defined()}
    unknown = [name for name in names if name not in problems]
    if unknown:
        sys.exit(f"no real posterior is called {', '.join(unknown)}: they are {', '.join(problems)}")
    table = read_truths(TRUTHS)
    return [problems[name] for name in names or problems if names or name not in table]


def main(names: list[str]) -> None:
    """Compute the rows of these problems, or of all that the table lacks."""
    failed = []
    for problem in wanted(names):
        try:
            save(answers(problem))
        except ArithmeticError as error:
            failed.append(str(error))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1:])
