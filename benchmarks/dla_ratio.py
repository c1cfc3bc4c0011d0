"""Set warpquad's likelihood of absorbers beside the same model in numpy and scipy, on one thread: equal values, and times.

Usage: python benchmarks/dla_ratio.py DATA [ID] [rounds]

DATA is the folder that holds dla/. Needs numpy, scipy and cargo. Each round times numpy, then warpquad; a time is the least over all
calls of all rounds. Times depend on the machine: only the ratio is a claim.
"""

import os

# Read when the library is loaded, so before numpy is.
for name in ("OPENBLAS", "MKL", "OMP", "BLIS", "VECLIB"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import wofz

ROOT = Path(__file__).resolve().parent.parent
# A spectrum of 612 unmasked pixels.
ID = "3655-55240-0030"

LIGHT = 2.99792458e10
WIDTH = 9.08537121627923800e5
CHARGE, MASS = 4.803204672997660e-10, 9.10938356e-28
RESPONSE = np.array([0.00217460992138080811, 0.0411623059580451742, 0.240309364651846963, 0.432707438937454059])
RESPONSE = np.concatenate([RESPONSE, RESPONSE[-2::-1]])


def table(path):
    return np.genfromtxt(path, delimiter=",", names=True)


class Model:
    """The likelihood of one spectrum; all that does not depend on absorbers is computed once."""

    def __init__(self, folder, name):
        with (folder / "quasars.csv").open() as file:
            z = next(float(row["z_qso"]) for row in csv.DictReader(file) if row["id"] == name)
        spectrum = table(folder / "spectra" / f"{name}.csv")
        kept = spectrum["masked"] == 0
        log_w = spectrum["log10_wavelength"]
        wide = log_w[0] + 1e-4 * np.arange(-3, len(log_w) + 3)
        self.kept, self.wide, w = kept, 10**wide, 10 ** log_w[kept]
        self.y, self.v = spectrum["flux"][kept], spectrum["noise_variance"][kept]
        raw = np.genfromtxt(folder / "null_model.csv", delimiter=",", skip_header=1)
        at = [np.interp(w / (1 + z), raw[:, 0], raw[:, j]) for j in range(1, raw.shape[1])]
        mu, log_omega, m = at[0], at[1], np.array(at[2:]).T
        with (folder / "null_model_params.csv").open() as file:
            p = {row["name"]: float(row["value"]) for row in csv.DictReader(file)}
        self.lines = table(folder / "lyman_series.csv")
        mean = np.exp(-self.depth(w, z, p["meanflux_tau_0"], p["meanflux_beta"]))
        forest = 1 - np.exp(-self.depth(w, z, p["tau_0"], p["beta"])) + p["c_0"]
        self.m, self.n = mu * mean, m * mean[:, None]
        self.omega2 = np.exp(2 * log_omega) * forest**2 * mean**2

    def depth(self, w, z, tau, beta):
        length, f = self.lines["wavelength_angstrom"], self.lines["oscillator_strength"]
        ratio = w[:, None] / length
        terms = tau * f * length / (f[0] * length[0]) * ratio**beta
        return np.where(ratio <= 1 + z, terms, 0).sum(1)

    def absorption(self, z, log_nhi):
        tau = 0
        for n in range(3):
            length, f = self.lines["wavelength_angstrom"][n], self.lines["oscillator_strength"][n]
            cm = 1e-8 * length
            u = LIGHT * (self.wide / (length * (1 + z)) - 1)
            g = self.lines["transition_rate_per_s"][n] * cm / (4 * np.pi)
            profile = wofz((u + 1j * g) / (WIDTH * np.sqrt(2))).real / (WIDTH * np.sqrt(2 * np.pi))
            tau = tau + np.pi * CHARGE**2 * f * cm / (MASS * LIGHT) * profile
        return np.convolve(np.exp(-(10**log_nhi) * tau), RESPONSE, "valid")[self.kept]

    def log_likelihood(self, x):
        a = 1.0
        for z, log_nhi in zip(x[::2], x[1::2]):
            a = a * self.absorption(z, log_nhi)
        d = a * a * self.omega2 + self.v
        r = self.y - a * self.m
        n = a[:, None] * self.n
        scaled = n / d[:, None]
        factor = cho_factor(np.eye(n.shape[1]) + n.T @ scaled, lower=True)
        c = scaled.T @ r
        ln_det = np.log(d).sum() + 2 * np.log(np.diag(factor[0])).sum()
        return -0.5 * (len(r) * np.log(2 * np.pi) + ln_det + r @ (r / d) - c @ cho_solve(factor, c))


def least_time(work):
    least, until = float("inf"), time.perf_counter() + 0.4
    while time.perf_counter() < until:
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


def build():
    command = ["cargo", "build", "--release", "-p", "warpquad-experiments", "--example", "dla_timing"]
    command += ["--message-format=json"]
    out = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    artefacts = [json.loads(line) for line in out.splitlines()]
    return [a["executable"] for a in artefacts if a.get("executable")][-1]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    name = sys.argv[2] if len(sys.argv) > 2 else ID
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    program, model = build(), Model(data / "dla", name)
    ours, theirs, worst = {}, {}, 0.0
    for _ in range(rounds):
        out = subprocess.run([program, data, name], check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, out.splitlines()):
            k = line["absorbers"]
            if "seconds" in line:
                ours[k] = min(ours.get(k, float("inf")), line["seconds"])
                theirs[k] = min(theirs.get(k, float("inf")), least_time(lambda: model.log_likelihood(x)))
            else:
                x = line["x"]
                worst = max(worst, abs(line["log_likelihood"] / model.log_likelihood(x) - 1))
    print(f"spectrum {name}, {len(model.y)} pixels; largest relative difference of the values {worst:.1e}")
    print(f"{'absorbers':>9}{'ours, us':>12}{'numpy, us':>12}{'ratio':>8}")
    for k in ours:
        print(f"{k:9}{1e6 * ours[k]:12.1f}{1e6 * theirs[k]:12.1f}{ours[k] / theirs[k]:8.3f}")
    if worst > 1e-8:
        sys.exit("the values differ")


if __name__ == "__main__":
    main()
