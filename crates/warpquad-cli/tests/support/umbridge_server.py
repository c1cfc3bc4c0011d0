"""A UM-Bridge server on a free port of the loopback address, which prints its port: models that
answer, that answer slowly, and that fail at some points. Used by tests/cli."""

import socket
import threading
import time

import umbridge
import umbridge.um


class Model(umbridge.Model):
    def __init__(self, name, function):
        super().__init__(name)
        self.function = function

    def get_input_sizes(self, config):
        return [2]

    def get_output_sizes(self, config):
        return [1]

    def supports_evaluate(self):
        return True

    def __call__(self, parameters, config):
        x, y = parameters[0]
        return [[self.function(x, y)]]


def ln_f(x, y):
    return -0.5 * x * x - 0.5 * y * y


def slow(x, y):
    time.sleep(0.1)
    return ln_f(x, y)


def failing(x, y):
    if x > 0.5:
        raise ValueError("no convergence")
    return ln_f(x, y)


def hanging(x, y):
    if x > 0.5:
        time.sleep(3)
    return ln_f(x, y)


together = threading.Barrier(2, timeout=60)


def meeting(x, y):
    """Answers only if two requests are in flight at once."""
    together.wait()
    return ln_f(x, y)


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
run_app = umbridge.um.web.run_app
umbridge.um.web.run_app = lambda app, port: run_app(app, sock=listener, print=None)
functions = {"posterior": ln_f, "slow": slow, "failing": failing, "hanging": hanging, "meeting": meeting}
umbridge.serve_models([Model(*pair) for pair in functions.items()], max_workers=4)
