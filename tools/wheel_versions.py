"""Install a wheel with numpy alone on the oldest and the newest Python found, and integrate.

Usage: python tools/wheel_versions.py WHEEL
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 10)
EXAMPLE = """
import math, sys, warpquad as wq
r = wq.integrate(lambda p: -2 * p["a"] ** 2, {"a": wq.normal(0, 1)}, budget=20, progress=False)
assert abs(r.log_z + 0.5 * math.log(5)) < 0.05, r
assert "scipy" not in sys.modules
print(f"Python {sys.version.split()[0]}: log Z = {r.log_z:.4f} +- {r.log_z_sd:.4f}")
"""


def interpreters() -> dict[tuple[int, int], str]:
    """Every Python that the package supports, by version: those on the path and those of pyenv."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], 30)]
    candidates = [sys.executable] + [path for path in map(shutil.which, names) if path]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates += map(str, sorted(root.glob("versions/*/bin/python")))
    found: dict[tuple[int, int], str] = {}
    for path in candidates:
        # A shim of pyenv may name a version that is not active.
        say = "import sys; print(*sys.version_info[:2])"
        done = subprocess.run([path, "-c", say], capture_output=True, text=True)
        if done.returncode == 0:
            major, minor = map(int, done.stdout.split())
            if (major, minor) >= OLDEST:
                found.setdefault((major, minor), path)
    return found


def main(wheel: str) -> None:
    """Try the wheel."""
    found = interpreters()
    chosen = sorted({min(found), max(found)})
    if len(chosen) == 1:
        print(f"only Python {chosen[0][0]}.{chosen[0][1]} is to be had here")
    for version in chosen:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([found[version], "-m", "venv", folder], check=True)
            python = str(Path(folder) / "bin" / "python")
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
            subprocess.run(pip, check=True)
            subprocess.run([python, "-c", EXAMPLE], check=True, cwd=folder)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
