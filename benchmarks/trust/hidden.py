"""Narrow modes beside a wide one: which are found? `python -m benchmarks.trust.hidden`."""

from __future__ import annotations

import argparse
from statistics import median

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from benchmarks import tuning
from benchmarks.suite.problem import box
from benchmarks.trust.__main__ import said
from benchmarks.trust.instance import Instance
from benchmarks.trust.report import covers
from benchmarks.trust.run import Row, rows
from benchmarks.trust.shapes import LN_2_PI, Array, Rng, Shape

BUDGETS = (100, 200)
DIMENSIONS = (3, 4, 5, 6)
# A mode of a like mass that is missed leaves more than this.
OFF_NATS = 0.1
# Centres are so many of the larger sd apart, in some coordinate.
APART_SDS = 2.2


def shape(rng: Rng, d: int) -> Shape:
    """A wide mode, and a narrow one or, in three dimensions, two; their masses are alike."""
    count = 2 if d > 3 else 3
    # Drawn and not used: the instances of the table in TUNING have it.
    rng.uniform(size=count)
    widths = np.r_[rng.uniform(0.1, 0.17), np.exp(rng.uniform(np.log(0.04), np.log(0.09), count - 1))]
    sds = widths[:, None] * np.exp(rng.normal(0.0, 0.2, (count, d)))
    centers = apart(rng, sds)
    parts = stats.norm.cdf((1 - centers) / sds) - stats.norm.cdf(-centers / sds)
    masses = (np.log(parts) + np.log(sds) + 0.5 * LN_2_PI).sum(1)
    heights = -masses + rng.normal(0.0, 0.7, count)

    def log_f(x: Array) -> Array:
        z = (x[:, None, :] - centers) / sds
        return np.asarray(logsumexp(heights - 0.5 * (z**2).sum(2), axis=1))

    return Shape(box(d, 0.0, 1.0), log_f, float(logsumexp(heights + masses)))


def apart(rng: Rng, sds: Array) -> Array:
    """Centres that are apart."""
    count, d = sds.shape
    while True:
        centers = rng.uniform(0.15, 0.85, (count, d))
        pairs = [(i, j) for i in range(count) for j in range(i)]
        gaps = [(np.abs(centers[i] - centers[j]) / np.maximum(sds[i], sds[j])).max() for i, j in pairs]
        if min(gaps) > APART_SDS:
            return np.asarray(centers)


def instance(seed: int) -> Instance:
    """The integrand of a seed."""
    rng = np.random.default_rng([78, seed])
    return Instance(seed, "hidden", shape(rng, DIMENSIONS[seed % len(DIMENSIONS)]), 0.0)


def main(words: list[str] | None = None) -> None:
    """The command line."""
    args = arguments(words)
    found: list[Row] = []
    for seed in range(args.instances):
        some = list(rows(instance(seed), BUDGETS, tuning.read(args.tuning)))
        print(said(some), flush=True)
        found += some
    for budget in BUDGETS:
        of = [r for r in found if r["budget"] == budget]
        errors = [abs(r["log_z"] - r["truth"]) for r in of]
        off = sum(error > OFF_NATS for error in errors)
        print(f"{budget}: {off} of {len(of)} off, {sum(map(covers, of))} cover, median error {median(errors):.2g}")


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust.hidden",
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--instances", type=int, default=16, help="how many")
    parser.add_argument(
        "--tuning", action="append", default=[], metavar="FIELD=VALUE",
        help="a number of `auto`, see `warpquad list tuning`",
    )  # fmt: skip
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
