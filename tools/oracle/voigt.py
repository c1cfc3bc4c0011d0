"""Write data/oracle/voigt.csv: x, y and the Voigt function Re w(x + iy) with 60 digits."""

import random

from common import DATA, given
from mpmath import erfc, exp, mp, mpc, nstr

mp.dps = 60


def voigt(x, y):
    """Re w(z) = Re exp(-z^2) erfc(-iz), with the x^2/ln(10) digits more that cancel."""
    with mp.workdps(60 + int(x * x)):
        z = mpc(x, y)
        return (exp(-z * z) * erfc(-1j * z)).real


def wing(x, y):
    """The asymptotic series of w, i/(sqrt(pi) z) sum (2k-1)!!/(2 z^2)^k, for terms below 1e-40."""
    z = mpc(x, y)
    term, total, k = mpc(1), mpc(0), 0
    while abs(term) > mp.mpf(10) ** -45:
        total += term
        k += 1
        term *= (2 * k - 1) / (2 * z * z)
    return (1j / (mp.sqrt(mp.pi) * z) * total).real


def cases():
    draw = random.Random(20190416)
    for y in (0.0, 1e-6, 4.0e-5, 4.715e-4, 1e-3):
        fixed = [0.0, 1e-9, 1e-3, 0.5, 0.924, 1.0, 2.0, 3.0, 4.0, 5.0, 7.999, 8.0, 10.0]
        far = [15.0, 20.0, 49.999, 50.0, 75.5, 1e3, 23330.0] if y > 0 else []
        for x in fixed + [round(draw.uniform(0, 10), 4) for _ in range(20)] + far:
            yield x, y
        for _ in range(10 if y > 0 else 0):
            yield round(draw.uniform(10, 300), 4), y


def main():
    with (DATA / "voigt.csv").open("w", newline="") as file:
        file.write("x,y,value\n")
        for x, y in cases():
            value = (voigt if x <= 12 else wing)(x, y)
            file.write(f"{given(x)},{given(y)},{nstr(value, 25)}\n")


if __name__ == "__main__":
    main()
