"""The functions of NumPy that accept tensors with a gradient, or whose results have no derivative.

The page "Use pullback with other libraries" states the counts.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback._numpy import array_function

PAGE = Path(__file__).parents[3] / "docs" / "with_other_libraries.md"
ABSENT = {
    "numpy": {
        # Polynomials, and integer bits.
        "poly", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "roots",
        "packbits", "unpackbits",
        # Dates, files and memory.
        "busday_count", "busday_offset", "datetime_as_string", "is_busday", "savetxt", "savez",
        "savez_compressed", "may_share_memory", "shares_memory",
        "common_type", "diag_indices_from", "einsum_path", "histogram_bin_edges", "nancumprod",
        "resize", "sort_complex", "tril_indices_from", "trim_zeros", "triu_indices_from",
    },
    "numpy.linalg": set(),
    "numpy.fft": set(),
    "ufuncs": {"bitwise_count", "isnat", "matvec", "spacing", "vecmat"},
}  # fmt: skip


def has_counterpart(function):
    values = array_function._OF_TYPES | array_function._ANSWERS | array_function._VALUES
    values |= array_function._WRITE
    return function.__name__ in values or array_function._counterpart(function) is not None


def takes_tensors(ufunc):
    floats = pb.Variable(np.array([0.3, 0.6]))
    for x in (floats, pb.constant([1, 2]), pb.constant(np.array([0.3 + 1j]))):
        try:
            ufunc(*[x] * ufunc.nin)
        except TypeError:
            continue
        return True
    return False


def found_and_absent():
    for name, module in (("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft)):
        names = {}
        for key, function in vars(module).items():
            if hasattr(function, "_implementation") and not isinstance(function, np.ufunc):
                names.setdefault(function, key)
        absent = {key for function, key in names.items() if not has_counterpart(function)}
        yield name, len(names), absent
    ufuncs = {}
    for key, function in vars(np).items():
        if isinstance(function, np.ufunc):
            ufuncs.setdefault(function, key)
    yield "ufuncs", len(ufuncs), {k for f, k in ufuncs.items() if not takes_tensors(f)}


def test_functions_of_numpy():
    row = {}
    for name, count, absent in found_and_absent():
        assert absent <= ABSENT[name], absent - ABSENT[name]
        row[name] = (count - len(absent), count)
    if not np.__version__.startswith("2.4."):
        pytest.skip("the page has the counts of NumPy 2.4")
    stated = re.findall(r"\| `?([\w.]+)`? \| (\d+) of (\d+) \|", PAGE.read_text(encoding="utf-8"))
    assert {name: (int(a), int(b)) for name, a, b in stated} == row
