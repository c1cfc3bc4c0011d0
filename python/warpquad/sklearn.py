"""Regression with warped Gaussian processes, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from warpquad._core import (
    GP,
    Belief,
    Posterior,
    Warp,
    _law_log_density,
    _law_moments,
    _law_quantile,
    _left_out,
    _regress,
)
from warpquad._core import warp as _named_warp
from warpquad._errors import NumericsError, RangeError, SpecError

try:
    from sklearn.base import BaseEstimator, RegressorMixin  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.utils import check_random_state  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.utils.validation import check_is_fitted, validate_data  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError(
        "WarpedGPRegressor needs scikit-learn 1.6 or later: pip install 'scikit-learn>=1.6'"
    ) from error

__all__ = ["WarpedGPRegressor"]

_Array = npt.NDArray[np.float64]
_MANY_TO_ONE = ("square", "polynomial")


class _FitMethod:
    """The method `fit` of a class whose parameter `fit` has the same name.

    Scikit-learn keeps a parameter as an attribute of its name. This is a descriptor with `__set__`,
    so it wins over the instance's own attributes: `estimator.fit = "g"` stores the parameter,
    `estimator.fit(X, y)` calls the method.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        bound: Callable[..., Any] = (
            self.method if instance is None else self.method.__get__(instance, owner)
        )
        return bound

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["fit"] = value


class WarpedGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Regression of a function known to lie in a range, by a Gaussian process on g with y = xi(g).

    Parameters
    ----------
    range : (lo, hi) or None
        The open interval that f lies in; None for the whole line. A value on a finite end says that
        f with its noise was there or beyond; without a `noise` it is fitted then.
    fit : "f", "g" or "f-loo"
        What the hyperparameters maximise: the likelihood of y under the matched belief, that of g,
        or the densities of y left out one by one under the matched belief given the others. The
        last is for exact values and for noise on g that all values share.
    warp : str, Warp or None
        The warp; None for the one that the range calls for: identity, log or probit.
    kernel : str or Kernel
        The kernel; see `warpquad.kernels`.
    noise : float, array of shape (n_samples,) or "fit"
        The variance of the noise of a value, one for all or one for each, as `alpha` of
        scikit-learn's GaussianProcessRegressor. With 0 the values are exact and are interpolated.
        "fit" fits it. Exact values may be impossible: two different ones at one point, points that
        all but coincide, or values on an end of the range. Then the noise is fitted after all, with
        a warning.
    noise_on : "y", "g" or None
        What the noise is on: y itself, or g, which is ln y where the range is (0, inf). None is g
        where the range is half a line, and y otherwise. With noise on y and values on an end of the
        range, those say that y with its noise was there or beyond.
    restarts : int
        Random starts of the fit, besides the warp's own.
    random_state : int, RandomState or None
        The seed of the random starts.

    Attributes
    ----------
    posterior_ : Posterior
        The belief about g.
    warp_ : Warp
        The warp, in the units of y.
    noise_ : float or array
        The variance of the noise.
    noise_on_ : "y" or "g"
        What it is on.
    log_likelihood_ : float
        ln p(y) at the fitted hyperparameters, in the space of the fit; with "f-loo" the sum of the
        left-out ln densities.
    X_train_, y_train_ : arrays
        The data; exact values that repeat count once.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> import numpy as np, warpquad as wq
    >>> X = np.linspace(0, 1, 9)[:, None]
    >>> y = 1 / (1 + np.exp(8 - 16 * X[:, 0]))
    >>> model = wq.WarpedGPRegressor(range=(0, 1), fit="f").fit(X, y)
    >>> bool(np.all((model.predict(X) > 0) & (model.predict(X) < 1)))
    True
    >>> round(model.score(X, y), 6)
    1.0
    """

    def __init__(
        self,
        range: tuple[float, float] | None = None,
        fit: Literal["f", "g", "f-loo"] = "f",
        warp: str | Warp | None = None,
        kernel: Any = "matern32",
        noise: float | npt.ArrayLike | Literal["fit"] = 0.0,
        restarts: int = 0,
        random_state: Any = 0,
        noise_on: Literal["y", "g"] | None = None,
    ) -> None:
        self.range = range
        self.fit = fit
        self.warp = warp
        self.kernel = kernel
        self.noise = noise
        self.noise_on = noise_on
        self.restarts = restarts
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `fit` too, although the attribute of that name is the method."""
        params: dict[str, Any] = super().get_params(deep=deep)
        params["fit"] = self.__dict__["fit"]
        return params

    @_FitMethod
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> WarpedGPRegressor:
        """Fit the hyperparameters and condition on the data.

        Raises a ValueError that names the row where y is outside the range.
        """
        rows: _Array
        rows, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        values = np.asarray(y, dtype=np.float64)
        space = self.__dict__["fit"]
        if space not in ("f", "g", "f-loo"):
            raise ValueError(f"fit: is 'f', 'g' or 'f-loo', got {space!r}")
        plain = _warp_for(self.warp, self.range)
        _check_range(plain, values)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        start = _start(self.kernel, rows)
        known = _known_noise(self.noise, len(values))
        on = _noise_on(self.noise_on, plain, values, known)

        def learn(noise: list[float] | None, on: str) -> tuple[Posterior, Warp, _Array, float]:
            on_y = on == "y" and plain.name != "identity"
            return _regress(
                start, plain, rows, values, noise, on_y, space, self.restarts, seed
            )

        try:
            if known == [] and _on_an_end(plain, values) is not None:
                raise SpecError(_end_message(plain, values))
            found = learn(known, on)
        except (SpecError, NumericsError) as error:
            if known != [] or isinstance(error, RangeError):
                raise
            warnings.warn(
                f"no exact fit, so noise is fitted; noise='fit' says so at once. {error}",
                stacklevel=3,
            )
            on = _noise_on(self.noise_on, plain, values, None)
            found = learn(None, on)
        self.posterior_, self.warp_, noise, self.log_likelihood_ = found
        self.noise_ = float(noise[0]) if len(noise) == 1 else noise
        self.noise_on_ = on
        self.X_train_ = self.posterior_.X
        # Exact values that repeat count once.
        same = len(self.X_train_) == len(values)
        self.y_train_ = values if same else self.warp_.forward(self.posterior_.g)
        return self

    @property
    def belief_(self) -> Belief:
        """The belief about f = xi(g), for `warpquad.integral` and its like."""
        check_is_fitted(self)
        return self.posterior_.warp(self.warp_)

    @overload
    def predict(
        self,
        X: npt.ArrayLike,
        return_std: Literal[False] = ...,
        return_cov: Literal[False] = ...,
        noise: bool | npt.ArrayLike = ...,
    ) -> _Array: ...
    @overload
    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = ...,
        return_cov: bool = ...,
        noise: bool | npt.ArrayLike = ...,
    ) -> _Array | tuple[_Array, _Array]: ...
    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise: bool | npt.ArrayLike = False,
    ) -> _Array | tuple[_Array, _Array]:
        """The mean of f at the rows of X, and if asked for its standard deviation or covariance.

        They are those of f = xi(g) itself. `noise=True` gives those of an observation, with the
        noise of one; a number or an array is its variance.
        """
        if return_std and return_cov:
            raise RuntimeError("return_std and return_cov: ask for one of them")
        X = self._rows(X)
        belief = self.belief_
        if noise is not False:
            if return_cov:
                raise ValueError("return_cov: is of f itself; noise goes with return_std")
            mean, std = _law_moments(self.warp_, *self._laws(X, noise))
            return (mean, std) if return_std else mean
        if return_std:
            return belief.predict(X)
        mean = belief.mean(X)
        return (mean, belief.cov(X)) if return_cov else mean

    def interval(
        self, X: npt.ArrayLike, level: float = 0.95, noise: bool | npt.ArrayLike = False
    ) -> tuple[_Array, _Array]:
        """The ends of a central interval of f at the rows of X, by the exact law of xi(g).

        `noise` as in `predict`: with it, of an observation. No end is outside the range.
        """
        if not 0 < level < 1:
            raise ValueError(f"level: is between 0 and 1, got {level!r}")
        X = self._rows(X)
        self._one_to_one("an interval")
        laws = self._laws(X, noise)
        low = _law_quantile(self.warp_, *laws, 0.5 - 0.5 * level)
        return low, _law_quantile(self.warp_, *laws, 0.5 + 0.5 * level)

    def log_predictive_density(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        law: Literal["matched", "exact"] | None = None,
        noise: bool | npt.ArrayLike = True,
    ) -> _Array:
        """ln p(y | x, D) of each row, the noise of an observation included.

        Its mean is the MLL of the literature. `law="exact"` is the law of xi(g) itself, with noise
        within the range, for warps that are one to one; it is the default for those. `"matched"` is
        the normal law with the two moments of f, which the method integrates. `noise` as in
        `predict`.
        """
        X = self._rows(X)
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (len(X),):
            raise ValueError(f"y: expected shape ({len(X)},), got {y.shape}")
        if law is None:
            law = "matched" if self.warp_.name in _MANY_TO_ONE else "exact"
        laws = self._laws(X, noise)
        if law == "matched":
            mu, s, on_y = laws
            variance = np.exp(self.warp_.log_var(mu, s)) + on_y
            log_sd = np.where(on_y > 0, 0.5 * np.log(variance), 0.5 * self.warp_.log_var(mu, s))
            return _log_normal((y - self.warp_.mean(mu, s)) * np.exp(-log_sd)) - log_sd
        if law != "exact":
            raise ValueError(f"law: is 'matched' or 'exact', got {law!r}")
        self._one_to_one("law")
        return _law_log_density(self.warp_, *laws, y)

    def leave_one_out(self) -> dict[str, Any]:
        """What each value of the data was expected to be, given all the others.

        Arrays `mean`, `std` and `log_density`, noise included, and the figures `mean_log_density`,
        `rms_error` and `coverage`, the part that central 95 % intervals cover. The hyperparameters
        stay as they are.
        """
        check_is_fitted(self)
        self._one_to_one("leave_one_out")
        noise = np.atleast_1d(self.noise_)
        on_y = self.noise_on_ == "y" and self.warp_.name != "identity"
        return _left_out(self.posterior_, self.warp_, noise, on_y, self.y_train_)

    def _one_to_one(self, what: str) -> None:
        if self.warp_.name in _MANY_TO_ONE:
            raise ValueError(
                f"{what}: the {self.warp_.name} warp is not one to one, so its exact law is not there"
            )

    def _laws(self, X: _Array, noise: bool | npt.ArrayLike) -> tuple[_Array, _Array, _Array]:
        """Means and variances of g, and the variance of the noise on y."""
        mu, s = self.posterior_.mean(X), self.posterior_.var(X)
        if noise is False:
            return mu, s, np.zeros(len(X))
        if noise is True:
            if not isinstance(self.noise_, float):
                raise ValueError("noise: each of the data has its own; say that of the rows of X")
            noise = self.noise_
        variance = np.broadcast_to(np.asarray(noise, dtype=np.float64), (len(X),)).copy()
        if self.noise_on_ == "y" and self.warp_.name != "identity":
            return mu, s, variance
        unit = _unit(self.warp_)
        return mu, s + variance / unit**2, np.zeros(len(X))

    def sample_y(self, X: npt.ArrayLike, n_samples: int = 1, random_state: Any = 0) -> _Array:
        """Draws of f at the rows of X, a column a draw; all of them in the range."""
        X = self._rows(X)
        g = _draw(self.posterior_, X, n_samples, check_random_state(random_state))
        return self.warp_.forward(g).reshape(g.shape)

    def _rows(self, X: npt.ArrayLike) -> _Array:
        check_is_fitted(self)
        rows: _Array = validate_data(self, X, reset=False, dtype=np.float64)
        return rows


def _warp_for(warp: str | Warp | None, range: tuple[float, float] | None) -> Warp:
    if isinstance(warp, Warp):
        return warp
    if range is None:
        return _named_warp(warp or "identity")
    if len(range) != 2:
        raise ValueError(f"range: is (lo, hi) or None, got {range!r}")
    lo, hi = (float(end) for end in range)
    return _named_warp(warp, range=(lo, hi))


def _check_range(warp: Warp, y: _Array) -> None:
    """Name the first row that the warp cannot reach, before anything is computed."""
    lo, hi = warp.range
    outside = np.flatnonzero((y < lo) | (y > hi))
    if outside.size:
        row = int(outside[0])
        raise ValueError(
            f"y[{row}] is {y[row]}, outside the range ({lo}, {hi}); correct it or state the range that y really has"
        )


def _known_noise(noise: Any, n: int) -> list[float] | None:
    """Nothing for exact values, a variance or one for each; None where it is to be fitted."""
    if isinstance(noise, str):
        if noise != "fit":
            raise ValueError(f"noise: is a variance, an array of them or 'fit', got {noise!r}")
        return None
    variances = np.asarray(noise, dtype=np.float64)
    if variances.ndim > 0 and variances.shape != (n,):
        raise ValueError(f"noise: expected one variance or {n}, got shape {variances.shape}")
    if not np.all(np.isfinite(variances) & (variances >= 0)):
        raise ValueError(f"noise: must be finite and not negative, got {noise!r}")
    if not np.any(variances > 0):
        return []
    if not np.all(variances > 0):
        row = int(np.flatnonzero(variances == 0)[0])
        raise ValueError(f"noise[{row}]: must be positive where others have noise, got 0")
    return [float(v) for v in np.atleast_1d(variances)]


def _noise_on(
    given: str | None, warp: Warp, y: _Array, known: list[float] | None
) -> Literal["y", "g"]:
    """What the noise is on."""
    if given not in ("y", "g", None):
        raise ValueError(f"noise_on: is 'y', 'g' or None, got {given!r}")
    if given is not None:
        return "y" if given == "y" else "g"
    lo, hi = warp.range
    half = bool(np.isfinite(lo)) != bool(np.isfinite(hi))
    if half and known and _on_an_end(warp, y) is not None:
        raise ValueError(
            f"{_end_message(warp, y)}; say noise_on='y', and give the noise of y itself"
        )
    on_end = _on_an_end(warp, y) is not None
    return "g" if half and not on_end else "y"


def _on_an_end(warp: Warp, y: _Array) -> int | None:
    """The first row on an end of the range."""
    lo, hi = warp.range
    rows = np.flatnonzero((y == lo) | (y == hi))
    return int(rows[0]) if rows.size else None


def _end_message(warp: Warp, y: _Array) -> str:
    row = _on_an_end(warp, y) or 0
    return f"y[{row}] is {y[row]}, an end of the range, which an exact value never reaches"


def _unit(warp: Warp) -> float:
    """What the warp makes of a difference of 1 in g, where that is a matter of units alone."""
    return float(np.exp(warp.log_slope([0.0])[0])) if warp.name == "identity" else 1.0


def _start(kernel: Any, X: _Array) -> GP:
    """A GP with lengths of half the spread of each column."""
    spread = np.ptp(X, axis=0)
    return GP(kernel, length_scales=np.where(spread > 0, 0.5 * spread, 1.0))


def _log_normal(z: _Array) -> _Array:
    density: _Array = -0.5 * (z * z + np.log(2 * np.pi))
    return density


def _draw(posterior: Posterior, X: _Array, n: int, rng: Any) -> _Array:
    """Joint draws of g, through an eigendecomposition that rounding cannot stop."""
    values, vectors = np.linalg.eigh(posterior.cov(X))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    z = rng.standard_normal((len(values), n))
    draws: _Array = posterior.mean(X)[:, None] + root @ z
    return draws
