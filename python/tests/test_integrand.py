"""How a function is called, and what becomes of what it returns."""

import math

import numpy as np
import pytest
import warpquad as wq

NORMAL = {"a": wq.normal(0, 1), "b": wq.uniform(-1, 1)}
SMALL = {"budget": 9, "progress": False}


class Spy:
    """Keeps what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, x):
        self.calls.append(x)
        return np.zeros(len(x)) if isinstance(x, np.ndarray) and x.ndim == 2 else 0.0


def test_one_argument_is_a_dict_if_the_priors_are_one():
    spy = Spy()
    wq.integrate(spy, NORMAL, **SMALL)
    assert len(spy.calls) == 9
    assert list(spy.calls[0]) == ["a", "b"] and all(type(v) is float for v in spy.calls[0].values())


def test_one_argument_is_an_array_otherwise():
    spy = Spy()
    wq.integrate(spy, wq.multivariate_normal([0, 0], np.eye(2), names=["a", "b"]), **SMALL)
    assert spy.calls[0].shape == (2,) and spy.calls[0].dtype == float


def test_several_arguments_are_the_parameters():
    seen = []
    wq.integrate(lambda a, b: seen.append((a, b)) or 0.0, NORMAL, **SMALL)
    wq.integrate(lambda b, a, factor=2: seen.append((a, b)) or 0.0, NORMAL, **SMALL)
    assert seen[:9] == seen[9:] and all(-1 < b < 1 for _, b in seen)
    with pytest.raises(wq.SpecError, match="takes the arguments a, c, but the parameters are a, b"):
        wq.integrate(lambda a, c: 0.0, NORMAL, **SMALL)


def test_argument_decides():
    spy = Spy()
    wq.integrate(spy, NORMAL, argument="array", **SMALL)
    assert spy.calls[0].shape == (2,)
    seen = []
    wq.integrate(lambda a: seen.append(a) or 0.0, {"a": wq.normal(0, 1)}, argument="keywords", **SMALL)
    assert type(seen[0]) is float
    with pytest.raises(wq.SpecError, match="must be one of dict, array, keywords, got 'list'"):
        wq.integrate(spy, NORMAL, argument="list", **SMALL)


def test_a_batch():
    spy = Spy()
    r = wq.integrate(spy, NORMAL, vectorized=True, argument="array", budget=20, progress=False)
    assert [len(x) for x in spy.calls] == [8, 8, 4] and r.evaluations == 20
    shapes = []

    def log_f(p):
        shapes.append(p["a"].shape)
        return -(p["a"] ** 2)

    r = wq.integrate(log_f, NORMAL, vectorized=True, batch=5, budget=25, progress=False)
    assert shapes == [(5,)] * 5
    assert r.log_z == pytest.approx(-0.5 * math.log(3), abs=0.05)
    by_name = wq.integrate(lambda a, b: -(a**2), NORMAL, vectorized=True, batch=5, budget=25, progress=False)
    assert by_name.log_z == r.log_z


def test_the_argument_is_the_users_own():
    def spoil(x):
        x[:] = 7.0
        return 0.0

    r = wq.integrate(spoil, wq.multivariate_normal([0, 0], np.eye(2)), **SMALL)
    assert not (r.core.observations()[0] == 7.0).any()


def test_f_and_log_f_are_the_same_integral():
    r = wq.integrate(lambda p: -(p["a"] ** 2), NORMAL, budget=25, progress=False)
    s = wq.integrate(f=lambda p: math.exp(-(p["a"] ** 2)), priors=NORMAL, budget=25, progress=False)
    assert s.log_z == pytest.approx(r.log_z, abs=1e-6)
    for both in [{}, {"log_f": len, "f": len}]:
        with pytest.raises(wq.SpecError, match="give either log_f or f"):
            wq.integrate(priors=NORMAL, **both, **SMALL)
    with pytest.raises(wq.SpecError, match="f: must be a function, got 3"):
        wq.integrate(f=3, priors=NORMAL, **SMALL)


def test_range():
    r = wq.integrate(f=lambda p: 1 / (1 + math.exp(-p["a"])), priors=NORMAL, range=(0, 1), budget=25, progress=False)
    assert r.method["warp"] == "probit" and math.exp(r.log_z) == pytest.approx(0.5, abs=0.01)
    with pytest.raises(
        wq.EvaluationError, match=r"failed at a = .*, b = .*: f = 2.0 is outside the range \(0.0, 1.0\) of f"
    ):
        wq.integrate(f=lambda p: 2.0, priors=NORMAL, range=(0, 1), **SMALL)
    with pytest.raises(wq.SpecError, match="integrand.range: is empty: lo must be below hi"):
        wq.integrate(f=lambda p: 2.0, priors=NORMAL, range=(1, 0), **SMALL)


def test_noise_takes_two_values_at_a_point_for_what_they_are():
    rng = np.random.default_rng(1)
    r = wq.integrate(lambda p: -(p["a"] ** 2) + 0.05 * rng.normal(), NORMAL, noise=0.0025, budget=40, progress=False)
    assert r.log_z == pytest.approx(-0.5 * math.log(3), abs=0.1)
    assert r.method["noise"] == 0.0025


def test_zero_is_a_value():
    r = wq.integrate(lambda p: 0.0 if p["b"] > 0 else -math.inf, NORMAL, budget=30, progress=False)
    assert r.evaluations == 30 and not r.failures


NOT_NUMBERS = [
    (lambda p: None, "log_f returned None; it must return a number"),
    (lambda p: "0.5", "log_f returned the string '0.5'; it must return a number"),
    (lambda p: 1 + 2j, r"log_f returned the complex number \(1\+2j\)"),
    (lambda p: np.complex128(1), "complex"),
    (lambda p: np.zeros(3), r"array of shape \(3,\); it must return one number; .*vectorized=True"),
    (lambda p: [0.0, 1.0], r"array of shape \(2,\)"),
    (lambda p: np.zeros((2, 2)), r"array of shape \(2, 2\)"),
    (lambda p: {"log_f": 0.0}, "must return a number"),
    (lambda p: object(), "must return a number"),
]


@pytest.mark.parametrize("policy", ["stop", "skip", "retry"])
@pytest.mark.parametrize("function, message", NOT_NUMBERS, ids=[str(i) for i in range(len(NOT_NUMBERS))])
def test_what_is_no_number_stops_every_run_and_says_where(function, message, policy):
    calls = []

    def log_f(p):
        calls.append(p)
        return function(p)

    with pytest.raises(wq.EvaluationError, match=rf"failed at a = \S+, b = \S+: .*{message}") as caught:
        wq.integrate(log_f, NORMAL, on_failure=policy, **SMALL)
    assert len(calls) == 1 and repr(calls[0]["a"]) in str(caught.value)


def test_a_batch_of_the_wrong_length():
    for function, got in [
        (lambda p: np.zeros(3), "3 values"),
        (lambda p: 0.0, "0.0"),
        (lambda p: None, "None"),
        (lambda p: "abcdefgh", "'abc"),
    ]:
        with pytest.raises(wq.EvaluationError, match=f"at a = .*returned {got}.* for a batch of 8 points"):
            wq.integrate(function, NORMAL, vectorized=True, **SMALL)
    with pytest.raises(wq.EvaluationError, match="returned None; it must"):
        wq.integrate(lambda p: [0.0, None, 0, 0, 0, 0, 0, 0], NORMAL, vectorized=True, **SMALL)


def test_numbers_of_every_kind():
    import fractions

    for number in [
        0,
        True,
        np.float32(0),
        np.int64(0),
        np.zeros(1),
        np.zeros((1, 1)),
        np.array(0.0),
        [0.0],
        fractions.Fraction(1, 2),
    ]:
        assert wq.integrate(lambda p, number=number: number, NORMAL, budget=2, progress=False).evaluations == 2


def test_nan_and_infinity_are_failures_of_their_point():
    for bad in (math.nan, math.inf):
        with pytest.raises(wq.EvaluationError, match=rf"failed at a = .*: log_f returned {bad}"):
            wq.integrate(lambda p: bad, NORMAL, **SMALL)
        values = iter([0.0, bad] + [0.0] * 20)
        r = wq.integrate(lambda p: next(values), NORMAL, on_failure="skip", **SMALL)
        assert r.evaluations == 8 and len(r.failures) == 1 and list(r.failures[0].point) == ["a", "b"]


def test_an_exception_is_the_cause_and_has_its_traceback():
    def inner(p):
        raise ZeroDivisionError("no solution")

    def log_f(p):
        return inner(p)

    with pytest.raises(wq.EvaluationError, match="ZeroDivisionError: no solution") as caught:
        wq.integrate(log_f, NORMAL, **SMALL)
    error = caught.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    names = []
    step = error.__cause__.__traceback__
    while step:
        names.append(step.tb_frame.f_code.co_name)
        step = step.tb_next
    assert names[-2:] == ["log_f", "inner"]
    assert "in inner" in error.failure.traceback and error.failure.id == 0


def test_what_was_paid_for_survives_a_failure():
    calls = []

    def log_f(p):
        calls.append(p)
        if len(calls) == 12:
            raise RuntimeError("broken")
        return -(p["a"] ** 2)

    with pytest.raises(wq.EvaluationError) as caught:
        wq.integrate(log_f, NORMAL, budget=20, progress=False)
    r = caught.value.session.result()
    assert (r.evaluations, r.stop, len(r.failures)) == (11, "failure", 1)


def test_skip_and_retry():
    def every_third():
        calls = []

        def log_f(p):
            calls.append(p["a"])
            if len(calls) % 3 == 0:
                raise ValueError(f"call {len(calls)}")
            return -(p["a"] ** 2)

        return log_f, calls

    log_f, calls = every_third()
    r = wq.integrate(log_f, NORMAL, on_failure="skip", budget=15, progress=False)
    assert (len(calls), r.evaluations, len(r.failures)) == (15, 10, 5)
    assert [f.point["a"] for f in r.failures] == calls[2::3]
    assert "ValueError: call 3" in r.failures[0].reason and "Traceback" in r.failures[0].traceback
    log_f, calls = every_third()
    r = wq.integrate(log_f, NORMAL, on_failure="retry", budget=15, progress=False)
    assert r.evaluations == 15 and calls[2] == calls[3]

    def never(p):
        raise ValueError("never")

    with pytest.raises(wq.EvaluationError) as caught:
        wq.integrate(never, NORMAL, on_failure="retry", retries=3, **SMALL)
    assert len(caught.value.session.failures) == 4
    with pytest.raises(wq.EvaluationError, match="no evaluation has succeeded, 10 failed; evaluation 9 failed at a = "):
        wq.integrate(never, NORMAL, on_failure="skip", budget=50, progress=False)
    with pytest.raises(wq.SpecError, match="on_failure: unknown name 'ignore'"):
        wq.integrate(never, NORMAL, on_failure="ignore", **SMALL)


def test_stops():
    r = wq.integrate(lambda p: -(p["a"] ** 2), NORMAL, log_z_sd=0.05, progress=False)
    assert r.stop == "log_z_sd" and r.log_z_sd <= 0.05 and r.evaluations < 100
    r = wq.integrate(lambda p: -(p["a"] ** 2), NORMAL, seconds=0.2, budget=10_000, progress=False)
    assert r.stop == "seconds" and r.evaluations < 10_000
    assert wq.integrate(lambda p: -(p["a"] ** 2), NORMAL, **SMALL).stop == "evaluations"


def test_audit():
    def log_f(p):
        return -(p["a"] ** 2)

    r = wq.integrate(log_f, NORMAL, budget=20, audit=0.25, workers=2, progress=False)
    assert isinstance(r.audit, wq.Audit) and r.audit.evaluations == 5 and r.evaluations == 20
    assert abs(r.audit.log_z - r.log_z) < 4 * r.audit.log_z_sd
    assert "from 5 evaluations drawn from the belief" in repr(r)
    plain = wq.integrate(log_f, NORMAL, **SMALL)
    assert plain.audit is None and "audit" not in repr(plain)


def test_an_audit_goes_on_where_it_was(tmp_path):
    calls = 0

    def log_f(p):
        return -(p["a"] ** 2)

    def dies(p):
        nonlocal calls
        calls += 1
        if calls == 18:
            raise ValueError("out of memory")
        return log_f(p)

    whole = wq.integrate(log_f, NORMAL, budget=20, audit=0.25, progress=False)
    with pytest.raises(wq.EvaluationError):
        wq.integrate(dies, NORMAL, budget=20, audit=0.25, run=tmp_path / "run", progress=False)
    r = wq.resume(tmp_path / "run", log_f, progress=False)
    assert r.audit == whole.audit and r.log_z == whole.log_z
    # Of a larger budget the audit is the last part again.
    assert wq.resume(tmp_path / "run", log_f, budget=28, progress=False).audit.evaluations == 12


def test_dimensions_out_of_reach():
    priors = {f"x{i}": wq.normal(0, 1) for i in range(11)}
    never = "not to be evaluated"
    with pytest.raises(wq.SpecError, match='11 dimensions are out of reach.*"smc" or "nested".*"auto"'):
        wq.integrate(lambda p: pytest.fail(never), priors, budget=6, progress=False)
    r = wq.integrate(lambda p: -(p["x0"] ** 2), priors, method="auto", budget=6, progress=False)
    assert any("11 dimensions are out of reach" in warning for warning in r.warnings)


def test_wrong_options_name_their_field():
    for options, message in [
        ({"budget": 0}, "budget.evaluations: must be a whole number, 1 or more, got 0"),
        ({"budget": 2.5}, "budget.evaluations: must be a whole number, got 2.5"),
        ({"budget": "ten"}, "budget.evaluations: must be a whole number, got a string"),
        ({"budget": 10, "audit": 0.7}, "budget.audit: .* at most 0.5, got 0.7"),
        ({"seconds": 1.0, "audit": 0.2}, "budget.audit: .*give a budget of evaluations"),
        ({"method": "mmtl"}, "method.name: .*mmlt"),
        ({"kernel": "rbf"}, "method.kernel: "),
        ({"noise": -1}, "integrand.noise: is a variance"),
        ({"workers": 0}, "workers: must be 1 or more, got 0"),
        ({"executor": 3}, "executor: must have submit"),
    ]:
        with pytest.raises(wq.SpecError, match=message) as caught:
            wq.integrate(lambda p: 0.0, NORMAL, progress=False, **options)
        assert "problem.toml" not in str(caught.value)


def test_seeds():
    def points(seed):
        return wq.integrate(lambda p: 0.0, NORMAL, seed=seed, **SMALL).core.observations()[0]

    with pytest.raises(wq.SpecError, match="seed: must be a whole number from 0"):
        points(-1)
    assert (points(0) == points(0)).all() and not (points(0) == points(1)).all()
