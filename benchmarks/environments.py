"""Make the environment of each peer, from its pinned requirements, once."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers import Peer

HERE = Path(__file__).resolve().parent
WHEELS = HERE.parent / "target" / "wheels"


def requirements(peer: Peer) -> Path:
    """The pinned requirements of the peer's environment."""
    return HERE / "peers" / f"{peer.module}.txt"


def wheel() -> Path:
    """The package of this repository, as built."""
    found = sorted(WHEELS.glob("warpquad-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise SystemExit(f"no wheel in {WHEELS}: build one with `make wheel`")
    return found[-1]


def ours(peer: Peer) -> bool:
    """Whether it is this repository's package, which comes from a wheel, not from requirements."""
    return peer.package == "warpquad"


def version(peer: Peer) -> str:
    """The version that rows carry: the pinned one, for our own package with the wheel's hash."""
    if ours(peer):
        path = wheel()
        return f"{path.name.split('-')[1]}+{digest(path.read_bytes())}"
    pinned = re.search(
        rf"^{re.escape(peer.package)}==(\S+)",
        requirements(peer).read_text(),
        re.MULTILINE | re.IGNORECASE,
    )
    if pinned is None:
        raise SystemExit(f"{requirements(peer)} does not pin {peer.package}")
    return pinned[1]


def digest(data: bytes) -> str:
    """The first digits of the hash."""
    return hashlib.sha256(data).hexdigest()[:8]


def python_of(peer: Peer, root: Path) -> Path:
    """The interpreter of the peer's environment, made if missing or if its requirements changed."""
    place = root / peer.module
    python, stamp = place / "bin" / "python", place / ".made"
    wanted = digest(requirements(peer).read_bytes())
    if ours(peer):
        wanted += " " + digest(wheel().read_bytes())
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"environment {place}", flush=True)
    # The pins are for this Python.
    subprocess.run(
        [shutil.which("python3.11") or sys.executable, "-m", "venv", str(place)], check=True
    )
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(requirements(peer))], check=True)
    if ours(peer):
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(wheel())], check=True)
    stamp.write_text(wanted)
    return python
