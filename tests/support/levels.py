"""Runs a program once on each instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

LEVELS = ("baseline", "avx2", "avx512")
TESTS = Path(__file__).parents[1]


def results_on_each_level(program: str, folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Return the arrays that a program writes to the file of its argument, by level. Where a
    machine or a build lacks a level, the best below it is used."""
    found = {}
    for level in LEVELS:
        path = folder / f"{level}.npz"
        places = os.pathsep.join([str(TESTS), str(TESTS.parent)])
        subprocess.run(
            [sys.executable, program, str(path)],
            env=os.environ | {"PULLBACK_CPU_LEVEL": level, "PYTHONPATH": places},
            check=True,
            timeout=120,
        )
        with np.load(path) as arrays:
            found[level] = dict(arrays)
    return found
