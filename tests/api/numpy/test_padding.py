"""`pad`, diagonals, grids and splits beside NumPy, with slopes and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.random.default_rng(0).normal(size=(3, 4))
MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect"]
MODES += ["symmetric", "wrap"]


@each("mode", MODES)
@each("width", [0, 2, (1, 3), ((2, 1), (0, 9))])
def test_pad_is_numpys(mode: Any, width: Any) -> None:
    for x in (X, X[:1], np.arange(12).reshape(3, 4), X[0].astype("f")):
        w = width if x.ndim == 2 or np.ndim(width) < 2 else width[0]
        got = pb.pad(x, w, mode)
        np.testing.assert_allclose(got.numpy(), np.pad(x, w, mode), rtol=1e-6)
        assert got.dtype == x.dtype
        if mode in ("reflect", "symmetric") and x.shape[0] > 1:
            odd = pb.pad(x, w, mode, reflect_type="odd").numpy()
            np.testing.assert_allclose(odd, np.pad(x, w, mode, reflect_type="odd"), rtol=1e-5)


@each("mode", [mode for mode in MODES if mode not in ("maximum", "median", "minimum")])
def test_pad_of_complex_numbers(mode: Any) -> None:
    z = X + 1j * X[::-1]
    np.testing.assert_allclose(pb.pad(z, (1, 3), mode).numpy(), np.pad(z, (1, 3), mode))
    pb.testing.check_gradients(lambda z: pb.pad(z, (1, 3), mode), (z,))


def test_pad_options() -> None:
    for more in ({"constant_values": 7}, {"constant_values": ((1, 2), (3, 4))}):
        np.testing.assert_array_equal(pb.pad(X, 2, **more).numpy(), np.pad(X, 2, **more))
    got = pb.pad(X, 2, "mean", stat_length=((1, 2), (2, 3)))
    np.testing.assert_allclose(got.numpy(), np.pad(X, 2, "mean", stat_length=((1, 2), (2, 3))))
    got = pb.pad(X, 2, "linear_ramp", end_values=(5, -4))
    np.testing.assert_allclose(got.numpy(), np.pad(X, 2, "linear_ramp", end_values=(5, -4)))

    z, ends = np.zeros(2), ([0.1, 0.2], (-1.25, 1 / 3), [(0.1, 0.7)])
    for e in ends:  # all digits of float64, from a list as from an array
        for mode, name in (("constant", "constant_values"), ("linear_ramp", "end_values")):
            got = pb.pad(z, 2, mode, **{name: e}).numpy()  # type: ignore[arg-type]
            np.testing.assert_allclose(got, np.pad(z, 2, mode, **{name: e}), 1e-15)  # type: ignore[call-overload]
    got = pb.pad(np.zeros(1, int), 1, constant_values=[16777217.0, -3.5]).numpy()
    assert got.tolist() == [16777217, 0, -3]
    got = pb.pad(np.zeros(1, "u1"), 1, constant_values=-1).numpy()
    assert got.tolist() == [255, 0, 255]

    def frame(vector: Any, width: Any, axis: int, options: Any) -> None:
        vector[: width[0]] = options["value"]
        vector[vector.shape[0] - width[1] :] = options["value"] + axis

    got = pb.pad(X, 2, frame, value=3.0)
    np.testing.assert_allclose(got.numpy(), np.pad(X, 2, frame, value=3.0))


@each("mode", MODES)
def test_slopes_of_padding(mode: str) -> None:
    v, c = pb.Variable(X), np.random.default_rng(1).normal(size=(7, 8))
    (g,) = pb.gradients(pb.pad(v, 2, mode, end_values=1), v, grad_ys=c)
    d = np.random.default_rng(2).normal(size=X.shape) * 1e-6
    ends = {"end_values": 1} if mode == "linear_ramp" else {}
    far, near = (np.pad(X + s * d, 2, mode, **ends) for s in (1, -1))  # type: ignore[call-overload]
    np.testing.assert_allclose(np.sum(g.numpy() * d), np.sum(c * (far - near)) / 2, rtol=1e-6)


SAME: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    *((pb.diag, np.diag, (x, k)) for x in (X[0], X) for k in (-2, 0, 1)),
    *((pb.diagflat, np.diagflat, (X, k)) for k in (-1, 0, 2)),
    *((pb.kron, np.kron, pair) for pair in ((X, X[0]), (X, X), (X[0], X), (2.0, X))),
    *((pb.tri, np.tri, args) for args in ((3,), (3, 5), (3, 5, 1), (4, 2, -1), (0,))),
    *((pb.tril_indices, np.tril_indices, args) for args in ((3,), (3, 1), (3, -1, 5))),
    *((pb.triu_indices, np.triu_indices, args) for args in ((3,), (3, 1), (3, -1, 5))),
    *((pb.diag_indices, np.diag_indices, args) for args in ((3,), (2, 3))),
    *((pb.array_split, np.array_split, (X[0], n)) for n in (1, 3, 6, [1, 3], [2, 9])),
    *((pb.hsplit, np.hsplit, args) for args in ((X, 2), (X[0], [1]))),
    (pb.vsplit, np.vsplit, (X, 3)),
    (pb.dsplit, np.dsplit, (X[None], 4)),
    *((pb.append, np.append, args) for args in ((X, X), (X, X, 1), (X, 3.0))),
    *((pb.rollaxis, np.rollaxis, (X[None], a, s)) for a in (0, 1, 2) for s in (0, 1, 3, -1)),
    (pb.logspace, np.logspace, (0.0, 2.0, 7)),
    *((pb.geomspace, np.geomspace, (a, b, 7)) for a, b in ((1.0, 64.0), (-8.0, -0.5))),
    (lambda x: pb.fill_diagonal(x, 5.0), lambda x: filled(x, 5.0), (X,)),
    (lambda x: pb.fill_diagonal(x, 5.0, wrap=True), lambda x: filled(x, 5.0, True), (X.T[:, :2],)),
    *(
        (getattr(pb, n), getattr(np, n), (X / 4,))
        for n in ("arcsin", "arctanh", "absolute", "amax", "degrees", "radians")
    ),
    *((pb.around, np.around, args) for args in ((X,), (X, 1), (X * 33, -1))),
    (pb.mod, np.mod, (X, 0.7)),
    *((getattr(pb, n), getattr(np, n), (np.arange(-4, 5),)) for n in ("invert", "bitwise_not")),
    *(
        (getattr(pb, n), getattr(np, n), (np.arange(-4, 5), 2))
        for n in ("left_shift", "right_shift")
    ),
]


def filled(x: Any, value: Any, wrap: bool = False) -> Any:
    x = x.copy()
    np.fill_diagonal(x, value, wrap)
    return x


@each("ours, theirs, args", SAME)
def test_as_numpy(ours: Any, theirs: Any, args: Any) -> None:
    got, expected = ours(*args), theirs(*args)
    if not isinstance(expected, (list, tuple)):
        got, expected = [got], [expected]
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-6)


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pb.pad(X, -1), ValueError, "^pad: expected integers >= 0 for pad_width"),
    (lambda: pb.pad(X, 1.5), TypeError, "^pad: expected integers for pad_width"),
    (
        lambda: pb.pad(X, (1, 2, 3)),
        ValueError,
        "^pad: expected an integer, a pair or 2 pairs for pad_width",
    ),
    (lambda: pb.pad(X, 1, "mirror"), ValueError, "^pad: mode must be one of .* got 'mirror'"),
    (lambda: pb.pad(X, 1, "edge", reflect_type="x"), ValueError, "^pad: reflect_type"),
    (lambda: pb.pad(pb.zeros(0), 1, "edge"), ValueError, "^pad: expected a non-empty axis 0"),
    (lambda: pb.diag(1.0), ValueError, "^diag: expected a vector"),
    (lambda: pb.fill_diagonal([1.0], 2), ValueError, "^fill_diagonal: expected a matrix"),
    (
        lambda: pb.fill_diagonal(X, [1.0]),
        ValueError,
        "^fill_diagonal: expected shape .. or .3,. for value",
    ),
    (lambda: pb.tri(-1), ValueError, "^tri: expected an integer from 0 .* for n"),
    (
        lambda: pb.hsplit(X, 3),
        ValueError,
        "^hsplit: expected a divisor of 4, the size of axis 1, for indices_or_sections, got 3",
    ),
    (lambda: pb.vsplit([1.0], 1), ValueError, "^vsplit: expected at least 2 axes"),
    (lambda: pb.geomspace(0, 16, 5), ValueError, "^geomspace: .*other than 0 for start, got 0$"),
    (lambda: pb.geomspace(1, np.array([2.0, 0.0])), ValueError, "other than 0 for stop"),
    (lambda: pb.geomspace(1, 2, -1), ValueError, "^geomspace: expected an integer from 0"),
    (lambda: pb.rollaxis(X, 0, 9), ValueError, "^rollaxis: expected start from -2 to 2, got 9"),
]


@each("call, kind, text", ERRORS, ids=[text for _, _, text in ERRORS])
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
