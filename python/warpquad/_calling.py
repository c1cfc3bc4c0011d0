"""How a function wants to be called, read off its signature."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

from warpquad._errors import SpecError

Argument = Literal["dict", "array", "keywords"]
ARGUMENTS = ("dict", "array", "keywords")
# "positional" is for functions that take no names, "either" for one of the only parameter: a value
# that can be used as such and as a dict.
Calling = Literal["dict", "array", "keywords", "positional", "either"]

# What a function says about its one argument, by the annotation's last name.
ANNOTATED: dict[str, Calling] = {
    "dict": "dict",
    "Mapping": "dict",
    "ndarray": "array",
    "NDArray": "array",
    "float": "positional",
}
# Kinds of arguments: those that stand for any number of them, and those that have no place.
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
NAMED = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


def inferred(
    function: Callable[..., Any], names: Sequence[str], keyed: bool, title: str
) -> Calling:
    """How a function wants to be called.

    One that takes all parameters by name gets them so, whether it has defaults for them or not. One
    that needs one argument gets what it is annotated with; else an array if the priors are no dict,
    the value itself if there is only one parameter, and a dict otherwise.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return _single(function, names, keyed)
    if len(names) > 1 and _takes_names(parameters, names):
        return "keywords"
    if len(names) > 1 and _takes_positions(parameters, names):
        return "positional"
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in VARIABLE]
    places = [p for p in parameters if p.kind not in NAMED]
    if places and needed in ([], [places[0].name]):
        said = _annotated(places[0], len(names))
        return said or _single(function, names, keyed)
    if _takes_names(parameters, names):
        return "keywords"  # the only parameter, where it cannot be given by its place
    takes = f"takes the arguments {', '.join(needed)}" if needed else "takes no argument"
    raise SpecError.of(
        title, f"{takes}, but the parameters are {', '.join(names)}; name the "
        "arguments after the parameters, or take one argument"
    )


def _takes_names(parameters: Sequence[inspect.Parameter], names: Sequence[str]) -> bool:
    """Whether all parameters can be given by name, and nothing else is needed."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    by_name = {p.name for p in parameters if p.kind in kinds}
    rest = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    opaque = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    needed = {p.name for p in parameters if p.default is p.empty and p.kind not in VARIABLE}
    if not by_name & set(names) and (opaque or not rest):
        return False
    return needed <= set(names) & by_name and (rest or set(names) <= by_name)


def _takes_positions(parameters: Sequence[inspect.Parameter], names: Sequence[str]) -> bool:
    """Whether the parameters are taken by position only: `(a, b, /)` under their names, or
    `(*theta)`."""
    if [p.kind for p in parameters] == [inspect.Parameter.VAR_POSITIONAL]:
        return True
    only = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY]
    others = [p for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    return only == list(names) and all(p.default is not p.empty or p.kind in VARIABLE for p in others)


def _annotated(parameter: inspect.Parameter, count: int) -> Calling | None:
    """What the annotation of an argument asks for, if that is known."""
    annotation = parameter.annotation
    if annotation is parameter.empty or parameter.kind in VARIABLE:
        return None
    origin = getattr(annotation, "__origin__", None) or annotation
    text = annotation if isinstance(annotation, str) else getattr(origin, "__name__", "")
    said = ANNOTATED.get(text.split("[")[0].split(".")[-1].strip())
    return None if said == "positional" and count > 1 else said


def _single(function: Callable[..., Any], names: Sequence[str], keyed: bool) -> Calling:
    """What a function of one argument gets."""
    if not keyed:
        return "array"
    if len(names) > 1:
        return "dict"
    # A compiled function takes its argument apart by its type, so a value that is two things at
    # once is of no use to it: whether it wants the dict, its own text says.
    return "dict" if names[0] in _compiled_constants(function) else "either"


def _compiled_constants(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The constants in the text of a function that jax, numba or their like compile."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isfunction(function) or inspect.ismethod(function):
        return ()
    text = getattr(function, "py_func", None) or getattr(function, "__wrapped__", None)
    code = getattr(text, "__code__", None)
    return code.co_consts if code is not None else ()
