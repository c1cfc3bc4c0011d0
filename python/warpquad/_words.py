"""Write a count with its noun."""


def counted(n: int, noun: str) -> str:
    """A count with its noun, in the plural where it is one.

    >>> counted(1, "evaluation"), counted(0, "evaluation")
    ('1 evaluation', '0 evaluations')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
