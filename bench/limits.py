"""What no library can beat, as cases of the library "limit".

Products come from the BLAS that pullback loads, through ctypes, which costs about 1 µs a call; a
pass over memory is NumPy's copy, cut over threads of ours. 0 threads means every core.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .case import Case
from .workloads import Workload, gmm, rosen

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
REAL = {"float32": ctypes.c_float, "float64": ctypes.c_double}
LETTER = {"float32": "s", "float64": "d"}


class Product(NamedTuple):
    """c[m, n] = a[m, k] · b[k, n], where a and b may lie transposed; `times` with other memory."""

    m: int
    n: int
    k: int
    a_transposed: bool = False
    b_transposed: bool = False
    times: int = 1


class Blas:
    """The library that pullback loads, which also chooses its kernels."""

    def __init__(self, threads: int) -> None:
        import pullback as pb

        one = np.ones((1, 1), np.float32)
        pb.evaluate(pb.matmul(one, one))
        self._library = ctypes.CDLL(pb._core.build_info()["blas"]["path"])
        self.threads = threads or pb.num_threads()

    def find(self, name: str) -> Any:
        prefixed = getattr(self._library, f"scipy_{name}", None)
        return prefixed or getattr(self._library, name)

    def set_threads(self, count: int) -> None:
        self.find("openblas_set_num_threads")(count)


def network_products(layers: tuple[int, ...], batch: int) -> Callable[[bool], list[Product]]:
    def all_of(small: bool) -> list[Product]:
        out = []
        for i, (rows, columns) in enumerate(pairwise(layers)):
            out.append(Product(batch, columns, rows))  # the value
            out.append(Product(rows, columns, batch, a_transposed=True))  # the weights' gradient
            if i:
                out.append(Product(batch, rows, columns, b_transposed=True))  # the gradient below
        return out

    return all_of


def gmm_products(small: bool) -> list[Product]:
    data = gmm(small)
    (k, d), n = data.parameters[1].shape, len(data.inputs[0])
    return [
        Product(n, d, d, b_transposed=True, times=k),  # the value
        Product(n, d, d, times=k),  # the gradient of the differences
        Product(d, d, n, a_transposed=True, times=k),  # the gradient of Q
    ]


def products(
    products_of: Callable[[bool], list[Product]], dtype: str, threads: int, small: bool
) -> Case:
    """These products and nothing else. Repeated ones are cut over threads of ours, each calling a
    BLAS of one thread; the others are left to the threads of BLAS."""
    blas = Blas(threads)
    gemm = blas.find(f"cblas_{LETTER[dtype]}gemm")
    random = np.random.default_rng(0)
    kept: list[Any] = []  # the memory that the calls point into

    def call(p: Product) -> tuple[Any, ...]:
        a = (p.k, p.m) if p.a_transposed else (p.m, p.k)
        b = (p.n, p.k) if p.b_transposed else (p.k, p.n)
        arrays = [random.random(size).astype(dtype) for size in (a, b, (p.m, p.n))]
        kept.extend(arrays)
        places = [(ctypes.c_void_p(x.ctypes.data), ctypes.c_int(x.shape[1])) for x in arrays]
        flags = [TRANSPOSED if t else PLAIN for t in (p.a_transposed, p.b_transposed)]
        head = [ctypes.c_int(value) for value in (ROW_MAJOR, *flags, p.m, p.n, p.k)]
        alpha, beta = REAL[dtype](1), REAL[dtype](0)
        return (*head, alpha, *places[0], *places[1], beta, *places[2])

    every = products_of(small)
    single = [call(p) for p in every if p.times == 1]
    repeated = [[call(p) for _ in range(p.times)] for p in every if p.times > 1]
    blas.set_threads(blas.threads if single else 1)
    pool = ThreadPoolExecutor(blas.threads)

    def chunk(calls: list[tuple[Any, ...]]) -> None:
        for arguments in calls:
            gemm(*arguments)

    def run() -> Any:
        chunk(single)
        for calls in repeated:
            list(pool.map(chunk, [calls[i :: blas.threads] for i in range(blas.threads)]))
        return kept

    return Case(run)


def square_product(dtype: str, threads: int, small: bool) -> Case:
    n = 16 if small else 1024
    case = products(lambda _: [Product(n, n, n)], dtype, threads, small)
    return Case(case.run, work=2.0 * n**3)


def triad(threads: int, small: bool) -> Case:
    blas = Blas(threads)
    blas.set_threads(blas.threads)
    axpy = blas.find("cblas_saxpy")
    n = 1000 if small else 10_000_000
    a, b = np.zeros(n, np.float32), np.ones(n, np.float32)
    one, scale = ctypes.c_int(1), ctypes.c_float(1e-6)
    places = [ctypes.c_void_p(x.ctypes.data) for x in (b, a)]
    count = ctypes.c_int(n)

    def run() -> Any:
        axpy(count, scale, places[0], one, places[1], one)
        return a, b

    return Case(run, work=3.0 * a.nbytes)


def copy_parameter(work: Workload, threads: int, small: bool) -> Case:
    """Reads the first parameter and writes as much, as a gradient must."""
    import pullback as pb

    x = work.data(small).parameters[0].reshape(-1)
    g = np.zeros_like(x)
    if threads == 1:
        return Case(lambda: np.copyto(g, x))
    parts = list(zip(*(np.array_split(y, pb.num_threads()) for y in (g, x)), strict=True))
    pool = ThreadPoolExecutor(len(parts))
    return Case(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))


def one_call(small: bool) -> Case:
    """A call from Python that does next to nothing to as many numbers as rosen has."""
    x = rosen(small).parameters[0]
    return Case("negative(x, g)", {"negative": np.negative, "x": x, "g": np.zeros_like(x)})
