"""The program of command.toml: a waiting-time model, one JSON line in and one out for each point.

Eight waiting times follow a Weibull law with an unknown rate and shape. ln f is their
log-likelihood.
"""

import json
import math
import sys

TIMES = [0.31, 0.52, 0.68, 0.81, 0.94, 1.07, 1.25, 1.62]


def log_likelihood(rate, shape):
    """The sum of ln p(t) over the times."""
    return sum(
        math.log(shape * rate) + (shape - 1) * math.log(rate * t) - (rate * t) ** shape
        for t in TIMES
    )


for line in sys.stdin:
    task = json.loads(line)
    answer = {"id": task["id"], "log_f": log_likelihood(**task["params"])}
    print(json.dumps(answer), flush=True)
