"""The extensions `linalg` and `fft` of the Array API standard: names, signatures, values.

`array_api_strict` is the reference for shapes, dtypes and values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import array_api_strict as xp
import numpy as np
import pytest
from support.each import each

import pullback as pb

RNG = np.random.default_rng(5)
EXTENSIONS = [
    (space, name)
    for space in ("linalg", "fft")
    for name in getattr(xp, space).__all__
    if inspect.isfunction(getattr(getattr(xp, space), name))
]


@each(("space", "name"), EXTENSIONS)
def test_signatures_of_extensions(space: str, name: str) -> None:
    theirs = inspect.signature(getattr(getattr(xp, space), name)).parameters
    ours = inspect.signature(getattr(getattr(pb, space), name)).parameters
    taken = list(ours.values())
    for k, (key, wanted) in enumerate(theirs.items()):
        if wanted.kind is wanted.KEYWORD_ONLY:
            assert ours[key].kind is not wanted.POSITIONAL_ONLY
        elif wanted.kind is wanted.POSITIONAL_OR_KEYWORD:
            assert taken[k].name == key
        else:
            assert taken[k].kind is not wanted.KEYWORD_ONLY
        if wanted.default is not wanted.empty:
            assert ours[key].default is not wanted.empty
    required = [p for p in taken if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    assert len(required) <= len([p for p in theirs.values() if p.default is p.empty])


def numbers(dtype: str, *shape: int) -> Any:
    values = RNG.normal(size=shape)
    return (values + 1j * RNG.normal(size=shape) if dtype[0] == "c" else values).astype(dtype)


def positive(x: Any) -> Any:
    n = x.shape[-1]
    return x @ np.conj(np.swapaxes(x, -1, -2)) + n * np.eye(n, dtype=x.dtype)


# Calls with a stack of square matrices, a stack of wide ones and a stack of vectors.
LINALG: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda m, a, w, v: m.linalg.cholesky(a),
    lambda m, a, w, v: m.linalg.cholesky(a, upper=True),
    lambda m, a, w, v: m.linalg.cross(v, v[0, ...]),
    lambda m, a, w, v: m.linalg.det(a),
    lambda m, a, w, v: m.linalg.det(a[:, :0, :0]),
    lambda m, a, w, v: m.linalg.diagonal(w),
    lambda m, a, w, v: m.linalg.diagonal(w, offset=1),
    lambda m, a, w, v: m.linalg.diagonal(w, offset=-9),
    lambda m, a, w, v: m.linalg.eigh(a).eigenvalues,
    lambda m, a, w, v: m.linalg.eigvalsh(a),
    lambda m, a, w, v: m.linalg.inv(a),
    lambda m, a, w, v: m.linalg.matmul(a, w),
    lambda m, a, w, v: m.linalg.matmul(v[0, ...], w),
    lambda m, a, w, v: m.linalg.matrix_norm(w),
    lambda m, a, w, v: m.linalg.matrix_norm(w, keepdims=True, ord="nuc"),
    *(
        lambda m, a, w, v, k=k: m.linalg.matrix_norm(w, ord=k)
        for k in (1, -1, 2, -2, float("inf"), -float("inf"))
    ),
    lambda m, a, w, v: m.linalg.matrix_power(a, 3),
    lambda m, a, w, v: m.linalg.matrix_power(a, 0),
    lambda m, a, w, v: m.linalg.matrix_power(a, -2),
    lambda m, a, w, v: m.linalg.matrix_rank(w),
    lambda m, a, w, v: m.linalg.matrix_rank(w, rtol=0.9),
    lambda m, a, w, v: m.linalg.matrix_transpose(w),
    lambda m, a, w, v: m.linalg.outer(v[0, :], w[0, 0, :]),
    lambda m, a, w, v: m.linalg.pinv(w),
    lambda m, a, w, v: m.abs(m.linalg.qr(w).R),
    lambda m, a, w, v: m.linalg.qr(w, mode="complete").Q @ m.linalg.qr(w, mode="complete").R,
    lambda m, a, w, v: m.linalg.slogdet(a).logabsdet,
    lambda m, a, w, v: m.linalg.slogdet(a).sign,
    lambda m, a, w, v: m.linalg.solve(a, w),
    lambda m, a, w, v: m.linalg.solve(a, v[0, :]),
    lambda m, a, w, v: m.linalg.svd(w).S,
    lambda m, a, w, v: m.abs(m.linalg.svd(w, full_matrices=False).Vh),
    lambda m, a, w, v: m.linalg.svdvals(w),
    lambda m, a, w, v: m.linalg.tensordot(w, w, axes=((1, 2), (1, 2))),
    lambda m, a, w, v: m.linalg.trace(a),
    lambda m, a, w, v: m.linalg.trace(w, offset=2),
    lambda m, a, w, v: m.linalg.trace(w, offset=9),
    lambda m, a, w, v: m.linalg.vecdot(v, v[0, :]),
    lambda m, a, w, v: m.linalg.vecdot(w, w, axis=-2),
    lambda m, a, w, v: m.linalg.vector_norm(w),
    lambda m, a, w, v: m.linalg.vector_norm(w, axis=(0, 2), keepdims=True, ord=3),
    *(
        lambda m, a, w, v, k=k: m.linalg.vector_norm(v, axis=0, ord=k)
        for k in (0, 1, 2, 2.5, float("inf"), -float("inf"))
    ),
]
FFT: list[Callable[[Any, Any, Any, Any], Any]] = [
    *(
        lambda m, a, w, v, name=name, norm=norm: getattr(m.fft, name)(w, axis=1, norm=norm)
        for name in ("fft", "ifft", "hfft", "irfft")
        for norm in ("backward", "ortho", "forward")
    ),
    *(lambda m, a, w, v, n=n: m.fft.fft(w, n=n) for n in (1, 3, 9)),
    *(lambda m, a, w, v, n=n: m.fft.irfft(w, n=n) for n in (1, 4, 9)),
    lambda m, a, w, v: m.fft.fftn(w),
    lambda m, a, w, v: m.fft.ifftn(w, s=(3, 2), axes=(0, 2)),
    lambda m, a, w, v: m.fft.irfftn(w, axes=(0, 1)),
    lambda m, a, w, v: m.fft.fftshift(w),
    lambda m, a, w, v: m.fft.ifftshift(w, axes=1),
]
REAL: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda m, a, w, v: m.fft.rfft(w, n=4),
    lambda m, a, w, v: m.fft.rfftn(w, axes=(1, 2)),
    lambda m, a, w, v: m.fft.ihfft(w, axis=-2),
    lambda m, a, w, v: m.fft.fftfreq(5, d=0.5),
    lambda m, a, w, v: m.fft.rfftfreq(6),
    lambda m, a, w, v: m.linalg.trace(m.astype(10 * w, m.int8), offset=1),
    lambda m, a, w, v: m.linalg.trace(m.astype(10 * abs(w), m.uint16), dtype=m.int32),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_values_of_extensions(dtype: str) -> None:
    a, w, v = positive(numbers(dtype, 2, 3, 3)), numbers(dtype, 2, 3, 5), numbers(dtype, 2, 3)
    default = pb.get_default_dtype()
    pb.set_default_dtype("float64")  # as that of array_api_strict
    try:
        for k, call in enumerate([*LINALG, *FFT, *(REAL if dtype[0] == "f" else [])]):
            if dtype[0] == "f" and k >= len(LINALG) and _is_of_complex(call, a, w, v):
                continue
            want = np.asarray(call(xp, *map(xp.asarray, (a, w, v))))
            got = call(pb, *map(pb.asarray, (a, w, v))).numpy()
            assert (got.shape, got.dtype) == (want.shape, want.dtype), (k, got.dtype, want.dtype)
            rounding = 500 * np.finfo(dtype).eps
            np.testing.assert_allclose(got, want, rtol=rounding, atol=rounding, err_msg=str(k))
    finally:
        pb.set_default_dtype(default)


def _is_of_complex(call: Any, a: Any, w: Any, v: Any) -> bool:
    """Test for a transform that the reference computes for complex numbers only."""
    try:
        call(xp, *map(xp.asarray, (a, w, v)))
    except TypeError:
        return True
    return False


def test_large_offsets_and_casts_of_the_standard() -> None:
    for k in (2**63, 2**64, -(2**70)):
        assert not pb.eye(3, k=k).numpy().any()
        assert pb.linalg.diagonal(pb.ones((2, 3)), offset=k).shape == (0,)
    for kind in (pb.float32, pb.float64, pb.int64, pb.bool):
        assert not pb.can_cast(pb.complex64, kind)
    inf, nan = float("inf"), float("nan")
    for at, real, imag in (
        (complex(inf, 1), 1, 0), (complex(-inf, 1), -1, 0), (complex(inf, inf), 1, 0),
        (complex(inf, nan), 1, 0), (complex(nan, 0), nan, 0), (complex(1, inf), nan, nan),
        (complex(0, inf), 0, nan), (complex(0, nan), 0, nan), (complex(nan, 2), nan, nan),
    ):  # fmt: skip
        for dtype in ("complex64", "complex128"):
            got = pb.tanh(pb.asarray(at, dtype)).numpy()
            np.testing.assert_array_equal([got.real, got.imag], [real, imag], err_msg=str(at))
