"""Write the problem that Python describes as a problem file, so that the command line understands the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from warpquad import _toml
from warpquad._priors import Priors

OnFailure = Literal["stop", "skip", "retry"]


@dataclass(frozen=True)
class Options:
    """What a problem says besides its integrand and its priors; the names are those of the problem file."""

    range: tuple[float, float] | None = None
    noise: float | None = None
    on_failure: OnFailure = "stop"
    retries: int = 2
    method: str | None = None
    warp: str | None = None
    kernel: str | None = None
    fit: Literal["f", "g"] | None = None
    acquisition: str | None = None
    coordinates: str | None = None
    nodes: int | None = None
    refit_every: int | None = None
    batch: int | None = None
    particles: int | None = None
    budget: int | None = None
    seconds: float | None = None
    log_z_sd: float | None = None
    audit: float | None = None

    def text(self, priors: Priors) -> str:
        """The problem file."""
        integrand = {
            "external": "python",
            "range": None if self.range is None else tuple(self.range),
            "noise": self.noise,
            "on_failure": self.on_failure,
            "retries": self.retries,
        }
        parts = ("warp", "kernel", "fit", "acquisition", "coordinates", "nodes", "refit_every", "batch", "particles")
        method: dict[str, Any] = {"name": self.method, **{part: getattr(self, part) for part in parts}}
        budget = {"evaluations": self.budget, "seconds": self.seconds, "log_z_sd": self.log_z_sd, "audit": self.audit}
        sections = [_toml.section("integrand", integrand), priors.text]
        sections += [_toml.section("method", method), _toml.section("budget", budget)]
        return "\n".join(section for section in sections if section)
