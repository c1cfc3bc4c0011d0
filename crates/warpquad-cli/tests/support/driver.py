"""A driver called once per evaluation: it fails at x > 1 by a results file that says so, and at
x < -1 by its exit status. Used by tests/cli."""

import json
import sys

params, results = sys.argv[-2:]
with open(params) as file:
    task = json.load(file)
x = task["params"]["x"]
with open(results, "w") as file:
    file.write("fail: x is too large\n" if x > 1 else json.dumps({"log_f": -0.5 * x * x}))
if x < -1:
    sys.exit("x is too small")
