"""Matrices for tests of linear algebra, and how near results have to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

DTYPES = ("float32", "float64", "complex64", "complex128")


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    x = rng.normal(size=tuple(shape))
    return (x + 1j * rng.normal(size=tuple(shape)) if dtype[0] == "c" else x).astype(dtype)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x: Any) -> Any:
    return (x + adjoint(x)) / 2


def positive(shape: Sequence[int], dtype: str, seed: int = 0) -> Any:
    x = numbers(shape, dtype, seed)
    return x @ adjoint(x) + 3 * np.eye(shape[-1], dtype=dtype)


def shifted(shape: Sequence[int], dtype: str, seed: int = 0) -> Any:
    """Far from singular, eigenvalues near to 3."""
    n = shape[-1]
    return (numbers(shape, dtype, seed) / max(n, 1) ** 0.5 + 3 * np.eye(n)).astype(dtype)


def close(ours: Any, theirs: Any, factor: float = 1.0) -> None:
    ours = ours.numpy() if hasattr(ours, "numpy") else np.asarray(ours)
    assert ours.shape == np.shape(theirs)
    eps = np.finfo(ours.dtype).eps if ours.dtype.kind in "fc" else 0.0
    largest = np.abs(theirs).max(initial=1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=200 * factor * eps * largest)
