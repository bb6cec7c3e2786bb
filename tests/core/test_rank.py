"""Tensors of 9 to 16 axes: every function that moves, folds or joins axes agrees with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

RANKS = [5, 8, 9, 13, 16]
MOST = 16
Array = Any


def array(rank: int, seed: int = 0, thin: bool = False) -> Array:
    """With `thin` every third axis has length 1."""
    shape = [1 if thin and k % 3 == 1 else 2 for k in range(rank)]
    return np.random.default_rng(seed + rank).standard_normal(shape)


def agree(got: Any, want: Any) -> None:
    got = np.asarray(got)
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def permutation(rank: int) -> tuple[int, ...]:
    return tuple(int(k) for k in np.random.default_rng(rank).permutation(rank))


def some_axes(rank: int) -> tuple[int, ...]:
    return tuple(range(1, rank, 2))


def parts(x: Array) -> tuple[slice, ...]:
    """Reversed axes, axes cut to one element and whole ones in turn."""
    kinds = (slice(None, None, -1), slice(1, None), slice(None))
    return tuple(kinds[k % 3] for k in range(x.ndim))


ONE_ARGUMENT: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array]]] = {
    "itself": (lambda x: x, lambda x: x),
    "transpose": (pb.transpose, np.transpose),
    "permutation": (
        lambda x: pb.transpose(x, permutation(x.ndim)),
        lambda x: np.transpose(x, permutation(x.ndim)),
    ),
    "flat": (lambda x: pb.reshape(x, (-1,)), np.ravel),
    "flat after transpose": (
        lambda x: pb.reshape(pb.transpose(x, permutation(x.ndim)), (-1,)),
        lambda x: np.transpose(x, permutation(x.ndim)).ravel(),
    ),
    "slice": (lambda x: x[parts(x)], lambda x: x[parts(x)]),
    "integers": (lambda x: x[(0, slice(None)) * 2], lambda x: x[(0, slice(None)) * 2]),
    "squeeze": (lambda x: pb.squeeze(x[:1, :1]), lambda x: np.squeeze(x[:1, :1])),
    "sum": (lambda x: pb.sum(x, some_axes(x.ndim)), lambda x: np.sum(x, some_axes(x.ndim))),
    "sum of all": (pb.sum, np.sum),
    "sum, axes kept": (
        lambda x: pb.sum(x, some_axes(x.ndim), keepdims=True),
        lambda x: np.sum(x, some_axes(x.ndim), keepdims=True),
    ),
    "max": (lambda x: pb.max(x, some_axes(x.ndim)), lambda x: np.max(x, some_axes(x.ndim))),
    "last axis": (lambda x: pb.min(x, -1), lambda x: np.min(x, -1)),
    "mean": (lambda x: pb.mean(x, (0, -1)), lambda x: np.mean(x, (0, -1))),
    "prod": (lambda x: pb.prod(x, some_axes(x.ndim)), lambda x: np.prod(x, some_axes(x.ndim))),
    "any": (lambda x: pb.any(x > 1, (0, -1)), lambda x: np.any(x > 1, (0, -1))),
    "argmax": (lambda x: pb.argmax(x, -2), lambda x: np.argmax(x, -2)),
    "argmin, first": (lambda x: pb.argmin(x, 0), lambda x: np.argmin(x, 0)),
    "softmax": (
        lambda x: pb.softmax(x, 1),
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    ),
    "logsumexp": (
        lambda x: pb.logsumexp(x, some_axes(x.ndim)),
        lambda x: np.log(np.exp(x).sum(some_axes(x.ndim))),
    ),
    "matmul": (
        lambda x: x @ pb.matrix_transpose(x),
        lambda x: x @ np.swapaxes(x, -1, -2),
    ),
    "matmul, batch broadcast": (lambda x: x @ x[:1, :, :1], lambda x: x @ x[:1, :, :1]),
    "concat": (
        lambda x: pb.concat([x, x[:, :1]], axis=1),
        lambda x: np.concatenate([x, x[:, :1]], axis=1),
    ),
    "split": (
        lambda x: pb.split(x, 2, axis=-1)[1],
        lambda x: np.split(x, 2, axis=-1)[1],
    ),
    "take": (
        lambda x: pb.take(x, [1, 0, 1], axis=3),
        lambda x: np.take(x, [1, 0, 1], axis=3),
    ),
    "positions": (lambda x: x[np.array([1, 1, 0])], lambda x: x[[1, 1, 0]]),
    "where": (lambda x: pb.where(x > 0, x, 0.0), lambda x: x * (x > 0)),
    "broadcast": (
        lambda x: x + x[:1] * x[:, :1] - x[..., :1],
        lambda x: x + x[:1] * x[:, :1] - x[..., :1],
    ),
    "broadcast_to": (
        lambda x: pb.broadcast_to(x[::2, :, 1:], x.shape),
        lambda x: np.broadcast_to(x[::2, :, 1:], x.shape),
    ),
    "diagonal": (
        lambda x: pb.diagonal(x, 0, 1, -1),
        lambda x: np.diagonal(x, 0, 1, -1),
    ),
    "einsum": (
        lambda x: pb.einsum(x, [*range(x.ndim)], x, [*range(x.ndim)], [*range(0, x.ndim, 2)]),
        lambda x: np.sum(x * x, some_axes(x.ndim)),
    ),
    "tensordot": (
        lambda x: (
            pb.tensordot(x, x, (some_axes(x.ndim)[1:], some_axes(x.ndim)[1:]))
            if x.ndim < MOST
            else pb.tensordot(x, x, x.ndim - 2)
        ),
        lambda x: (
            np.tensordot(x, x, (some_axes(x.ndim)[1:], some_axes(x.ndim)[1:]))
            if x.ndim < MOST
            else np.tensordot(x, x, x.ndim - 2)
        ),
    ),
    "set": (lambda x: x.at[parts(x)].set(7.0), lambda x: put(x, parts(x), 7.0)),
    "add at positions": (
        lambda x: x.at[np.array([1, 0, 1])].add(1.0),
        lambda x: x + np.array([1.0, 2.0]).reshape((2,) + (1,) * (x.ndim - 1)),
    ),
}


def put(x: Array, key: Any, value: float) -> Array:
    out = x.copy()
    out[key] = value
    return out


@each("rank", RANKS)
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_agrees_with_numpy(name: str, rank: int) -> None:
    ours, numpys = ONE_ARGUMENT[name]
    if name == "tensordot" and rank > 8:  # its result would have too many axes
        rank = 8 if rank < MOST else MOST
    x = array(rank)
    agree(ours(pb.constant(x)), numpys(x))


@each("rank", RANKS)
@pytest.mark.parametrize(
    "name", [name for name in ONE_ARGUMENT if not name.startswith(("any", "arg"))]
)
def test_gradients(name: str, rank: int) -> None:
    """Of a random combination of the result, along one direction, against differences."""
    ours, numpys = ONE_ARGUMENT[name]
    if name == "tensordot" and rank > 8:
        rank = 8 if rank < MOST else MOST
    value, step = array(rank), array(rank, seed=100) * 1e-6
    weights = np.asarray(np.random.default_rng(1).standard_normal(numpys(value).shape))
    x = pb.Variable(value)
    (slope,) = pb.gradients(pb.sum(ours(x + 0.0) * weights), [x])
    want = np.sum((numpys(value + step) - numpys(value - step)) * weights) / 2
    got = np.sum(slope.numpy() * step)
    assert abs(got - want) <= 1e-6 * max(np.abs(slope.numpy() * step).sum(), 1e-12)


@pytest.mark.parametrize("rank", RANKS[1:])
def test_new_axes(rank: int) -> None:
    x = array(rank // 2)
    axes = tuple(range(0, 2 * x.ndim, 2))
    agree(pb.expand_dims(pb.constant(x), axes), np.expand_dims(x, axes))
    agree(pb.constant(x)[(None, slice(None)) * x.ndim], x[(None, slice(None)) * x.ndim])
    below = array(rank - 1)
    agree(pb.stack([pb.constant(below)] * 2, axis=3), np.stack([below] * 2, axis=3))
    labels = (below > 0).astype(np.int64)
    agree(pb.one_hot(labels, 3), np.eye(3)[labels])
    agree(pb.one_hot(labels, 3, axis=0), np.moveaxis(np.eye(3)[labels], -1, 0))
    signs = (x > 0).astype(np.int64)
    agree(pb.take(pb.constant(x), signs[0], axis=0), np.take(x, signs[0], 0))


def test_arrays_come_and_go() -> None:
    x = array(MOST)
    for turned in (x, x.T, x[::-1], np.asfortranarray(x), x.astype(np.float32), x > 0):
        assert np.array_equal(pb.constant(turned).numpy(), turned)
    assert pb.random.uniform((1,) * 15 + (3,)).numpy().shape == (1,) * 15 + (3,)
    assert pb.constant(array(MOST, thin=True)).shape == array(MOST, thin=True).shape


def test_a_function_and_a_variable() -> None:
    value = array(MOST)
    v = pb.Variable(value)
    step = pb.function(lambda x: pb.sum(pb.transpose(v) * x[::-1], (0, 5, 9)))
    for _ in range(2):
        agree(step(pb.constant(value)), np.sum(value.T * value[::-1], (0, 5, 9)))
    v.assign(v * 2.0)
    agree(v, 2 * value)


def test_axes_that_differ_are_other_programs() -> None:
    """The rank and the axes of all 16 positions are part of a plan's key."""
    x = np.arange(2.0**MOST).reshape((2,) * MOST)
    for axis in range(MOST):
        agree(pb.sum(pb.constant(x), axis), x.sum(axis))
        order = [(axis + k) % MOST for k in range(MOST)]
        agree(pb.transpose(pb.constant(x), order), x.transpose(order))
    small = np.ones(1)
    for rank in range(MOST + 1):
        agree(pb.broadcast_to(pb.constant(small)[0], (1,) * rank) + 1.0, np.full((1,) * rank, 2.0))


FULL = (1,) * MOST


@each(
    "call, who",
    [
        (lambda: pb.constant(np.ones((1,) * 17)), "constant"),
        (lambda: pb.zeros((1,) * 17), "zeros"),
        (lambda: pb.broadcast_to(1.0, (1,) * 17), "broadcast_to"),
        (lambda: pb.random.uniform((1,) * 17), "uniform"),
        (lambda: pb.reshape(pb.ones(FULL), (1,) * 17), "reshape"),
        (lambda: pb.expand_dims(pb.ones(FULL), 0), "expand_dims"),
        (lambda: pb.stack([pb.ones(FULL)] * 2), "stack"),
        (lambda: pb.one_hot(pb.zeros(FULL, "int64"), 2), "one_hot"),
        (lambda: pb.take(pb.ones(FULL), [[0]], axis=0), "take"),
        (lambda: pb.tensordot(pb.ones((1,) * 9), pb.ones((1,) * 9), 0), "tensordot"),
        (lambda: pb.einsum("abcdefghi,jklmnopqr", *[pb.ones((1,) * 9)] * 2), "einsum"),
    ],
)  # fmt: skip
def test_seventeen_axes(call: Callable[[], Any], who: str) -> None:
    with pytest.raises(ValueError, match=f"^({who}).*: expected at most 16 axes"):
        call()


def test_an_index_of_seventeen_axes() -> None:
    with pytest.raises(IndexError, match="at most 16 axes"):
        pb.ones(FULL)[None]
