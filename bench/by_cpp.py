"""Formulas of workloads.py in C++ by hand: by_hand.cpp, which `python -m bench --native` builds."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from .case import Case
from .workloads import GAMMA, PRIOR_M, Workload, gmm_constant, summary


def by_hand(work: Workload, small: bool) -> Case:
    """Each function is value(sizes…, parameters…, inputs…, gradients…), all arrays of double."""
    data = work.data(small)
    function = getattr(ctypes.CDLL(os.environ["BENCH_BY_HAND"]), work.formula)
    function.restype = ctypes.c_double
    gradients = [np.zeros_like(p) for p in data.parameters]
    arrays = [np.ascontiguousarray(x) for x in (*data.parameters, *data.inputs, *gradients)]
    numbers = {"lse": _lse, "llsq": _llsq, "gmm": _gmm, "lstm": _lstm}[work.formula](data)
    arguments = [*numbers, *(ctypes.c_void_p(x.ctypes.data) for x in arrays)]
    return Case(
        lambda: (function(*arguments), arrays),
        check=lambda result: summary(result[0], result[1][-len(gradients) :]),
    )


def _integers(*values: int) -> list[Any]:
    return [ctypes.c_int64(value) for value in values]


def _lse(data: Any) -> list[Any]:
    return _integers(data.parameters[0].size)


def _llsq(data: Any) -> list[Any]:
    return _integers(data.inputs[0].size, data.parameters[0].size)


def _gmm(data: Any) -> list[Any]:
    (k, d), n = data.parameters[1].shape, len(data.inputs[0])
    reals = (GAMMA, PRIOR_M, gmm_constant(n, d, k))
    return [*_integers(n, d, k), *(ctypes.c_double(value) for value in reals)]


def _lstm(data: Any) -> list[Any]:
    layers, _, width = data.parameters[0].shape
    return _integers(layers, width, len(data.inputs[0]))
