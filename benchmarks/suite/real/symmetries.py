"""Models that do not change when labels are swapped: which maps of the prior's normal scores leave
each of them as it is."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .. import sampling
from ..problem import Array, Problem

# For each problem the columns of each label's parameters.
LABELS: dict[str, list[list[int]]] = {
    "real_indometh_5d": [[0, 1], [2, 3]],
    "real_faithful_5d": [[0, 2], [1, 3]],
    "real_galaxies_7d": [[0, 3], [1, 4], [2, 5]],
    "real_theoph_4d": [[0], [1]],
}
# Columns that change their sign when two labels are swapped: the score of a share p, which becomes
# 1 - p.
SIGNS: dict[str, list[int]] = {"real_faithful_5d": [4]}
# The column of a volume that is multiplied by the second rate over the first when these change
# places.
VOLUMES: dict[str, int] = {"real_theoph_4d": 2}


def shuffled(problem: Problem, z: Array, rng: np.random.Generator) -> Array:
    """Draws with the labels of each in an order at random; as they are where the model has none."""
    blocks = LABELS.get(problem.name)
    if blocks is None:
        return z
    out = z.copy()
    orders = rng.permuted(np.tile(np.arange(len(blocks)), (len(z), 1)), axis=1)
    columns = np.array(blocks)
    for place in range(len(blocks)):
        out[:, columns[place]] = np.take_along_axis(z, columns[orders[:, place]], axis=1)
    turned = orders[:, 0] != 0
    for column in SIGNS.get(problem.name, []):
        out[turned, column] *= -1.0
    if problem.name in VOLUMES:
        column = VOLUMES[problem.name]
        x = sampling.to_x(problem, z)
        out[turned, column] = ndtri(problem.distributions[column].cdf(x[:, column] * x[:, 1] / x[:, 0]))[turned]
        # A volume beyond the prior's ends has no mirror image.
        lost = ~np.isfinite(out).all(1)
        out[lost] = z[lost]
    return out
