"""The public namespace: every name is meant to be there, is documented with an example
(test_doctests.py runs them), and has nothing but its neighbours beside it."""

import importlib
import inspect
import re
import types
import typing
from pathlib import Path

import pytest
from support.check import Check
from support.docstrings import MODULES, NAMESPACES, PUBLIC
from support.each import each
from support.process import run

import pullback as pb
from pullback._base import hints

# What is reachable as pb.x without being in __all__: modules that are imported on their own.
APART = {"compat", "datasets"}


METHODS = {
    f"{name}.{key}": value
    for name in (
        "pullback.GradientTape",
        "pullback.optimizers.Optimizer",
        "pullback.random.Generator",
    )
    for key, value in vars(PUBLIC[name]).items()
    if not key.startswith("_") and inspect.isfunction(value)
}


@each("name", [*PUBLIC, *METHODS])
def test_documentation_and_signature(name):
    thing = {**PUBLIC, **METHODS}[name]
    check = Check()
    check.that(thing.__doc__, "no docstring")
    check.that(">>>" in (thing.__doc__ or ""), "no example")
    signature = inspect.signature(thing)
    for parameter in signature.parameters.values():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        # The names of a wrapper, and those that pybind11 makes up.
        vague = re.fullmatch(r"args|kwargs|arg\d+|_\w*", parameter.name) and not variadic
        # SciPy's name for the further arguments of a function.
        of_scipy = name.startswith(("pullback.optimize.", "pullback.integrate."))
        vague = vague and not (of_scipy and parameter.name == "args")
        check.that(not vague, f"a parameter is named {parameter.name}")
        check.that(" at 0x" not in repr(parameter.default), f"unreadable default: {parameter}")
        typed = parameter.annotation is not parameter.empty or parameter.name == "self"
        check.that(typed or isinstance(thing, type), f"{parameter.name} has no type")
    returns = signature.return_annotation is not signature.empty
    check.that(returns or isinstance(thing, type), "the result has no type")
    if name not in ("pullback.Tensor", "pullback.Variable"):  # their types are in the stub
        try:
            typing.get_type_hints(thing)  # which a program may call too
        except (NameError, TypeError, AttributeError) as error:
            check.that(False, f"type hints: {error}")
    check.done()


@pytest.mark.parametrize("cls", [pb.Tensor, pb.Variable])
def test_signatures_of_methods(cls):
    for name, method in vars(cls).items():
        if not name.startswith("_") and callable(method) and not hasattr(method, "__wrapped__"):
            assert next(iter(inspect.signature(method).parameters)) == "self", name
            assert inspect.getdoc(method).startswith(f"{name}(self"), name
    taken = list(inspect.signature(pb.Variable).parameters)
    assert taken == ["initial", "trainable", "name", "dtype"]


def test_signatures_of_functions():
    @pb.function(static_argnums=1)
    def f(x, n, *, scale=1.0):
        return x * n * scale

    @pb.custom_gradient
    def g(x, *, scale=1.0):
        return x, lambda upstream: upstream

    assert str(inspect.signature(f)) == "(x, n, *, scale=1.0)"
    assert str(inspect.signature(g)) == str(inspect.signature(pb.grad(g))) == "(x, *, scale=1.0)"
    for method in (f.plan, f.graph, f.cache_info, f.clear_cache):
        inspect.signature(method)


def test_what_is_public_says_so():
    for name, thing in PUBLIC.items():
        if name not in ("pullback.Tensor", "pullback.Variable") and "datasets" not in name:
            assert not thing.__module__.startswith("pullback._"), name


def by_numbers(name):
    """log2 stands before log10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


@pytest.mark.parametrize("name", MODULES)
def test_nothing_leaks(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(set(module.__all__), key=by_numbers)
    reachable = {key for key in dir(module) if not key.startswith("_")}
    if name == "pullback":
        reachable -= APART
    assert reachable == {key for key in module.__all__ if not key.startswith("_")}


def test_modules_are_public_and_functions_shadow_none():
    """A fresh interpreter: what other tests imported is not there."""
    code = "import pullback as pb, types; print(*(k for k in dir(pb) if k[0] != '_' and "
    code += "isinstance(getattr(pb, k), types.ModuleType)))"
    done = run(code)
    assert done.split() == NAMESPACES
    for name in pb.__all__:
        value = getattr(pb, name)
        try:
            module = importlib.import_module(f"pullback.{name}")
        except ImportError:
            continue
        assert isinstance(value, types.ModuleType) and value is module


def test_names_of_a_module_are_here_too():
    for name in {*pb.nn.__all__} & {*pb.__all__}:
        assert getattr(pb, name) is getattr(pb.nn, name)
    for name in {*pb.linalg.__all__} & {*pb.__all__} - {"cond", "diagonal", "trace"}:  # others
        assert getattr(pb, name) is getattr(pb.linalg, name)
    assert pb.special.logsumexp is pb.logsumexp


def test_version():
    from importlib.metadata import version

    assert pb.__version__ == version("pullback")


def test_page_of_names_in_other_libraries():
    """The tables of docs/coming_from.md are those of the hints in errors."""
    page = (Path(__file__).parents[2] / "docs" / "coming_from.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.M)
    wanted = [(name, f"`{own}`") for name, own in hints.NAMES.items()]
    wanted += [*hints.INSTEAD.items(), *((f"x.{k}", v) for k, v in hints.ATTRIBUTES.items())]
    assert rows == wanted
