"""Indexing, slicing, take, one_hot, split, concat and iteration against NumPy; what is out of range
or of the wrong kind is an IndexError that says where."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.arange(120.0).reshape(4, 5, 6)
KEYS = [
    0,
    -1,
    np.s_[:],
    np.s_[...],
    np.s_[()],
    np.s_[1:3],
    np.s_[3:1],
    np.s_[-3:-1],
    np.s_[::2],
    np.s_[::-1],
    np.s_[-1:0:-2],
    np.s_[10:20],
    np.s_[-100:100:3],
    np.s_[1, 2],
    np.s_[1, 2, 3],
    np.s_[1, :, 3],
    np.s_[:, 2],
    np.s_[:, :, -1],
    np.s_[..., 0],
    np.s_[0, ...],
    np.s_[..., 1:4, ::2],
    np.s_[None],
    np.s_[:, None],
    np.s_[..., None],
    np.s_[None, 1, None, ::-1, None],
    np.s_[1, ..., 2],
    np.s_[::-1, ::-1, ::-1],
    np.s_[2:2],
    np.s_[:, 4:1:-1, 1],
    np.int64(2),
    np.s_[np.int32(1), np.uint8(2) : np.int64(4)],
]


@each("key", KEYS, ids=str)
def test_basic_indexing(key: Any) -> None:
    got = pb.constant(X)[key]
    assert got.shape == X[key].shape
    assert np.array_equal(got.numpy(), X[key])
    variable = pb.Variable(X)
    assert np.array_equal(variable[key].numpy(), X[key])
    (g,) = pb.gradients(pb.sum(variable[key] * variable[key]), [variable])
    want = np.zeros_like(X)
    want[key] = 2 * X[key]
    assert np.array_equal(g.numpy(), want)


PAIRS = list(itertools.product(KEYS[5:12], [0, np.s_[::-1], np.s_[1:]]))


@each("first, second", PAIRS)
def test_slices_of_slices(first: Any, second: Any) -> None:
    expected = X[first]
    if expected.shape[0] == 0 and second == 0:
        with pytest.raises(IndexError):
            pb.constant(X)[first][second]
        return
    assert np.array_equal(pb.constant(X)[first][second].numpy(), expected[second])
    moved = pb.transpose(pb.constant(X)[first])[second]
    assert np.array_equal(moved.numpy(), expected.T[second])


def test_a_tensor_is_an_index_where_it_is_an_integer() -> None:
    x = pb.constant(X)
    assert np.array_equal(x[pb.constant(2)].numpy(), X[2])
    assert np.array_equal(x[: pb.argmax(pb.constant([0, 5, 1]))].numpy(), X[:1])
    with pytest.raises(IndexError, match="got a float32 tensor"):
        x[pb.constant(2.0)]


@each(
    "key, text",
    [
        (4, r"4 is out of range for axis 0 of size 4"),
        (-5, "-5 is out of range"),
        (np.s_[0, 5], "5 is out of range for axis 1"),
        (2**70, "out of range"),
        (np.s_[0, 0, 0, 0], "at most 3 indices .* got 4"),
        (np.s_[..., 0, ...], "at most one Ellipsis"),
        (1.0, "got float"),
        ("a", "got str"),
        ([0.0, 1.0], "got list of dtype float64"),
        (np.s_[(None,) * 14], "at most 16 axes"),
    ],
    ids=str,
)
def test_bad_keys(key: Any, text: str) -> None:
    with pytest.raises(IndexError, match=text):
        pb.constant(X)[key]


def test_bad_slices() -> None:
    x = pb.constant(X)
    with pytest.raises(ValueError, match="zero"):
        x[::0]
    with pytest.raises(TypeError):
        x[1.0:]
    with pytest.raises(IndexError):
        pb.constant(1.0)[0]
    assert pb.constant(1.0)[...].item() == pb.constant(1.0)[()].item() == 1.0


def test_values_do_not_change() -> None:
    x = pb.constant(X)
    with pytest.raises(TypeError, match="item deletion"):
        del x[0]  # type: ignore[attr-defined]
    assert not x.numpy().flags.writeable


def test_length_and_iteration() -> None:
    x = pb.constant(X)
    assert len(x) == 4
    assert [row.numpy().tolist() for row in x] == X.tolist()
    first, *rest = pb.constant([1, 2, 3])
    assert (first.item(), [r.item() for r in rest]) == (1, [2, 3])
    for nonsense in (len, iter, list):
        with pytest.raises(TypeError):
            nonsense(pb.constant(1.0))


# --- take


@each("shape", [(), (1,), (4,), (3, 4), (2, 3, 2), (0, 3)])
@each("kind", ["float32", "int64", "bool"])
def test_in_asks_for_an_element_as_numpy_does(shape: tuple[int, ...], kind: str) -> None:
    a = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    for tensor in (pb.constant(a), pb.Variable(a)):
        for value in (0, 1, 3.0, 17.0, True, float("nan"), np.float64(2), np.ones(shape[-1:])):
            assert (value in tensor) is bool((a == value).any()), value
        assert pb.constant(2.0) not in pb.constant(np.zeros(shape))


def test_in_of_nan_and_of_what_no_element_is() -> None:
    x = pb.constant([[1.0, np.nan], [0.0, -0.0]])
    assert np.nan not in x
    assert -0.0 in x
    for value in ("1.0", None, object(), {}):
        assert value not in x
    with pytest.raises(ValueError, match="equal: shapes"):
        [1.0, 2.0, 3.0] in x  # noqa: B015
    with pytest.raises(RuntimeError, match=r"in .*no value while"):
        pb.function(lambda x: 1.0 in x)(x)


@each("axis", [0, 1, 2, -1, None])
@each("shape", [(), (3,), (2, 2), (0,)])
@each("kind", ["int32", "int64"])
def test_take(axis: int | None, shape: tuple[int, ...], kind: str) -> None:
    length = X.size if axis is None else X.shape[axis]
    indices = np.random.default_rng(0).integers(-length, length, shape).astype(kind)
    got = pb.take(pb.constant(X), indices, axis=axis).numpy()
    assert np.array_equal(got, np.take(X, indices, axis=axis))


@each("bad", [4, -5, 2**40, -(2**40)])
@each("many", [1, 40_000])
def test_take_out_of_range_is_an_error_every_time(bad: int, many: int) -> None:
    x = pb.Variable(X)
    indices = np.zeros(many, np.int64)
    indices[-1] = bad
    with pytest.raises(
        IndexError, match=f"^take: index {bad} is out of range for axis 0 of size 4$"
    ):
        pb.take(x, indices, axis=0)
    y = pb.take(x, pb.constant(indices) + 0, axis=0)
    (g,) = pb.gradients(pb.sum(y), [x])
    for result in (y, y, g, pb.sum(y) + 1):
        with pytest.raises(IndexError, match=f"index {bad} is out of range .* size 4"):
            result.numpy()
    assert pb.take(x, np.arange(4), axis=0).shape == X.shape


def test_take_adds_up_the_gradients_of_what_is_taken_twice() -> None:
    x = pb.Variable(np.zeros((3, 2), np.float32))
    y = pb.take(x, [2, 0, 2, -1], axis=0)
    (g,) = pb.gradients(y, [x], grad_ys=np.arange(8, dtype=np.float32).reshape(4, 2))
    assert g.numpy().tolist() == [[2.0, 3.0], [0.0, 0.0], [10.0, 13.0]]


def test_many_gradients_into_one_entry_do_not_lose_digits() -> None:
    n = 1_000_000
    x = pb.Variable(np.zeros(2, np.float32))
    y = pb.take(x, np.zeros(n, np.int64), axis=0)
    (g,) = pb.gradients(y, [x], grad_ys=np.full(n, 0.1, np.float32))
    assert g.numpy().tolist() == [np.float32(np.float64(np.float32(0.1)) * n), 0.0]


@pytest.mark.parametrize("indices", [[0.0], [True], 1.5])
def test_take_wants_integers(indices: Any) -> None:
    with pytest.raises(TypeError, match="take"):
        pb.take(pb.constant(X), indices, axis=0)


# --- one_hot, split, concat, stack


def test_one_hot() -> None:
    hot = pb.one_hot([[0, 2], [1, 5]], 3)
    assert hot.dtype == "float32" and hot.shape == (2, 2, 3)
    assert hot.numpy().tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0]]]
    assert pb.one_hot([0, 1], 2, axis=0, dtype="int32").numpy().tolist() == [[1, 0], [0, 1]]
    assert pb.one_hot(1, 3, dtype="bool").numpy().tolist() == [False, True, False]
    assert pb.one_hot([1], 0).shape == (1, 0)


def test_split_is_undone_by_concat() -> None:
    for axis, parts in [(0, 2), (1, 5), (2, [1, 3, 3]), (-1, [0, 6])]:
        pieces = pb.split(pb.constant(X), parts, axis=axis)
        for piece, want in zip(pieces, np.split(X, parts, axis=axis), strict=True):
            assert np.array_equal(piece.numpy(), want)
        assert np.array_equal(pb.concat(pieces, axis=axis).numpy(), X)


def test_concat_of_views_and_scalars() -> None:
    x = pb.constant(X[0])
    got = pb.concat([x.T, pb.zeros((6, 1), dtype="float64"), x.T[:, ::-1]], axis=1)
    want = np.concatenate([X[0].T, np.zeros((6, 1)), X[0].T[:, ::-1]], axis=1)
    assert np.array_equal(got.numpy(), want)
    assert pb.stack([1.0, pb.constant(2.0), 3]).numpy().tolist() == [1.0, 2.0, 3.0]
    many = pb.concat([pb.constant([float(k)]) for k in range(500)])
    assert np.array_equal(many.numpy(), np.arange(500.0))
