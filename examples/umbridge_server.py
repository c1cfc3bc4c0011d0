"""The server of umbridge.toml: a ring-shaped likelihood as a UM-Bridge model."""

import os

import umbridge


class Ring(umbridge.Model):
    """ln f of a point: how far its distance from the origin is from 1.5."""

    def __init__(self):
        super().__init__("posterior")

    def get_input_sizes(self, config):
        return [2]

    def get_output_sizes(self, config):
        return [1]

    def supports_evaluate(self):
        return True

    def __call__(self, parameters, config):
        x, y = parameters[0]
        distance = (x * x + y * y) ** 0.5
        return [[-0.5 * ((distance - 1.5) / 0.3) ** 2]]


umbridge.serve_models([Ring()], int(os.environ.get("PORT", "4242")))
