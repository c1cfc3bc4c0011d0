"""Draw an instance from its seed: an integrand with its log Z, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.trust import fits, shapes
from benchmarks.trust.shapes import Array, Rng, Shape

KINDS: dict[str, Callable[[Rng, int], Shape]] = {
    "modes": shapes.modes,
    "tails": shapes.tails,
    "ridges": shapes.ridges,
    "cliffs": shapes.cliffs,
    "failing": shapes.failing,
    "fits": fits.fits,
}
DIMENSIONS = range(1, 9)
# What noise may be declared, and how many evaluations may run at once.
NOISE_SDS = (0.3, 1.0, 3.0)
IN_FLIGHT = 8


@dataclass(frozen=True)
class Instance:
    """An integrand with known log Z, and how it is run."""

    seed: int
    kind: str
    shape: Shape
    log_scale: float
    """A constant of ln f, as a likelihood has one."""
    in_flight: int = 1
    noise_sd: float = 0.0

    @property
    def half(self) -> Literal["tune", "report"]:
        """Constants may be chosen by looking at the tuning half only: the even seeds."""
        return "tune" if self.seed % 2 == 0 else "report"

    @property
    def d(self) -> int:
        """The number of parameters."""
        return len(self.shape.priors)

    @property
    def log_z(self) -> float:
        """The truth."""
        return self.shape.log_z + self.log_scale

    def evaluate(self, x: Array, rng: Rng) -> float | None:
        """ln f at a point with the noise that is declared; `None` where the evaluation fails."""
        point = np.asarray(x, dtype=float)[None]
        if self.shape.fails is not None and self.shape.fails(point)[0]:
            return None
        with np.errstate(all="ignore"):
            value = float(self.shape.log_f(point)[0])
        value = -np.inf if np.isnan(value) else value + self.log_scale
        return value + self.noise_sd * float(rng.normal()) if self.noise_sd > 0 else value


def draw(seed: int) -> Instance:
    """The instance of a seed."""
    rng = np.random.default_rng([20, seed])
    # Half of the seeds are odd, so a kind must not go by the seed alone.
    kind = str(rng.choice(list(KINDS)))
    d = int(rng.choice(list(DIMENSIONS)))
    if kind == "fits":
        d = max(d, 2)
    in_flight = IN_FLIGHT if rng.uniform() < 0.25 else 1
    noise_sd = float(rng.choice(NOISE_SDS)) if rng.uniform() < 0.25 else 0.0
    log_scale = float(rng.normal(0.0, 300.0))
    return Instance(seed, kind, KINDS[kind](rng, d), log_scale, in_flight, noise_sd)
