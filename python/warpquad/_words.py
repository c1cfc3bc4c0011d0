"""Write numbers as people read them: a count with its noun, a value with its error."""

import math


def counted(n: int, noun: str) -> str:
    """A count with its noun, in the plural where it is one.

    >>> counted(1, "evaluation"), counted(0, "evaluation")
    ('1 evaluation', '0 evaluations')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def decimals(error: float) -> int | None:
    """Digits after the point that an error leaves meaningful, two of its own.

    None where the number has to be written with an exponent.

    >>> decimals(0.012), decimals(250.0), decimals(0.0)
    (3, 0, None)
    """
    if not 1e-8 <= error < 1e6:
        return None
    return max(1 - math.floor(math.log10(error)), 0)


def within(x: float, error: float) -> str:
    """A number with as many digits as an error of this size leaves meaningful.

    >>> within(-1240.54249, 9.5e-4), within(2e-30, 1e-31)
    ('-1240.54249', '2e-30')
    """
    digits = decimals(error)
    return f"{x:.4g}" if digits is None else f"{x:.{digits}f}"


def measured(x: float, error: float) -> str:
    """A number and its error.

    >>> measured(-3.46312, 0.0123)
    '-3.463 ± 0.012'
    """
    return f"{within(x, error)} ± {within(error, error)}"
