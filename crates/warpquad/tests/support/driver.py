#!/usr/bin/env python3
"""A Dakota-style driver that behaves as its first parameter says; used by tests/evaluators.rs."""

import json
import subprocess
import sys
import time

GOOD, LINEAR, FAIL, NOTHING, EXIT, HANG, NUMBER, OTHER_ID, ZERO, FAIL_AND_EXIT = range(10)

params, results = sys.argv[-2:]
with open(params) as file:
    task = json.load(file)
kind = int(task["params"]["kind"])


def write(text):
    with open(results, "w") as file:
        file.write(text)


print("working")
print("warned", file=sys.stderr)
if kind == GOOD:
    write(json.dumps({"id": task["id"], "log_f": -task["x"][1]}))
elif kind == LINEAR:
    write(json.dumps({"f": 0.25}))
elif kind == FAIL:
    write("FAIL: no mesh\n")
elif kind == EXIT:
    write(json.dumps({"log_f": 0.0}))
    sys.exit("no licence")
elif kind == HANG:
    child = subprocess.Popen(["sleep", "600"])
    with open("child.pid", "w") as file:
        file.write(str(child.pid))
    time.sleep(600)
elif kind == NUMBER:
    write("-1.25 response_fn_1\n")
elif kind == OTHER_ID:
    write(json.dumps({"id": task["id"] + 1, "log_f": 0.0}))
elif kind == ZERO:
    write(json.dumps({"log_f": float("-inf")}))
elif kind == FAIL_AND_EXIT:
    write("fail\n")
    sys.exit(4)
