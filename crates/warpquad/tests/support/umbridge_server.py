"""A UM-Bridge server on a free port of the loopback address, with models that behave well and
badly; it prints its port. Used by tests/evaluators.rs."""

import math
import socket
import threading
import time

import umbridge
import umbridge.um


class Model(umbridge.Model):
    def __init__(self, name, function, inputs=(2,), outputs=(1,), evaluates=True):
        super().__init__(name)
        self.function, self.inputs, self.outputs = function, list(inputs), list(outputs)
        self.evaluates = evaluates

    def get_input_sizes(self, config):
        return self.inputs

    def get_output_sizes(self, config):
        return self.outputs

    def supports_evaluate(self):
        return self.evaluates

    def __call__(self, parameters, config):
        return self.function(parameters, config)


def normal(parameters, config):
    scale = config.get("scale", 1.0)
    return [[-0.5 * scale * sum(x * x for vector in parameters for x in vector)]]


def raises(parameters, config):
    raise ValueError("no convergence")


def slow(parameters, config):
    time.sleep(parameters[0][0])
    return [[-1.0]]


together = threading.Barrier(2, timeout=60)


def meeting(parameters, config):
    """Answers only if two requests are in flight at once."""
    together.wait()
    return [[-2.0]]


models = [
    Model("posterior", normal),
    Model("split", normal, inputs=(1, 1)),
    Model("three", normal, inputs=(3,)),
    Model("nan", lambda parameters, config: [[math.nan]]),
    Model("zero", lambda parameters, config: [[-math.inf]]),
    Model("infinite", lambda parameters, config: [[math.inf]]),
    Model("raises", raises),
    Model("slow", slow),
    Model("meeting", meeting),
    Model("wrong size", lambda parameters, config: [[1.0, 2.0]]),
    Model("silent", normal, evaluates=False),
    Model("empty", lambda parameters, config: [], outputs=()),
    Model("rate", lambda parameters, config: [[0.25, 7.0], [8.0]], outputs=(2, 1)),
]

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
run_app = umbridge.um.web.run_app
umbridge.um.web.run_app = lambda app, port: run_app(app, sock=listener, print=None)
umbridge.serve_models(models, max_workers=4)
