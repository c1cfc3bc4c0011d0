"""Say how far a run is: a bar in terminals and notebooks, the logger "warpquad" elsewhere."""

from __future__ import annotations

import abc
import logging
import sys
import time
from importlib import import_module
from typing import Any, Protocol

from warpquad import _core

LOGGER = logging.getLogger("warpquad")
# How often a bar is drawn anew, and how often a line is logged, in seconds.
BAR, LOG = 0.1, 10.0
WIDTH = 20


class Progress(Protocol):
    """Something that watches a run."""

    shown: bool
    """Whether anyone looks, so that it is worth working out Z now and then."""

    def see(self, core: _core.Session) -> None:
        """Hear of an event."""

    def close(self) -> None:
        """The run is over."""


class Silent:
    """No progress."""

    shown = False

    def see(self, core: _core.Session) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Say nothing."""


class Line(abc.ABC):
    """One line about the run; its subclasses say where it is written, and how often."""

    shown = True
    every = BAR

    def __init__(self, limit: int | None) -> None:
        self.limit, self.last = limit, time.monotonic()

    def see(self, core: _core.Session) -> None:
        """Write the line if it is time to."""
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            self.write(self.line(core))

    def line(self, core: _core.Session) -> str:
        """How many evaluations, how fast, and what is known of Z."""
        n, seconds, failed = core.evaluations, core.seconds, core.failures
        text = f"{n} evaluations, {seconds:.0f} s"
        if self.limit is not None:
            full = min(WIDTH, WIDTH * n // max(self.limit, 1))
            left = seconds / n * (self.limit - n) if n else float("nan")
            text = f"{100 * n // self.limit:3d}% |{'#' * full}{'.' * (WIDTH - full)}| {n}/{self.limit}, {seconds:.0f} s"
            text += f" + {left:.0f} s" if n and left > 0 else ""
        text += f", {failed} failed" if failed else ""
        return text + ("  log Z {:.4f} [{:.4f}, {:.4f}]".format(*core.estimate) if core.estimate else "")

    @abc.abstractmethod
    def write(self, line: str) -> None:
        """Show the line."""

    def close(self) -> None:
        """Leave no trace by default."""


class Terminal(Line):
    """A line that is written over and over."""

    def write(self, line: str) -> None:
        """Show the line in place of the last one."""
        sys.stderr.write(f"\r\x1b[2K{line}")
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
    if _in_notebook():
        return Notebook(limit)
    if progress or (sys.stderr is not None and sys.stderr.isatty()):
        return Terminal(limit)
    return Logged(limit)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
