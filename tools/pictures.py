"""Make the pictures of the guide: figures of good and bad runs, and a run's page in a browser.

Needs the package, the program and playwright with a Chromium:

    make pictures
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import warpquad as wq

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
PROGRAM = ROOT / "target" / "release" / "warpquad"
CHROMIUM = os.environ.get("WARPQUAD_TEST_CHROMIUM") or shutil.which("chromium")
BOX = {"x": wq.uniform(-5, 5), "y": wq.uniform(-5, 5)}
SMALLER = {"x": wq.uniform(-4, 4), "y": wq.uniform(-4, 4)}


def banana(x: float, y: float) -> float:
    """A curved ridge."""
    return -(100 * (y - x**2) ** 2 + (1 - x) ** 2) / 20


def two_peaks(x: float, y: float) -> float:
    """A broad peak, and a narrow one that carries a third of Z: ln Z = -2.8875."""
    broad = -((x + 2.2) ** 2 + (y + 1.5) ** 2) / (2 * 0.6**2)
    narrow = 1.2 - ((x - 2.6) ** 2 + (y - 2.2) ** 2) / (2 * 0.25**2)
    return float(np.logaddexp(broad, narrow))


def spring(slope: float, offset: float) -> float:
    """A straight line through four readings: a narrow, slanted peak under a vague prior."""
    pull, length = np.arange(1.0, 5.0), np.array([2.45, 4.52, 6.41, 8.60])
    return float(-0.5 * np.sum(((length - slope * pull - offset) / 0.1) ** 2))


def steps(x: float, y: float) -> float:
    """A bell in steps, which no smooth process follows."""
    return float(-0.5 * (np.floor(3 * x) ** 2 + np.floor(3 * y) ** 2) / 9)


NORMAL = {"x": wq.normal(0, 1), "y": wq.normal(0, 1)}
VAGUE = {"slope": wq.normal(0, 10), "offset": wq.normal(0, 10)}
PAIR = ["convergence", "corner"]
# Each run by name: the integrand, the prior, options, and the figures that the guide shows.
RUNS: dict[str, tuple[Any, Any, dict[str, Any], list[str]]] = {
    "good": (banana, BOX, {"budget": 100}, ["convergence", "left-out"]),
    "climbing": (spring, VAGUE, {"budget": 30}, ["convergence"]),
    "missed": (two_peaks, SMALLER, {"budget": 50, "method": "mmlt-literal"}, PAIR),
    "found": (two_peaks, SMALLER, {"budget": 50}, ["corner"]),
    "steps": (steps, NORMAL, {"budget": 50}, ["left-out"]),
}


def main() -> None:
    """Make all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (log_f, priors, options, figures) in RUNS.items():
            run = Path(folder) / name
            r = wq.integrate(log_f, priors, run=run, seed=0, progress=False, **options)
            print(f"{name}: {r.verdict}, log Z {r.log_z:.3f} +- {r.log_z_sd:.3f}", *(one["code"] for one in r.reasons))
            plots = Path(folder) / f"{name}-plots"
            subprocess.run([PROGRAM, "report", run, "--plots", plots], check=True, stdout=subprocess.DEVNULL)
            for figure in figures:
                shutil.copy(plots / f"{figure}.svg", PICTURES / f"{name}-{figure}.svg")
            if name == "good":
                r.to_html(Path(folder) / "page.html", title="banana")
                photograph(Path(folder) / "page.html", PICTURES / "page.png")


# Of the picture of a page: the width of each half and its height, in pixels.
HALF, HEIGHT = 640, 1030


def photograph(page: Path, picture: Path) -> None:
    """A page as a browser shows it: its top in light, and beside it the posterior in dark."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        halves = []
        for scheme, from_place in (("light", "body"), ("dark", "#posterior")):
            size = {"width": HALF, "height": HEIGHT}
            shown = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
            shown.goto(page.as_uri())
            shown.locator(from_place).evaluate("part => window.scrollTo({top: part.offsetTop, behavior: 'instant'})")
            halves.append(b64encode(shown.screenshot()).decode())
        both = browser.new_page(viewport={"width": 2 * HALF, "height": HEIGHT}, device_scale_factor=1.5)
        images = "".join(f'<img src="data:image/png;base64,{half}" width="{HALF}">' for half in halves)
        both.set_content(f'<body style="margin:0;display:flex">{images}')
        both.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
