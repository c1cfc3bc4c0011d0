"""Integrals of the matched GP belief by direct numerical integration: data/oracle/closed_forms.csv.

With k = scale * rho(r), r^2 = sum_d ((x_d - x'_d)/l_d)^2, A = k(X, X)^-1 the latent posterior is

    mu_D(x) = mu0 + k(x, X) A (g - mu0),    Sigma_D(x, x') = k(x, x') - k(x, X) A k(X, x')

and each warp gives m(x) and K(x, x') pointwise. The table holds z_mean = int m dpi and
z_var = iint K dpi dpi.

Rules. A box has Gauss-Legendre panels no wider than two length scales. They are split at the data,
where a Matern posterior has kinks, with x = x' an edge of triangles. A Gaussian measure has an
equally spaced lattice in the whitened variable, inside a disk. Every case is computed with two
rules (two orders, or two interleaving lattices), refined until both agree (see AGREE). Takes about
two minutes on two idle cores.
"""

import math
from multiprocessing import Pool

from gmpy2 import exp, mpfr, sqrt

from common import PI, dot, gauss_legendre, given, matrix, number, vector, write_table

HEADER = (
    "case,kernel,measure,lo,hi,mean,covariance,mu0,scale,lengths,X,g,warp,parameters,z_mean,z_var".split(",")
)
# Two orders must agree to the first number. A lattice and the mean of two interleaving ones must
# agree to the second: the mean's error is about the square of the lattice's.
AGREE = {"uniform": mpfr(10) ** -18, "gaussian": mpfr(10) ** -11}
RADIUS = 9.6  # exp(-9.6^2/2) = 1e-20
PANEL = 2.0  # greatest panel width, in length scales


# --- Kernels: rho(r) from r^2 ---


def squared_exponential(r2):
    return exp(-r2 / 2)


def matern12(r2):
    return exp(-sqrt(r2))


def matern32(r2):
    r = sqrt(3 * r2)
    return (1 + r) * exp(-r)


def matern52(r2):
    r = sqrt(5 * r2)
    return (1 + r + r * r / 3) * exp(-r)


KERNELS = {
    "squared-exponential": squared_exponential,
    "matern12": matern12,
    "matern32": matern32,
    "matern52": matern52,
}


# --- Warps: m(mean, variance) and K(node, node', c) ---


def raw_moment(j, k, a, b, c):
    """E[g^j g'^k] = mu E[g^(j-1) g'^k] + (j-1) s E[g^(j-2) g'^k] + k c E[g^(j-1) g'^(k-1)].

    It follows from Stein's identity.
    """
    if j < 0 or k < 0:
        return mpfr(0)
    if j == 0 and k == 0:
        return mpfr(1)
    if j == 0:
        return raw_moment(k, 0, b, a, c)
    total = a.mean * raw_moment(j - 1, k, a, b, c)
    if j > 1:
        total += (j - 1) * a.variance * raw_moment(j - 2, k, a, b, c)
    if k > 0:
        total += k * c * raw_moment(j - 1, k - 1, a, b, c)
    return total


def moment_table(a, b, c, degree):
    """All E[g^j g'^k], j and k up to degree, by the same recursion, each made once."""
    table = {(0, 0): mpfr(1)}
    for k in range(1, degree + 1):
        table[0, k] = b.mean * table[0, k - 1] + (k - 1) * b.variance * table.get((0, k - 2), 0)
    for j in range(1, degree + 1):
        for k in range(degree + 1):
            value = a.mean * table[j - 1, k] + (j - 1) * a.variance * table.get((j - 2, k), 0)
            table[j, k] = value + (k * c * table[j - 1, k - 1] if k else 0)
    return table


class Polynomial:
    def __init__(self, coefficients):
        self.name, self.parameters = "polynomial", f"coefficients={vector(coefficients)}"
        self.a = [mpfr(a) for a in coefficients]

    def m(self, node):
        return sum(a * raw_moment(k, 0, node, node, mpfr(0)) for k, a in enumerate(self.a))

    def K(self, p, q, c):
        table = moment_table(p, q, c, len(self.a) - 1)
        total = mpfr(0)
        for j, a in enumerate(self.a):
            for k, b in enumerate(self.a):
                total += a * b * (table[j, k] - table[j, 0] * table[0, k])
        return total


class Plain:
    """A warp given by the formulas of its pointwise moments."""

    def __init__(self, name, parameters, m, K):
        self.name, self.parameters, self.m, self.K = name, parameters, m, K


def exponent(node):
    """e = mu_D + Sigma_D(x, x)/2, the logarithm of the mean of exp(g)."""
    return node.mean + node.variance / 2


ALPHA = 0.3
WARPS = [
    Plain("identity", "", lambda p: p.mean, lambda p, q, c: c),
    Plain(
        "square",
        f"alpha={given(ALPHA)}",
        lambda p: mpfr(ALPHA) + p.mean**2 + p.variance,
        lambda p, q, c: 2 * c * c + 4 * p.mean * c * q.mean,
    ),
    Plain(
        "square-linearised",
        f"alpha={given(ALPHA)}",
        lambda p: mpfr(ALPHA) + p.mean**2,
        lambda p, q, c: 4 * p.mean * c * q.mean,
    ),
    Polynomial([0.5, -1, 0.25, 2]),
    Plain(
        "exp-taylor-2",
        "",
        lambda p: 1 + exponent(p) + exponent(p) ** 2 / 2,
        lambda p, q, c: c + c * c / 2 + c * (exponent(p) + exponent(q)),
    ),
]


# --- The latent posterior at a point ---


def cholesky(matrix):
    """Rows of the lower factor L of L L' = matrix."""
    rows = []
    for i, given_row in enumerate(matrix):
        row = []
        for j in range(i + 1):
            rest = given_row[j] - dot(row, rows[j] if j < i else row)
            row.append(rest / rows[j][j] if j < i else sqrt(rest))
        rows.append(row)
    return rows


class Posterior:
    """Whitened by the Cholesky factor of k(X, X): Sigma_D(x, x') = k(x, x') - v(x) . v(x')."""

    def __init__(self, case):
        self.rho, self.scale = KERNELS[case["kernel"]], mpfr(case["scale"])
        self.lengths = [mpfr(l) for l in case["lengths"]]
        self.mu0 = mpfr(case["mu0"])
        self.X = [[mpfr(x) for x in row] for row in case["X"]]
        self.factor = cholesky([[self.k(x, y) for y in self.X] for x in self.X])
        self.residual = self.whiten([mpfr(g) - self.mu0 for g in case["g"]])

    def k(self, x, y):
        return self.scale * self.rho(sum(((a - b) / l) ** 2 for a, b, l in zip(x, y, self.lengths)))

    def whiten(self, values):
        """Forward substitution with the Cholesky factor."""
        out = []
        for i, value in enumerate(values):
            out.append((value - sum(self.factor[i][j] * out[j] for j in range(i))) / self.factor[i][i])
        return out

    def node(self, x):
        return Node(self, x)

    def covariance(self, p, q):
        return self.k(p.x, q.x) - dot(p.v, q.v)


class Node:
    """A point with its whitened kernel vector, latent mean and latent variance."""

    def __init__(self, posterior, x):
        self.x = x
        self.v = posterior.whiten([posterior.k(x, y) for y in posterior.X])
        self.mean = posterior.mu0 + dot(self.v, posterior.residual)
        self.variance = posterior.scale - dot(self.v, self.v)


# --- Rules: weighted nodes for z_mean, weighted pairs for z_var ---


def panels(lo, hi, length, cuts):
    """Panels between lo, the cuts inside, and hi, none wider than PANEL length scales."""
    edges = [mpfr(lo)] + sorted(mpfr(x) for x in cuts if lo < x < hi) + [mpfr(hi)]
    out = []
    for a, b in zip(edges, edges[1:]):
        count = math.ceil((b - a) / (PANEL * mpfr(length)))
        out += [(a + (b - a) * i / count, a + (b - a) * (i + 1) / count) for i in range(count)]
    return out


def on_panel(rule, a, b):
    """A rule of [-1, 1] moved to [a, b]."""
    return [((a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w) for x, w in zip(*rule)]


def box_rule(case, order, posterior):
    """(nodes, pairs) for a uniform measure; the weights carry the density 1/volume."""
    rule = gauss_legendre(order)
    axes = []
    for d, (lo, hi, length) in enumerate(zip(case["lo"], case["hi"], case["lengths"])):
        cuts = [x[d] for x in case["X"]] if case["kernel"] != "squared-exponential" else []
        axes.append([on_panel(rule, a, b) for a, b in panels(lo, hi, length, cuts)])
    volume = math.prod(mpfr(hi) - mpfr(lo) for lo, hi in zip(case["lo"], case["hi"]))
    if case["kernel"] == "squared-exponential":
        nodes = product_nodes([sum(axis, []) for axis in axes], volume, posterior)
        return nodes, symmetric_pairs(nodes)
    groups = [[(posterior.node([x]), w / volume) for x, w in panel] for panel in axes[0]]
    return sum(groups, []), kinked_pairs(groups, case, rule, volume, posterior)


def product_nodes(axes, volume, posterior):
    points = [([], 1 / volume)]
    for axis in axes:
        points = [(x + [y], w * v) for x, w in points for y, v in axis]
    return [(posterior.node(x), w) for x, w in points]


def symmetric_pairs(nodes):
    """Each unordered pair once, with doubled weight off the diagonal."""
    for i, (p, w) in enumerate(nodes):
        yield p, p, w * w
        for q, v in nodes[:i]:
            yield p, q, 2 * w * v


def kinked_pairs(groups, case, rule, volume, posterior):
    """Different panels by product; one panel with itself as two equal triangles x' < x.

    Each triangle is a square by x' = a + (x - a) r.
    """
    for i, group in enumerate(groups):
        for other in groups[:i]:
            for p, w in group:
                for q, v in other:
                    yield p, q, 2 * w * v
    cuts = [x[0] for x in case["X"]]
    for (a, b), group in zip(panels(case["lo"][0], case["hi"][0], case["lengths"][0], cuts), groups):
        for p, w in group:
            for y, v in on_panel(rule, a, p.x[0]):
                yield p, posterior.node([y]), 2 * w * v / volume


def gaussian_rule(case, step, offset, posterior):
    """(nodes, pairs) for N(mean, covariance): x = mean + L u, u on a lattice with |u| < RADIUS."""
    mean = [mpfr(a) for a in case["mean"]]
    d = len(mean)
    factor = cholesky([[mpfr(a) for a in row] for row in case["covariance"]])
    count = math.ceil(RADIUS / step) + 1
    axis = [(mpfr(i) + offset) * mpfr(step) for i in range(-count, count + 1)]
    grid = [[u] for u in axis] if d == 1 else [[u, v] for u in axis for v in axis]
    nodes = []
    for u in grid:
        square = dot(u, u)
        if square < RADIUS**2:
            x = [mean[i] + dot(factor[i], u[: i + 1]) for i in range(d)]
            nodes.append((posterior.node(x), exp(-square / 2) * (mpfr(step) / sqrt(2 * PI)) ** d))
    return nodes, symmetric_pairs(nodes)


# --- A case: both integrals for every warp ---


def integrate(rule, posterior, warps):
    """[(z_mean, z_var)] for each warp."""
    nodes, pairs = rule
    means = [sum(w * warp.m(p) for p, w in nodes) for warp in warps]
    totals = [mpfr(0)] * len(warps)
    for p, q, weight in pairs:
        c = posterior.covariance(p, q)
        for i, warp in enumerate(warps):
            totals[i] += weight * warp.K(p, q, c)
    return list(zip(means, totals))


def two_rules(case, level, posterior, warps):
    """Two sets of results at a refinement level; their difference bounds the second's error."""
    if case["measure"] == "uniform":
        order = (10, 14, 19, 26)[level] if len(case["lo"]) == 2 else (16, 22, 30, 40)[level]
        return [integrate(box_rule(case, n, posterior), posterior, warps) for n in (order, order + 3)]
    step = (0.6 if len(case["mean"]) == 2 else 0.25) * 0.75**level
    a, b = (integrate(gaussian_rule(case, step, o, posterior), posterior, warps) for o in (mpfr(0), mpfr(1) / 2))
    return a, [((p + r) / 2, (q + t) / 2) for (p, q), (r, t) in zip(a, b)]


def close(a, b, tolerance):
    return abs(a - b) <= tolerance * abs(b)


def case_rows(index):
    case = CASES[index]
    posterior = Posterior(case)
    warps = [w for w in WARPS if w.name in case["warps"]]
    for level in range(4):
        a, b = two_rules(case, level, posterior, warps)
        if all(close(x, y, AGREE[case["measure"]]) for p, q in zip(a, b) for x, y in zip(p, q)):
            return [row(case, warp, *result) for warp, result in zip(warps, b)]
    raise ArithmeticError(f"no convergence: {case['case']}")


def row(case, warp, z_mean, z_var):
    box, gauss = case["measure"] == "uniform", case["measure"] == "gaussian"
    return [
        f"{case['case']}/{warp.name}",
        case["kernel"],
        case["measure"],
        vector(case["lo"]) if box else "",
        vector(case["hi"]) if box else "",
        vector(case["mean"]) if gauss else "",
        matrix(case["covariance"]) if gauss else "",
        given(case["mu0"]),
        given(case["scale"]),
        vector(case["lengths"]),
        matrix(case["X"]),
        vector(case["g"]),
        warp.name,
        warp.parameters,
        number(z_mean),
        number(z_var),
    ]


# --- The cases ---

ALL = tuple(w.name for w in WARPS)
NO_POLYNOMIAL = ("identity", "square", "square-linearised", "exp-taylor-2")
MATERN_WARPS = ("identity",)


def make(name, kernel, measure, mu0, scale, lengths, X, g, warps):
    case = {"case": name, "kernel": kernel, "mu0": mu0, "scale": scale, "lengths": lengths, "X": X, "g": g, "warps": warps}
    return {**case, **measure}


def uniform(lo, hi):
    return {"measure": "uniform", "lo": lo, "hi": hi}


def gaussian(mean, covariance):
    return {"measure": "gaussian", "mean": mean, "covariance": covariance}


SE = "squared-exponential"
TILTED = gaussian([0.2, -0.1], [[1.0, 0.6 * 0.8], [0.6 * 0.8, 0.64]])  # standard deviations 1 and 0.8, correlation 0.6
CASES = [
    make("se-1d-uniform-1", SE, uniform([0.0], [1.0]), 0.5, 1.5, [0.7], [[0.4]], [1.2], ALL),
    make("se-1d-uniform-3", SE, uniform([-1.0], [2.0]), -0.4, 0.8, [0.9], [[-0.8], [0.3], [1.7]], [0.2, -1.1, 0.6], ALL),
    make("se-1d-narrow", SE, uniform([0.2], [0.3]), 0.1, 2.0, [4.0], [[-1.0], [2.5]], [0.7, -0.2], ALL),
    make("se-1d-wide", SE, uniform([-5.0], [5.0]), -1.0, 1.2, [0.5], [[-4.0], [-1.0], [0.5], [5.5]], [0.3, 1.4, -0.5, 0.9], ALL),
    make("se-1d-gauss-1", SE, gaussian([0.3], [[1.0]]), 0.2, 1.0, [1.1], [[-0.5]], [0.8], ALL),
    make("se-1d-gauss-4", SE, gaussian([-0.5], [[0.49]]), -0.3, 0.6, [1.0], [[-2.0], [-0.9], [0.1], [1.3]], [-0.4, 0.5, 0.9, -1.0], ALL),
    make("se-1d-gauss-wide", SE, gaussian([0.0], [[4.0]]), 0.4, 1.3, [0.8], [[-1.0], [2.0]], [1.5, -0.3], ALL),
    make("se-2d-uniform-1", SE, uniform([0.0, 0.0], [1.0, 1.0]), 0.3, 1.1, [0.8, 1.2], [[0.3, 0.6]], [0.9], ALL),
    make("se-2d-uniform-3", SE, uniform([-1.0, 0.0], [1.0, 1.5]), -0.2, 0.9, [1.5, 1.0], [[-0.6, 0.2], [0.4, 1.1], [0.8, 0.3]], [0.5, -0.7, 1.0], NO_POLYNOMIAL),
    make("se-2d-gauss-2", SE, TILTED, 0.1, 0.8, [2.5, 2.0], [[0.5, -0.3], [-0.8, 0.6]], [0.6, -0.4], ALL),
    make("se-2d-gauss-3", SE, TILTED, 0.5, 1.2, [1.6, 1.4], [[0.5, -0.3], [-0.8, 0.6], [1.1, 0.9]], [1.0, 0.2, -0.3], NO_POLYNOMIAL),
] + [
    make(f"{kernel}-{name}", kernel, measure, mu0, scale, lengths, X, g, MATERN_WARPS)
    for kernel in ("matern12", "matern32", "matern52")
    for name, measure, mu0, scale, lengths, X, g in (
        ("one", uniform([0.0], [1.0]), 0.3, 1.4, [0.6], [[0.35]], [1.1]),
        ("ends", uniform([0.0], [1.0]), 0.2, 1.3, [0.5], [[0.0], [1.0]], [0.7, -0.6]),
        ("outside", uniform([-1.0], [1.0]), -0.5, 0.7, [0.8], [[-1.5], [0.25], [2.0]], [0.4, 1.0, -0.8]),
        ("close-pair", uniform([0.0], [2.0]), 0.1, 1.0, [0.9], [[0.3], [0.301], [1.4]], [0.5, 0.52, -0.4]),
        ("wide", uniform([-5.0], [5.0]), 0.6, 1.1, [0.5], [[-4.0], [-1.0], [0.5], [3.5]], [0.3, 1.4, -0.5, 0.9]),
        ("narrow", uniform([0.2], [0.3]), -0.1, 2.0, [4.0], [[-1.0], [0.25], [2.5]], [0.7, 0.1, -0.2]),
    )
]


def main():
    with Pool() as pool:
        write_table("closed_forms", HEADER, sum(pool.imap(case_rows, range(len(CASES)), 1), []))


if __name__ == "__main__":
    main()
