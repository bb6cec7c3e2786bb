"""`python -m pullback doctor`: the hardware and libraries in use, and the speed of a product."""

from __future__ import annotations

import time
from importlib.metadata import version

import numpy as np

import pullback as pb

from .. import _core


def gemm_gflops(n: int = 1024, repeats: int = 5) -> float:
    """Return the speed of the fastest of several n×n float32 matrix products, in GFLOP/s.

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


def _kernel_cache() -> str:
    cache = _core.cuda_kernel_cache()
    return "not kept" if cache is None else f"{cache[0]} ({cache[1] / 2**20:.1f} of 256 MiB)"


def doctor() -> None:
    """Print the versions, the hardware and the libraries in use."""
    try:
        speed = f"{gemm_gflops():.0f} GFLOP/s"
    except RuntimeError:  # without a BLAS; the table shows its error
        speed = "failed"
    info = _core.build_info()  # after the product, because BLAS is loaded at its first use
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
        ("  kernels", (cuda["missing_compiler"] or "NVRTC found") if cuda["available"] else ""),
        ("  compiled kernels", _kernel_cache() if cuda["available"] else ""),
    ]
    environment = list(info["environment"].items()) or [("none set", "")]
    rows += [("environment", ""), *((f"  {name}", value) for name, value in environment)]
    for name, value in rows:
        if value != "" or name in ("environment", "  none set"):
            print(f"{name:<24}{value}".rstrip())
