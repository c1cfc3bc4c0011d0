"""Posterior expectations: call the user's function on the nodes, and hold its mean and error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad import _core
from warpquad._arguments import shown
from warpquad._errors import SpecError
from warpquad._integrand import Integrand

Array = npt.NDArray[np.float64]

# Nodes on which a batch is compared with single points. They are few, because a function of one
# point may do anything with a batch.
COMPARED = 5


def between_0_and_1(probability: float) -> float:
    """A probability, or an error."""
    if not 0 < probability < 1:
        raise SpecError.of("probability", f"must be between 0 and 1, got {probability!r}")
    return float(probability)


class Expectation:
    """A posterior expectation: `mean`, `sd` and `interval(0.95)`, of the function's shape.

    They are numbers or arrays, as the function returned them. The standard deviation has two parts:
    what the belief does not know of f, and the error of the nodes (`node_error`).
    """

    mean: Any
    sd: Any
    node_error: Any

    def __init__(
        self,
        parts: list[_core.Expectation],
        shape: tuple[int, ...],
        sums: Callable[[int, int, float, float], _core.Expectation] | None = None,
    ) -> None:
        self._parts, self._shape, self._sums = parts, shape, sums
        self.mean = self._shaped([part.mean for part in parts])
        self.sd = self._shaped([part.sd for part in parts])
        self.node_error = self._shaped([part.node_error for part in parts])

    def _shaped(self, values: list[float]) -> Any:
        return values[0] if self._shape == () else np.array(values).reshape(self._shape)

    @property
    def cov(self) -> Array:
        """The covariance of what is not known of the components, (m, m) for m of them: of the means
        of an array over one run, such as a predictive density at many times.

        >>> import numpy as np
        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=12, progress=False)
        >>> both = r.mean(lambda x: np.array([x["x"], 2 * x["x"]]))
        >>> bool(np.allclose(np.diag(both.cov), both.sd**2)), bool(both.cov[0, 1] > 0)
        (True, True)
        """
        if self._sums is None or len(self._parts) == 1:
            return np.array([[part.sd**2 for part in self._parts]])
        sd = np.array([part.sd for part in self._parts])
        out = np.diag(sd**2)
        # By polarisation: var(a + b) = var(a) + var(b) + 2 cov(a, b). Components are scaled first.
        scale = np.where(sd > 0, sd, 1.0)
        for i in range(len(sd)):
            for j in range(i):
                both = self._sums(i, j, 1 / scale[i], 1 / scale[j]).sd ** 2
                own = (sd[i] / scale[i]) ** 2 + (sd[j] / scale[j]) ** 2
                out[i, j] = out[j, i] = 0.5 * (both - own) * scale[i] * scale[j]
        return out

    def interval(self, probability: float = 0.95) -> tuple[Any, Any]:
        """The central interval with that probability."""
        ends = [part.interval(between_0_and_1(probability)) for part in self._parts]
        return self._shaped([low for low, _ in ends]), self._shaped([high for _, high in ends])

    def __float__(self) -> float:
        if self._shape != ():
            raise TypeError(
                f"an expectation of shape {self._shape} is no single number; take .mean"
            )
        return float(self.mean)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.mean, dtype=dtype)

    def __repr__(self) -> str:
        if self._shape != ():
            return f"Expectation(mean={self.mean!r}, sd={self.sd!r})"
        # Two digits of the error, and as many of the mean.
        digits = 6 if not self.sd > 0 else min(12, max(0, 1 - int(np.floor(np.log10(self.sd)))))
        return f"{self.mean:.{digits}f} ± {self.sd:.{digits}f}"


def on_nodes(h: Integrand, x: Array, vectorized: bool | None) -> Array:
    """h at every node, as an array of shape (n, ...)."""
    if vectorized:
        values = _numbers(h.call(x), x[0], h.arguments.number_names)
        if values.shape[:1] != (len(x),):
            raise SpecError.of(
                "h",
                f"is vectorized and must return {len(x)} values, got an array of shape {values.shape}",
            )
        return _finite(values, x, h.arguments.number_names)
    if vectorized is None and _takes_batches(
        h, x[np.linspace(0, len(x) - 1, COMPARED).astype(int)]
    ):
        return _finite(_numbers(h.call(x), x[0], h.arguments.number_names), x, h.arguments.number_names)
    return _finite(_single(h, x), x, h.arguments.number_names)


def _takes_batches(h: Integrand, x: Array) -> bool:
    """Whether h of a few nodes at once is what it is of each."""
    try:
        with np.errstate(all="ignore"):
            batch = np.asarray(h.call(x))
    except Exception:  # a function of one point may fail in any way on a batch
        return False
    if batch.shape[:1] != (len(x),) or batch.dtype.kind not in "biuf":
        return False
    single = _single(h, x)
    return single.shape == batch.shape and np.allclose(
        single, batch, rtol=1e-9, atol=0.0, equal_nan=True
    )


def _single(h: Integrand, x: Array) -> Array:
    out: list[Array] = []
    for row in x:
        try:
            value = h.call(row)
        except Exception as error:
            raise SpecError.of(
                "h", f"failed at {shown(h.arguments.number_names, row)}: {type(error).__name__}: {error}"
            ) from error
        value = _numbers(value, row, h.arguments.number_names)
        if out and value.shape != out[0].shape:
            raise SpecError.of(
                "h",
                f"returned shape {value.shape} at {shown(h.arguments.number_names, row)} and {out[0].shape} before",
            )
        out.append(value)
    return np.array(out)


def _numbers(value: Any, row: Array, names: Sequence[str]) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise SpecError.of("h", f"must return real numbers, got {value!r} at {shown(names, row)}")
    return array.astype(float)


def _finite(values: Array, x: Array, names: Sequence[str]) -> Array:
    bad = ~np.isfinite(values.reshape(len(x), -1)).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise SpecError.of(
            "h",
            f"is {values[first].tolist()} at {shown(names, x[first])}; it must be finite over the posterior",
        )
    return values
