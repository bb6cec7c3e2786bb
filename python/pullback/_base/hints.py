"""Hints in AttributeErrors: the name in this library for a name of another one."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

# Names of other libraries and the names of the same functions here.
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


def of_module(name: str, module: Mapping[str, Any]) -> str:
    """Return the text that follows "module 'pullback' has no attribute ...".

    `module` has the attributes of the module.
    """
    for space in module.values():
        if isinstance(space, ModuleType) and name in getattr(space, "__all__", ()):
            return f"; here it is '{space.__name__.removeprefix('pullback.')}.{name}'"
    return _of(name, NAMES, module["__all__"])


def of_optimizers(name: str, public: list[str]) -> str:
    return _of(name, OPTIMIZERS, public)


def _of(name: str, known: dict[str, str], public: list[str]) -> str:
    if name in known:
        return f"; here it is {known[name]!r}"
    from difflib import get_close_matches

    near = get_close_matches(name, public, 1, 0.75)
    return f"; did you mean {near[0]!r}?" if near else ""
