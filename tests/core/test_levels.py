"""What docs/determinism.md says of elementwise functions on different instruction sets. Run as a
program, this file writes their results on one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
ENTRIES = 2011  # vectors of every width, and a rest
OWN_FORMULAS = {"exp", "tanh", "tanh_slope"}  # on AVX-512: cpp/backend/cpu/kernels/wide_float.h


def results() -> dict[str, np.ndarray]:
    from support.table import CASES

    found = {}
    for case, dtype in product(CASES, "fd"):
        if case.elementwise and dtype in case.dtypes:
            xs = case.arrays([(ENTRIES,)] * len(case.domains), dtype, "levels")
            found[f"{case.id} {dtype}"] = np.asarray(case.run(*xs))
    return found


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    """The results on each level; where a machine or a build lacks one, on the best below it."""
    found = {}
    for level in ("baseline", "avx2", "avx512"):
        path = tmp_path_factory.mktemp("levels") / f"{level}.npz"
        places = os.pathsep.join([str(TESTS), str(TESTS.parent)])
        subprocess.run(
            [sys.executable, __file__, str(path)],
            env=os.environ | {"PULLBACK_CPU_LEVEL": level, "PYTHONPATH": places},
            check=True,
            timeout=120,
        )
        with np.load(path) as arrays:
            found[level] = dict(arrays)
    return found


@pytest.mark.slow
def test_elementwise_functions_on_each_level(levels: dict[str, dict[str, np.ndarray]]) -> None:
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
