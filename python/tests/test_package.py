"""The package as it is installed: its documentation's examples, its types, its names."""

import ast
import doctest
import importlib
import inspect
import pkgutil
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


def declared(body):
    """The public names of a stub, each with its parameters and whether they have defaults.

    None stands for what is no function.
    """
    names = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            kinds = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
            args = node.args
            defaults = [False] * (len(args.args) - len(args.defaults)) + [True] * len(args.defaults)
            pairs = [(arg.arg, default) for arg, default in zip(args.args, defaults)]
            pairs += [(args.vararg.arg, False)] if args.vararg else []
            pairs += [
                (arg.arg, default is not None)
                for arg, default in zip(args.kwonlyargs, args.kw_defaults)
            ]
            names[node.name] = None if "property" in kinds else pairs
        elif isinstance(node, ast.ClassDef):
            names[node.name] = declared(node.body)
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_") or name == "__init__"
    }


def found(thing):
    """The same of the built module."""
    names = {}
    for name, value in vars(thing).items():
        value = value.__func__ if isinstance(value, staticmethod) else value
        if name.startswith("_"):
            continue
        if inspect.isclass(value):
            names[name] = found(value)
        elif callable(value):
            parameters = inspect.signature(value).parameters.values()
            names[name] = [(p.name, p.default is not p.empty) for p in parameters]
        else:
            names[name] = None
    return names


def test_the_stub_says_what_the_built_module_has():
    stub = ast.parse((Path(wq.__file__).parent / "_core.pyi").read_text())
    said, built = declared(stub.body), found(wq._core)
    for name, inner in said.items():
        if isinstance(inner, dict) and "__init__" in inner:
            signature = inspect.signature(getattr(wq._core, name)).parameters.values()
            built[name]["__init__"] = [("self", False)] + [
                (p.name, p.default is not p.empty) for p in signature
            ]
    assert said == built
