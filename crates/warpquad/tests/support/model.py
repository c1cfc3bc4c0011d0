"""A model that stays alive and behaves as its first parameter says; used by tests/evaluators.rs."""

import json
import os
import subprocess
import sys
import time

GOOD, NAN, ZERO, ERROR, HANG, DIE, RUBBISH, OTHER_ID, TWICE, FORK = range(10)
LINEAR, NULL, LONG, NO_ID, BABBLE, DIE_ONCE, CLOSE, HANG_WITH_CHILD = range(10, 18)


def say(text):
    print(text, flush=True)


def child(pid_file):
    """Start a child that would outlive us, and write its number to a file."""
    process = subprocess.Popen(["sleep", "600"])
    with open(pid_file, "w") as out:
        out.write(str(process.pid))


def answer(task, state):
    kind, id = int(task["x"][0]), task["id"]
    if kind == GOOD:
        say(json.dumps({"id": id, "log_f": -sum(task["params"].values()), "pid": os.getpid()}))
    elif kind == NAN:
        say(json.dumps({"id": id, "log_f": float("nan")}))
    elif kind == ZERO:
        say(json.dumps({"id": id, "log_f": float("-inf")}))
    elif kind == ERROR:
        say(json.dumps({"id": id, "error": "did not converge"}))
    elif kind == HANG:
        print("thinking", file=sys.stderr, flush=True)
        say("step 1")
        time.sleep(600)
    elif kind == DIE:
        print("first words\nlast words", file=sys.stderr, flush=True)
        sys.exit(3)
    elif kind == RUBBISH:
        say("Welcome to the model\n\n{broken\n[1, 2]\n{\"level\": \"info\", \"error\": \"no licence\"}")
        say(json.dumps({"id": id, "log_f": -7.0}))
    elif kind == OTHER_ID:
        say(json.dumps({"id": id + 100, "log_f": -8.0}))
    elif kind == TWICE:
        say(json.dumps({"id": id, "log_f": -9.0}))
        say(json.dumps({"id": id, "log_f": -99.0}))
    elif kind == FORK:
        child(state)
        say(json.dumps({"id": id, "log_f": -10.0}))
    elif kind == LINEAR:
        say(json.dumps({"id": id, "f": -0.5}))
    elif kind == NULL:
        say(json.dumps({"id": id, "log_f": None}))
    elif kind == LONG:
        say("x" * (1 << 21))
        time.sleep(600)
    elif kind == NO_ID:
        say(json.dumps({"log_f": -1.0}))
    elif kind == BABBLE:
        while True:
            say("la")
    elif kind == DIE_ONCE:
        if not os.path.exists(state):
            open(state, "w").close()
            os.kill(os.getpid(), 9)
        say(json.dumps({"id": id, "log_f": -15.0}))
    elif kind == CLOSE:
        os.close(0)
        os.close(1)
        time.sleep(600)
    elif kind == HANG_WITH_CHILD:
        child(state)
        time.sleep(600)


if __name__ == "__main__":
    # In one write: three workers share the file, and print would write the line and its end apart.
    os.write(2, f"worker {os.environ['WARPQUAD_WORKER']}\n".encode())
    for line in sys.stdin:
        answer(json.loads(line), sys.argv[1] if len(sys.argv) > 1 else "")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as out:
            out.write("finished\n")
