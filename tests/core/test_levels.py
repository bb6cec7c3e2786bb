"""What docs/determinism.md says of elementwise functions on different instruction sets. Run as a
program, this file writes their results on one of them."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.levels import results_on_each_level
from support.table import CASES

ENTRIES = 2011  # vectors of every width, and a rest
OWN_FORMULAS = {"exp", "tanh", "tanh_slope"}  # on AVX-512: cpp/backend/cpu/kernels/wide_float.h


def results() -> dict[str, np.ndarray]:
    found = {}
    for case, dtype in product(CASES, "fd"):
        if case.elementwise and dtype in case.dtypes:
            xs = case.arrays([(ENTRIES,)] * len(case.domains), dtype, "levels")
            found[f"{case.id} {dtype}"] = np.asarray(case.run(*xs))
    return found


@pytest.mark.slow
def test_elementwise_functions_on_each_level(tmp_path: Path) -> None:
    levels = results_on_each_level(__file__, tmp_path)
    assert len(levels["avx512"]) > 300
    for name, expected in levels["avx2"].items():
        op, dtype = name.split()
        wide, narrow = levels["avx512"][name], levels["baseline"][name]
        if op not in OWN_FORMULAS:
            np.testing.assert_array_equal(wide, expected, err_msg=name)
        if dtype == "f" or expected.dtype.kind != "f":
            np.testing.assert_array_equal(narrow, expected, err_msg=name)
            if op not in OWN_FORMULAS:
                continue
        for got in (wide, narrow):
            # An entry near 0 can be a difference of larger terms: relative to what is usual.
            size = np.maximum(np.abs(expected), np.nanmedian(np.abs(expected)))
            unit = np.spacing(np.where(np.isfinite(size), size, 1).astype(expected.dtype))
            with np.errstate(invalid="ignore"):
                same = (got == expected) | (np.isnan(got) & np.isnan(expected))
                assert np.all(same | (np.abs(got - expected) <= 4 * unit)), name


if __name__ == "__main__":
    found = results()
    np.savez(sys.argv[1], **found)
