"""Turn what users call a prior into one that the core knows, or a coordinate of quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad import _core, _toml
from warpquad._arguments import Argument, Arguments, shown
from warpquad._errors import SpecError
from warpquad._scipy import marginal, normal_of

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """A one-dimensional prior that the core knows by name; made by `wq.uniform` and its like.

    >>> import warpquad as wq
    >>> wq.Prior("normal", (0, 1)) == wq.normal(0, 1)
    True
    """

    name: str
    numbers: tuple[float, ...]
    size: int | None = None
    """How many of them a vector has; None for a single number."""
    periodic: bool = False
    """Whether the two ends are one point, as of an angle; of a uniform prior only."""

    def __post_init__(self) -> None:
        _core.check_prior(self.name, list(self.numbers), bool(self.periodic))
        whole = isinstance(self.size, (int, np.integer)) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and self.size >= 1):
            raise SpecError.of("size", f"must be a whole number, 1 or more, got {self.size!r}", self.size)

    def __repr__(self) -> str:
        size = [] if self.size is None else [f"size={self.size}"]
        circle = ["periodic=True"] if self.periodic else []
        shown = ", ".join([f"{x:g}" for x in self.numbers] + size + circle)
        return f"{self.name.replace('-', '_')}({shown})"

    @property
    def toml(self) -> str:
        """The prior as the problem file has it."""
        size = "" if self.size is None else f", size = {self.size}"
        circle = ", periodic = true" if self.periodic else ""
        return f"{{ {self.name} = {_toml.numbers(self.numbers)}{size}{circle} }}"


@dataclass(frozen=True)
class MultivariateNormal:
    """One normal law for all parameters; made by `wq.multivariate_normal`."""

    mean: Array
    cov: Array
    names: tuple[str, ...] | None


def multivariate_normal(
    mean: Any, cov: Any, names: Sequence[str] | None = None
) -> MultivariateNormal:
    """One normal law for all parameters, with this mean and this covariance matrix.

    >>> import math
    >>> import warpquad as wq
    >>> prior = wq.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])
    >>> r = wq.integrate(lambda x: -x @ x / 2, prior, budget=30, progress=False)
    >>> abs(r.log_z + 0.5 * math.log(3.75)) < 0.05   # |I + cov| = 3.75
    True
    """
    mean = np.atleast_1d(np.asarray(mean, dtype=float))
    cov = np.atleast_2d(np.asarray(cov, dtype=float))
    if mean.ndim != 1 or cov.shape != (mean.size, mean.size):
        raise SpecError.of(
            "cov",
            f"must be {mean.size} x {mean.size} as the mean has it, got shape {cov.shape}",
        )
    return MultivariateNormal(mean, cov, None if names is None else tuple(names))


@dataclass(frozen=True)
class Priors:
    """The prior of a problem: its text for the core, and the map from core coordinates to x."""

    names: list[str]
    """The user's parameters; those of a vector are `beta[0]` and so on."""
    text: str
    """The section of the problem file."""
    coordinates: list[str]
    """What the core calls the parameters: a coordinate has a name of its own."""
    keyed: bool = False
    """Whether the user gave a dict, and gets one."""
    columns: dict[int, Callable[[Array], Array]] = field(default_factory=dict)
    """For each parameter that the core knows by a coordinate: x of that coordinate."""
    transform: Callable[[Array], Any] | None = None
    """x of a point of the unit cube, if the user gave that."""
    given: Arguments | None = None
    """What the function is called with, if that is not just the parameters."""

    @classmethod
    def of_core(cls, core: _core.Session) -> Priors:
        """The priors of a run that the core knows all about."""
        return cls(core.names, "", core.names, keyed=True, given=Arguments.of(core.arguments))

    @property
    def arguments(self) -> Arguments:
        """What the function is called with."""
        return self.given or Arguments.plain(self.names)

    @property
    def core_arguments(self) -> Arguments:
        """The same, by the core's names."""
        names = dict(zip(self.names, self.coordinates))
        renamed = (replace(one, name=names.get(one.name, one.name)) for one in self.arguments)
        return Arguments(tuple(renamed))

    def numbers(self, coordinates: Array) -> Array:
        """All numbers that the function gets, row by row, of the core's coordinates."""
        return self.arguments.numbers(self.to_x(coordinates))

    @property
    def mapped(self) -> bool:
        """Whether the core's coordinates differ from x."""
        return bool(self.columns) or self.transform is not None

    def to_x(self, coordinates: Array) -> Array:
        """The user's x of the core's coordinates, row by row."""
        if self.transform is not None:
            return np.array(
                [checked(self.transform, u, len(self.names)) for u in coordinates]
            ).reshape(coordinates.shape)
        x = coordinates.copy()
        for column, to_x in self.columns.items():
            x[:, column] = to_x(coordinates[:, column])
        return x

    def bounds(self, support: list[tuple[float, float]]) -> list[tuple[float, float]]:
        """The ends of each parameter, of those of the core's coordinates. A prior transform does
        not say them."""
        if self.transform is not None:
            return [(-math.inf, math.inf)] * len(self.names)
        ends = list(support)
        for column, to_x in self.columns.items():
            with np.errstate(all="ignore"):
                low, high = to_x(np.array(support[column])).tolist()
            ends[column] = low, high
        return ends

    def circles(self, ends: list[tuple[float, float] | None]) -> dict[str, tuple[float, float]]:
        """The two ends of each periodic parameter, of those of the core's coordinates."""
        if self.transform is not None:
            return {}
        out = {}
        for column, (name, pair) in enumerate(zip(self.names, ends)):
            if pair is not None:
                to_x = self.columns.get(column)
                low, high = pair if to_x is None else to_x(np.array(pair)).tolist()
                out[name] = low, high
        return out

    def show(self, x: Array) -> str:
        """All numbers of a point with their names."""
        return shown(self.arguments.number_names, x)


def checked(transform: Callable[[Array], Any], u: Array, dim: int) -> Array:
    """What a prior transform says of u, or an error that shows u."""
    try:
        x = np.asarray(transform(u.copy()), dtype=float)
    except (TypeError, ValueError) as error:
        raise SpecError.of("priors", f"the prior transform failed at u = {u.tolist()}: {error}") from error
    if x.shape != (dim,) or not np.isfinite(x).all():
        raise SpecError.of(
            "priors",
            f"the prior transform must return {dim} finite numbers, got {x!r} at u = {u.tolist()}",
        )
    return x


def read(given: Any, names: Sequence[str] | None = None, dim: int | None = None) -> Priors:
    """The prior that a user gave, in any of the forms that `integrate` takes."""
    if isinstance(given, Priors):
        return given
    if isinstance(given, Mapping):
        if names is not None and list(names) != list(given):
            raise SpecError.of("names", "the priors are a dict and have names already")
        return _product(given)
    if isinstance(given, MultivariateNormal):
        return _normal(given.mean, given.cov, names or given.names)
    normal = normal_of(given)
    if normal is not None:
        return _normal(*normal, names)
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return _draws(given.to_numpy(), names or [str(c) for c in given.columns])
    if isinstance(given, (np.ndarray, list)):
        return _draws(given, names)
    if callable(given) and not hasattr(given, "ppf"):
        return _transform(given, names, dim)
    raise SpecError.of(
        "priors",
        f"must be a dict of priors, a multivariate normal, an array of draws (n, d) or a prior transform, "
        f"got {given!r}"
        + ("; name it: {'x': ...}" if hasattr(given, "ppf") or isinstance(given, Prior) else ""),
    )


def _product(given: Mapping[str, Any]) -> Priors:
    if not given:
        raise SpecError.of(
            "priors",
            "the dict is empty; give a prior for each parameter, like {'x': wq.uniform(-5, 5)}",
        )
    lines, columns = ["[parameters]"], {}
    coordinates: list[str] = []
    arguments: list[Argument] = []
    for name, prior in given.items():
        if not isinstance(name, str):
            raise SpecError.of("priors", f"a parameter's name is a string, got {name!r}")
        if isinstance(prior, Real) and not isinstance(prior, bool):
            arguments.append(Argument(name, fixed=float(prior)))
            lines.append(f"{_toml.text(name)} = {_toml.number(prior)}")
            continue
        law, to_x, shown = _law(name, prior)
        if to_x is not None:
            columns[len(coordinates)] = to_x
        arguments.append(Argument(name, law.size))
        coordinates += [shown] if law.size is None else arguments[-1].names
        lines.append(f"{_toml.text(shown)} = {law.toml}")
    if not coordinates:
        name, prior = next(iter(given.items()))
        raise SpecError.of(
            f"prior of {name!r}",
            f"{prior!r} is no distribution: a number is fixed, and nothing is left to integrate "
            "over; give a parameter a prior, like wq.uniform(-5, 5)",
        )
    known = Arguments(tuple(arguments))
    names, text = known.coordinates, "\n".join(lines) + "\n"
    return Priors(names, text, coordinates, keyed=True, columns=columns, given=known)


def _law(name: str, prior: Any) -> tuple[Prior, Callable[[Array], Array] | None, str]:
    """The core's law of one parameter, the map from it to x, and the name of what the core sees.

    A coordinate has a name of its own, so that a run of `score(x)` is never taken for one of `x`.
    """
    if isinstance(prior, Prior):
        return prior, None, name
    try:
        law, to_x = marginal(prior)
        kind = "unit" if law[0] == "uniform" else "score"
        return Prior(*law, periodic=bool(getattr(prior, "periodic", False))), to_x, name if to_x is None else f"{kind}({name})"
    except (TypeError, ValueError) as error:
        raise SpecError.of(f"prior of {name!r}", f"{error}") from error


def _names(names: Sequence[str] | None, dim: int) -> list[str]:
    if names is None:
        return [f"x{i}" for i in range(dim)]
    if len(names) != dim:
        raise SpecError.of("names", f"the prior has {dim} parameters, got {len(names)} names")
    return [str(name) for name in names]


def _joint(names: list[str], **fields: str) -> str:
    listed = ", ".join(map(_toml.text, names))
    return (
        "\n".join(["[joint]", f"names = [{listed}]", *(f"{k} = {v}" for k, v in fields.items())])
        + "\n"
    )


def _normal(mean: Array, cov: Array, names: Sequence[str] | None) -> Priors:
    known = _names(names, len(mean))
    return Priors(known, _joint(known, mean=_toml.numbers(mean), covariance=_toml.rows(cov)), known)


def _draws(given: Any, names: Sequence[str] | None) -> Priors:
    try:
        draws = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise SpecError.of("priors", f"an array of draws is made of numbers: {error}") from error
    if draws.ndim == 1:
        draws = draws[:, None]
    if draws.ndim != 2 or draws.size == 0:
        raise SpecError.of("priors", f"an array of draws has the shape (n, d), got {draws.shape}")
    known = _names(names, draws.shape[1])
    return Priors(known, _joint(known, draws=_toml.rows(draws)), known)


def _transform(
    given: Callable[[Array], Any], names: Sequence[str] | None, dim: int | None
) -> Priors:
    if names is None and dim is None:
        raise SpecError.of("priors", "a prior transform needs names=[...] or dim=...")
    known = _names(names, len(names) if dim is None and names is not None else int(dim or 0))
    checked(given, np.full(len(known), 0.5), len(known))
    coordinates = [f"unit({name})" for name in known]
    # Of a transform that came from another sampler: the coordinates that it takes for angles.
    angles = set(getattr(given, "periodic", ()))
    laws = [Prior("uniform", (0.0, 1.0), periodic=i in angles) for i in range(len(known))]
    lines = [f"{_toml.text(name)} = {law.toml}\n" for name, law in zip(coordinates, laws)]
    return Priors(known, "[parameters]\n" + "".join(lines), coordinates, transform=given)
