"""What a process sees: signals, the interpreter's lock, progress, imports."""

import functools
import logging
import operator
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time

import pytest
import warpquad as wq

PRIORS = {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}

INTERRUPTED = """
import sys, time, warpquad as wq
from concurrent.futures import ThreadPoolExecutor
calls = []
def log_f(p):
    calls.append(p)
    if len(calls) == 15:
        print("ready", flush=True)
    if len(calls) >= 15:
        time.sleep(60)
    return -p["a"] ** 2
pool = ThreadPoolExecutor(1) if sys.argv[1] == "pool" else None
r = wq.integrate(log_f, {"a": wq.normal(0, 1)}, budget=1000, executor=pool, run=sys.argv[2], progress=False)
print(r.stop, r.evaluations, r.log_z, flush=True)
import os; os._exit(0)
"""


@pytest.mark.parametrize("how", ["here", "pool"])
def test_an_interrupt_returns_what_is_known(tmp_path, how):
    words = [sys.executable, "-c", INTERRUPTED, how, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        stop, evaluations, log_z = child.communicate(timeout=60)[0].split()
    assert (stop, evaluations) == ("interrupted", "14") and abs(float(log_z) + 0.55) < 0.3
    seen = wq.open(tmp_path)
    assert seen.result().stop == "interrupted" and len(seen.pending()) == 1


def test_an_interrupt_before_anything_is_known():
    def log_f(p):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        wq.integrate(log_f, PRIORS, budget=10, progress=False)


def test_rust_computes_without_the_interpreters_lock():
    s = wq.Session(PRIORS, acquisition="quasi-random")
    for task in s.ask(60):
        s.tell(task, log_f=-(task.x["a"] ** 2))
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(1e-4):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    # One call of C that runs no bytecode between its parts: another thread's turn can only come
    # while Rust computes.
    call = operator.methodcaller("__call__")
    parts = [ticks.__len__, functools.partial(s.core.report, "running"), ticks.__len__]
    try:
        before, _, after = list(map(call, parts))
    finally:
        over.set()
        thread.join()
    assert after > before


def test_two_threads_may_share_a_session():
    s = wq.Session(PRIORS)

    def work():
        for _ in range(10):
            (task,) = s.ask()
            s.tell(task, log_f=-(task.x["a"] ** 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert s.evaluations == 40


@pytest.mark.parametrize("bar", ["tqdm", "plain"])
def test_progress_in_a_terminal(bar):
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    code = (
        ("" if bar == "tqdm" else "import sys; sys.modules['tqdm'] = None\n")
        + "import warpquad as wq, time\n"
        "wq.integrate(lambda p: time.sleep(0.05) or -p['a']**2, {'a': wq.normal(0, 1)}, budget=40)\n"
        "print('no bar here')"
    )
    here, there = pty.openpty()
    # tqdm writes nothing on a terminal without columns.
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen([sys.executable, "-c", code], stderr=there, stdout=subprocess.PIPE, text=True)
    os.close(there)
    shown = b""
    try:
        while piece := os.read(here, 4096):
            shown += piece
    except OSError:
        pass  # the other end is closed
    assert child.communicate(timeout=60)[0] == "no bar here\n"
    text = shown.decode()
    assert max(map(len, re.split("[\r\n]|\x1b\\[2K", text))) <= 80 and "\n" not in text
    assert "/40" in text and "log Z -0.5" in text and "ms each" in text
    if bar == "tqdm":
        # The seconds so far and those that are left; a rate would take the room of log Z.
        assert "/40 [00:0" in text and "<00:0" in text and text.endswith("\r")
    else:
        assert "% |#" in text and text.endswith("\r\x1b[2K")


def test_progress_elsewhere_is_logged(caplog, capfd, monkeypatch):
    monkeypatch.setattr("warpquad._progress.Logged.every", 0.0)
    with caplog.at_level(logging.INFO, "warpquad"):
        wq.integrate(lambda p: 0.0, PRIORS, budget=10)
    assert any("10/10" in record.message for record in caplog.records)
    caplog.clear()
    with caplog.at_level(logging.INFO, "warpquad"):
        wq.integrate(lambda p: 0.0, PRIORS, budget=10, progress=False)
    assert caplog.records == [] and capfd.readouterr() == ("", "")


def test_scipy_is_not_imported_unless_it_is_used():
    code = (
        "import sys, warpquad as wq\n"
        "wq.integrate(lambda p: 0.0, {'a': wq.normal(0, 1)}, budget=9, progress=False)\n"
        "heavy = {'scipy', 'matplotlib', 'pandas', 'arviz', 'sklearn', 'tqdm', 'dask'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
