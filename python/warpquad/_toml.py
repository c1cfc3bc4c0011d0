"""Write the few kinds of TOML that a problem needs."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def number(value: Any) -> str:
    """A float that reads back as itself."""
    return repr(float(value))


def numbers(values: Iterable[Any]) -> str:
    """A list of floats."""
    return "[" + ", ".join(map(number, values)) + "]"


def rows(values: Iterable[Iterable[Any]]) -> str:
    """A list of lists of floats, a line each."""
    return "[\n" + "".join(f"    {numbers(row)},\n" for row in values) + "]"


def text(value: str) -> str:
    """A string; JSON escapes as TOML does, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def scalar(value: Any) -> str:
    """A string, a whole number or any other number; the core says whether it is the right one."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    try:
        return number(value)
    except (TypeError, ValueError):
        return text(repr(value))


def value(given: Any) -> str:
    """Anything that an option may be: a scalar, a path, a list or a table of such."""
    if isinstance(given, os.PathLike):
        return text(os.fspath(given))
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{text(str(key))} = {value(inner)}" for key, inner in given.items()) + " }"
    if isinstance(given, (list, tuple, np.ndarray)):
        return "[" + ", ".join(map(value, given)) + "]"
    return scalar(given)


def section(name: str, fields: Mapping[str, Any]) -> str:
    """A section of the file, or its top if the name is empty; one without fields is left out."""
    lines = [f"{key} = {value(given)}" for key, given in fields.items()]
    header = [f"[{name}]"] if name and lines else []
    return "".join(f"{line}\n" for line in header + lines)
