"""Read the words of `--tuning FIELD=VALUE`: numbers that our own method decides by."""

from __future__ import annotations

from typing import Any, Iterable


def read(words: Iterable[str]) -> dict[str, list[float]]:
    """The numbers of each field; a list is written 1,2,3."""
    fields = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            fields[name.strip()] = [float(number) for number in value.split(",")]
        except ValueError:
            equals = ""
        if not equals:
            raise SystemExit(f"--tuning: must be FIELD=VALUE or FIELD=VALUE,VALUE, got {word!r}")
    return fields


def version(plain: str, words: Iterable[str]) -> str:
    """The version that rows carry, so that those of a tuning are kept apart from others."""
    fields = sorted(read(words).items())
    shown = [f"{name}={','.join(f'{number:g}' for number in numbers)}" for name, numbers in fields]
    return " ".join([plain, *shown])


def options(words: Iterable[str]) -> dict[str, Any]:
    """What a run of our own package is told besides."""
    fields = read(words)
    return {"tuning": fields} if fields else {}
