"""Formulas in C++ by hand: native/by_hand, which `python -m bench --native` builds."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from .case import Case
from .workloads import GAMMA, PRIOR_M, Workload, gmm_constant, summary


def prepare(name: str, numbers: list[Any], arrays: list[Any], returns: Any = None) -> Any:
    """A call without arguments of a function over sizes or numbers, then arrays."""
    function = getattr(ctypes.CDLL(os.environ["BENCH_BY_HAND"]), name)
    function.restype = returns
    assert all(x.flags.c_contiguous for x in arrays)
    arguments = [ctypes.c_int64(n) if isinstance(n, int) else n for n in numbers]
    arguments += [ctypes.c_void_p(x.ctypes.data) for x in arrays]
    kept = [function, arguments, arrays]  # the arguments point into the arrays
    return lambda: kept[0](*arguments)


def by_hand(work: Workload, small: bool) -> Case:
    """Each function is value(sizes…, parameters…, inputs…, gradients…), all arrays of double."""
    data = work.data(small)
    gradients = [np.zeros_like(p) for p in data.parameters]
    arrays = [np.ascontiguousarray(x) for x in (*data.parameters, *data.inputs, *gradients)]
    numbers = {"lse": _lse, "llsq": _llsq, "gmm": _gmm, "lstm": _lstm}[work.formula](data)
    call = prepare(work.formula, numbers, arrays, ctypes.c_double)
    return Case(
        lambda: (call(), arrays),
        check=lambda result: summary(result[0], result[1][-len(gradients) :]),
    )


def _lse(data: Any) -> list[Any]:
    return [data.parameters[0].size]


def _llsq(data: Any) -> list[Any]:
    return [data.inputs[0].size, data.parameters[0].size]


def _gmm(data: Any) -> list[Any]:
    (k, d), n = data.parameters[1].shape, len(data.inputs[0])
    reals = (GAMMA, PRIOR_M, gmm_constant(n, d, k))
    return [n, d, k, *(ctypes.c_double(value) for value in reals)]


def _lstm(data: Any) -> list[Any]:
    layers, _, width = data.parameters[0].shape
    return [layers, width, len(data.inputs[0])]
