"""Write data/oracle/sobol.csv, unscrambled Sobol' points from scipy, and the direction numbers.

A coordinate x is written as the integer x * 2^30, which is exact. The checksums cover 256 points in
64 dimensions: h = h * 1099511628211 + x * 2^30 (mod 2^64), row by row. Needs scipy, whose wheel
carries new-joe-kuo-6.
"""

import pathlib

import numpy as np
import scipy.stats
from scipy.stats import qmc

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIMENSIONS = 64
LATER = (255, 1000, 65535, 65536, 1048575, 1048576 + 12345)
TABLE = '''//! Hold the Joe-Kuo direction numbers of Sobol' dimensions 2 to {dimensions}.
//!
//! S. Joe and F. Y. Kuo (2008), Constructing Sobol sequences with better two-dimensional
//! projections, SIAM Journal on Scientific Computing 30, 2635-2654; their table `new-joe-kuo-6`.
//! Written by tools/oracle/sobol.py.

/// The primitive polynomial, bit `k` being the coefficient of `x^k`, and the first `m_1, m_2, ...`,
/// one a degree.
#[rustfmt::skip]
pub(super) const DIRECTIONS: [(u16, &[u16]); {rows}] = [
{lines}
];
'''


def integers(start, count, dimensions):
    sampler = qmc.Sobol(dimensions, scramble=False, bits=30)
    if start:
        sampler.fast_forward(start)
    scaled = sampler.random(count) * 2.0**30
    assert np.all(scaled == np.floor(scaled))
    return scaled.astype(np.int64)


def checksum(block):
    h = 0
    for k in block.ravel():
        h = (h * 1099511628211 + int(k)) % 2**64
    return h


def write_points():
    with (ROOT / "data" / "oracle" / "sobol.csv").open("w") as out:
        out.write("index," + ",".join(f"x{j}" for j in range(16)) + "\n")
        for start in (0, 1 << 20):
            out.write(f"checksum,{start},{checksum(integers(start, 256, DIMENSIONS))}\n")
        rows = list(enumerate(integers(0, 32, 16))) + [(i, integers(i, 1, 16)[0]) for i in LATER]
        for i, row in rows:
            out.write(f"{i}," + ",".join(str(k) for k in row) + "\n")


def write_table():
    source = pathlib.Path(scipy.stats.__file__).with_name("_sobol_direction_numbers.npz")
    numbers = np.load(source)
    lines = []
    for poly, m in zip(numbers["poly"][1:DIMENSIONS], numbers["vinit"][1:DIMENSIONS]):
        degree = int(poly).bit_length() - 1
        assert all(m[:degree]) and not any(m[degree:])
        lines.append(f"    ({poly}, &[{', '.join(str(v) for v in m[:degree])}]),")
    path = ROOT / "crates" / "warpquad" / "src" / "numeric" / "sobol_directions.rs"
    path.write_text(TABLE.format(dimensions=DIMENSIONS, rows=len(lines), lines="\n".join(lines)))


if __name__ == "__main__":
    write_points()
    write_table()
