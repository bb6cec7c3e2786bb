"""Hints in AttributeErrors: the name of this library for a name of another one."""

from __future__ import annotations

from types import ModuleType

# Names of other libraries, with the names of this library.
NAMES = {
    "array": "constant",
    "cat": "concat",
    "clamp": "clip",
    "convert_to_tensor": "constant",
    "cross_entropy": "softmax_cross_entropy",
    "eval": "evaluate",
    "jit": "function",
    "mul": "multiply",
    "neg": "negative",
    "nograd": "stop_gradient",
    "permute": "permute_dims",
    "range": "arange",
    "rem": "remainder",
    "rint": "round",
    "sub": "subtract",
    "tensor": "constant",
    "unsqueeze": "expand_dims",
}


OPTIMIZERS = {"SGD": "GradientDescent", "RMSprop": "RMSProp"}


def of_module(name: str) -> str:
    """Return the text that follows "module 'pullback' has no attribute ..."."""
    import pullback

    for space in vars(pullback).values():
        if isinstance(space, ModuleType) and name in getattr(space, "__all__", ()):
            return f"; here it is '{space.__name__.removeprefix('pullback.')}.{name}'"
    return _of(name, NAMES, pullback.__all__)


def of_optimizers(name: str) -> str:
    from .. import optimizers

    return _of(name, OPTIMIZERS, optimizers.__all__)


def _of(name: str, known: dict[str, str], public: list[str]) -> str:
    if name in known:
        return f"; here it is {known[name]!r}"
    from difflib import get_close_matches

    near = get_close_matches(name, public, 1, 0.75)
    return f"; did you mean {near[0]!r}?" if near else ""
