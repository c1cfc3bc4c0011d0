"""Functions that other processes import."""

import os
import time


def bowl(p):
    """A bowl in two parameters."""
    return -(p["a"] ** 2) - p["b"] ** 2


def slow_bowl(p):
    """A bowl that takes a moment."""
    time.sleep(0.02)
    return bowl(p)


def raises(p):
    """Raises an exception that travels."""
    raise ZeroDivisionError("no solution")


class Local(Exception):
    """An exception that does not travel: its constructor takes two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raises_local(p):
    """Raises an exception that does not travel."""
    raise Local("one", "two")


def dies(p):
    """Takes its process with it."""
    os._exit(3)


def none(p):
    """Forgets to return."""


def dies_once(marker, p):
    """Kill the process of the first call; a file says that it was done."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return -(p["a"] ** 2) - p["b"] ** 2


def with_vector(x, c, beta):
    """A fixed number and a vector."""
    return -c * (x - beta[0]) ** 2 - beta[1] ** 2
