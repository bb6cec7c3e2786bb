"""Methods, properties and operators of tensors and variables: what NumPy's arrays answer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback._numpy import methods

X = np.array([[3.0, -1.5, 2.0], [0.0, 4.25, -1.5]])
CALLS: list[Callable[[Any], Any]] = [
    lambda x: x.sum(),
    lambda x: x.sum(0),
    lambda x: x.sum(axis=(0, 1), keepdims=True),
    lambda x: x.mean(1),
    lambda x: x.max(axis=0),
    lambda x: x.min(-1),
    lambda x: x.std(),
    lambda x: x.var(1),
    lambda x: x.prod(0),
    lambda x: x.argmax(1),
    lambda x: x.argmin(),
    lambda x: x.reshape(3, 2),
    lambda x: x.reshape((3, -1)),
    lambda x: x.reshape(-1),
    lambda x: x.ravel(),
    lambda x: x.flatten(),
    lambda x: x.transpose(),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)),
    lambda x: x.transpose(None),
    lambda x: x.swapaxes(0, 1),
    lambda x: x.astype("int32"),
    lambda x: x.astype(np.float32),
    lambda x: x.copy(),
    lambda x: x.tolist(),
    lambda x: (x > 0).any(1),
    lambda x: (x > -5).all(),
    lambda x: x.clip(-1, 1),
    lambda x: x.clip(min=0),
    lambda x: x.round(),
    lambda x: x.round(1),
    lambda x: x.round(decimals=-1),
    lambda x: x.dot([1.0, 2.0, 3.0]),
    lambda x: x[:1].squeeze(),
    lambda x: x[:, :1].squeeze(1),
    lambda x: x.repeat(2),
    lambda x: x.repeat(2, 1),
    lambda x: x.repeat([1, 3], axis=0),
    lambda x: x[:0].repeat([], axis=0),
    lambda x: x.take([0, 2], 1),
    lambda x: x.take([0, 5]),
    lambda x: x.diagonal(),
    lambda x: x.trace(),
    lambda x: x[0, 0].item(),
    lambda x: (x.item(4), x.item(-1), x.item(1, 2), x.item((1, 2))),
    lambda x: x.argpartition(1, 1)[:, :2].sum(1),
    lambda x: (x > 0).astype("int64").choose([x, -x]),
    lambda x: x.compress([False, True], 0),
    lambda x: x.compress([False, True, True, False]),
    lambda x: np.sort(x)[:, 1] if isinstance(x, np.ndarray) else x.partition(1)[:, 1],
    lambda x: (x.tobytes(), x.tobytes("F")),
    lambda x: bytes(memoryview(x)),
    lambda x: x.flat[3],
    lambda x: x.flat[[0, -1]],
    lambda x: x.flat[1:4],
    lambda x: x.flat.copy(),
    lambda x: (len(x.flat), [v.item() for v in x.flat], np.asarray(x.flat).tolist()),
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.size,
    lambda x: x.ndim,
    lambda x: x.nbytes,
    lambda x: x.itemsize,
    lambda x: x.shape,
    lambda x: 3.0 in x,
    lambda x: len(x),
    lambda x: list(reversed(x)),
    lambda x: [row.sum() for row in x],
    lambda x: divmod(x, 2),
    lambda x: divmod(7, x + 0.3),
    lambda x: x @ x.T,
    lambda x: X.T @ x,
    lambda x: 2**x,
    lambda x: x**2,
    lambda x: 5 // (x + 0.3),
    lambda x: x % 2,
    lambda x: complex(x[0, 1]),
    lambda x: f"{x[0, 1]:.3f} {x[0, 0]:8.2e}",
]
if hasattr(pb, "cumsum"):
    CALLS += [lambda x: x.cumsum(1), lambda x: x.cumsum()]
if hasattr(pb, "sort"):
    CALLS += [lambda x: np.sort(x, 0) if isinstance(x, np.ndarray) else x.sort(0)]
if hasattr(pb, "nonzero"):
    CALLS += [lambda x: x.nonzero()]
if hasattr(pb, "conj"):
    CALLS += [lambda x: x.conj()]
if hasattr(pb, "real"):
    CALLS += [lambda x: x.real, lambda x: x.imag]


def same(got: Any, want: Any) -> None:
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
        return
    if isinstance(want, (np.ndarray, np.generic)):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-15)
        return
    assert type(got) is type(want) and got == want


@each("call", CALLS)
def test_as_numpy(call: Callable[[Any], Any]) -> None:
    same(call(pb.constant(X)), call(X))
    same(call(pb.Variable(X)), call(X))


def test_a_method_is_the_public_function() -> None:
    for name in methods.METHODS:
        if hasattr(pb, name):
            for cls in (pb.Tensor, pb.Variable):
                assert getattr(cls, name).__wrapped__ is getattr(pb, name)
    with pytest.raises(ValueError, match=r"^sum: axis 7"):
        pb.ones(2).sum(7)
    with pytest.raises(TypeError):
        pb.ones(2).sum(0, 1, 2, 3)
    with pytest.raises(ValueError, match=r"^reshape: "):
        pb.ones(2).reshape(3, 5)
    x = pb.Variable([1.0, 2.0])
    assert pb.gradients(x.sum() * x.copy().max(), x)[0].tolist() == [2.0, 5.0]


INTEGERS = np.array([[6, 5, -3], [0, 1, 12]])
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("op", BITS)
def test_bits(op: Callable[[Any, Any], Any]) -> None:
    for kind in ("int32", "int64"):
        i = INTEGERS.astype(kind)
        tensor = pb.constant(i)
        for other in (3, i[1], np.abs(i)):
            if op in BITS[3:]:
                other = np.abs(other) % 5
            same(op(tensor, pb.constant(other) if isinstance(other, np.ndarray) else other),
                 op(i, other))  # fmt: skip
        same(op(3, pb.constant(np.abs(i))), op(3, np.abs(i)).astype(kind))
        same(~tensor, ~i)
    if op in BITS[:3]:
        truth = INTEGERS > 0
        same(op(pb.constant(truth), True), op(truth, True))
        same(op(truth[0], pb.constant(truth)), op(truth[0], truth))
        same(~pb.constant(truth), ~truth)
    for bad in (pb.ones(3), pb.Variable(X)):
        with pytest.raises(TypeError, match=r"^bitwise_\w+: expected integers"):
            op(bad, 1)
        with pytest.raises(TypeError, match=r"^bitwise_\w+: expected integers"):
            op(1, bad)
    with pytest.raises(TypeError, match="unsupported operand"):
        op(tensor, "a")


def test_numbers_formats_and_comparisons() -> None:
    x = pb.constant(2.5)
    assert f"{x:.1f}" == "2.5" and f"{x}" == str(x)
    assert (round(x), round(pb.constant(3.14159), 2).item()) == (2, np.float32(3.14))
    assert round(pb.constant([1.26, 2.0]), 1).tolist() == [np.float32(1.3), 2.0]
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5 + 0j)
    for bad in (pb.ones(3), pb.ones((2, 2))):
        with pytest.raises(TypeError, match=r"^format: expected a tensor with exactly one element"):
            f"{bad:.3f}"
        for number in (float, int, complex):
            with pytest.raises((TypeError, ValueError)):
                number(bad)
        with pytest.raises(ValueError, match=r"^bool: expected a tensor with exactly one element"):
            0 < bad < 2  # noqa: B015
    with pytest.raises(TypeError):
        operator.index(x)
    with pytest.raises(ValueError, match="mT: expected a tensor of rank 2"):
        pb.ones(2).mT  # noqa: B018


@each("decimals", [-20, -19, -18, -3, -2, -1, 0, 1, 2, 5])
def test_round_to_decimals(decimals: int) -> None:
    x = np.array([0.125, 2.675, -1234.5678, 1e300, np.inf, -np.inf, np.nan, 25.0, 35.0, -15.0])
    np.testing.assert_array_equal(pb.round(x, decimals).numpy(), np.round(x, decimals))
    i = np.array([15, 25, -15, -25, 149, 151, 2**62, -(2**62), 0])
    got = pb.round(i, decimals)
    want = [round(int(n), decimals) if decimals > -19 else 0 for n in i]
    assert got.dtype == np.int64 and got.tolist() == want
    v = pb.Variable([1.26, 3.5])
    assert pb.gradients(pb.round(v, 1), v)[0].tolist() == [0.0, 0.0]


def test_methods_leave_the_tensor_as_it_is() -> None:
    x = pb.constant(X)
    y = x
    assert x.sort() is not x and x.clip(0, 1) is not x
    y += 1  # a new tensor for the name y
    assert x.numpy().tolist() == X.tolist() and y.numpy().tolist() == (X + 1).tolist()


def test_assignments_to_flat_elements() -> None:
    for kind in (pb.constant, pb.Variable):
        x, want = kind(X), X.copy()
        for index, value in ((3, 7.0), (slice(1, 3), [8.0, 9.0]), ([0, -1], 5.0)):
            x.flat[index] = value
            want.flat[index] = value
        assert x.numpy().tolist() == want.tolist()
        x.flat = 2.0
        assert x.numpy().tolist() == [[2.0] * 3] * 2
    x = pb.constant(1.0)
    x.flat[0] = 3.0
    assert x.item() == 3.0 and pb.asarray(X).flat[pb.constant([1])].tolist() == [-1.5]
    with pytest.raises(IndexError):
        pb.asarray(X).flat[6] = 1.0
    slope = pb.grad(lambda x: pb.sum(pb.stack(list(x.flat)) ** 2) + x.flat[2])(X)
    np.testing.assert_allclose(slope.numpy(), 2 * X + [[0, 0, 1], [0, 0, 0]])


def test_every_name_of_an_array_works_or_names_the_replacement() -> None:
    for x in (pb.asarray(X), pb.Variable(X)):
        for name in dir(np.ndarray):
            if not name.startswith("_") and not hasattr(x, name):
                with pytest.raises(AttributeError, match=f"^{type(x).__name__} has .*; use "):
                    getattr(x, name)


def test_items_by_position() -> None:
    x = pb.asarray(X)
    for error, args in (
        (IndexError, (6,)), (IndexError, (0, 3)), (ValueError, (0, 0, 0)), (TypeError, (1.5,)),
    ):  # fmt: skip
        with pytest.raises(error, match=r"^item: "):
            x.item(*args)
    with pytest.raises(RuntimeError, match=r"^item "):
        pb.function(lambda x: x * x.item(1))(X)
    with pytest.warns(RuntimeWarning, match=r"^item .* leaves the graph as a Python number"):
        pb.grad(lambda x: pb.sum(x * x.item(1)))(X)
