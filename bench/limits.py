"""What no library can beat, as cases of the library "limit"."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np

from .case import Case

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


def products(threads: int, layers: tuple[int, ...], batch: int) -> Case:
    """The matrix products of a network's value and gradient and nothing else, by BLAS with threads
    of its own; called through ctypes, which costs about 1 µs a product. 0 threads: every core."""
    import pullback as pb

    one = np.ones((1, 1), np.float32)
    pb.evaluate(pb.matmul(one, one))  # pullback loads the library, and chooses its kernels
    library = ctypes.CDLL(pb._core.build_info()["blas"]["path"])

    def find(name: str) -> Any:
        prefixed = getattr(library, f"scipy_{name}", None)
        return prefixed or getattr(library, name, None)

    sgemm, set_threads = find("cblas_sgemm"), find("openblas_set_num_threads")
    random = np.random.default_rng(0)
    calls: list[tuple[Any, ...]] = []
    kept: list[Any] = []

    def product(m: int, n: int, k: int, a_transposed: bool, b_transposed: bool) -> None:
        sizes = [(k, m) if a_transposed else (m, k), (n, k) if b_transposed else (k, n), (m, n)]
        arrays = [random.random(size, dtype=np.float32) for size in sizes]
        kept.extend(arrays)
        places = [(ctypes.c_void_p(x.ctypes.data), ctypes.c_int(x.shape[1])) for x in arrays]
        flags = [TRANSPOSED if t else PLAIN for t in (a_transposed, b_transposed)]
        head = [ctypes.c_int(value) for value in (ROW_MAJOR, *flags, m, n, k)]
        alpha, beta = ctypes.c_float(1), ctypes.c_float(0)
        calls.append((*head, alpha, *places[0], *places[1], beta, *places[2]))

    for i, (rows, columns) in enumerate(pairwise(layers)):
        product(batch, columns, rows, False, False)  # the value
        product(rows, columns, batch, True, False)  # the weights' gradient
        if i:
            product(batch, rows, columns, False, True)  # the gradient below

    def run() -> Any:
        for call in calls:
            sgemm(*call)
        return kept  # and keeps them alive

    if set_threads:
        set_threads(threads or pb.num_threads())
    return Case(run)
