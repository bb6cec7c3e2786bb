"""The dtypes, and what holds for the whole process: default dtype and threads."""

from __future__ import annotations

from typing import Any

import numpy
import numpy.typing as npt

from .. import _core
from .._array.arguments import integer

bool_ = numpy.dtype("bool")
int32 = numpy.dtype("int32")
int64 = numpy.dtype("int64")
float32 = numpy.dtype("float32")
float64 = numpy.dtype("float64")


def set_default_dtype(dtype: npt.DTypeLike) -> None:
    """Sets the dtype that Python floats and new arrays such as `zeros` get: float32 or float64.

    >>> pb.set_default_dtype(pb.float64)
    >>> pb.constant(0.1)
    Tensor(0.1, dtype=float64)
    >>> pb.set_default_dtype(pb.float32)
    """
    try:
        known = dtype is not None and numpy.dtype(dtype) in (float32, float64)
    except TypeError:
        known = False
    if not known:
        raise TypeError(f"set_default_dtype: expected float32 or float64, got {_core.shown(dtype)}")
    _core.set_default_float(dtype)


def get_default_dtype() -> numpy.dtype[Any]:
    """The dtype that Python floats get.

    >>> pb.get_default_dtype()
    dtype('float32')
    """
    return _core.default_float()


def num_threads() -> int:
    """How many threads compute: what PULLBACK_NUM_THREADS or OMP_NUM_THREADS says, else the cores
    that this process may use. Results do not depend on it, bit for bit.

    >>> pb.num_threads() >= 1
    True
    """
    return _core.num_threads()


def set_num_threads(n: int) -> None:
    """Sets how many threads compute from now on; ValueError below 1, TypeError for no integer.

    >>> pb.set_num_threads(pb.num_threads())
    """
    _core.set_num_threads(integer(n, "set_num_threads"))
