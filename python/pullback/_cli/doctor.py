"""`python -m pullback doctor`: describe the installation and measure a matrix product."""

from __future__ import annotations

import time
from importlib.metadata import version

import numpy as np

import pullback as pb

from .. import _core


def gemm_gflops(n: int = 1024, repeats: int = 5) -> float:
    """The best of a few n×n float32 matrix products through pullback, in 10⁹ operations a second.

    >>> gemm_gflops(64, repeats=1) > 0
    True
    """
    values = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
    a, b = pb.constant(values[0]), pb.constant(values[1])
    times = []
    for _ in range(repeats + 1):  # the first product loads the BLAS
        began = time.perf_counter()
        pb.evaluate(pb.matmul(a, b))
        times.append(time.perf_counter() - began)
    return 2e-9 * n**3 / min(times[1:])


def doctor() -> None:
    try:
        speed = f"{gemm_gflops():.0f} GFLOP/s"
    except RuntimeError:  # without a BLAS; the table shows its error
        speed = "failed"
    info = _core.build_info()  # after the product, which loads the BLAS
    blas, cuda = info["blas"], info["cuda"]
    rows = [
        ("pullback", version("pullback")),
        ("CPU level", info["cpu_level"]),
        ("threads", info["threads"]),
        ("BLAS", blas["path"] or "none"),
        ("  core", blas["corename"]),
        ("  config", blas["config"]),
        ("  error", blas["error"]),
        ("  1024x1024 float32", speed),
        ("CUDA", "available" if cuda["available"] else f"not available: {cuda['reason']}"),
    ]
    environment = list(info["environment"].items()) or [("none set", "")]
    rows += [("environment", ""), *((f"  {name}", value) for name, value in environment)]
    for name, value in rows:
        if value != "" or name in ("environment", "  none set"):
            print(f"{name:<24}{value}".rstrip())
