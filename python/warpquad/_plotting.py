"""Draw a result: the convergence of ln Z, the marginals, and where the run looked."""

from __future__ import annotations

import io
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import WarpquadError

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.figure import Figure  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from warpquad._result import Result

Array = npt.NDArray[np.float64]

# Marginals and pairs that one figure shows; of more, those that the run learned most about.
MARGINALS = 4
PAIRS = 3
BLUE, ORANGE, GREY = "#1f5fa8", "#d9822b", "#8a8f98"
# Nats below the best evaluation that the colours span: 8 is a likelihood of 1/3000 of it.
DEPTH = 8.0


def plot(result: Result, n: int, figure: Figure | None) -> Figure:
    """Draw into a figure. One of our own shows itself in notebooks, without pyplot."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from matplotlib.figure import Figure  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError("r.plot() needs matplotlib: pip install matplotlib") from error

    class ResultFigure(Figure):  # type: ignore[misc, unused-ignore]
        """A figure that a notebook shows as the last value of a cell."""

        def _repr_png_(self) -> bytes:
            out = io.BytesIO()
            FigureCanvasAgg(self).print_png(out)  # type: ignore[no-untyped-call, unused-ignore]
            return out.getvalue()

    draws = _draws(result, n)
    prior = _prior(result, n)
    shown = _informative(draws, prior)[:MARGINALS]
    pairs = _pairs(draws, shown)[:PAIRS]
    columns = max(len(shown), len(pairs), 2)
    if figure is None:
        figure = ResultFigure(figsize=(max(6.4, 2.5 * columns), 7.2), dpi=80, layout="constrained")
    parts: Any = figure.subfigures(3, 1, height_ratios=[1.0, 0.8, 1.2])
    top, middle, bottom = parts
    _convergence(top.subplots(), result)
    for axes, name in zip(np.ravel(middle.subplots(1, len(shown))), shown):
        _marginal(axes, name, draws, prior)
    middle.axes[0].legend(fontsize=7, frameon=False, handlelength=1.2)
    if pairs:
        _looks(bottom, pairs, result, draws)
    else:
        _look(bottom.subplots(), shown[0], result)
    return figure


def _draws(result: Result, n: int) -> dict[str, Array]:
    """Posterior draws, or none for an f of either sign, which has no posterior."""
    try:
        return result.posterior(n)
    except WarpquadError:
        return {name: np.empty(0) for name in result.names}


def _prior(result: Result, n: int) -> dict[str, Array]:
    """Points of the prior; a method that keeps no belief has only what it evaluated."""
    try:
        return result.prior(n)
    except WarpquadError:
        return {name: result.observations[name] for name in result.names}


def _trace(result: Result) -> dict[str, Array]:
    """The way it came, or only where it is."""
    try:
        return result.trace()
    except WarpquadError:
        now = (result.evaluations, result.log_z, *result.interval(0.95))
        return {
            label: np.array([value])
            for label, value in zip(("evaluations", "log_z", "low", "high"), now)
        }


def _informative(draws: dict[str, Array], prior: dict[str, Array]) -> list[str]:
    """The parameters in the order of how much narrower the data made them."""

    def shrunk(name: str) -> float:
        if draws[name].size == 0:
            return 0.0
        return float(_spread(draws[name]) / max(_spread(prior[name]), np.finfo(float).tiny))

    if len(draws) <= MARGINALS:
        return list(draws)
    return sorted(draws, key=shrunk)


def _spread(x: Array) -> float:
    low, high = np.quantile(x, [0.16, 0.84])
    return float(high - low)


def _pairs(draws: dict[str, Array], shown: list[str]) -> list[tuple[str, str]]:
    """Pairs of parameters, those that depend most on each other first."""
    pairs = list(combinations(shown, 2))
    if len(pairs) <= PAIRS or draws[shown[0]].size == 0:
        return pairs

    def dependence(pair: tuple[str, str]) -> float:
        ranks = np.array([np.argsort(np.argsort(draws[name])) for name in pair])
        return -abs(float(np.corrcoef(ranks)[0, 1]))

    return sorted(pairs, key=dependence)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, color=GREY)


def _convergence(axes: Axes, result: Result) -> None:
    trace = _trace(result)
    x, log_z = trace["evaluations"], trace["log_z"]
    axes.fill_between(x, trace["low"], trace["high"], color=BLUE, alpha=0.18, lw=0, label="95 %")
    axes.plot(x, log_z, color=BLUE, marker="o", ms=3, lw=1.4, label="median")
    axes.axhline(result.log_z, color=GREY, lw=0.8, ls=":")
    # Early beliefs can be off by hundreds of nats. So the window is that of the later half, opened
    # to twice its size.
    late = slice(len(x) // 2, None)
    low, high = float(np.min(trace["low"][late])), float(np.max(trace["high"][late]))
    if np.isfinite(low) and np.isfinite(high) and high > low:
        margin = 0.5 * (high - low)
        axes.set_ylim(low - margin, high + margin)
    axes.set_xlabel("evaluations", fontsize=9)
    axes.set_ylabel("log Z", fontsize=9)
    axes.set_title(f"log Z = {result.log_z:.4f} ± {result.log_z_sd:.4f}", fontsize=10, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper right", ncols=2)
    _plain(axes)


def _marginal(axes: Axes, name: str, draws: dict[str, Array], prior: dict[str, Array]) -> None:
    seen = draws[name] if draws[name].size else prior[name]
    low, high = np.quantile(seen, [0.0005, 0.9995])
    margin = 0.25 * (high - low)
    # No wider than the prior: a bounded parameter ends where it ends.
    edges = np.linspace(
        max(low - margin, prior[name].min()), min(high + margin, prior[name].max()), 31
    )
    width = edges[1] - edges[0]
    for x, color, label in ((prior[name], GREY, "prior"), (draws[name], BLUE, "posterior")):
        if x.size:
            density = np.histogram(x, edges)[0] / (x.size * width)
            axes.stairs(
                density,
                edges,
                color=color,
                fill=color == BLUE,
                alpha=0.35 if color == BLUE else 1.0,
                lw=1.0,
                label=label,
            )
    if draws[name].size:
        mean, sd = float(np.mean(draws[name])), float(np.std(draws[name]))
        axes.set_title(f"{name} = {mean:.3g} ± {sd:.2g}", fontsize=9, loc="left")
    else:
        axes.set_title(name, fontsize=9, loc="left")
    axes.set_yticks([])
    axes.set_ylim(bottom=0)
    _plain(axes)
    axes.spines["left"].set_visible(False)


def _values(result: Result) -> tuple[Array, str]:
    """What the evaluations are coloured by: ln f, no deeper than the colours go, or f itself."""
    observed = result.observations
    if "log_f" in observed:
        values = observed["log_f"]
        return np.maximum(values, np.max(values) - DEPTH), "log f"
    return observed["f"], "f"


def _looks(
    figure: Any, pairs: list[tuple[str, str]], result: Result, draws: dict[str, Array]
) -> None:
    grid = np.ravel(figure.subplots(1, len(pairs)))
    values, label = _values(result)
    order = np.argsort(values)
    dots: Any = None
    for axes, pair in zip(grid, pairs):
        x, y = (result.observations[name] for name in pair)
        _contours(axes, draws[pair[0]], draws[pair[1]])
        dots = axes.scatter(
            x[order],
            y[order],
            c=values[order],
            s=14,
            cmap="viridis",
            edgecolors="white",
            linewidths=0.3,
            zorder=3,
        )
        axes.set_xlabel(pair[0], fontsize=9)
        axes.set_ylabel(pair[1], fontsize=9)
        _plain(axes)
    bar = figure.colorbar(dots, ax=list(grid), shrink=0.9, aspect=25)
    bar.set_label(label if label == "f" else f"log f (best {DEPTH:.0f} nats)", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    grid[0].set_title(f"where it looked: {result.evaluations} evaluations", fontsize=9, loc="left")


def _contours(axes: Axes, x: Array, y: Array) -> None:
    """Where half and 95 % of the posterior are, from a smoothed histogram."""
    if x.size < 100:
        return
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=36, range=[_window(x), _window(y)])
    density = _smooth(_smooth(counts).T).T
    heights = np.sort(density.ravel())[::-1]
    inside = np.cumsum(heights) / heights.sum()
    levels = sorted({float(heights[np.searchsorted(inside, mass)]) for mass in (0.95, 0.5)})
    centres = [0.5 * (edges[1:] + edges[:-1]) for edges in (x_edges, y_edges)]
    for level, alpha in zip(levels, (0.16, 0.22)):
        axes.contourf(
            *centres,
            density.T,
            levels=[level, float(heights[0]) * 1.001],
            colors=[BLUE],
            alpha=alpha,
        )


def _window(x: Array) -> tuple[float, float]:
    low, high = np.quantile(x, [0.001, 0.999])
    margin = 0.15 * (high - low)
    return float(low - margin), float(high + margin)


def _smooth(rows: Array) -> Array:
    """Each column blurred by a binomial of five: sd of one bin."""
    weights = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
    padded = np.pad(rows, ((2, 2), (0, 0)))
    return np.asarray(sum(w * padded[k : k + len(rows)] for k, w in enumerate(weights)))


def _look(axes: Axes, name: str, result: Result) -> None:
    """One parameter: f at every evaluation."""
    values, label = _values(result)
    axes.plot(result.observations[name], values, "o", ms=4, color=ORANGE, mec="white", mew=0.4)
    axes.set_xlabel(name, fontsize=9)
    axes.set_ylabel(label, fontsize=9)
    axes.set_title(f"where it looked: {result.evaluations} evaluations", fontsize=9, loc="left")
    _plain(axes)
