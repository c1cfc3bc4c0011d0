"""Hold the page of a run, and put what it shows into the user's own parameters."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpquad._errors import SpecError
from warpquad._priors import Priors

# How high a page is in a notebook, in pixels; it scrolls.
HEIGHT = 720


class Page:
    """A page of HTML that needs nothing else; it shows itself in a notebook."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The page."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file."""
        file = Path(path)
        file.write_text(self.text, encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return f"<a page of {len(self.text) // 1000} kB; save(path) writes it>"

    def _repr_html_(self) -> str:
        # In a frame of its own, so that the notebook's style and the page's stay apart.
        inside = html.escape(self.text, quote=True)
        style = f"width:100%;height:{HEIGHT}px;border:0"
        return f'<iframe title="The page of a warpquad run" sandbox="allow-scripts" style="{style}" srcdoc="{inside}"></iframe>'


def known(parameters: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """The chosen parameters in their own order; None for all."""
    if parameters is None:
        return None
    if isinstance(parameters, str):
        parameters = [parameters]
    unknown = [name for name in parameters if name not in names]
    if unknown or not parameters:
        what = f"there is no {unknown[0]!r}" if unknown else "name one at least"
        raise SpecError.of("parameters", f"{what}; the run has {', '.join(names)}")
    return [name for name in names if name in parameters]


def in_x(found: str, priors: Priors, report: dict[str, Any]) -> str:
    """What a page shows, with points as the user knows them rather than as the core does."""
    shown: dict[str, Any] = json.loads(found)
    shown["report"] = report  # with the seconds that the run took
    if not priors.mapped:
        return json.dumps(shown)
    shown["mapped"] = []
    shown["names"] = list(priors.names)  # the core's are those of its coordinates
    ends = [pair and (pair[0], pair[0] + pair[1]) for pair in shown["circles"]]
    circles = priors.circles(ends)
    pairs = (circles.get(name) for name in priors.names)
    shown["circles"] = [pair and (pair[0], pair[1] - pair[0]) for pair in pairs]
    for part in ("draws", "prior"):
        shown[part] = _mapped(shown[part], priors)
    for part in ("evaluations", "failures"):
        rows = _mapped([one["x"] for one in shown[part]], priors)
        for one, x in zip(shown[part], rows):
            one["x"] = x
    return json.dumps(shown)


def _mapped(rows: list[list[float]], priors: Priors) -> list[list[float]]:
    if not rows:
        return rows
    mapped: list[list[float]] = priors.to_x(np.array(rows)).tolist()
    return mapped
