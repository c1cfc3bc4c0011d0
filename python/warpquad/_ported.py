"""A problem that comes from another package: its likelihood and its prior, ready to integrate."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from warpquad._result import Result

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A likelihood with its prior, from another package; made by `wq.from_pymc` and its like.

    >>> import warpquad as wq
    >>> problem = wq.Problem(lambda x: -x @ x, {"a": wq.normal(0, 1), "b": wq.normal(0, 1)})
    >>> problem.integrate(budget=20, progress=False).names
    ['a', 'b']
    """

    log_f: Callable[[Array], float]
    """The log likelihood, of an array of all parameters."""
    priors: Any
    """The prior, in a form that `wq.integrate` takes."""
    names: list[str] | None = None
    """The parameters' names, where the prior is a transform."""

    def integrate(self, **options: Any) -> Result:
        """`wq.integrate` of this problem; it takes all its options."""
        from warpquad._integrate import integrate

        return integrate(self.log_f, self.priors, names=self.names, argument="array", **options)


class Layout:
    """Variables of some shapes, one after another in an array."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self.shapes = shapes

    @property
    def names(self) -> list[str]:
        """The name of each number: `beta[0]`, `beta[1, 2]`."""
        return [f"{name}{index}" for name, shape in self.shapes.items() for index in _indices(shape)]

    def split(self, x: Array) -> dict[str, Array]:
        """The variables by name."""
        out: dict[str, Array] = {}
        start = 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape, dtype=int))
            out[name] = np.asarray(x[start : start + size], dtype=float).reshape(shape)
            start += size
        return out

    def join(self, values: Sequence[Any]) -> Array:
        """All numbers of the variables in order."""
        return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])


def _indices(shape: tuple[int, ...]) -> list[str]:
    if not shape:
        return [""]
    return [f"[{', '.join(map(str, index))}]" for index in itertools.product(*map(range, shape))]
