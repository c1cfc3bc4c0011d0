"""A model that stays alive and behaves as its first argument says: ln f = -x^2 / 2 - y^2 unless it
misbehaves. The second argument names a file that gets the id of every call. Used by tests/cli."""

import json
import os
import random
import sys
import time

mode, log = sys.argv[1], sys.argv[2]


def calls(id):
    with open(log) as file:
        return file.read().split().count(str(id))


def say(text):
    print(text, flush=True)


def tell(id, log_f):
    say(json.dumps({"id": id, "log_f": log_f}))


for line in sys.stdin:
    task = json.loads(line)
    id = task["id"]
    with open(log, "a") as file:
        file.write(f"{id}\n")
    x = task["x"]
    log_f = -0.5 * x[0] ** 2 - sum(y**2 for y in x[1:])
    chosen = id == 3
    if mode == "sleep":
        time.sleep(0.005)
    elif mode == "slow":
        time.sleep(0.2)
    elif mode == "nan" and id % 3 == 1:
        log_f = float("nan")
    elif mode == "zero" and id % 3 == 1:
        log_f = float("-inf")
    elif mode == "sentinel" and id % 3 == 1:
        log_f = -1e10
    elif mode == "jump" and id == 15:
        log_f = 500.0
    elif mode == "random":
        log_f += random.random()
    elif mode == "error" and chosen or mode == "error-once" and chosen and calls(id) == 1:
        say(json.dumps({"id": id, "error": "did not converge"}))
        continue
    elif mode == "hang" and chosen or mode == "hang-once" and chosen and calls(id) == 1 or mode == "hang-always":
        print("thinking hard", file=sys.stderr, flush=True)
        time.sleep(600)
    elif mode == "die" and chosen or mode == "die-once" and chosen and calls(id) == 1 or mode == "die-always":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    elif mode == "rubbish":
        say("Welcome to the model\n\n{broken\n[1, 2]")
    elif mode == "late" and id > 0:
        tell(id - 1, 77.0)
    elif mode == "swap" and chosen:
        tell(id + 100, log_f)
        continue
    elif mode == "outside" and chosen:
        say(json.dumps({"id": id, "f": -0.5}))
        continue
    elif mode == "no-value" and chosen:
        say(json.dumps({"id": id, "value": 1}))
        continue
    tell(id, log_f)
