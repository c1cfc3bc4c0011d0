"""The program of driver.toml: an oscillator's reading against a measured one, by files.

It reads params.in, solves the oscillator, and writes ln f to results.out.
"""

import json
import sys

params, results = sys.argv[-2:]
with open(params) as file:
    point = json.load(file)["params"]


def position_at_end(stiffness, damping, steps=2000, end=3.0):
    """Where a mass released at 1 is after a while, by the semi-implicit Euler method."""
    x, v, h = 1.0, 0.0, end / steps
    for _ in range(steps):
        v -= h * (stiffness * x + damping * v)
        x += h * v
    return x


MEASURED, ERROR = -0.4, 0.1
log_f = -0.5 * ((position_at_end(**point) - MEASURED) / ERROR) ** 2
with open(results, "w") as file:
    json.dump({"log_f": log_f}, file)
