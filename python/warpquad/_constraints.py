"""Read constraints between parameters: comparisons as text, or a vectorised predicate.

The core never calls Python while it integrates. So a predicate is called once, with symbols in
place of numbers, and what it does with them is written down as a comparison of formulas.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np

from warpquad._arguments import Arguments
from warpquad._calling import inferred
from warpquad._errors import SpecError
from warpquad._priors import Priors


def texts(given: Any, priors: Priors) -> list[Any]:
    """The constraints in the words of the problem file."""
    each = [given] if isinstance(given, str) or callable(given) else given
    try:
        each = list(each)
    except TypeError:
        wanted = 'must be comparisons like ["a < b"], or a vectorised predicate'
        raise SpecError.of("constraints", f"{wanted}, got {given!r}", given) from None
    if priors.mapped:
        unknown = [name for name, own in zip(priors.names, priors.coordinates) if name != own]
        raise SpecError.of(
            "constraints",
            "need priors that the core knows, like wq.normal(0, 1): "
            f"of {', '.join(unknown or priors.names)} it sees a quantile only",
        )
    read = ([one] if not callable(one) else traced(one, priors) for one in each)
    return [text for several in read for text in several]


def traced(predicate: Callable[..., Any], priors: Priors) -> list[str]:
    """What a predicate says of symbols: comparisons that hold together."""
    arguments = priors.arguments
    calling = inferred(predicate, arguments.names, priors.keyed, "constraint")
    try:
        said = _called(predicate, arguments, calling)
    except SpecError:
        raise
    except Exception as error:
        raise _unreadable(predicate, f"{type(error).__name__}: {error}") from error
    if isinstance(said, Row):
        said = reduce(operator.and_, said.terms)
    if not isinstance(said, Term):
        raise _unreadable(predicate, f"it returned {said!r}, which does not depend on its parameters")
    return said.together or [said.text]


def _called(predicate: Callable[..., Any], arguments: Arguments, calling: str) -> Any:
    """Call it as an integrand that takes a batch."""
    numbers = [Term(name) for argument in arguments for name in argument.names]
    if calling == "array":
        return predicate(Row(numbers))
    named: dict[str, Any] = {}
    for argument in arguments:
        own, numbers = numbers[: len(argument.names)], numbers[len(argument.names) :]
        named[argument.name] = own[0] if argument.size is None else Row(own)
    if calling == "keywords":
        return predicate(**named)
    if calling in ("positional", "either"):
        return predicate(*named.values())
    return predicate(named)


def _unreadable(predicate: Any, why: str) -> SpecError:
    name = getattr(predicate, "__name__", repr(predicate))
    return SpecError.of(
        "constraints",
        f"the predicate {name} cannot be read: {why}. It is called once, with symbols in place of "
        "arrays: compare formulas of them, joined by & and |, or write the constraint as text, like "
        '"a < b"',
    )


def _number(value: Any) -> str:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no number to compare with")
    return repr(number) if number >= 0 else f"({number!r})"


def _text(value: Any) -> str:
    if isinstance(value, Term):
        return value.text
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (Real, np.generic)) or (isinstance(value, np.ndarray) and value.size == 1):
        return _number(value)
    raise TypeError(f"{value!r} is no number")


def _infix(sign: str) -> Callable[[Any, Any], Any]:
    return _each(lambda a, b: Term(f"({_text(a)} {sign} {_text(b)})"))


def _comparison(sign: str) -> Callable[[Any, Any], Any]:
    def compare(a: Any, b: Any) -> Term:
        text = f"{_text(a)} {sign} {_text(b)}"
        return Term(f"({text})", [text])

    return _each(compare)


def _both(a: Any, b: Any) -> Term:
    parts = [one.together or [one.text] for one in (a, b) if isinstance(one, Term)]
    return Term(f"({_text(a)} * {_text(b)})", [text for part in parts for text in part])


def _function(name: str) -> Callable[..., Any]:
    return _each(lambda *of: Term(f"{name}({', '.join(map(_text, of))})"))


def _each(make: Callable[..., Term]) -> Callable[..., Any]:
    """The same for the terms of rows, one by one."""

    def made(*of: Any) -> Any:
        rows = [len(one) for one in of if isinstance(one, Row)]
        if not rows:
            return make(*of)
        parts = [one.terms if isinstance(one, Row) else _spread(one, rows[0]) for one in of]
        if any(len(part) != rows[0] for part in parts):
            raise ValueError("rows of different lengths")
        return Row([make(*each) for each in zip(*parts)])

    return made


def _spread(value: Any, count: int) -> list[Any]:
    array = isinstance(value, (list, tuple, np.ndarray)) and np.size(value) != 1
    return list(np.ravel(value)) if array else [value] * count


_not = _each(lambda a: Term(f"(1 - {_text(a)})"))
_negative = _each(lambda a: Term(f"(-{_text(a)})"))

# What numpy's functions are in a formula.
UFUNCS: dict[str, Callable[..., Any]] = {
    "add": _infix("+"),
    "subtract": _infix("-"),
    "multiply": _infix("*"),
    "divide": _infix("/"),
    "true_divide": _infix("/"),
    "power": _infix("^"),
    "float_power": _infix("^"),
    "less": _comparison("<"),
    "less_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_equal": _comparison(">="),
    "equal": _comparison("=="),
    "not_equal": _comparison("!="),
    "bitwise_and": _each(_both),
    "logical_and": _each(_both),
    "bitwise_or": _function("max"),
    "logical_or": _function("max"),
    "invert": _not,
    "logical_not": _not,
    "negative": _negative,
    "positive": _each(lambda a: Term(_text(a))),
    "square": _each(lambda a: Term(f"({_text(a)}^2)")),
    "absolute": _function("abs"),
    "fabs": _function("abs"),
    "minimum": _function("min"),
    "maximum": _function("max"),
    "arcsin": _function("asin"),
    "arccos": _function("acos"),
    "arctan": _function("atan"),
    "hypot": _each(lambda a, b: Term(f"sqrt({_text(a)}^2 + {_text(b)}^2)")),
} | {
    name: _function(name)
    for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p", "logaddexp")
}


class _Symbolic:
    """What operators and numpy's functions of terms do."""

    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *of: Any, **options: Any) -> Any:
        make = UFUNCS.get(ufunc.__name__)
        if make is None or method != "__call__" or options:
            raise TypeError(f"a formula has no numpy.{ufunc.__name__}")
        return make(*of)

    def __bool__(self) -> bool:
        raise TypeError("it asks whether one comparison holds, as if, and, or, min, max and a < b < c do")

    def __float__(self) -> float:
        raise TypeError("it makes a number of a symbol")


def _operators() -> None:
    named = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
        "and": "bitwise_and", "or": "bitwise_or",
    }
    for name, ufunc in named.items():
        make = UFUNCS[ufunc]
        setattr(_Symbolic, f"__{name}__", lambda a, b, make=make: make(a, b))
        setattr(_Symbolic, f"__r{name}__", lambda a, b, make=make: make(b, a))
    compared = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
    for name, ufunc in compared.items():
        setattr(_Symbolic, f"__{name}__", lambda a, b, make=UFUNCS[ufunc]: make(a, b))
    for name, ufunc in {"neg": "negative", "invert": "invert", "abs": "absolute", "pos": "positive"}.items():
        setattr(_Symbolic, f"__{name}__", lambda a, make=UFUNCS[ufunc]: make(a))


_operators()


class Term(_Symbolic):
    """A formula."""

    def __init__(self, text: str, together: list[str] | None = None) -> None:
        self.text = text
        # The comparisons that it says hold together, if it does.
        self.together = together


class Row(_Symbolic):
    """Formulas side by side: the elements of a vector, or the columns of a batch of points."""

    def __init__(self, terms: list[Term]) -> None:
        self.terms = terms

    def __len__(self) -> int:
        return len(self.terms)

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    @property
    def T(self) -> Row:
        """The columns of a batch as rows."""
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """That of a batch of one point."""
        return 1, len(self.terms)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) != 2 or key[0] not in (slice(None), Ellipsis):
                raise TypeError("a batch of symbols has columns alone: x[:, 0] or x[..., 0]")
            key = key[1]
        if isinstance(key, slice):
            return Row(self.terms[key])
        return self.terms[key]

    def _folded(self, ufunc: str) -> Term:
        term: Term = reduce(UFUNCS[ufunc], self.terms)
        return term

    def sum(self, axis: Any = None, **_: Any) -> Term:
        """Their sum."""
        return self._folded("add")

    def prod(self, axis: Any = None, **_: Any) -> Term:
        """Their product."""
        return self._folded("multiply")

    def all(self, axis: Any = None, **_: Any) -> Term:
        """Whether all hold."""
        return self._folded("logical_and")

    def any(self, axis: Any = None, **_: Any) -> Term:
        """Whether one holds."""
        return self._folded("logical_or")

    def min(self, axis: Any = None, **_: Any) -> Term:
        """The smallest."""
        return self._folded("minimum")

    def max(self, axis: Any = None, **_: Any) -> Term:
        """The largest."""
        return self._folded("maximum")

    def __array_function__(self, function: Any, kinds: Any, of: Any, options: Any) -> Any:
        if function is np.diff:
            after, before = self.terms[1:], self.terms[:-1]
            return Row([UFUNCS["subtract"](a, b) for a, b in zip(after, before)])
        own = getattr(Row, {"amin": "min", "amax": "max"}.get(function.__name__, function.__name__), None)
        if own is None or len(of) > 2:
            raise TypeError(f"a formula has no numpy.{function.__name__}")
        return own(*of, **options)
