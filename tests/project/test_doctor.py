"""`python -m pullback doctor`: every line that a bug report needs."""

import os
import re
import subprocess
import sys

import pullback as pb


def report_with(**environment):
    return subprocess.run(
        [sys.executable, "-m", "pullback", "doctor"],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def test_doctor():
    report = report_with(PULLBACK_NUM_THREADS="1")
    assert re.search(rf"^pullback +{re.escape(pb.__version__)}$", report, re.M)
    assert re.search(r"^CPU level +(baseline|avx2|avx512)$", report, re.M)
    assert re.search(r"^threads +1$", report, re.M)
    assert re.search(r"^BLAS +\S+", report, re.M)
    assert re.search(r"^  core +\S+", report, re.M)
    assert float(re.search(r"([\d.]+) GFLOP/s", report)[1]) > 0
    assert re.search(r"^CUDA +(available|not available: .+)$", report, re.M)
    assert re.search(r"^  PULLBACK_NUM_THREADS +1$", report, re.M)


def test_missing_blas_is_reported():
    report = report_with(PULLBACK_BLAS="nowhere/libblas.so")
    assert re.search(r"^  error +\S+", report, re.M)
    assert re.search(r"^  1024x1024 float32 +failed$", report, re.M)
