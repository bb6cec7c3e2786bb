"""NumPy's functions that write into an array, with a tensor to write into: its items change as in
NumPy, and gradients pass."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

P = np.array([0.7, -0.4, 1.1, 0.25, -1.3])

# Each writes into y, with the shape (5, 5), values that depend on p.
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "copyto": lambda y, p: np.copyto(y, p),
    "copyto, masked": lambda y, p: np.copyto(y, p, where=y > 0),
    "fill_diagonal": lambda y, p: np.fill_diagonal(y, p),
    "fill_diagonal, repeated": lambda y, p: np.fill_diagonal(y, p[:2]),
    "fill_diagonal, wrapped": lambda y, p: np.fill_diagonal(y, p[0], wrap=True),
    "place": lambda y, p: np.place(y, y > 0.1, p[:3]),
    "place nothing": lambda y, p: np.place(y, np.zeros((5, 5), bool), p),
    "put": lambda y, p: np.put(y, [[3, -1], [24, 3]], p),
    "put, repeated": lambda y, p: np.put(y, [0, 7, 9], p[0] * p[1]),
    "put, wrapped": lambda y, p: np.put(y, [26, -28], p, mode="wrap"),
    "put, clipped": lambda y, p: np.put(y, [-3, 99], p, mode="clip"),
    "put_along_axis": lambda y, p: np.put_along_axis(y, np.argmax(y, 0, keepdims=True), p, 0),
    "put_along_axis, rows": lambda y, p: np.put_along_axis(y, np.array([[4, 1]] * 5), p[:2], 1),
    "putmask": lambda y, p: np.putmask(y, y > 0.1, p[:2]),
    "add.at": lambda y, p: np.add.at(y, [0, 3, 0, 0, 2], p),
    "subtract.at": lambda y, p: np.subtract.at(y, ([0, 0], [1, 1]), p[1:3]),
    "multiply.at": lambda y, p: np.multiply.at(y, (slice(None), [1, 1]), p[:2]),
    "maximum.at": lambda y, p: np.maximum.at(y, [1, 1], p[2:4, None]),
    "minimum.at": lambda y, p: np.minimum.at(y, 2, p),
    "fill": lambda y, p: y.fill(p[2]),
}


def written(name: str, p: Any) -> Any:
    y = np.outer(np.sin(p), p)
    WRITES[name](y, p)
    return y


@each("name", list(WRITES))
def test_values_and_gradients(name: str) -> None:
    want = written(name, P)
    weights = np.cos(np.arange(25.0)).reshape(5, 5)
    constant = pb.outer(np.sin(P), P)
    WRITES[name](constant, P)
    np.testing.assert_allclose(constant.numpy(), want, rtol=1e-14)
    slope = pb.grad(lambda p: pb.sum(written(name, p) * weights))(P).numpy()
    for k, step in enumerate(1e-6 * np.eye(5)):
        change = np.sum((written(name, P + step) - written(name, P - step)) * weights) / 2e-6
        assert slope[k] == pytest.approx(change, abs=1e-7)


def test_a_variable_is_assigned_to() -> None:
    v = pb.Variable(np.zeros(3))
    np.add.at(v, [0, 0, 2], [1.0, 2.0, 4.0])
    np.put(v, [1], 5.0)
    assert v.numpy().tolist() == [3.0, 5.0, 4.0]


def test_errors_name_the_function() -> None:
    y = pb.zeros((2, 2))
    with pytest.raises(TypeError, match=r"^copyto: expected casting='same_kind'"):
        np.copyto(y, y, casting="unsafe")
    with pytest.raises(ValueError, match=r"^put: mode must be one of 'raise', 'wrap', 'clip'"):
        np.put(y, [0], 1.0, mode="extend")
    with pytest.raises(IndexError, match=r"out of (range|bounds)"):
        np.put(y, [4], 1.0)
    with pytest.raises(TypeError, match=r"^item assignment: .*float32 can represent"):
        np.copyto(y, 1j)
    assert not y.numpy().any()


def test_what_a_variable_refers_to_can_be_written_to() -> None:
    """A part of a tensor is a new tensor, so what is written into it would be lost silently."""
    y = pb.zeros((2, 2))
    for call in (
        lambda: np.copyto(y[0], 1.0),
        lambda: np.fill_diagonal(y.T, 1.0),
        lambda: np.add.at(y[0], [0], 1.0),
        lambda: y[1:].fill(1.0),
    ):
        with pytest.raises(TypeError, match=r"^[a-z_.]+: expected a tensor in a variable to write"):
            call()
    assert not y.numpy().any()
    holder = SimpleNamespace(y=pb.zeros(2), parts={"y": pb.zeros(2)}, rows=[pb.zeros(2)])
    parts, rows = holder.parts, holder.rows
    np.put(holder.y, 0, 1.0)
    np.add.at(parts["y"], 0, 1.0)
    rows[0].fill(1.0)
    row = y[0]
    with pytest.raises(TypeError, match="a part of another one"):
        np.copyto(row, 1.0)
    row = y[0].copy()
    np.copyto(row, 1.0)
    y[0] = row
    assert holder.y.tolist() == parts["y"].tolist() == [1.0, 0.0]
    assert [rows[0].tolist(), y.tolist()] == [[1.0, 1.0], [[1.0, 1.0], [0.0, 0.0]]]


def test_a_statement_that_sorts_in_numpy_is_an_error() -> None:
    y = pb.constant([3.0, 1.0, 2.0])
    with pytest.raises(TypeError, match=r"^sort: .*not used.* write x = x.sort\(...\)"):
        y.sort()
    with pytest.raises(TypeError, match=r"^partition: .*not used"):
        y.partition(1)
    z = y.sort()
    assert [pb.max(y.partition(1)[:1]).item(), *z.tolist()] == [1.0, 1.0, 2.0, 3.0]


def test_a_write_into_a_part_is_an_error_if_the_whole_would_miss_it() -> None:
    """NumPy's parts are views; a lost write would be a wrong gradient."""
    z = pb.zeros((2, 2))
    for write in ("z[0][1] = 1.0", "z.T[0] = 1.0", "z.reshape(-1)[0] = 1.0"):
        with pytest.raises(TypeError, match="this tensor has no name"):
            exec(write)
    v = pb.Variable(np.zeros(2))
    row, inner, computed = z[0], z[0][1:], z[1]
    assert computed.tolist() == [0.0, 0.0]
    z[1, 1] = 0.0
    for part in (row, inner, computed, v[:1], *z):
        with pytest.raises(TypeError, match="a part of another one"):
            part[0] = 1.0
    assert not z.numpy().any()


def test_a_write_into_a_copy_changes_the_copy() -> None:
    """As in NumPy: parts by arrays are copies, and a part whose whole is gone is a tensor."""
    x = np.arange(4.0).reshape(2, 2)

    def f(x: Any) -> Any:
        parts = [
            x[[0]],
            np.take(x, 1, axis=0),
            x.flatten(),
            x[0].copy(),
            (x * 2.0)[1],
            np.tile(x, 2),
        ]
        for part in parts:
            part[0] = x[0, 1]
        return sum(np.sum(part * part) for part in parts)

    found = pb.grad(f)(x).numpy()
    h = 1e-6
    for i, j in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[i, j] = h
        slope = (f(x + step) - f(x - step)) / (2 * h)
        assert np.isclose(found[i, j], slope, rtol=1e-7, atol=1e-7)
