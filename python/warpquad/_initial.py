"""Take in what is known before a run: points of any origin, with values or without."""

from __future__ import annotations

import csv
import logging
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad import _core, _start
from warpquad._errors import SpecError
from warpquad._priors import Priors

Array = npt.NDArray[np.float64]

WANTED = (
    "points like [[0.1, 2.0]] in the parameters' order; (points, log_f); a frame or a dict of columns, with a column "
    "log_f where values are known; a CSV file; another run (its directory, session or result); what a sampler "
    "returned"
)

# What a column of ln f is called: ours, bilby's, anesthetic's, UltraNest's.
LOGS = ("log_f", "log_likelihood", "logL", "logl")


def take(core: _core.Session, priors: Priors, initial: Any) -> None:
    """Take them into a run, and say in the log what was taken."""
    if initial is None:
        return
    source, x, values, log = _read(initial, priors)
    points, inside = _start.coordinates(x, priors)
    outside = int(np.count_nonzero(~inside))
    points, values = np.ascontiguousarray(points[inside]), np.ascontiguousarray(values[inside])
    said = core.take_initial(source, points, values, log, outside)
    logging.getLogger("warpquad").info("initial: %s", said)


def point(x: Any, priors: Priors) -> Array:
    """The core's coordinates of one point that was not asked for."""
    if priors.transform is not None:
        raise _no_inverse("x")
    rows = _columns({name: np.atleast_1d(x[name]) for name in x}, priors)[0] if isinstance(x, Mapping) else _rows(x, priors)
    if len(rows) != 1:
        raise SpecError.of("x", f"must be one point, got {len(rows)}")
    points, inside = _start.coordinates(rows, priors)
    if not inside[0]:
        raise SpecError.of("x", f"{priors.show(rows[0])} is outside the prior")
    first: Array = points[0]
    return first


def _read(initial: Any, priors: Priors) -> tuple[str, Array, Array, bool]:
    """Where it is from, the points, their values (NaN where there is none), whether in logs."""
    if isinstance(initial, (str, os.PathLike)):
        return _of_path(os.fspath(initial), priors)
    core = getattr(initial, "core", None)
    if isinstance(core, _core.Session):
        return _of_run(initial, "another run", priors)
    if priors.transform is not None:
        return _of_unit_cube(initial, priors)
    if hasattr(initial, "logl") and hasattr(initial, "samples"):
        return "a nested sampler", _rows(initial.samples, priors), _numbers(initial.logl), True
    if isinstance(initial, Mapping) and isinstance(initial.get("weighted_samples"), Mapping):
        found = initial["weighted_samples"]
        return "UltraNest", _rows(found["points"], priors), _numbers(found["logl"]), True
    if isinstance(initial, tuple) and len(initial) in (2, 3, 4) and np.ndim(initial[0]) == 2:
        # (points, log_f); nautilus' (points, log_w, log_l); pocoMC's with a fourth.
        values = _numbers(initial[1 if len(initial) == 2 else 2])
        return "points with values", *_same_length(_rows(initial[0], priors), values), True
    if isinstance(initial, Mapping) or hasattr(initial, "columns"):
        columns = {str(name): np.asarray(initial[name]) for name in initial}
        return "a table", *_columns(columns, priors)
    x = _rows(initial, priors)
    return "points", x, np.full(len(x), np.nan), True


def _of_path(path: str, priors: Priors) -> tuple[str, Array, Array, bool]:
    if os.path.isdir(path):
        from warpquad._session import open as look

        return _of_run(look(path), path, priors)
    if priors.transform is not None:
        raise _no_inverse("initial")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(line for line in file if line.strip() and not line.startswith("#")))
    except OSError as error:
        raise SpecError.of("initial", f"cannot read {path}: {error}") from error
    if len(rows) < 2:
        raise SpecError.of("initial", f"{path} has a header but no point below it")
    header = [name.strip() for name in rows[0]]
    columns: dict[str, Any] = {}
    for i, name in enumerate(header):
        try:
            cells = [row[i].strip() for row in rows[1:]]
            columns[name] = np.array([float(cell) if cell else np.nan for cell in cells])
        except (ValueError, IndexError):
            continue  # it may be a column of words; a parameter that is not there is told
    return path, *_columns(columns, priors)


def _of_run(run: Any, source: str, priors: Priors) -> tuple[str, Array, Array, bool]:
    points, values, logs = run._observed if hasattr(run, "_observed") else run.core.observations()
    other: Priors = run.priors
    log = bool(logs.all())
    if not log:
        with np.errstate(over="ignore"):
            values = np.where(logs, np.exp(np.where(logs, values, 0.0)), values)
    if priors.transform is not None:
        if other.coordinates != priors.coordinates:
            raise _no_inverse("initial")
        return f"{source} (in the same unit cube)", points, values, log
    if sorted(other.names) != sorted(priors.names):
        raise SpecError.of("initial", f"the run has {other.names}, this problem has {priors.names}")
    x = other.to_x(points)[:, [other.names.index(name) for name in priors.names]]
    return source, x, values, log


def _of_unit_cube(initial: Any, priors: Priors) -> tuple[str, Array, Array, bool]:
    """Of a nested sampler, which keeps the points of the unit cube."""
    if hasattr(initial, "samples_u") and hasattr(initial, "logl"):
        return "a nested sampler", _rows(initial.samples_u, priors), _numbers(initial.logl), True
    found = initial.get("weighted_samples") if isinstance(initial, Mapping) else None
    if isinstance(found, Mapping) and "upoints" in found:
        return "UltraNest", _rows(found["upoints"], priors), _numbers(found["logl"]), True
    raise _no_inverse("initial")


def _no_inverse(field: str) -> SpecError:
    return SpecError.of(
        field,
        "a prior transform has no inverse, so points have no place in its unit cube; give a result of a sampler that "
        "kept them (dynesty's samples_u, UltraNest's upoints), or state the priors parameter by parameter",
    )


def _columns(columns: Mapping[str, Any], priors: Priors) -> tuple[Array, Array, bool]:
    """Points, values and whether these are logs, of columns by name."""
    parts = []
    for argument in priors.arguments:
        if argument.fixed is not None:
            continue
        whole = columns.get(argument.name)
        if whole is not None:
            size = argument.size or 1
            parts.append(np.asarray(whole, dtype=float).reshape(-1, size))
            continue
        names = [f"{argument.name}[{i}]" for i in range(argument.size or 0)]
        if not names or any(name not in columns for name in names):
            found = ", ".join(columns)
            raise SpecError.of("initial", f"has no column {argument.name!r}; it has {found}")
        parts.append(np.column_stack([np.asarray(columns[name], dtype=float) for name in names]))
    if len({len(part) for part in parts}) != 1:
        raise SpecError.of("initial", f"has columns of {', '.join(str(len(part)) for part in parts)} rows")
    x = np.hstack(parts)
    free = [name for name in (*LOGS, "f") if name in columns and name not in priors.names]
    if not free:
        return x, np.full(len(x), np.nan), True
    x, values = _same_length(x, _numbers(columns[free[0]]))
    return x, values, free[0] != "f"


def _same_length(x: Array, values: Array) -> tuple[Array, Array]:
    if len(x) != len(values):
        raise SpecError.of("initial", f"has {len(x)} points and {len(values)} values")
    return x, values


def _numbers(values: Any) -> Array:
    return np.asarray(values, dtype=float).reshape(-1)


def _rows(points: Any, priors: Priors) -> Array:
    """Points, row by row."""
    dim = len(priors.names)
    try:
        rows = np.asarray(points, dtype=float)
    except (TypeError, ValueError) as error:
        raise SpecError.of("initial", f"must be {WANTED}, got {type(points).__name__}") from error
    if rows.ndim < 2:
        rows = rows.reshape(-1, 1) if dim == 1 else rows.reshape(1, -1)
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise SpecError.of("initial", f"must be {WANTED}; got an array of shape {rows.shape} for {dim} parameters")
    return rows
