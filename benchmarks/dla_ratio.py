"""Set warpquad's likelihood of absorbers beside numpy's, on one thread: values and times.

Usage: python benchmarks/dla_ratio.py DATA [ID] [rounds]

DATA is the folder that holds dla/. Needs numpy, scipy and cargo. Each round times numpy, then
warpquad. A time is the least over all calls of all rounds. Times depend on the machine: only the
ratio is a claim.
"""

import os

# Read when the library is loaded, so before numpy is.
for name in ("OPENBLAS", "MKL", "OMP", "BLIS", "VECLIB"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import json
import subprocess
import sys
import time
from pathlib import Path

from suite.absorbers import Model

ROOT = Path(__file__).resolve().parent.parent
# A spectrum of 612 unmasked pixels.
ID = "3655-55240-0030"


def least_time(work):
    least, until = float("inf"), time.perf_counter() + 0.4
    while time.perf_counter() < until:
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


def build():
    command = [
        "cargo",
        "build",
        "--release",
        "-p",
        "warpquad-experiments",
        "--example",
        "dla_timing",
    ]
    command += ["--message-format=json"]
    out = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    artefacts = [json.loads(line) for line in out.splitlines()]
    return [a["executable"] for a in artefacts if a.get("executable")][-1]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    name = sys.argv[2] if len(sys.argv) > 2 else ID
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    program, model = build(), Model(data / "dla", name)
    ours, theirs, worst = {}, {}, 0.0
    for _ in range(rounds):
        out = subprocess.run(
            [program, data, name], check=True, capture_output=True, text=True
        ).stdout
        for line in map(json.loads, out.splitlines()):
            k = line["absorbers"]
            if "seconds" in line:
                ours[k] = min(ours.get(k, float("inf")), line["seconds"])
                theirs[k] = min(
                    theirs.get(k, float("inf")), least_time(lambda: model.log_likelihood(x))
                )
            else:
                x = line["x"]
                worst = max(worst, abs(line["log_likelihood"] / model.log_likelihood(x) - 1))
    print(
        f"spectrum {name}, {len(model.y)} pixels; largest relative difference of the values {worst:.1e}"
    )
    print(f"{'absorbers':>9}{'ours, us':>12}{'numpy, us':>12}{'ratio':>8}")
    for k in ours:
        print(f"{k:9}{1e6 * ours[k]:12.1f}{1e6 * theirs[k]:12.1f}{ours[k] / theirs[k]:8.3f}")
    if worst > 1e-8:
        sys.exit("the values differ")


if __name__ == "__main__":
    main()
