"""The page of the guide about other tools, and the examples of the adapters."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
import warpquad.adapters

ADAPTERS = [name for _, name, _ in pkgutil.iter_modules(warpquad.adapters.__path__)]


def test_the_guide(tmp_path):
    guide = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tools.md"
    failed, tried = doctest.testfile(str(guide), module_relative=False, extraglobs={"outdir": str(tmp_path)})
    assert failed == 0 and tried > 20


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_examples(name):
    module = importlib.import_module(f"warpquad.adapters.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
