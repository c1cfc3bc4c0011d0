"""Drive a run: keep every worker of an executor busy until the budget is met."""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from warpquad._errors import EvaluationError, WarpquadError
from warpquad._integrand import Answer, Integrand, portable
from warpquad._progress import Progress
from warpquad._session import Session, Task

# How often the loop looks at the clock while it waits, in seconds.
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
        # dask.distributed: a thread of a worker is a place to work; workers may still be on their way.
        return max(1, sum(map(int, client.nthreads().values())))
    return os.cpu_count() or 1


class Loop:
    """The state of a run that is under way."""

    def __init__(
        self,
        session: Session,
        integrand: Integrand,
        executor: Any,
        workers: int | None,
        batch: int,
        limits: tuple[int | None, float | None, float | None],
        progress: Progress,
    ) -> None:
        self.session, self.core, self.integrand, self.progress = session, session.core, integrand, progress
        self.owned = executor is None and workers is not None and workers > 1
        self.executor: Any = ThreadPoolExecutor(workers) if self.owned else Here() if executor is None else executor
        self.workers = workers or workers_of(self.executor)
        self.batch = batch
        self.evaluations, self.seconds, self.log_z_sd = limits
        # What a killed run left behind, retries, and the rest of a batch.
        self.again: deque[Task] = deque(session.pending())
        self.done: queue.SimpleQueue[Future[list[Answer]]] = queue.SimpleQueue()
        self.under_way: dict[Future[list[Answer]], list[Task]] = {}
        self.estimated, self.last_estimate, self.cost = 0, time.monotonic(), 0.0
        self.error: EvaluationError | None = None

    def run(self) -> str:
        """Run until the budget is met: why it stopped. The error of a failure is kept in `error`."""
        try:
            stop = self._until_done()
        except KeyboardInterrupt:
            # What is under way is in the journal as pending.
            stop = "interrupted"
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
        stop = None
        while True:
            stop = stop or self._limit() or self._estimate()
            if stop is None:
                self._hand_out()
            if not self.under_way:
                # Nothing under way and nothing to hand out: the budget's evaluations are all in.
                return stop or "evaluations"
            if self._take_one():
                stop = stop or "failure"
            self.progress.see(self.core)

    def _busy(self) -> int:
        return sum(map(len, self.under_way.values()))

    def _limit(self) -> str | None:
        if self.evaluations is not None and self.core.evaluations + self.core.given_up >= self.evaluations:
            return "evaluations"
        if self.seconds is not None and self.core.seconds >= self.seconds:
            return "seconds"
        return None

    def _estimate(self) -> str | None:
        """Work out Z now and then, as the command line does: every fifth more evaluations; for a watcher at most once
        a second and never more than a twentieth of the time."""
        n = self.core.evaluations
        if n < 8 or n < self.estimated + max(n // 5, 2):
            return None
        began = time.monotonic()
        watched = self.progress.shown and began - self.last_estimate >= max(1.0, 20 * self.cost)
        if self.log_z_sd is None and not watched:
            return None
        self.estimated = n
        try:
            report = self.core.report("running")
        except WarpquadError:
            return None  # until some f is positive there is nothing to say
        self.last_estimate = time.monotonic()
        self.cost = self.last_estimate - began
        self.progress.see(self.core, report)
        return "log_z_sd" if self.log_z_sd is not None and self.core.is_settled(report, self.log_z_sd) else None

    def _hand_out(self) -> None:
        while len(self.under_way) < self.workers:
            tasks = self._next()
            if not tasks:
                return
            points = np.array([task.array for task in tasks])
            # In this thread nothing has to travel.
            evaluate = Integrand.evaluate if isinstance(self.executor, Here) else portable
            future = self.executor.submit(evaluate, self.integrand, points)
            self.under_way[future] = tasks
            future.add_done_callback(self.done.put)

    def _next(self) -> list[Task]:
        """The tasks of one call: one, or a batch for a vectorized function."""
        room = self._room(self._busy())
        if not self.again:
            ahead = self._room(len(self.core.pending()))
            self.again.extend(self.session.ask(min(self.batch, ahead)))
        size = min(self.batch if self.integrand.vectorized else 1, room, len(self.again))
        return [self.again.popleft() for _ in range(size)]

    def _room(self, committed: int) -> int:
        """How many evaluations the budget has left beside those."""
        if self.evaluations is None:
            return self.batch
        return max(0, self.evaluations - self.core.evaluations - self.core.given_up - committed)

    def _take_one(self) -> bool:
        """Wait a little for an answer; whether it ends the run."""
        try:
            future = self.done.get(timeout=TICK)
        except queue.Empty:
            return False
        tasks = self.under_way.pop(future)
        ended = False
        for task, answer in zip(tasks, _answers(future, len(tasks))):
            said, error = self.session._take(task, answer, self.integrand.log)
            if said == "again":
                self.again.append(task)
            self.error = self.error or error
            ended = ended or error is not None
        return ended

    def _drain(self) -> None:
        """Keep what is under way when the run cannot go on: it is paid for."""
        while self.under_way:
            try:
                self._take_one()
            except WarpquadError:
                pass  # one error is on its way to the user already


def _answers(future: Future[list[Answer]], count: int) -> list[Answer]:
    """What came back; an executor that lost the evaluation, as a killed worker does, is a failure too."""
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        reason = f"the executor says {type(error).__name__}: {error}"
        return [Answer(0.0, reason=reason, recoverable=False, error=error) for _ in range(count)]
