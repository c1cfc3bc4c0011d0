"""The pages of the guide about other tools, and the examples of the adapters."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import warpquad.adapters

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"
ADAPTERS = [name for _, name, _ in pkgutil.iter_modules(warpquad.adapters.__path__)]
# Packages that need an environment of their own: that of the benchmark.
APART = ["emukit", "pyvbmc"]


@pytest.mark.parametrize("page", ["tools", "coming-from"])
def test_the_guide(page, tmp_path):
    guide = GUIDE / f"{page}.md"
    failed, tried = doctest.testfile(str(guide), module_relative=False, extraglobs={"outdir": str(tmp_path)})
    assert failed == 0 and tried > 20


@pytest.mark.parametrize("name", APART)
def test_a_package_in_an_environment_of_its_own(name, tmp_path):
    sys.path.insert(0, str(ROOT))
    environments = importlib.import_module("benchmarks.environments")
    peers = importlib.import_module("benchmarks.peers")
    peer = next(peer for peer in peers.PEERS.values() if peer.module == name)
    python = environments.python_of(peer, ROOT / "benchmarks" / ".envs")
    text = (GUIDE / "coming-from.md").read_text()
    (block,) = re.findall(rf"```python\n(# {name}: .*?)```", text, flags=re.DOTALL)
    done = subprocess.run([python, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_examples(name):
    module = importlib.import_module(f"warpquad.adapters.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
