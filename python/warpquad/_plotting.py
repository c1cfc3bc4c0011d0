"""Draw a result: the convergence of ln Z, and a corner plot of the posterior."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warpquad import _core
from warpquad._errors import WarpquadError
from warpquad._page import known
from warpquad._words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.figure import Figure  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from warpquad._result import Result

Array = npt.NDArray[np.float64]

# Parameters that a corner plot shows unless others are named; the marginals of all are shown.
CORNER = 8
# Marginals in a row, where there are too many parameters for one corner plot.
ACROSS = 6
BLUE, ORANGE, GREY = "#1f5fa8", "#d9822b", "#8a8f98"
# Nats below the best evaluation that the colours span: 8 is a likelihood of 1/3000 of it.
DEPTH = 8.0


def plot(
    result: Result, n: int, figure: Figure | None, parameters: Sequence[str] | None
) -> Figure:
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

    chosen = known(parameters, result.names)
    draws = _draws(result, n)
    prior = _prior(result, n)
    seen = {name: values for name, values in result.observations.items()}
    for name, (low, high) in result.circles.items():
        # Cut where the posterior has the least mass, so that a mode across the ends is seen whole.
        start = _core.turn(low, high - low, draws[name])
        for points in (draws, prior, seen):
            points[name] = start + np.mod(points[name] - start, high - low)
    shown = chosen or _informative(draws, prior)
    rest = [] if len(shown) == len(draws) else list(draws)
    rows = -(-len(rest) // ACROSS)
    side = max(len(shown), 2)
    if figure is None:
        width = max(6.4, 1.5 * side if side > 4 else 2.4 * side, 1.6 * ACROSS if rest else 0)
        height = 2.6 + 1.4 * rows + (width if len(shown) > 1 else 5.0)
        figure = ResultFigure(figsize=(width, height), dpi=80, layout="constrained")
    heights = [2.6, *([1.4 * rows] if rest else []), figure.get_figwidth()]
    parts: Any = figure.subfigures(len(heights), 1, height_ratios=heights)
    _convergence(parts[0].subplots(), result)
    if rest:
        grid = np.ravel(parts[1].subplots(rows, ACROSS))
        for axes, name in zip(grid, rest):
            _marginal(axes, name, draws, prior)
        for axes in grid[len(rest) :]:
            axes.set_visible(False)
    if len(shown) == 1:
        top, bottom = parts[-1].subplots(2, 1)
        _marginal(top, shown[0], draws, prior)
        top.legend(fontsize=8, frameon=False)
        _look(bottom, shown[0], result, seen)
    else:
        _corner(parts[-1], shown, result, draws, prior, seen)
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
    """The parameters that the data narrowed most, as many as one corner plot has room for, in their
    own order."""

    def shrunk(name: str) -> float:
        if draws[name].size == 0:
            return 0.0
        return float(_spread(draws[name]) / max(_spread(prior[name]), np.finfo(float).tiny))

    if len(draws) <= CORNER:
        return list(draws)
    most = set(sorted(draws, key=shrunk)[:CORNER])
    return [name for name in draws if name in most]


def _spread(x: Array) -> float:
    low, high = np.quantile(x, [0.16, 0.84])
    return float(high - low)


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
    edges = np.linspace(*_limits(name, draws, prior), 31)
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
    axes.set_xlim(edges[0], edges[-1])
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


def _corner(
    figure: Any,
    shown: list[str],
    result: Result,
    draws: dict[str, Array],
    prior: dict[str, Array],
    observed: dict[str, Array],
) -> None:
    """Marginals on the diagonal, and below it each pair with the evaluations."""
    grid = figure.subplots(len(shown), len(shown), squeeze=False)
    values, label = _values(result)
    order = np.argsort(values)
    dots: Any = None
    for i, below in enumerate(shown):
        for j, across in enumerate(shown):
            axes = grid[i, j]
            if j > i:
                axes.set_visible(False)
                continue
            if i == j:
                _marginal(axes, across, draws, prior)
            else:
                _contours(axes, draws[across], draws[below])
                dots = axes.scatter(
                    observed[across][order],
                    observed[below][order],
                    c=values[order],
                    s=10,
                    cmap="viridis",
                    edgecolors="white",
                    linewidths=0.3,
                    zorder=3,
                )
                best = int(np.argmax(values))
                axes.plot(
                    observed[across][best], observed[below][best], "o", ms=8, mfc="none", mec=ORANGE, zorder=4
                )
                axes.set_xlim(*_limits(across, draws, prior))
                axes.set_ylim(*_limits(below, draws, prior))
                _plain(axes)
            axes.set_xlabel(across if i == len(shown) - 1 else "", fontsize=9)
            axes.set_ylabel(below if j == 0 and i > 0 else "", fontsize=9)
            if i < len(shown) - 1:
                axes.tick_params(labelbottom=False)
            if j > 0:
                axes.tick_params(labelleft=False)
    beside = grid[0, 0].legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0))
    beside.set_in_layout(False)
    bar = figure.colorbar(dots, ax=grid[0, 1:].tolist(), location="top", shrink=0.6, aspect=25)
    bar.set_label(label if label == "f" else f"log f (best {DEPTH:.0f} nats)", fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _limits(name: str, draws: dict[str, Array], prior: dict[str, Array]) -> tuple[float, float]:
    """The window of a parameter: that of the posterior with a margin, no wider than the prior."""
    seen = draws[name] if draws[name].size else prior[name]
    low, high = np.quantile(seen, [0.0005, 0.9995])
    margin = 0.25 * (high - low)
    # A bounded parameter ends where it ends.
    return max(low - margin, prior[name].min()), min(high + margin, prior[name].max())


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


def _look(axes: Axes, name: str, result: Result, observed: dict[str, Array]) -> None:
    """One parameter: f at every evaluation."""
    values, label = _values(result)
    axes.plot(observed[name], values, "o", ms=4, color=ORANGE, mec="white", mew=0.4)
    axes.set_xlabel(name, fontsize=9)
    axes.set_ylabel(label, fontsize=9)
    axes.set_title(f"where it looked: {counted(result.evaluations, 'evaluation')}", fontsize=9, loc="left")
    _plain(axes)
