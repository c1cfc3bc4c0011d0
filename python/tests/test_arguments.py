"""Fixed numbers and vectors: what the function gets, what results are called, and resuming."""

import json
import math
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import warpquad as wq

from integrands import with_vector

MIXED = {"x": wq.normal(0, 1), "c": 2.0, "beta": wq.uniform(-1, 1, size=2)}
PLAIN = {"x": wq.normal(0, 1), "a": wq.uniform(-1, 1), "b": wq.uniform(-1, 1)}
SMALL = {"budget": 15, "progress": False}


def of_names(x, c, beta):
    return -c * (x - beta[0]) ** 2 - beta[1] ** 2


def plain_log_z():
    return wq.integrate(lambda x, a, b: -2 * (x - a) ** 2 - b**2, PLAIN, **SMALL).log_z


def of_dict(p):
    assert list(p) == ["x", "c", "beta"] and type(p["x"]) is float and type(p["c"]) is float
    assert type(p["beta"]) is np.ndarray and p["beta"].shape == (2,)
    return of_names(**p)


def of_array(x):
    assert x.shape == (4,) and x[1] == 2.0
    return -x[1] * (x[0] - x[2]) ** 2 - x[3] ** 2


def test_the_function_gets_them_in_every_form():
    exact = plain_log_z()
    assert wq.integrate(of_names, MIXED, **SMALL).log_z == exact
    assert wq.integrate(of_dict, MIXED, **SMALL).log_z == exact
    assert wq.integrate(of_array, MIXED, argument="array", **SMALL).log_z == exact
    with ProcessPoolExecutor(1) as pool:
        assert wq.integrate(with_vector, MIXED, executor=pool, **SMALL).log_z == exact


def test_batches():
    shapes = set()

    def log_f(x, c, beta):
        shapes.add((x.shape, c.shape, beta.shape))
        return -c * (x - beta[:, 0]) ** 2 - beta[:, 1] ** 2

    together = {**SMALL, "vectorized": True, "batch": 5}
    r = wq.integrate(log_f, MIXED, **together)
    assert shapes == {((5,), (5,), (5, 2))}
    plain = wq.integrate(lambda x, a, b: -2 * (x - a) ** 2 - b**2, PLAIN, **together)
    assert r.log_z == plain.log_z


def test_the_only_parameter_may_be_a_vector():
    priors = {"beta": wq.normal(0, 1, size=2)}
    exact = -math.log(3)  # of exp(-|beta|^2)
    for function in (lambda beta: -beta @ beta, lambda x: -np.sum(x**2), lambda p: -p["beta"] @ p["beta"]):
        r = wq.integrate(function, priors, budget=25, progress=False)
        assert r.log_z == pytest.approx(exact, abs=0.05)
    batch = wq.integrate(lambda b: -np.sum(b**2, axis=1), priors, vectorized=True, budget=24, progress=False)
    assert batch.log_z == pytest.approx(exact, abs=0.05)


def test_results_have_a_name_for_each_element():
    r = wq.integrate(of_names, MIXED, **SMALL)
    names = ["x", "beta[0]", "beta[1]"]
    assert r.names == names and list(r.posterior(10)) == names and list(r.prior(10)) == names
    assert list(r.observations) == [*names, "log_f"]
    assert list(r.to_pandas().columns) == [*names, "log_f"]
    mean = r.mean(lambda p: p["beta"] * p["c"], vectorized=False)
    assert mean.mean.shape == (2,)
    assert mean.mean[0] == pytest.approx(2 * float(r.mean(lambda x, c, beta: beta[..., 0])))
    back = pickle.loads(pickle.dumps(r))
    assert back.names == names and back.log_z == r.log_z


def test_a_vector_is_one_variable_for_arviz():
    tree = wq.integrate(of_names, MIXED, **SMALL).to_arviz(n=40, chains=4)
    assert tree.posterior["beta"].shape == (4, 10, 2) and tree.posterior["x"].shape == (4, 10)
    assert "c" not in tree.posterior and tree.attrs["fixed"] == json.dumps({"c": 2.0})


def test_points_by_hand():
    s = wq.Session(MIXED)
    (task,) = s.ask()
    assert list(task.x) == ["x", "c", "beta"] and task.x["c"] == 2.0 and task.x["beta"].shape == (2,)
    assert task.array.tolist() == [task.x["x"], 2.0, *task.x["beta"]]
    s.tell(task, log_f=of_names(**task.x))
    assert s.evaluations == 1 and s.names == ["x", "beta[0]", "beta[1]"]


def test_a_failure_shows_all_numbers():
    def fails(x, c, beta):
        raise RuntimeError("no luck")

    with pytest.raises(wq.EvaluationError, match=r"x = \S+, c = 2.0, beta\[0\] = \S+, beta\[1\] = ") as caught:
        wq.integrate(fails, MIXED, **SMALL)
    assert caught.value.point["beta"].shape == (2,)


def test_a_run_on_disk_knows_them(tmp_path):
    run = tmp_path / "run"
    wq.integrate(of_names, MIXED, run=run, **SMALL)
    r = wq.resume(run, of_dict, budget=18, progress=False, recheck=True)
    assert r.evaluations == 18 and r.names == ["x", "beta[0]", "beta[1]"]
    assert wq.resume(run, of_names, priors=MIXED, budget=19, progress=False).evaluations == 19
    assert wq.open(run).names == ["x", "beta[0]", "beta[1]"]
    for changed in ({**MIXED, "c": 3.0}, {k: v for k, v in MIXED.items() if k != "c"}):
        with pytest.raises(wq.SpecError, match="other fixed numbers or vectors"):
            wq.resume(run, of_names, priors=changed, budget=20, progress=False)
        with pytest.raises(wq.JournalError, match="another arguments"):
            wq.integrate(lambda **p: 0.0, changed, run=run, **SMALL)


def test_a_coordinate_beside_them(tmp_path):
    stats = pytest.importorskip("scipy.stats")
    priors = {"c": 2, "x": stats.laplace(0, 1), "beta": wq.uniform(-1, 1, size=2), "y": stats.norm(0, 1)}
    seen = []

    def log_f(c, x, beta, y):
        seen.append((c, x, beta.tolist(), y))
        return -c * x**2 - y**2

    run = tmp_path / "run"
    r = wq.integrate(log_f, priors, run=run, **SMALL)
    assert r.names == ["x", "beta[0]", "beta[1]", "y"]
    assert r.observations["x"].tolist() == [x for _, x, _, _ in seen]
    assert r.observations["beta[1]"].tolist() == [beta[1] for _, _, beta, _ in seen]
    assert wq.resume(run, log_f, priors=priors, budget=17, progress=False).evaluations == 17
    with pytest.raises(wq.SpecError, match="give the priors it was started with"):
        wq.resume(run, log_f, budget=18, progress=False)


WRONG = [
    ({"x": wq.normal(0, 1), "c": math.inf}, "c: is fixed at inf, but must be finite"),
    ({"c": 2, "d": 1.5}, "prior of 'c': 2 is no distribution: a number is fixed"),
    ({"x": True}, "prior of 'x': True is no distribution"),
    ({"beta": wq.normal(0, 1, size=2), "beta[0]": wq.normal(0, 1)}, r"has 'beta\[0\]' twice"),
]


@pytest.mark.parametrize("priors, message", WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_cannot_be_meant(priors, message):
    with pytest.raises(wq.SpecError, match=message):
        wq.integrate(lambda p: 0.0, priors, **SMALL)


def test_a_size_is_a_whole_number():
    assert repr(wq.normal(0, 1, size=3)) == "normal(0, 1, size=3)"
    for size in (0, -1, 1.5, "3"):
        with pytest.raises(wq.SpecError, match="size: must be a whole number, 1 or more"):
            wq.normal(0, 1, size=size)
