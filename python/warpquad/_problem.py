"""Write the problem that Python describes as a problem file, so that the command line understands
the run."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from warpquad import _constraints, _core, _start, _toml
from warpquad._options import Options
from warpquad._priors import Priors

F = TypeVar("F", bound=Callable[..., Any])

# The core's table of options, those that Python takes: what each is called in the problem file, and
# what it is for.
TABLE: dict[str, dict[str, Any]] = {row["keyword"]: row for row in json.loads(_core.options()) if row["python"]}


def given(function: str, options: Mapping[str, Any], resuming: bool = False) -> dict[str, Any]:
    """The options that say something; a keyword that is no option is a TypeError, as of any
    function."""
    known = [keyword for keyword, row in TABLE.items() if not (resuming and row["fixed"])]
    for keyword in options:
        if keyword in known:
            continue
        if keyword in TABLE:
            raise TypeError(f"{function}() takes no option {keyword!r}: it is fixed when a run starts")
        near = difflib.get_close_matches(keyword, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise TypeError(f"{function}() got an unknown option {keyword!r}; {hint}The options are {', '.join(known)}")
    return {keyword: value for keyword, value in options.items() if value is not None}


def text(priors: Priors, options: Mapping[str, Any], start: Any = None) -> str:
    """The problem file."""
    sections: dict[str, dict[str, Any]] = {"": {}, "integrand": {"external": "python"}, "prior": {}, "method": {}, "budget": {}}
    if priors.mapped:
        names = zip(priors.names, priors.coordinates)
        sections["integrand"]["mapped"] = [coordinate for name, coordinate in names if coordinate != name]
    for keyword, value in options.items():
        if keyword == "constraints":
            value = _constraints.texts(value, priors)
        row = TABLE[keyword]
        sections[row["section"]][row["name"]] = value
    top = _toml.section("", sections.pop(""))
    written = [top, _toml.section("integrand", sections.pop("integrand")), priors.text]
    written += [_toml.section(name, fields) for name, fields in sections.items()]
    written.append(_start.text(start, priors))
    return "\n".join(section for section in written if section)


def changes(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options for a run that is gone on with, in the words of the problem file."""
    return [(keyword, _toml.value(value)) for keyword, value in options.items()]


def default(keyword: str) -> Any:
    """What holds if an option is not given, if that is a value."""
    value = TABLE[keyword]["default"]
    return tuple(map(float, value)) if isinstance(value, list) else value


def shown(resuming: bool = False) -> Callable[[F], F]:
    """Show the options in the signature and the documentation of a function that takes them as
    `**options`."""

    def show(function: F) -> F:
        rows = {keyword: row for keyword, row in TABLE.items() if not (resuming and row["fixed"])}
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        for keyword in rows:
            # Of a run that is gone on with, what is not given is as the run has it.
            value = None if resuming else default(keyword)
            annotation = Options.__annotations__[keyword]
            own.append(inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation))
        function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        lines = [f"        {keyword}: {row['help']}." for keyword, row in rows.items()]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "Options:", *(x[4:] for x in lines)])
        return function

    return show
