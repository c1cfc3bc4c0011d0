"""The package as it is installed: its documentation's examples, its types, its names."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import warpquad as wq

MODULES = ["warpquad"] + [f"warpquad.{m.name}" for m in pkgutil.iter_modules(wq.__path__)]


def test_it_is_the_installed_package():
    assert "site-packages" in wq.__file__
    folder = Path(wq.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_documentation(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_every_public_name_is_documented():
    for name in dir(wq):
        if not name.startswith("_"):
            assert getattr(wq, name).__doc__, name


def test_the_stub_says_what_the_module_has():
    pytest.importorskip("mypy.stubtest")
    words = [sys.executable, "-m", "mypy.stubtest", "warpquad._core", "--ignore-disjoint-bases"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types():
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--strict", "-p", "warpquad"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
