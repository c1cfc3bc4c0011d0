"""The evaluation loop over real executors: every worker busy, nothing waits for a batch."""

import functools
import math
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import integrands
import pytest
import warpquad as wq
from warpquad._loop import workers_of

PRIORS = {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}
EXACT = -math.log(3)


def check(r, evaluations=40):
    assert (r.evaluations, r.stop) == (evaluations, "evaluations")
    assert r.log_z == pytest.approx(EXACT, abs=0.1)


def test_threads():
    with ThreadPoolExecutor(3) as pool:
        check(wq.integrate(integrands.bowl, PRIORS, budget=40, executor=pool, progress=False))
    check(wq.integrate(integrands.bowl, PRIORS, budget=40, workers=3, progress=False))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2) as pool:
        yield pool


def test_processes(processes):
    check(wq.integrate(integrands.bowl, PRIORS, budget=40, executor=processes, progress=False))
    check(
        wq.integrate(vectorized_bowl, PRIORS, budget=40, executor=processes, vectorized=True, batch=4, progress=False)
    )


def vectorized_bowl(p):
    assert p["a"].shape == p["b"].shape and len(p["a"]) <= 4
    return -(p["a"] ** 2) - p["b"] ** 2


def test_failures_in_other_processes(processes):
    with pytest.raises(wq.EvaluationError, match=r"at a = \S+, b = \S+: ZeroDivisionError: no solution") as caught:
        wq.integrate(integrands.raises, PRIORS, budget=40, executor=processes, progress=False)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "in raises" in caught.value.failure.traceback
    with pytest.raises(wq.EvaluationError, match="Local: one and two") as caught:
        wq.integrate(integrands.raises_local, PRIORS, budget=40, executor=processes, progress=False)
    assert "in raises_local" in caught.value.failure.traceback
    with pytest.raises(wq.EvaluationError, match="at a = .*log_f returned None"):
        wq.integrate(integrands.none, PRIORS, budget=40, executor=processes, progress=False)
    with pytest.raises(wq.EvaluationError, match="the executor says .*ickl"):
        wq.integrate(lambda p: 0.0, PRIORS, budget=40, executor=processes, progress=False)


def test_a_broken_pool_of_the_users_ends_the_run_and_says_what_to_do():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(wq.EvaluationError, match="BrokenProcessPool.*executor=lambda") as caught,
    ):
        wq.integrate(
            integrands.dies, PRIORS, budget=10, executor=pool, on_failure="skip", progress=False
        )
    assert caught.value.failure is not None


def test_a_dead_worker_costs_a_retry(tmp_path):
    dies_once = functools.partial(integrands.dies_once, str(tmp_path / "died"))
    r = wq.integrate(
        dies_once,
        PRIORS,
        budget=40,
        executor=lambda: ProcessPoolExecutor(2),
        on_failure="retry",
        argument="dict",
        progress=False,
    )
    check(r)
    assert any("BrokenProcessPool" in failure.reason for failure in r.failures)


def test_a_dead_worker_costs_its_point_where_failures_are_skipped(tmp_path):
    dies_once = functools.partial(integrands.dies_once, str(tmp_path / "died"))
    r = wq.integrate(
        dies_once,
        PRIORS,
        budget=40,
        executor=lambda: ProcessPoolExecutor(1),
        on_failure="skip",
        argument="dict",
        progress=False,
    )
    assert r.stop == "evaluations" and 35 <= r.evaluations < 40


def test_an_evaluation_has_a_time_limit():
    calls = []

    def slow_once(p):
        calls.append(p)
        if len(calls) == 3:
            time.sleep(5.0)
        return -(p["a"] ** 2) - p["b"] ** 2

    r = wq.integrate(
        slow_once, PRIORS, budget=20, timeout=0.5, on_failure="skip", progress=False
    )
    assert r.evaluations == 19
    assert [failure.reason for failure in r.failures] == ["no answer within 0.5 s"]
    with pytest.raises(wq.EvaluationError, match="no answer within 0.2 s"):
        wq.integrate(lambda p: time.sleep(2.0), PRIORS, budget=20, timeout=0.2, progress=False)


def test_slots_are_asked_for_at_every_step():
    class Growing(ThreadPoolExecutor):
        """One place to work at first, three after five points."""

        submitted = 0

        def submit(self, *args):
            self.submitted += 1
            self._max_workers = 3 if self.submitted > 5 else 1
            return super().submit(*args)

    at_once = []
    lock = threading.Lock()
    running = 0

    def counted(p):
        nonlocal running
        with lock:
            running += 1
            at_once.append(running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return -(p["a"] ** 2) - p["b"] ** 2

    with Growing(3) as pool:
        pool._max_workers = 1
        check(wq.integrate(counted, PRIORS, budget=40, executor=pool, progress=False))
    assert at_once[0] == 1 and max(at_once) == 3


def test_joblibs_processes():
    loky = pytest.importorskip("loky")
    pool = loky.get_reusable_executor(max_workers=2)
    assert workers_of(pool) == 2
    # loky sends functions by value: a closure will do.
    factor = 1.0
    check(
        wq.integrate(lambda p: -factor * (p["a"] ** 2 + p["b"] ** 2), PRIORS, budget=40, executor=pool, progress=False)
    )
    pool.shutdown()


def test_dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        pool = client.get_executor()
        assert workers_of(pool) == 2
        factor = 1.0
        check(
            wq.integrate(
                lambda p: -factor * (p["a"] ** 2 + p["b"] ** 2), PRIORS, budget=40, executor=pool, progress=False
            )
        )


class ByHand:
    """An executor with no more than `submit`: the test decides when an evaluation ends."""

    def __init__(self):
        self.waiting, self.most, self.submitted = [], 0, 0
        self.arrived = threading.Condition()

    def submit(self, function, *args):
        future = Future()
        with self.arrived:
            self.waiting.append((future, function, args))
            self.submitted += 1
            self.most = max(self.most, len(self.waiting))
            self.arrived.notify_all()
        return future

    def finish(self, index, under_way):
        """Wait until so many evaluations are under way, and end one of them."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.waiting) >= under_way, timeout=60)
            future, function, args = self.waiting.pop(index)
        future.set_result(function(*args))


def aside(function, *args, **kwargs):
    """Call the function in a thread that no failing test waits for."""
    future = Future()

    def call():
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return future


def test_one_slow_point_holds_nothing_up():
    pool, budget = ByHand(), 12
    running = aside(wq.integrate, integrands.bowl, PRIORS, budget=budget, executor=pool, workers=3, progress=False)
    # The first point never ends before all others have: they are asked for and told meanwhile.
    for left in range(budget, 1, -1):
        pool.finish(1, min(3, left))
    assert not running.done() and pool.submitted == budget and pool.most == 3
    pool.finish(0, 1)
    assert running.result(60).evaluations == budget and pool.submitted == budget


def test_as_many_points_under_way_as_workers():
    class Five(ByHand):
        _max_workers = 5

    pool = Five()
    running = aside(wq.integrate, integrands.bowl, PRIORS, budget=14, executor=pool, progress=False)
    for left in range(14, 0, -1):
        pool.finish(0, min(5, left))
    assert running.result(60).evaluations == 14 and pool.most == 5


def test_answers_are_kept_when_another_point_fails():
    pool = ByHand()
    calls = []

    def log_f(p):
        calls.append(p)
        if len(calls) == 1:
            raise ValueError("the first to end")
        return integrands.bowl(p)

    running = aside(wq.integrate, log_f, PRIORS, budget=20, executor=pool, workers=3, progress=False)
    for left in (3, 2, 1):
        pool.finish(0, left)
    error = running.exception(60)
    assert isinstance(error, wq.EvaluationError) and pool.submitted == 3
    assert error.session.evaluations == 2


def test_workers_of():
    class Says:
        num_workers = 7

    assert workers_of(Says()) == 7
    assert workers_of(object()) >= 1
