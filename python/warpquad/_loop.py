"""Evaluate what a run hands out: keep every worker of an executor busy until the core says stop."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from warpquad._errors import EvaluationError, WarpquadError
from warpquad._integrand import Answer, Integrand, portable
from warpquad._progress import Progress
from warpquad._session import Session, Task

# How long the loop waits for an answer before it looks around, in seconds.
TICK = 0.2


class Here:
    """An executor that evaluates at once, in this thread."""

    _max_workers = 1

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Call the function now."""
        future: Future[Any] = Future()
        future.set_result(function(*args))
        return future


def workers_of(executor: Any) -> int:
    """How many points an executor works on at once; the number of processors if it does not say."""
    for name in ("_max_workers", "num_workers", "max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        # dask.distributed: a thread of a worker is a place to work; workers may still be on their
        # way.
        return max(1, sum(map(int, client.nthreads().values())))
    return os.cpu_count() or 1


class Loop:
    """The evaluations of a run that are under way.

    What to evaluate, and when to stop, the core decides.
    """

    def __init__(
        self,
        session: Session,
        integrand: Integrand,
        executor: Any,
        workers: int | None,
        most: int,
        progress: Progress,
    ) -> None:
        self.session, self.core, self.integrand, self.progress = session, session.core, integrand, progress
        self.owned = executor is None and workers is not None and workers > 1
        self.executor: Any = ThreadPoolExecutor(workers) if self.owned else Here() if executor is None else executor
        self.workers = workers or workers_of(self.executor)
        # The most points of one call.
        self.most = most
        self.done: queue.SimpleQueue[Future[list[Answer]]] = queue.SimpleQueue()
        self.under_way: dict[Future[list[Answer]], list[Task]] = {}
        self.error: EvaluationError | None = None

    def run(self) -> str:
        """Run until the core says stop, and say why. The error of a failure is kept in `error`."""
        self.core.set_watched(self.progress.shown)
        try:
            stop = self._until_done()
        except KeyboardInterrupt:
            # What is under way is in the journal as pending.
            stop = self.core.interrupt()
        except WarpquadError:
            self._drain()
            raise
        finally:
            for future in list(self.under_way):
                future.cancel()
            if self.owned:
                self.executor.shutdown(wait=False, cancel_futures=True)
            self.progress.close()
        self.core.stopped(stop)
        return stop

    def _until_done(self) -> str:
        while True:
            stop = self._hand_out()
            if stop is not None:
                return stop
            self._take_one()
            self.progress.see(self.core)

    def _hand_out(self) -> str | None:
        """Give every free worker something to do, if there is something; why the run is over, if it
        is."""
        while len(self.under_way) < self.workers:
            what, points, stop = self.core.next(self.most)
            if what == "stop":
                return stop
            if what == "wait":
                break
            self._submit([self.session._task(point) for point in points])
        return None

    def _submit(self, tasks: list[Task]) -> None:
        points = np.array([task.array for task in tasks])
        # In this thread nothing has to travel.
        evaluate = Integrand.evaluate if isinstance(self.executor, Here) else portable
        future = self.executor.submit(evaluate, self.integrand, points)
        self.under_way[future] = tasks
        future.add_done_callback(self.done.put)

    def _take_one(self) -> None:
        """Wait a little for an answer, and hand it to the core."""
        try:
            future = self.done.get(timeout=TICK)
        except queue.Empty:
            return
        tasks = self.under_way.pop(future)
        for task, answer in zip(tasks, _answers(future, len(tasks))):
            error = self.session._take(task, answer, self.integrand.log)
            self.error = self.error or error

    def _drain(self) -> None:
        """Keep what is under way when the run cannot go on: it is paid for."""
        while self.under_way:
            try:
                self._take_one()
            except WarpquadError:
                pass  # one error is on its way to the user already


def _answers(future: Future[list[Answer]], count: int) -> list[Answer]:
    """What came back; an executor that lost the evaluation, as a killed worker does, is a failure
    too."""
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        reason = f"the executor says {type(error).__name__}: {error}"
        return [Answer(0.0, reason=reason, recoverable=False, error=error) for _ in range(count)]
