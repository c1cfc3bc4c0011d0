"""Write the few kinds of TOML that a problem needs."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping
from typing import Any


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


def section(name: str, fields: Mapping[str, Any]) -> str:
    """A section of scalars and of lists of floats; fields that are None are left out."""
    lines = [f"[{name}]"]
    for key, value in fields.items():
        if value is not None:
            lines.append(f"{key} = {numbers(value) if isinstance(value, tuple) else scalar(value)}")
    return "\n".join(lines) + "\n" if len(lines) > 1 else ""
