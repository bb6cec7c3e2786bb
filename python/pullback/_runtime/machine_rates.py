"""The best rates of this machine: bytes per second by size, operations per second of products."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _core
from .evaluation import evaluate

# From the caches to memory: arrays of float32 that are read and written.
_ELEMENTS = (1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24)
_ROWS = 512  # of a product
_REPEATS = 5


def memory_seconds(nbytes: int) -> float:
    """Return the seconds that it takes to move so many bytes, in arrays of about that size."""
    rates = _byte_rates(_core.num_threads())
    rate = next((rate for size, rate in rates if nbytes <= size), rates[-1][1])
    return nbytes / rate


def product_seconds(operations: int, dtype: str) -> float:
    """Return the seconds that a large matrix product with so many operations takes."""
    return operations / _product_rate(dtype, _core.num_threads())


@functools.cache
def _byte_rates(threads: int) -> tuple[tuple[int, float], ...]:
    # It depends on the number of threads, which is a key of the cache only.
    rates = []
    for n in _ELEMENTS:
        x = _filled(n, "float32")
        rates.append((8 * n, 8 * n / _best_seconds(functools.partial(_core.negative, x))))
    return tuple(rates)


@functools.cache
def _product_rate(dtype: str, threads: int) -> float:
    x = _filled((_ROWS, _ROWS), dtype)
    return 2 * _ROWS**3 / _best_seconds(functools.partial(_core.matmul, x, x))


def _filled(shape: Any, dtype: str) -> Any:
    x = _core.full(shape, 0.5, dtype)
    evaluate(x)
    return x


def _best_seconds(f: Callable[[], Any]) -> float:
    evaluate(f())
    return min(
        sum(step[7] for step in _core.recorded_steps(lambda: evaluate(f())))
        for _ in range(_REPEATS)
    )
