"""Ask for a point and tell its value, with the habits of optimisers: scikit-optimize and Optuna."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from warpquad import _problem
from warpquad._arguments import flat
from warpquad._result import Result
from warpquad._session import Session, Task

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from warpquad._options import Options

Array = npt.NDArray[np.float64]


class Point(dict[str, Any]):
    """A point to evaluate: the parameters by name.

    >>> import warpquad as wq
    >>> x = wq.ask_tell({"a": wq.normal(0, 1)}).ask()
    >>> list(x), x.number, x.params == dict(x), x.array.shape
    (['a'], 0, True, (1,))
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task.x)
        self.number: int = task.id
        """Its number in the run."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, as a trial of Optuna has them."""
        return dict(self)

    @property
    def array(self) -> Array:
        """All numbers in the parameters' order, as scikit-optimize has them."""
        return flat(self)


class AskTell:
    """A run that is asked for one point at a time; made by `wq.ask_tell`.

    >>> import warpquad as wq
    >>> run = wq.ask_tell({"a": wq.normal(0, 1)})
    >>> run.tell(run.ask(), -0.5)
    >>> run.session.evaluations
    1
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        """The run itself, with all that `wq.Session` can do."""

    @overload
    def ask(self) -> Point: ...

    @overload
    def ask(self, n_points: int) -> list[Point]: ...

    def ask(self, n_points: int | None = None) -> Point | list[Point]:
        """The next point, or a list of so many."""
        points = [Point(task) for task in self.session.ask(1 if n_points is None else n_points)]
        return points[0] if n_points is None else points

    def tell(
        self,
        x: Point | Mapping[str, Any] | Sequence[float] | Array,
        log_f: float | None = None,
        *,
        f: float | None = None,
        failure: str | BaseException | None = None,
    ) -> None:
        """Say what ln f is at a point, or f, or why it has no value.

        A point that was not asked for, as a dict or in the parameters' order, is data like any
        other. Here ln f is told, not what an optimiser would minimise.
        """
        self.session.tell(self._asked(x), log_f=log_f, f=f, failure=failure)

    def _asked(self, x: Any) -> Any:
        """The task of a point, if it was asked for and not told."""
        if isinstance(x, Point):
            return x.number
        numbers = flat(dict(x)) if isinstance(x, Mapping) else np.asarray(x, dtype=float)
        for task in self.session.pending():
            if np.array_equal(task.array, numbers):
                return task
        return x

    def result(self) -> Result:
        """What is known of Z by now."""
        return self.session.result()


@_problem.shown()
def ask_tell(priors: Any, *, seed: int | None = None, **options: Unpack[Options]) -> AskTell:
    """A run that asks and is told, one point at a time: for loops of your own.

    >>> import math
    >>> import warpquad as wq
    >>> run = wq.ask_tell({"x": wq.normal(0, 1)})
    >>> for _ in range(15):
    ...     x = run.ask()
    ...     run.tell(x, -x["x"] ** 2)
    >>> abs(run.result().log_z + 0.5 * math.log(3)) < 0.05
    True

    `wq.Session` has more: runs on disk, warm starts, seconds and derived quantities.
    """
    return AskTell(Session(priors, seed=seed, **options))
