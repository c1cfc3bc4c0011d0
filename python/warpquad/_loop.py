"""Evaluate what a run hands out: keep every worker of an executor busy until the core says stop."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
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
        timeout: float | None = None,
    ) -> None:
        self.session, self.core = session, session.core
        self.integrand, self.progress = integrand, progress
        self.make = _maker(executor, workers, timeout)
        self.executor: Any = executor if self.make is None else self.make()
        self.given_workers = workers
        self.timeout = timeout
        # The most points of one call.
        self.most = most
        self.done: queue.SimpleQueue[Future[list[Answer]]] = queue.SimpleQueue()
        self.under_way: dict[Future[list[Answer]], list[Task]] = {}
        # When each of them began, and where.
        self.began: dict[Future[list[Answer]], tuple[float, Any]] = {}
        # Evaluations that were given up for their time and still hold a worker.
        self.late: set[Future[list[Answer]]] = set()
        self.error: EvaluationError | None = None

    @property
    def workers(self) -> int:
        """Places to work, asked for at every step: a cluster grows."""
        return self.given_workers or workers_of(self.executor)

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
            if self.make is not None:
                _shut_down(self.executor)
            self.progress.close()
        self.core.stopped(stop)
        return stop

    def _until_done(self) -> str:
        while True:
            stop = self._hand_out()
            if stop is not None:
                return stop
            self._take_one()
            self._give_up_late_ones()
            now = time.monotonic()
            running = sum(now - begun for begun, _ in self.began.values())
            self.progress.see(self.core, max(self.workers, 1), running)

    def _hand_out(self) -> str | None:
        """Give every free worker something to do, if there is something; why the run is over, if it
        is."""
        while len(self.under_way) + len(self.late) < self.workers:
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
        try:
            future = self.executor.submit(evaluate, self.integrand, points)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        self.under_way[future] = tasks
        self.began[future] = time.monotonic(), self.executor
        future.add_done_callback(self.done.put)

    def _take_one(self) -> None:
        """Wait a little for an answer, and hand it to the core."""
        try:
            future = self.done.get(timeout=TICK)
        except queue.Empty:
            return
        if future in self.late:
            self.late.remove(future)
            return
        tasks = self.under_way.pop(future)
        _, home = self.began.pop(future)
        answers, broken = _answers(future, len(tasks), self.make is not None)
        # All that was under way in a broken pool fails; the first of it has the pool made anew.
        if broken and self.make is not None and home is self.executor:
            self._renew()
        self._hand_back(tasks, answers)

    def _hand_back(self, tasks: list[Task], answers: list[Answer]) -> None:
        for task, answer in zip(tasks, answers):
            error = self.session._take(task, answer, self.integrand.log)
            self.error = self.error or error

    def _renew(self) -> None:
        """Make the executor anew. What else was under way in the old one fails by itself."""
        assert self.make is not None
        _shut_down(self.executor)
        self.executor = self.make()

    def _give_up_late_ones(self) -> None:
        """Fail what takes longer than the time limit; nobody can end it, so its worker is lost."""
        if self.timeout is None:
            return
        now = time.monotonic()
        late = [future for future, (began, _) in self.began.items() if now - began > self.timeout]
        for future in late:
            if future.done():
                continue
            tasks = self.under_way.pop(future)
            seconds = now - self.began.pop(future)[0]
            if not future.cancel():
                self.late.add(future)
            reason = f"no answer within {self.timeout:g} s"
            self._hand_back(tasks, [Answer(seconds, reason=reason) for _ in tasks])
        if len(self.late) < self.workers:
            return
        if self.make is not None:
            # Threads that hang are left behind with their pool.
            self.late.clear()
            self._renew()
            return
        raise EvaluationError(
            f"all {self.workers} workers of the executor are still busy with evaluations that took "
            f"longer than {self.timeout:g} s: end them, and go on with a new executor"
        )

    def _drain(self) -> None:
        """Keep what is under way when the run cannot go on: it is paid for."""
        while self.under_way:
            try:
                self._take_one()
            except WarpquadError:
                pass  # one error is on its way to the user already


def _maker(
    executor: Any, workers: int | None, timeout: float | None
) -> Callable[[], Any] | None:
    """What makes the executor, if it is ours to make: a function that was given for it, threads for
    workers without one; None for an executor of the user's own."""
    if executor is None:
        threads = workers or 1
        # A call in this thread cannot be left behind.
        plain = threads == 1 and timeout is None
        return Here if plain else lambda: ThreadPoolExecutor(threads)
    return None if hasattr(executor, "submit") else executor


def _shut_down(executor: Any) -> None:
    """Let go of an executor that we made."""
    shutdown = getattr(executor, "shutdown", None)
    if shutdown is not None:
        shutdown(wait=False, cancel_futures=True)


# What executors raise when the worker of an evaluation is gone, beside `BrokenExecutor`: Ray's,
# Dask's and Celery's names for it.
GONE = ("WorkerCrashedError", "KilledWorker", "WorkerLostError", "ActorDiedError")


def _answers(
    future: Future[list[Answer]], count: int, ours: bool
) -> tuple[list[Answer], bool]:
    """What came back, and whether the executor is broken. A worker that died is a failure of the
    point like another one: it may be tried again, or skipped."""
    try:
        return future.result(), False
    except (Exception, CancelledError) as error:
        broken = isinstance(error, BrokenExecutor)
        gone = broken or type(error).__name__ in GONE or isinstance(error, CancelledError)
        reason = f"the executor says {type(error).__name__}: {error}"
        if broken and not ours:
            # Every further point would fail: the user's pool is not ours to make anew.
            reason += (
                "; a pool that is broken takes no more work. Give a function that makes it, "
                "executor=lambda: ProcessPoolExecutor(4), to have it made anew"
            )
        recoverable = gone and (ours or not broken)
        answer = Answer(0.0, reason=reason, recoverable=recoverable, error=error)
        return [answer for _ in range(count)], broken
