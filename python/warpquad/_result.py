"""What a run found: ln Z with its interval, and what to know about it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad import _core
from warpquad._integrand import Failure
from warpquad._priors import Priors

Array = npt.NDArray[np.float64]


class Result:
    """What a run found."""

    def __init__(self, core: _core.Session, priors: Priors, stop: str, failures: list[Failure]) -> None:
        self.core = core
        self.priors = priors
        self.law = core.report(stop)
        self.report: dict[str, Any] = json.loads(self.law.to_json())
        self.failures = failures

    @property
    def log_z(self) -> float:
        """The median of ln Z; NaN where Z is negative."""
        return self.law.log_z

    @property
    def log_z_sd(self) -> float:
        """The standard deviation of ln Z."""
        return self.law.log_z_sd

    def interval(self, probability: float = 0.95) -> tuple[float, float]:
        """The central interval of ln Z with that probability."""
        return self.law.interval(probability)

    @property
    def evaluations(self) -> int:
        """Values that the result rests on."""
        return int(self.report["evaluations"])

    @property
    def stop(self) -> str:
        """Why the run stopped."""
        return str(self.report["stop"])

    @property
    def seconds(self) -> float:
        """Seconds of wall clock that the run took."""
        return float(self.report["seconds"])

    @property
    def warnings(self) -> list[str]:
        """What a reader of the result should know."""
        return list(self.report["warnings"])

    @property
    def method(self) -> dict[str, Any]:
        """The method by name and by parts."""
        return dict(self.report["method"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.report["seed"])

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return list(self.priors.names)

    def __repr__(self) -> str:
        low, high = self.interval()
        rows = {
            "log Z": f"{self.log_z:.4f} +- {self.log_z_sd:.4f}",
            "95 % interval": f"[{low:.4f}, {high:.4f}]",
            "evaluations": str(self.evaluations),
            "stopped by": self.stop,
            "method": str(self.method["name"]),
        }
        return "\n".join(f"{label:<15}  {text}" for label, text in rows.items())
