"""Draw the benchmark in one picture: the error of every peer against the evaluations spent."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers import FINISH, OURS

if TYPE_CHECKING:
    from benchmarks.report import Run

PANELS = {"d = 1 to 3": range(1, 4), "d = 4": range(4, 5), "d = 5 to 10": range(5, 11)}
LABELS = {
    "warpquad-auto": "warpquad",
    "warpquad-mmlt": "MMLT (in warpquad)",
    "warpquad-wsabi-m": "WSABI-M (in warpquad)",
    "warpquad-bmc": "BMC (in warpquad)",
    "emukit-wsabi-l": "Emukit WSABI-L",
    "probnum": "ProbNum",
    "pyvbmc": "PyVBMC",
    "gpry": "GPry",
    "dynesty": "dynesty",
    "dynesty-dynamic": "dynesty, dynamic",
    "ultranest": "UltraNest",
    "nautilus": "nautilus",
    "pocomc": "pocoMC",
    "vegas": "vegas",
    "qmc": "Sobol' points",
}
# Colours that stay apart for most eyes; ours is the dark one.
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#a6761d",
    "#f0027f",
    "#d55e00",
    "#7570b3",
    "#66a61e",
    "#b3b300",
    "#555555",
    "#aaaaaa",
    "#bbbbbb",
)
LEFT_OUT = ("qmc-replicated", "dynesty-dynamic")
# Errors outside are drawn at the edge. Vague priors make them larger.
LOWEST, HIGHEST, REAL_HIGHEST = 1e-4, 30.0, 3e3


def draw(
    runs: list[Run], path: Path, shown: dict[str, range] = PANELS, highest: float = HIGHEST
) -> None:
    """A panel for each group of dimension, a line for each peer: medians over problems, seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = [p for p in LABELS if p not in LEFT_OUT and any(r.peer == p for r in runs)]
    others = [p for p in names if p != OURS[0]]
    with plt.rc_context(
        {
            "font.size": 9,
            "svg.fonttype": "path",
            "svg.hashsalt": "warpquad",
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    ):
        figure, panels = plt.subplots(
            1, len(shown), figsize=(10.5, 4.4), sharey=True, facecolor="white"
        )
        for axes, (title, dims) in zip(panels, shown.items()):
            inside = [r for r in runs if r.d in dims]
            shared = every(inside, names)
            for name in names:
                line(
                    axes,
                    [r for r in inside if r.peer == name],
                    name,
                    COLOURS[others.index(name) % len(COLOURS)] if name in others else "black",
                    highest,
                )
            axes.set(xscale="log", yscale="log", ylim=(LOWEST, highest), xlabel="evaluations")
            axes.set_title(f"{title}, {shared} problems", loc="left", fontsize=10)
            axes.grid(True, color="#e6e6e6", linewidth=0.6)
            axes.set_axisbelow(True)
        panels[0].set_ylabel("median |error in log Z|")
        found = {
            text: handle
            for axes in panels
            for handle, text in zip(*axes.get_legend_handles_labels())
        }
        figure.legend(
            found.values(),
            found.keys(),
            loc="lower center",
            ncols=min(7, len(found)),
            frameon=False,
            fontsize=8.5,
        )
        figure.tight_layout(rect=(0, 0.12, 1, 1))
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)
        plt.close(figure)


def every(runs: list[Run], names: list[str]) -> int:
    """Problems in the panel."""
    return len({r.problem for r in runs if r.peer in names})


def line(axes: object, runs: list[Run], name: str, colour: str, highest: float) -> None:
    """The medians of a peer: a line over small budgets, and a point where it stops by itself."""
    steps: dict[str, list[Run]] = {}
    for run in runs:
        steps.setdefault(run.budget, []).append(run)
    ours = name == OURS[0]
    style = dict(color=colour, zorder=5 if ours else 3)
    x, y = [], []
    for budget in sorted((b for b in steps if b != FINISH), key=int):
        value = float(np.median([r.error for r in steps[budget]]))
        if math.isfinite(value):
            x.append(int(budget))
            y.append(float(np.clip(value, LOWEST, highest)))
    label = LABELS[name]
    if x:
        axes.plot(  # type: ignore[attr-defined]
            x,
            y,
            marker="o",
            markersize=5 if ours else 3.5,
            linewidth=2.6 if ours else 1.3,
            label=label,
            **style,
        )
    if FINISH in steps:
        good = [r for r in steps[FINISH] if math.isfinite(r.error)]
        if good:
            at = float(np.median([r.evaluations for r in good]))
            value = float(np.clip(np.median([r.error for r in good]), LOWEST, highest))
            axes.plot(  # type: ignore[attr-defined]
                [at],
                [value],
                marker="D",
                markersize=5,
                linestyle="none",
                label=None if x else label,
                **style,
            )
            if x:
                axes.plot([x[-1], at], [y[-1], value], linewidth=0.8, linestyle=":", **style)  # type: ignore[attr-defined]
