"""Run an instance once, and look at the answer after each budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.trust.instance import Instance

BUDGETS = (50, 100, 200)
COLUMNS = (
    "version", "seed", "half", "kind", "d", "in_flight", "noise_sd", "budget", "failures",
    "truth", "log_z", "log_z_lo", "log_z_hi", "log_z_sd", "verdict", "reasons", "error_text",
)  # fmt: skip
Row = dict[str, Any]


def rows(instance: Instance, budgets: tuple[int, ...] = BUDGETS, tuning: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """A row for each budget of one run."""
    import warpquad as wq

    session = wq.Session(_priors(wq, instance), **_options(instance, tuning))
    rng = np.random.default_rng([21, instance.seed])
    flying: list[Any] = []
    done = failures = 0
    for budget in sorted(budgets):
        error = ""
        try:
            while done < budget:
                while len(flying) < instance.in_flight:
                    flying += session.ask()
                # Whoever is ready first answers first.
                task = flying.pop(int(rng.integers(len(flying))))
                value = instance.evaluate(task.array, rng)
                done += 1
                if value is None:
                    failures += 1
                    session.tell(task, failure="no value here")
                else:
                    session.tell(task, log_f=value)
            found = _answer(session)
        except wq.WarpquadError as raised:
            found, error = {}, f"{type(raised).__name__}: {raised}"
        yield {
            "seed": instance.seed, "half": instance.half, "kind": instance.kind, "d": instance.d,
            "in_flight": instance.in_flight, "noise_sd": instance.noise_sd, "budget": budget,
            "failures": failures, "truth": instance.log_z, "error_text": " ".join(error.split())[:300],
            **found,
        }  # fmt: skip


def _priors(wq: Any, instance: Instance) -> dict[str, Any]:
    by_name = {name.replace("_", ""): name for name in dir(wq)}
    return {
        name: getattr(wq, by_name[family])(*numbers)
        for name, (family, *numbers) in instance.shape.priors.items()
    }


def _options(instance: Instance, tuning: Mapping[str, Any] | None) -> dict[str, Any]:
    options: dict[str, Any] = {"seed": instance.seed}
    if instance.noise_sd > 0:
        options["noise"] = instance.noise_sd**2
    if instance.shape.fails is not None:
        options["on_failure"] = "skip"
    if tuning:
        options["tuning"] = dict(tuning)
    return options


def _answer(session: Any) -> Row:
    result = session.result()
    low, high = result.interval(0.95)
    codes = " ".join(reason["code"] for reason in result.reasons)
    return {
        "log_z": result.log_z, "log_z_lo": low, "log_z_hi": high, "log_z_sd": result.log_z_sd,
        "verdict": result.verdict, "reasons": codes,
    }  # fmt: skip


def is_number(row: Row) -> bool:
    """Whether a row has an answer."""
    return row.get("log_z") not in (None, "") and math.isfinite(float(row["log_z"]))
