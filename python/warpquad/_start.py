"""Write a hint where f is large as the section [start] of a problem file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad import _toml
from warpquad._arguments import Argument
from warpquad._errors import SpecError
from warpquad._priors import Array, Priors

WANTED = (
    "points like [[0.1, 2.0]] in the parameters' order, one as a dict like {'a': 0.1, 'b': 2.0}, "
    "or a plausible interval for each parameter like {'a': (0, 1), 'b': (1, 3)}"
)


def text(start: Any, priors: Priors) -> str:
    """The section of the problem file; empty without a hint.

    >>> from warpquad import _priors, normal
    >>> known = _priors.read({"a": normal(0, 100)})
    >>> print(text({"a": (1, 3)}, known), end="")
    [start]
    "a" = [1.0, 3.0]
    """
    if start is None:
        return ""
    if priors.transform is not None:
        raise SpecError.of("start", "a prior transform has no inverse: evaluate such points first by ask_for")
    if isinstance(start, Mapping):
        return _section(_named(start, priors), priors)
    return _section(_rows(start, len(priors.names)), priors)


def _rows(start: Any, dim: int) -> Array:
    """Points, row by row."""
    try:
        points = np.atleast_2d(np.asarray(start, dtype=float))
    except (TypeError, ValueError) as error:
        raise SpecError.of("start", f"must be {WANTED}, got {start!r}") from error
    if points.ndim != 2 or points.shape[1] != dim or not np.isfinite(points).all():
        raise SpecError.of("start", f"must be {WANTED}, got an array of shape {points.shape}")
    return points


def _named(start: Mapping[str, Any], priors: Priors) -> Array:
    """A point (1, d), or the two ends of intervals (2, 1, d), of what a dict says of every
    parameter."""
    free = [argument for argument in priors.arguments if argument.fixed is None]
    for name in start:
        if name not in {argument.name for argument in free}:
            known = ", ".join(argument.name for argument in free)
            raise SpecError.of("start", f"there is no parameter {name!r}; the parameters are {known}")
    for argument in free:
        if argument.name not in start:
            raise SpecError.of("start", f"says nothing of {argument.name!r}; give {WANTED}")
    numbers = [_numbers(argument, start[argument.name]) for argument in free]
    widths = {rows.shape[1] for rows in numbers}
    if len(widths) != 1:
        raise SpecError.of("start", f"mixes points and intervals; give {WANTED}")
    ends = np.concatenate(numbers).T
    return ends if widths == {1} else ends[:, None, :]


def _numbers(argument: Argument, given: Any) -> Array:
    """What is said of an argument: a row for each of its numbers, of a value or of two ends."""
    count = argument.size or 1
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        value = np.array(np.nan)
    point = () if argument.size is None else (count,)
    interval = (2,) if argument.size is None else (count, 2)
    if value.shape not in (point, interval) or not np.isfinite(value).all():
        raise SpecError.of(f"start of {argument.name!r}", f"must be a value or an interval (low, high), got {given!r}")
    return value.reshape(count, 1 if value.shape == point else 2)


def _section(given: Array, priors: Priors) -> str:
    if given.ndim == 2:
        rows = [_coordinates(point, priors).tolist() for point in given]
        return _toml.section("start", {"points": rows})
    low, high = (_coordinates(end[0], priors).tolist() for end in given)
    names = map(_toml.text, priors.coordinates)
    return _toml.section("start", {name: [a, b] for name, a, b in zip(names, low, high)})


def _coordinates(x: Array, priors: Priors) -> Array:
    """The core's coordinates of a point."""
    first: Array = coordinates(np.atleast_2d(x), priors)[0][0]
    return first


def coordinates(x: Array, priors: Priors) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The core's coordinates of points, row by row, those of a scipy prior by bisection of its
    quantiles; and which of the points such a prior has a place for."""
    out = np.array(x, dtype=float)
    inside = np.ones(len(out), dtype=bool)
    for column, to_x in priors.columns.items():
        unit = priors.coordinates[column].startswith("unit(")
        ends = (1e-15, 1.0 - 1e-15) if unit else (-8.0, 8.0)
        least, most = to_x(np.array(ends))
        inside &= (least <= x[:, column]) & (x[:, column] <= most)
        low, high = (np.full(len(out), end) for end in ends)
        for _ in range(200):
            middle = 0.5 * (low + high)
            below = to_x(middle) < x[:, column]
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        out[:, column] = 0.5 * (low + high)
    return out, inside
