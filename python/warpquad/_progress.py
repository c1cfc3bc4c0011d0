"""Say how far a run is: a bar in terminals and notebooks, the logger "warpquad" elsewhere.

The bar is tqdm's where that is installed, and a plain line otherwise."""

from __future__ import annotations

import abc
import logging
import shutil
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from warpquad import _core
from warpquad._words import counted, within

LOGGER = logging.getLogger("warpquad")
# How often a bar is drawn anew, and how often a line is logged, in seconds.
BAR, LOG = 0.1, 10.0
WIDTH = 10


class Progress(Protocol):
    """Something that watches a run."""

    shown: bool
    """Whether anyone looks, so that it is worth working out Z now and then."""

    def see(self, core: _core.Session, workers: int = 1, running: float = 0.0) -> None:
        """Hear of an event.

        There are so many places to work, and what is under way has taken so many seconds.
        """

    def close(self) -> None:
        """The run is over."""


class Silent:
    """No progress."""

    shown = False

    def see(self, core: _core.Session, workers: int = 1, running: float = 0.0) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Say nothing."""


def known(core: _core.Session, workers: int, running: float = 0.0) -> list[str]:
    """What is known of Z, what a run takes for each evaluation, and failures, in words.

    The seconds of evaluations that are under way are the integrand's.
    """
    words = []
    if core.estimate:
        # One digit of the half width.
        error = 5 * (core.estimate[2] - core.estimate[1])
        words.append("log Z {} [{}, {}]".format(*(within(x, error) for x in core.estimate)))
    if core.evaluations:
        inside = core.seconds_in_integrand
        own = max(core.seconds - (inside + running) / workers, 0.0)
        words.append(f"{short(inside / core.evaluations)}+{short(own / core.evaluations)} each")
    if core.failures:
        words.append(f"{core.failures} failed")
    return words


def short(seconds: float) -> str:
    """Seconds in a unit that suits them.

    >>> short(2e-5), short(0.25), short(90), short(7200)
    ('20us', '250ms', '90s', '2.0h')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f}us"
    if seconds < 1:
        return f"{seconds * 1e3:.0f}ms"
    if seconds < 120:
        return f"{seconds:.1f}s" if seconds < 10 else f"{seconds:.0f}s"
    return f"{seconds / 60:.0f}min" if seconds < 7200 else f"{seconds / 3600:.1f}h"


class Bar:
    """tqdm's bar: a line in a terminal, a widget in a notebook that has widgets."""

    shown = True

    def __init__(self, limit: int | None) -> None:
        made = import_module("tqdm.auto").tqdm
        # Without tqdm's rate: what is known of Z needs the columns.
        form = "{n_fmt} evaluations [{elapsed}{postfix}]"
        if limit is not None:
            form = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
        self.bar = made(total=limit, bar_format=form, dynamic_ncols=True, leave=False, mininterval=BAR)
        self.last = time.monotonic()

    def see(self, core: _core.Session, workers: int = 1, running: float = 0.0) -> None:
        """Move the bar to where the run is."""
        done = core.evaluations + core.given_up
        self.bar.set_postfix_str(", ".join(known(core, workers, running)), refresh=False)
        self.bar.update(done - self.bar.n)
        # An estimate may be new though no evaluation is.
        if time.monotonic() - self.last >= BAR:
            self.last = time.monotonic()
            self.bar.refresh()

    def close(self) -> None:
        """Wipe the bar: the result says it better."""
        self.bar.close()


class Line(abc.ABC):
    """One line about the run; its subclasses say where it is written, and how often."""

    shown = True
    every = BAR

    def __init__(self, limit: int | None) -> None:
        self.limit, self.last = limit, time.monotonic()

    def see(self, core: _core.Session, workers: int = 1, running: float = 0.0) -> None:
        """Write the line if it is time to."""
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            self.write(self.line(core, workers, running))

    def line(self, core: _core.Session, workers: int = 1, running: float = 0.0) -> str:
        """How many evaluations, how fast, and what is known of Z."""
        n, seconds = core.evaluations, core.seconds
        text = f"{counted(n, 'evaluation')}, {seconds:.0f} s"
        if self.limit is not None:
            full = min(WIDTH, WIDTH * n // max(self.limit, 1))
            left = seconds / n * (self.limit - n) if n else float("nan")
            text = f"{100 * n // self.limit:3d}% |{'#' * full}{'.' * (WIDTH - full)}| {n}/{self.limit}, {seconds:.0f} s"
            text += f" + {left:.0f} s" if n and left > 0 else ""
        return ", ".join([text, *known(core, workers, running)])

    @abc.abstractmethod
    def write(self, line: str) -> None:
        """Show the line."""

    def close(self) -> None:
        """Leave no trace by default."""


class Terminal(Line):
    """A line that is written over and over."""

    def write(self, line: str) -> None:
        """Show the line in place of the last one; a longer one than the terminal's would scroll."""
        sys.stderr.write(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line: the result says it better."""
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


class Notebook(Line):
    """A line in a cell's output that is written over and over."""

    handle: Any = None

    def write(self, line: str) -> None:
        """Show the line in place of the last one."""
        display = import_module("IPython.display").display

        shown = {"text/plain": line}
        if self.handle is None:
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def close(self) -> None:
        """Empty the line."""
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


class Logged(Line):
    """A line in the log now and then."""

    every = LOG

    def __init__(self, limit: int | None) -> None:
        super().__init__(limit)
        self.shown = LOGGER.isEnabledFor(logging.INFO)

    def write(self, line: str) -> None:
        """Log the line."""
        LOGGER.info("%s", line)


def make(progress: bool | None, limit: int | None) -> Progress:
    """The progress that a user wants: a bar where someone can see it, unless told otherwise."""
    if progress is False:
        return Silent()
    in_notebook = _in_notebook()
    if not (in_notebook or progress or (sys.stderr is not None and sys.stderr.isatty())):
        return Logged(limit)
    if find_spec("tqdm") is not None:
        return Bar(limit)
    return Notebook(limit) if in_notebook else Terminal(limit)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
