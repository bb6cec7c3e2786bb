"""Errors and warnings that depend on values: the evaluation raises them."""

from __future__ import annotations

import collections
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import _core
from .._core import Tensor
from .branches import cond

# A result may be evaluated where it is printed, by the representation of a namedtuple.
_WITHIN = str(Path(__file__).parent.parent) + os.sep, str(collections.__file__)


def evaluated_check(good: Tensor, fail: Callable[..., Any], inputs: Sequence[Tensor]) -> Tensor:
    """Return True as a tensor; its evaluation calls `fail`, which raises an error, unless `good`.

    `fail` receives the arrays of `good` and of the inputs, in `vmap` those of a batch. A callback
    without a condition would cost ten microseconds in each evaluation.
    """

    def raised(good: Any, *arrays: Any) -> Any:
        if not good.all():
            fail(good, *arrays)
        return good

    given = [_core.stop_gradient(x) for x in (good, *inputs)]
    checked: Tensor = cond(
        given[0],
        lambda *xs: _core.identity(xs[0]),
        lambda *xs: _core.callback(raised, xs, "bool", (), True),
        *given,
    )
    return checked


def warned(value: Tensor, good: Tensor, message: str, category: str) -> Tensor:
    """Return `value` without its history; its evaluation issues a warning unless `good`.

    `category` is the class of SciPy, such as "scipy.optimize.OptimizeWarning". Without SciPy, it is
    UserWarning, its base class.
    """

    def warn(good: Any, array: Any) -> Any:
        if not good.all():
            warnings.warn(message, _category(category), stacklevel=_level())
        return array

    given = [_core.stop_gradient(x) for x in (good, value)]
    made: Tensor = cond(
        given[0],
        lambda _, x: _core.identity(x),
        lambda *xs: _core.callback(warn, xs, value.dtype.name, value.shape, True),
        *given,
    )
    return made


def _category(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except ImportError:
        return UserWarning


def _level() -> int:
    """Return the number of frames from the caller to the first one that is not `_WITHIN`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_WITHIN):
        frame, level = frame.f_back, level + 1
    return level
