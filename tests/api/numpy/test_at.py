"""x.at[index]: what happens to entries named twice; masks, dtypes, errors, traced functions,
threads, and what it costs. Indices drawn at random are in test_at_any_index.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.reference import UFUNCS, put

import pullback as pb
from pullback import _core

UPDATES = ["set", *UFUNCS]

# --- entries named twice


def test_products_of_entries_named_twice() -> None:
    x, value = pb.Variable([2.0, 3.0, 5.0]), pb.Variable([7.0, 11.0])
    y = x.at[[1, 1]].multiply(value)
    assert y.numpy().tolist() == [2.0, 231.0, 5.0]
    assert pb.gradients(y, [x])[0].numpy().tolist() == [1.0, 77.0, 1.0]
    for key in ([1, 1], pb.constant([1, -2]), pb.constant([0, -3]) + 1):
        y = x.at[key].multiply(value)
        assert pb.gradients(y, [value])[0].numpy().tolist() == [33.0, 21.0]
    y = x.at[pb.constant([2, -3])].multiply(value)
    assert pb.gradients(y, [value])[0].numpy().tolist() == [5.0, 2.0]
    many = pb.function(lambda x, value, i: pb.gradients(x.at[i].multiply(value), [value])[0])
    with pytest.raises(NotImplementedError, match=r"at\[\].multiply: .* to find repeated ones"):
        many(x, value, np.array([1, 1]))


@each("shape, axis", [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1)])
@each("zeros", [0.0, 0.4])
@each("block", [(1,), (9,), (2, 4), (23,)])
def test_gradients_of_products_divide_by_nothing(
    shape: tuple[int, ...], axis: int, zeros: float, block: tuple[int, ...]
) -> None:
    """Against the slopes of a sum of products written out, to second order, zeros included."""
    rng = np.random.default_rng(7)
    keep = lambda a: np.where(rng.random(a.shape) < zeros, 0.0, a)  # noqa: E731
    indices = rng.integers(-shape[axis], shape[axis], block)
    key = (slice(None),) * axis + (indices,)
    x = pb.Variable(keep(rng.uniform(0.5, 1.5, shape)))
    value = pb.Variable(keep(rng.uniform(0.5, 1.5, np.empty(shape)[key].shape)))
    c, d = rng.standard_normal(shape), rng.standard_normal(value.shape)

    def written_out() -> Any:
        out = pb.moveaxis(x, axis, 0)
        rows = pb.reshape(
            pb.moveaxis(value, tuple(range(axis, axis + len(block))), tuple(range(len(block)))),
            (-1, *out.shape[1:]),
        )
        whole = []
        for k in range(shape[axis]):
            whole.append(out[k])
            for j in np.flatnonzero(indices.reshape(-1) % shape[axis] == k):
                whole[-1] = whole[-1] * rows[int(j)]
        return pb.moveaxis(pb.stack(whole), 0, axis)

    found = []
    for y in (x.at[key].multiply(value), written_out()):
        by_x, by_value = pb.gradients(y, [x, value], grad_ys=c)
        second = pb.gradients(pb.sum(by_value * d), [x, value], unconnected_gradients="zero")
        found.append([t.numpy() for t in (y, by_x, by_value, *second)])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


def test_multiply_of_nothing_by_an_index_that_comes_twice():
    x, a = pb.Variable(np.ones((2, 0))), pb.Variable(np.ones((3, 1)))
    y = x.at[np.array([1, -1, 1])].multiply(a)
    by_x, by_a = pb.gradients(y, [x, a])
    assert by_x.shape == (2, 0)
    assert by_a.numpy().tolist() == [[0.0], [0.0], [0.0]]


def test_many_addends_meet_in_one_entry_without_losing_digits() -> None:
    n = 300_000
    x = pb.constant(np.array([1.0, 2.0], np.float32))
    y = x.at[np.zeros(n, np.int64)].add(np.full(n, 0.1, np.float32)).numpy()
    assert y.tolist() == [np.float32(1 + np.float64(np.float32(0.1)) * n), 2.0]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("shape, axis", [((100_000,), 0), ((300, 400), 0), ((300, 400), 1)])
def test_the_order_and_the_bits_do_not_depend_on_threads(
    update: str, shape: tuple[int, ...], axis: int
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape)
    indices = rng.integers(-shape[axis], shape[axis], 2 * shape[axis])
    key = (slice(None),) * axis + (indices,)
    value = rng.uniform(0.5, 1.5, x[key].shape)
    want = put(x, value, key, update)
    threads = pb.num_threads()
    try:
        for n in (1, 2, 3, 8):
            pb.set_num_threads(n)
            got = getattr(pb.constant(x).at[key], update)(value).numpy()
            assert got.tobytes() == want.tobytes(), n
    finally:
        pb.set_num_threads(threads)


# --- masks


def test_masks_update_in_place_of_where() -> None:
    x = pb.Variable([1.0, -2.0, 3.0])
    y = x.at[x < 0].set(0.5)
    assert y.numpy().tolist() == [1.0, 0.5, 3.0]
    assert pb.gradients(y, [x])[0].numpy().tolist() == [1.0, 0.0, 1.0]

    @pb.function
    def clipped(x: Any, low: Any) -> Any:
        return x.at[x < low].set(low)

    assert clipped(np.array([1.0, -2.0, 3.0]), 2.0).numpy().tolist() == [2.0, 2.0, 3.0]

    rows = np.array([True, False])
    table = pb.constant([[1, 2, 3], [4, 5, 6]])
    assert table.at[rows].add([10, 20, 30]).numpy().tolist() == [[11, 22, 33], [4, 5, 6]]
    assert table.at[pb.constant(rows)].set([[7, 8, 9]]).numpy().tolist() == [[7, 8, 9], [4, 5, 6]]


def test_a_mask_without_a_value_is_an_error_in_a_traced_function() -> None:
    for f in (lambda x: x[x > 0], lambda x: x.at[x > 0].set([1.0, 2.0])):
        with pytest.raises(IndexError, match="where"):
            pb.function(f)(np.array([1.0, -1.0, 2.0]))


# --- overwritten entries are structural zeros


def test_what_was_overwritten_cannot_leak() -> None:
    for key in (0, np.s_[:1], [0], np.array([True, False])):
        x = pb.Variable([0.0, 2.0])
        y = pb.log(x).at[key].set(3.0)
        (g,) = pb.gradients(pb.sum(y), [x])
        assert g.numpy().tolist() == [0.0, 0.5], key
    # The value that was set over by a later one.
    value = pb.Variable([0.0, 1.0])
    y = pb.constant([5.0, 6.0]).at[[1, 1]].set(pb.log(value))
    assert pb.gradients(pb.sum(y), [value])[0].numpy().tolist() == [0.0, 1.0]


# --- dtypes


@each("dtype", ["bool", "int32", "int64", "float32", "float64"])
@each("key", [0, [0]], ids=str)
def test_the_dtype_is_that_of_the_tensor(dtype: str, key: Any) -> None:
    x = pb.zeros(2, dtype)
    order = ["bool", "int32", "int64", "float32", "float64"]
    kind = {"bool": 0, "int32": 1, "int64": 1, "float32": 2, "float64": 2}
    for other in order:
        value = np.ones((), other)
        if kind[other] > kind[dtype]:
            with pytest.raises(
                TypeError, match=f"at\\[\\].set: expected a value that {dtype} .* {other}"
            ):
                x.at[key].set(value)
            continue
        y = x.at[key].set(value)
        assert y.dtype == dtype and y.numpy().tolist() == [1, 0]
    if kind[dtype] < 2:
        with pytest.raises(TypeError):
            x.at[key].add(1.5)
    if dtype != "bool":
        assert x.at[key].add(1).dtype == dtype
        assert x.at[key].set([True]).dtype == dtype
    with pytest.raises(OverflowError):
        pb.zeros(2, "int32").at[key].set(2**40)


def test_lists_keep_their_digits() -> None:
    x = pb.zeros(2, "float64")
    assert x.at[[0, 1]].set([0.1, 0.2]).numpy().tolist() == [0.1, 0.2]


@pytest.mark.parametrize("update", UPDATES)
def test_truth_values(update: str) -> None:
    x = np.array([True, True, False, False])
    value = np.array([True, False, True, False])
    for key in (np.s_[:], [0, 1, 2, 3], [3, 2, 3, 2]):
        got = getattr(pb.constant(x).at[key], update)(value).numpy()
        assert np.array_equal(got, put(x, value, key, update))


def test_nan_wins_in_min_and_max() -> None:
    nan = np.nan
    for key in (np.s_[:], [0, 1, 2]):
        for update in ("min", "max"):
            at = pb.constant([nan, 1.0, 2.0]).at[key]
            got = getattr(at, update)([1.0, nan, 2.0]).numpy()
            assert np.array_equal(got, [nan, nan, 2.0], equal_nan=True)


# --- errors

X = np.arange(12.0).reshape(3, 4)


@each(
    "key, text",
    [
        ([0, 3], "3 is out of range for axis 0 of size 3"),
        (np.s_[:, [0, -5]], "-5 is out of range for axis 1 of size 4"),
        (np.s_[[0], 4], "4 is out of range for axis 1 of size 4"),
        (np.s_[[0, 1], [0, 1, 2]], r"whose shapes broadcast, got \(2,\), \(3,\)"),
        (np.ones((3, 3), bool), r"a mask of shape \(3, 4\).* got \(3, 3\)"),
        (np.s_[..., np.ones(3, bool)], "a mask"),
        (np.s_[[0], 0, 0], "at most 2 indices .* got 3"),
        (np.array([0.0]), "float64"),
        (np.s_[[0], "a"], "got str"),
        (np.s_[[0], ..., ...], "at most one Ellipsis"),
        (pb.constant([0.0]), "a float32 tensor"),
        (np.uint64([2**63 + 5]), "out of range"),
    ],
    ids=str,
)
def test_bad_indices(key: Any, text: str) -> None:
    x = pb.constant(X)
    for attempt in (lambda: x[key], lambda: x.at[key].set(0.0), lambda: x.at[key].add(1)):
        with pytest.raises(IndexError, match=text):
            attempt()


def test_tensors_out_of_range_that_have_their_value() -> None:
    x, bad = pb.Variable(X), pb.constant([0, 7], "int32")
    for call, who in (
        (lambda: x[bad], "index"),
        (lambda: x[:, bad], "index"),
        (lambda: x.at[bad].set(0.0), r"at\[\].set"),
        (lambda: x.at[bad].add(1.0), r"at\[\].add"),
        (lambda: pb.take(x, bad, axis=1), "take"),
        (lambda: pb.take(x, [-5, 7], axis=1), "take"),
    ):
        with pytest.raises(
            IndexError, match=rf"^{who}: index (7|-5) is out of range for axis [01] of size [34]$"
        ):
            call()


def test_tensors_out_of_range_are_found_when_computed() -> None:
    x = pb.Variable(X)
    bad = pb.constant([0, 7]) + 0
    for y in (x[bad], x.at[bad].set(0.0), x.at[bad].add(1.0), x[:, bad]):
        for _ in range(2):
            with pytest.raises(IndexError, match=r"index 7 is out of range .* size [34]"):
                y.numpy()
    # Of several, each axis is checked by itself, though the position would exist.
    assert X[0, 3] == X.reshape(-1)[3]
    for key in ((pb.constant([0]), pb.constant([7]) + 0), ([0], pb.constant([7]))):
        with pytest.raises(IndexError, match=r"7 is out of range .* size 4"):
            x[key].numpy()


@pytest.mark.parametrize("count", [2, 5000, 300_000])
def test_positions_of_several_axes_are_checked_where_they_are_computed(count: int) -> None:
    read = pb.function(lambda x, i, j, k: x[i // k, j + 0] + 1)
    rng = np.random.default_rng(3)
    i, j = rng.integers(-3, 3, count), rng.integers(-4, 4, count)
    assert np.array_equal(read(X, i, j, 1).numpy(), X[i, j] + 1)
    for bad in (4, -5, 2**62, -(2**63)):
        j[-1] = bad
        with pytest.raises(
            IndexError, match=rf"^take: index {bad} is out of range for an axis of size 4$"
        ):
            read(X, i, j, 1).numpy()
    j[-1] = 0
    with pytest.raises(ZeroDivisionError, match="floor_divide"):
        read(X, i, j, 0).numpy()


def test_positions_in_a_loop_are_checked() -> None:
    def total(i: Any) -> Any:
        step = lambda s, at: (s + pb.constant(X)[at[0], at[1]], None)  # noqa: E731
        return pb.scan(step, 0.0, i)[0].numpy()

    i = pb.constant([[0, 1], [-1, -4], [2, 3]])
    assert total(i) == X[0, 1] + X[-1, -4] + X[2, 3]
    with pytest.raises(IndexError, match=r"^take: index 4 is out of range for an axis of size 4$"):
        total(i + pb.constant([[0, 0], [0, 0], [0, 1]]))


def test_reads_at_computed_positions_are_one_gather_each() -> None:
    @pb.function
    def bilinear(x: Any, at: Any) -> Any:
        low = pb.floor(at)
        share = at - low
        i, j = pb.cast(low, "int64")
        above = x[i, j] * (1 - share[1]) + x[i, j + 1] * share[1]
        below = x[i + 1, j] * (1 - share[1]) + x[i + 1, j + 1] * share[1]
        return above * (1 - share[0]) + below * share[0]

    at = np.random.default_rng(4).uniform(0, 2, (2, 50))
    kinds = [line.split()[1] for line in bilinear.plan(X, at).splitlines() if line[:1].isdigit()]
    assert kinds.count("gather") == 4 and kinds.count("tiles") <= 3, kinds


def test_bad_values() -> None:
    x = pb.constant(X)
    with pytest.raises(ValueError, match=r"at\[\].set: .* \(4,\), got shape \(2,\)"):
        x.at[0].set([1.0, 2.0])
    with pytest.raises(ValueError, match=r"at\[\].add: .* \(2, 4\), got shape \(3, 3\)"):
        x.at[[0, 1]].add(np.zeros((3, 3)))
    # An assignment drops surplus axes of length 1.
    assert x.at[0].set(np.zeros((1, 1, 4))).numpy()[0].tolist() == [0.0] * 4
    assert x.at[[0]].set(np.zeros((1, 1, 4))).numpy()[0].tolist() == [0.0] * 4


def test_positions_along_an_axis() -> None:
    x = pb.constant(X)
    top = pb.argmax(x, axis=1, keepdims=True)
    assert np.array_equal(pb.take_along_axis(x, top).numpy(), X.max(1, keepdims=True))
    for axis, text in ((2, "axis 2"), (0, r"rank 2.*\(3,\)")):
        with pytest.raises(ValueError, match=text):
            pb.take_along_axis(x, [0, 0, 0], axis=axis)
    with pytest.raises(IndexError, match="index 3 is out of range for axis 0 of size 3"):
        pb.take_along_axis(x, [[3] * 4], axis=0)
    with pytest.raises(IndexError, match="index 7 is out of range for axis 1 of size 4"):
        pb.take_along_axis(x, pb.constant([[7]] * 3)).numpy()


# --- in functions, and what it costs


def test_traced_indices() -> None:
    @pb.function
    def f(x: Any, i: Any, value: Any) -> Any:
        return x[i, 1], x.at[i, -1].add(value)

    i = np.array([2, 0, 2])
    read, added = f(X, i, 10.0)
    assert np.array_equal(read.numpy(), X[i, 1])
    assert np.array_equal(added.numpy(), put(X, 10.0, (i, -1), "add"))
    with pytest.raises(IndexError, match="5 is out of range"):
        f(X, np.array([0, 5, 0]), 10.0)[0].numpy()


def listing(*tensors: Any) -> str:
    return str(_core.describe_plan(list(tensors)))


def test_slices_of_one_tensor_cost_their_pieces() -> None:
    """Their gradients are added where they belong, in the memory of the first."""
    x = pb.Variable(np.ones((50, 3)))
    (g,) = pb.gradients(sum(pb.sum(pb.sin(x[i])) for i in range(50)), [x])
    steps = [line for line in listing(g).splitlines() if line[0].isdigit()]
    kinds = [line.split()[1] for line in steps]
    assert set(kinds) == {"tiles"}  # stored there by the step that computes them
    assert np.array_equal(g.numpy(), np.cos(np.ones((50, 3))))


def test_equal_slices_are_added_before_they_are_put_in_place() -> None:
    x = pb.Variable(np.arange(5.0))
    (g,) = pb.gradients(pb.sum(x[1:] * 2 + pb.square(x[1:])) + pb.sum(x[:-1]), [x])
    kinds = [line.split()[1] for line in listing(g).splitlines() if line[0].isdigit()]
    assert kinds.count("embed") + kinds.count("add") == 2
    assert g.numpy().tolist() == [1.0, 5.0, 7.0, 9.0, 10.0]
    rows = pb.constant([0, 1, 1])
    (g,) = pb.gradients(pb.sum(pb.take(x, rows, axis=0)) + pb.sum(pb.square(x[rows])), [x])
    assert listing(g).count("scatter_") == 1
    assert g.numpy().tolist() == [1.0, 6.0, 0.0, 0.0, 0.0]


def test_updates_in_a_row_copy_once() -> None:
    x = pb.Variable(np.zeros(6))
    y = x.at[0].set(1.0).at[[1, 2]].add(2.0).at[3:].set(3.0).at[-1].multiply(2.0)
    assert listing(y).count("copy arg") == 1
    assert y.numpy().tolist() == [1.0, 2.0, 2.0, 3.0, 3.0, 6.0]
    # Who is still needed is left alone.
    a = x + 1
    b = a.at[0].set(5.0)
    assert (a + b).numpy().tolist() == [6.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    a = x + 1
    assert a.at[1:3].set(a[3:5] * 2).numpy().tolist() == [1.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    b = pb.square(x + 2)
    assert b.at[1:].add(b[:-1]).numpy().tolist() == [4.0] + [8.0] * 5


def test_at_is_no_sequence():
    """By its indices 0, 1, 2, … it would never end."""
    for way in (list, tuple, lambda at: 3 in at, lambda at: [*at]):
        with pytest.raises(TypeError, match="At"):
            way(pb.ones(3).at)
