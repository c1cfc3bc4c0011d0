"""The options of `integrate`, `resume` and `Session`; written by tools/options.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict


class ResumeOptions(TypedDict, total=False):
    """What may be given when a run is gone on with."""

    on_failure: Literal["stop", "skip", "retry"] | None
    """After a failed evaluation: stop, skip the point, or retry it."""
    retries: int | None
    """Attempts after the first, under retry; also restarts of a crashed command for one point."""
    timeout: float | None
    """Seconds for one evaluation."""
    batch: int | None
    """Points asked for at once, each as if those before it had come back as expected."""
    budget: int | None
    """Evaluations to spend."""
    seconds: float | None
    """Seconds on the clock to spend."""
    log_z_sd: float | None
    """The standard deviation of ln Z that is small enough, twice in a row."""
    audit: float | None
    """Check the answer with this part of the evaluations, at most 0.5."""


class Options(ResumeOptions, total=False):
    """What may be given when a run starts."""

    range: tuple[float, float] | None
    """What is known of f: 0,1 for a rate, -inf,inf for nothing."""
    failed: Literal["unknown", "zero"] | None
    """What is assumed of f where evaluations failed: unknown, or zero."""
    noise: float | None
    """The variance of the noise on the latent g: on ln f, with the log warp."""
    constraints: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
    """Keep the prior where all of these comparisons hold, like a < b."""
    normalise: bool | None
    """Whether a prior with constraints has mass 1 again; false keeps the density as it was."""
    method: Literal["auto", "bmc", "wsabi-l", "wsabi-m", "wsabi-m-g", "mmlt", "mmlt-literal", "mmlt-g", "probit", "probit-g", "mc", "qmc", "smc", "ais", "nested", "bridge"] | None
    """The method, or a baseline, by name."""
    warp: Literal["identity", "square", "log", "probit", "polynomial", "gumbel", "numeric"] | None
    """The warp between g and f, in place of the method's own."""
    kernel: Literal["squared-exponential", "matern12", "matern32", "matern52", "rational-quadratic"] | None
    """The kernel, in place of the method's own."""
    fit: Literal["f", "g", "f-loo"] | None
    """The space in which the hyperparameters are fitted."""
    acquisition: Literal["uncertainty", "uncertainty-prior", "information-gain", "look-ahead", "explore", "prior", "quasi-random", "design"] | None
    """What chooses the next point, in place of the method's own."""
    coordinates: Literal["identity", "natural", "score", "unit", "free"] | None
    """The coordinates that the Gaussian process lives in: identity, natural, score or unit."""
    nodes: int | None
    """Nodes of the final integral, to begin with."""
    refit_every: int | None
    """Observations between two fits from all starting points."""
    particles: int | None
    """The size of every pass of a baseline that has particles."""
    tuning: Mapping[str, float | Sequence[float]] | None
    """Numbers that auto decides by, for experiments; fields may change."""
