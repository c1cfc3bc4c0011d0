"""Who is measured: the name of each peer, the module that runs it, its environment and its package.

A module has `run(problem, budgets, seed, **options)`, which yields an `Estimate` for each budget,
in any order. It imports its package inside. The problem is a `Counted` one: `problem.restart()`
begins a run of its own, and everything evaluated since then is what the next estimates cost.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Union

# The budget of a run at the peer's own defaults, until it stops by itself.
FINISH = "finish"
# The cap on such a run.
FINISH_CALLS = 1_000_000

Budget = Union[int, str]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a peer says of log Z within a budget; `error_text` says why where it says nothing."""

    budget: Budget
    log_z: Optional[float] = None
    log_z_lo: Optional[float] = None
    log_z_hi: Optional[float] = None
    error_text: str = ""
    evaluations: Optional[int] = None
    """Those that it rests on, where the peer has gone on since; all so far otherwise."""
    verdict: str = ""
    """The peer's own word on whether to trust it, if it has one."""

    @classmethod
    def normal(
        cls, budget: Budget, log_z: float, sd: float, evaluations: Optional[int] = None
    ) -> "Estimate":
        """An estimate with a normal error bar on log Z, as nested samplers state it."""
        reach = NORMAL_95 * float(sd)
        return cls(
            budget,
            float(log_z),
            float(log_z) - reach,
            float(log_z) + reach,
            evaluations=evaluations,
        )


# The 97.5 % quantile of the standard normal law.
NORMAL_95 = 1.959963984540054


@dataclasses.dataclass(frozen=True)
class Peer:
    """A package at one choice of settings."""

    module: str
    """In benchmarks.peers; its environment is called so too, and NAME.txt has its requirements."""
    package: str
    """The distribution whose version the rows carry."""
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    finishes: bool = False
    """Whether it has a run that stops by itself, at its defaults."""
    tunable: bool = False
    """Whether `--tuning` is for it."""


def _ours(method: str, tunable: bool = False) -> Peer:
    return Peer("warpquad", "warpquad", {"method": method}, tunable=tunable)


PEERS: dict[str, Peer] = {
    "qmc": Peer("qmc", "scipy", {"scrambles": 1}, finishes=True),
    "qmc-replicated": Peer("qmc", "scipy", {"scrambles": 4}, finishes=True),
    "vegas": Peer("vegas", "vegas", finishes=True),
    "emukit-wsabi-l": Peer("emukit", "emukit"),
    "probnum": Peer("probnum", "probnum"),
    "dynesty": Peer("dynesty", "dynesty", finishes=True),
    "dynesty-dynamic": Peer("dynesty", "dynesty", {"dynamic": True}, finishes=True),
    "nautilus": Peer("nautilus", "nautilus-sampler", finishes=True),
    "ultranest": Peer("ultranest", "ultranest", finishes=True),
    "pyvbmc": Peer("pyvbmc", "pyvbmc"),
    "gpry": Peer("gpry", "gpry"),
    "pocomc": Peer("pocomc", "pocomc", finishes=True),
    "warpquad-auto": _ours("auto", tunable=True),
    "warpquad-mmlt": _ours("mmlt"),
    "warpquad-wsabi-m": _ours("wsabi-m"),
    "warpquad-bmc": _ours("bmc"),
}
OURS = tuple(name for name in PEERS if name.startswith("warpquad-"))
