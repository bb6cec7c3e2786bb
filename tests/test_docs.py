"""Every public name is exported and documented, with an example (test_doctests.py runs them)."""

import importlib
import inspect
import types

import pytest

import pullback as pb

MODULES = ["arrays", "clip", "custom", "einsum", "function", "gradients", "linalg", "logic", "nn"]
MODULES += ["ops", "optimizers", "profile", "random", "reductions", "settings", "special"]
MODULES += ["tape", "tensor", "transforms"]
ELSEWHERE = ("random", "optimizers", "special")  # namespaces of their own
# Helpers that a module has for its neighbours.
INTERNAL = {"tensor_list", "wants_zeros", "with_zeros", "seed_list"}


def of_module(name):
    """The public functions and classes that a module defines."""
    module = importlib.import_module(f"pullback.{name}")
    return {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_")
        and key not in INTERNAL
        and isinstance(value, (types.FunctionType, type))
        and value.__module__ == module.__name__
    }


PUBLIC = {f"{m}.{key}": value for m in MODULES for key, value in of_module(m).items()}
METHODS = {
    f"{cls}.{key}": value
    for cls in ("tape.GradientTape", "optimizers.Optimizer")
    for key, value in vars(PUBLIC[cls]).items()
    if not key.startswith("_") and inspect.isfunction(value)
}


@pytest.mark.parametrize("name", [*PUBLIC, *METHODS, "Variable"])
def test_documented_with_an_example(name):
    thing = {**PUBLIC, **METHODS, "Variable": pb.Variable}[name]
    assert thing.__doc__, name
    if name != "optimizers.Optimizer":
        assert ">>>" in thing.__doc__, name


@pytest.mark.parametrize("name", [n for n in PUBLIC if not n.startswith(ELSEWHERE)])
def test_exported(name):
    short = name.split(".")[1]
    assert getattr(pb, short) is PUBLIC[name]
    assert short in pb.__all__


def test_special():
    assert set(pb.special.__all__) >= of_module("special").keys()
    assert pb.special.logsumexp is pb.logsumexp


def test_all():
    assert len(set(pb.__all__)) == len(pb.__all__)
    assert all(hasattr(pb, name) for name in pb.__all__)


def test_version():
    from importlib.metadata import version

    assert pb.__version__ == version("pullback")
