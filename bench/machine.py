"""What the machine can do, by other people's code: a product of matrices, a pass over memory."""

from __future__ import annotations

from functools import partial

from .case import Row
from .limits import square_product, triad

THREADS = {"1 thread": 1, "all threads": 0}

ROWS = {
    "triad": Row(
        "a = a + s·b over 10⁷ float32, by BLAS",
        "GB/s",
        {("limit", style): partial(triad, threads) for style, threads in THREADS.items()},
    ),
    "gemm": Row(
        "product of 1024×1024 matrices, by BLAS",
        "GFLOP/s",
        {
            ("limit", f"{dtype}, {style}"): partial(square_product, dtype, threads)
            for dtype in ("float32", "float64")
            for style, threads in THREADS.items()
        },
    ),
}
