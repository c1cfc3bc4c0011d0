"""Regression with warped Gaussian processes, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from warpquad._blocks import fit as _fit
from warpquad._core import GP, Belief, Data, Posterior, Warp
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
        The open interval that y lies in; None for the whole line. A value at a finite end is put
        just inside.
    fit : "f" or "g"
        Whose likelihood the hyperparameters maximise: that of y under the matched belief, or that
        of g.
    warp : str, Warp or None
        The warp; None for the one that the range calls for: identity, log or probit.
    kernel : str or Kernel
        The kernel; see `warpquad.kernels`.
    noise : float or "fit"
        The variance of the noise on g: on y itself without a range, on ln y for the log warp. With
        0 the values are exact and are interpolated. "fit" fits it, on g. Exact values may be
        impossible: two different ones at one point, or points that all but coincide. Then the noise
        is fitted after all, with a warning.
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
    noise_ : float
        The variance of the noise on g.
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
        fit: Literal["f", "g"] = "f",
        warp: str | Warp | None = None,
        kernel: Any = "matern32",
        noise: float | Literal["fit"] = 0.0,
        restarts: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.range = range
        self.fit = fit
        self.warp = warp
        self.kernel = kernel
        self.noise = noise
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
        if space not in ("f", "g"):
            raise ValueError(f"fit: is 'f' or 'g', got {space!r}")
        plain = _warp_for(self.warp, self.range)
        _check_range(plain, values)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        start = _start(self.kernel, rows)

        def condition(noise: float | str) -> tuple[Posterior, Warp, float]:
            data = Data(rows, f=values, noisy=noise != 0.0)
            warp, unit = _in_units(plain, data, exact=noise == 0.0)
            gp = start
            if noise == "fit":
                # Noise is Gaussian on g, and is fitted there. In f-space it would have one size at
                # small and large f.
                gp = _fit(
                    gp, warp, data, space="g", restarts=self.restarts, seed=seed, fit_noise=True
                )
            else:
                gp = _with_noise(gp, float(noise) / unit**2)
            if noise != "fit" or (space == "f" and warp.name != "identity"):
                gp = _fit(gp, warp, data, space=space, restarts=self.restarts, seed=seed)
            return gp.condition(data, warp), warp, gp.theta["noise"] * unit**2

        try:
            found = condition(self.noise)
        except (SpecError, NumericsError) as error:
            if self.noise != 0.0 or isinstance(error, RangeError):
                raise
            warnings.warn(
                f"no exact fit, so noise is fitted; noise='fit' says so at once. {error}",
                stacklevel=3,
            )
            found = condition("fit")
        self.posterior_, self.warp_, self.noise_ = found
        return self

    @property
    def belief_(self) -> Belief:
        """The belief about f = xi(g), for `warpquad.integral` and its like."""
        check_is_fitted(self)
        return self.posterior_.warp(self.warp_)

    @overload
    def predict(
        self, X: npt.ArrayLike, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> _Array: ...
    @overload
    def predict(
        self, X: npt.ArrayLike, return_std: bool = ..., return_cov: bool = ...
    ) -> _Array | tuple[_Array, _Array]: ...
    def predict(
        self, X: npt.ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> _Array | tuple[_Array, _Array]:
        """The mean of f at the rows of X, and if asked for its standard deviation or covariance.

        They are those of f = xi(g) itself, without the noise of an observation.
        """
        if return_std and return_cov:
            raise RuntimeError("return_std and return_cov: ask for one of them")
        X = self._rows(X)
        belief = self.belief_
        if return_std:
            return belief.predict(X)
        mean = belief.mean(X)
        return (mean, belief.cov(X)) if return_cov else mean

    def log_predictive_density(
        self, X: npt.ArrayLike, y: npt.ArrayLike, law: Literal["matched", "exact"] = "matched"
    ) -> _Array:
        """ln p(y | x, D) of each row, the noise of an observation included.

        Its mean is the MLL of the literature. `law="matched"` is the normal law with the two
        moments of f, which the method integrates. `"exact"` is the law of xi(g) itself, for warps
        that are one to one.
        """
        X = self._rows(X)
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (len(X),):
            raise ValueError(f"y: expected shape ({len(X)},), got {y.shape}")
        mu, s = self.posterior_.mean(X), self.posterior_.var(X) + self.posterior_.theta["noise"]
        if law == "matched":
            log_sd = 0.5 * self.warp_.log_var(mu, s)
            return _log_normal((y - self.warp_.mean(mu, s)) * np.exp(-log_sd)) - log_sd
        if law != "exact":
            raise ValueError(f"law: is 'matched' or 'exact', got {law!r}")
        if self.warp_.name in ("square", "polynomial"):
            raise ValueError(f"law: the {self.warp_.name} warp is not one to one; use 'matched'")
        g = self.warp_.inverse(y)
        log_density = _log_normal((g - mu) / np.sqrt(s)) - 0.5 * np.log(s) - self.warp_.log_slope(g)
        return np.where(np.isfinite(g), log_density, -np.inf)

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


def _in_units(plain: Warp, data: Data, exact: bool) -> tuple[Warp, float]:
    """The warp in the data's units, and the unit of g: noise is stated for the plain warp's g."""
    if plain.name == "identity":
        warp = data.warp(plain)
        return warp, float(np.exp(warp.log_slope([0.0])[0]))
    # On ln y a unit is a shift. Where it would bend g, noisy data do without.
    return (data.warp(plain) if exact or plain.name == "log" else plain), 1.0


def _start(kernel: Any, X: _Array) -> GP:
    """A GP with lengths of half the spread of each column."""
    spread = np.ptp(X, axis=0)
    return GP(kernel, length_scales=np.where(spread > 0, 0.5 * spread, 1.0))


def _with_noise(gp: GP, noise: float) -> GP:
    theta = gp.theta
    return GP(
        gp.kernel,
        mean=theta["mean"],
        output_scale=theta["output_scale"],
        length_scales=theta["length_scales"],
        noise=noise,
    )


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
