"""Helpers of tests on the fake CUDA driver: the same function on the device and on the CPU."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

FAKE = ctypes.CDLL(os.environ["PULLBACK_FAKE_DRIVER"])
FAKE.fake_calls.restype = ctypes.c_int64
RNG = np.random.default_rng(7)
ODD = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-310, 3e38, 1e300, 1e-40, 88.0]


def there(x: Any) -> pb.Tensor:
    return pb.asarray(np.asarray(x), device="cuda")


def calls(function: str) -> int:
    return int(FAKE.fake_calls(function.encode()))


def on_host() -> dict[str, int]:
    return pb.cuda.fallbacks()


def same_bits(a: Any, b: Any) -> None:
    """Equal bits; a NaN is any NaN."""
    assert a.dtype == b.dtype and a.shape == b.shape
    if a.dtype.kind == "f" or a.dtype.name == "bfloat16":
        bits = np.dtype(f"i{a.itemsize}")
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        wrong = (a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b))
        assert not wrong.any(), (np.flatnonzero(wrong)[:5], a[wrong][:5], b[wrong][:5])
    else:
        np.testing.assert_array_equal(a, b)


def both(f: Callable[..., Any], *arrays: Any, host: set[str] | None = None) -> None:
    """The function has equal bits on the device and on the CPU; `host`: what has no kernel."""
    before, launched = on_host(), calls("cuLaunchKernel")
    moved = pb.evaluate(f(*[there(x) for x in arrays]))
    assert host or arrays[0].size == 0 or calls("cuLaunchKernel") > launched
    new = {k for k, n in on_host().items() if n > before.get(k, 0)}
    assert new == (host or set()), new
    here = pb.evaluate(f(*[pb.constant(x) for x in arrays]))
    for a, b in zip(np.atleast_1d(moved) if not isinstance(moved, list | tuple) else moved,
                    np.atleast_1d(here) if not isinstance(here, list | tuple) else here,
                    strict=True):  # fmt: skip
        same_bits(a, b)


def close(f: Callable[..., Any], *arrays: Any, ulps: int) -> None:
    before, launched = on_host(), calls("cuLaunchKernel")
    moved = pb.evaluate(f(*[there(x) for x in arrays]))
    assert on_host() == before and calls("cuLaunchKernel") > launched, on_host()
    here = pb.evaluate(f(*[pb.constant(x) for x in arrays]))
    for a, b in zip(*(v if isinstance(v, list | tuple) else [v] for v in (moved, here)),
                    strict=True):  # fmt: skip
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_max_ulp(np.asarray(a), np.asarray(b), ulps)
