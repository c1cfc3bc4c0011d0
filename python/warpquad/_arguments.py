"""What the user's function is called with: numbers, vectors of them and fixed ones, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Argument:
    """One argument of the function."""

    name: str
    size: int | None = None
    """How many numbers a vector has; None for a single number."""
    fixed: float | None = None
    """The number that it stays at; None if it is integrated over."""

    @property
    def names(self) -> list[str]:
        """The name of each of its numbers."""
        if self.size is None:
            return [self.name]
        return [f"{self.name}[{i}]" for i in range(self.size)]


@dataclass(frozen=True)
class Arguments:
    """All arguments in order. A run's points have the numbers that are not fixed."""

    all: tuple[Argument, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int | None, float | None]]) -> Arguments:
        """Arguments as the core says them."""
        return cls(tuple(Argument(*row) for row in rows))

    @classmethod
    def plain(cls, names: Iterable[str]) -> Arguments:
        """Every name a number of its own."""
        return cls(tuple(Argument(name) for name in names))

    def __iter__(self) -> Iterator[Argument]:
        return iter(self.all)

    @property
    def names(self) -> list[str]:
        """What the function calls them."""
        return [argument.name for argument in self]

    @property
    def number_names(self) -> list[str]:
        """The name of every number, fixed ones too."""
        return [name for argument in self for name in argument.names]

    @property
    def coordinates(self) -> list[str]:
        """The names of the numbers that are integrated over."""
        return [name for argument in self if argument.fixed is None for name in argument.names]

    def numbers(self, x: Array) -> Array:
        """All numbers, a point a row, from the coordinates that are integrated over."""
        if all(argument.fixed is None for argument in self):
            return x
        columns: list[Array] = []
        free = iter(x.T)
        for argument in self:
            if argument.fixed is not None:
                columns.append(np.full(len(x), argument.fixed))
            else:
                columns.extend(next(free) for _ in argument.names)
        return np.column_stack(columns)

    def named(self, numbers: Array) -> dict[str, Any]:
        """The arguments of one point, or of one a row: floats and arrays, the caller's own."""
        batch = numbers.ndim == 2
        out: dict[str, Any] = {}
        start = 0
        for argument in self:
            end = start + len(argument.names)
            if argument.size is not None:
                out[argument.name] = numbers[..., start:end].copy()
            else:
                # A parameter of one point is a plain float, as everyone expects it.
                out[argument.name] = numbers[:, start].copy() if batch else float(numbers[start])
            start = end
        return out


def flat(named: dict[str, Any]) -> Array:
    """All numbers of arguments in order."""
    parts = [np.ravel(value) for value in named.values()]
    return np.concatenate(parts) if parts else np.empty(0)


class Number(float):
    """The value of the only parameter: a number that also answers like a dict of itself.

    A function of one parameter is written `-x**2` by some and `-x["a"]**2` by others.
    """

    __slots__ = ("name",)
    name: str

    def __getitem__(self, key: str) -> float:
        if key != self.name:
            raise KeyError(key)
        return float(self)

    def keys(self) -> list[str]:
        """The parameter's name."""
        return [self.name]

    def values(self) -> list[float]:
        """The number."""
        return [float(self)]

    def items(self) -> list[tuple[str, float]]:
        """The parameter's name with the number."""
        return [(self.name, float(self))]


class Numbers(np.ndarray):  # type: ignore[type-arg, unused-ignore]
    """The values of the only parameter, a vector or a batch: an array that also answers like a dict
    of itself."""

    name: str

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key != self.name:
            raise KeyError(key)
        return self.view(np.ndarray)

    def __array_finalize__(self, other: Any) -> None:
        self.name = getattr(other, "name", "")

    def keys(self) -> list[str]:
        """The parameter's name."""
        return [self.name]

    def values(self) -> list[Array]:
        """The array."""
        return [self.view(np.ndarray)]

    def items(self) -> list[tuple[str, Array]]:
        """The parameter's name with the array."""
        return [(self.name, self.view(np.ndarray))]


def either(named: dict[str, Any]) -> Number | Numbers:
    """The value of the only argument, which can be used as such and like the dict."""
    ((name, value),) = named.items()
    if isinstance(value, float):
        number = Number(value)
        number.name = name
        return number
    numbers: Numbers = value.view(Numbers)
    numbers.name = name
    return numbers


def shown(names: Sequence[str], numbers: Array) -> str:
    """Numbers with their names."""
    return ", ".join(f"{name} = {value!r}" for name, value in zip(names, numbers.tolist()))
