"""Arrays past the sizes of tiles, blocks and chunks, where kernels change their path: reductions of
any axes, broadcast and strided operands, copies, products, gathers. The data are small integers, so
every sum and product is exact and the answer is NumPy's to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.each import each, examples

import pullback as pb

BUDGET = settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
LENGTHS = [1, 2, 3, 7, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 1024, 2049, 5000, 20_001, 70_000]
DTYPES = st.sampled_from(["int32", "int64", "float32", "float64"])


@st.composite
def shapes(draw: Any, most: int = 300_000, rank: int = 4) -> tuple[int, ...]:
    shape: list[int] = []
    for _ in range(draw(st.integers(1, rank))):
        room = most // int(np.prod(shape, initial=1))
        shape.append(draw(st.sampled_from([n for n in LENGTHS if n <= room])))
    return tuple(draw(st.permutations(shape)))


def integers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


@given(shapes(), DTYPES, st.data())
@BUDGET
def test_reductions(shape: tuple[int, ...], dtype: str, data: Any) -> None:
    x = integers(shape, dtype)
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    keep = data.draw(st.booleans())
    t = pb.constant(x)
    doubled = t * 2  # a computed operand as well: its last instruction feeds the fold
    for ours, theirs in ((pb.sum, np.sum), (pb.max, np.max), (pb.min, np.min)):
        expected = theirs(x, axis=axes, keepdims=keep)
        assert np.array_equal(ours(t, axis=axes, keepdims=keep).numpy(), expected)
        assert np.array_equal(ours(doubled, axis=axes, keepdims=keep).numpy(), 2 * expected)
    for ours, theirs in ((pb.any, np.any), (pb.all, np.all)):
        assert np.array_equal(ours(t > 3, axis=axes).numpy(), theirs(x > 3, axis=axes))
        assert np.array_equal(ours(t, axis=axes).numpy(), theirs(x, axis=axes))
    for ours, theirs in ((pb.argmax, np.argmax), (pb.argmin, np.argmin)):
        assert np.array_equal(ours(t, axis=axes[0]).numpy(), theirs(x, axis=axes[0]))
        assert np.array_equal(ours(t).numpy(), theirs(x))


@given(shapes(), DTYPES, st.data())
@BUDGET
def test_operands_of_any_strides(shape: tuple[int, ...], dtype: str, data: Any) -> None:
    """Transposed, reversed, sliced and broadcast operands in one program, and each copied alone."""
    rank = len(shape)
    x = integers(shape, dtype)
    order = tuple(data.draw(st.permutations(range(rank))))
    inverse = tuple(np.argsort(order))
    stored = np.ascontiguousarray(np.transpose(x, order))
    moved = pb.transpose(pb.constant(stored), inverse)
    assert np.array_equal(moved.numpy(), x)
    flips = tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in shape)
    flipped = pb.constant(np.ascontiguousarray(x[flips]))[flips]
    assert np.array_equal(flipped.numpy(), x)
    axis = data.draw(st.integers(0, rank - 1))
    step = data.draw(st.sampled_from([2, 3]))
    key = (*(slice(None),) * axis, slice(1, None, step))
    sliced = pb.constant(np.repeat(x, step, axis))[key]
    assert np.array_equal(sliced.numpy(), x)
    ones = tuple(data.draw(st.sampled_from([1, n])) for n in shape)
    row = integers(ones, dtype, 1)
    result = moved * 3 + flipped - sliced * pb.constant(row)
    assert np.array_equal(result.numpy(), 4 * x - x * row)
    assert np.array_equal(pb.sum(result, axis=axis).numpy(), np.sum(4 * x - x * row, axis=axis))


@given(shapes(), st.data())
@BUDGET
def test_gradients_of_views_and_sums(shape: tuple[int, ...], data: Any) -> None:
    x = integers(shape, "float64")
    v = pb.Variable(x)
    axis = data.draw(st.integers(0, len(shape) - 1))
    ones = tuple(data.draw(st.sampled_from([1, n])) for n in shape)
    w = pb.Variable(integers(ones, "float64", 1))
    c = integers(tuple(np.delete(shape, axis)), "float64", 2)
    y = pb.sum(v * w, axis=axis)
    gv, gw = pb.gradients(y, [v, w], grad_ys=c)
    spread = np.broadcast_to(np.expand_dims(c, axis), shape)
    assert np.array_equal(gv.numpy(), spread * w.numpy())
    folded = tuple(k for k, n in enumerate(ones) if n == 1 and shape[k] != 1)
    assert np.array_equal(gw.numpy(), np.sum(spread * x, axis=folded, keepdims=True))
    part = slice(shape[axis] // 3, None, 2)
    key = (*(slice(None),) * axis, part)
    (g,) = pb.gradients(v[key] * 2, [v])
    want = np.zeros(shape)
    want[key] = 2
    assert np.array_equal(g.numpy(), want)


@given(shapes(100_000, 3), shapes(100_000, 3), st.data())
@BUDGET
def test_concat_and_take(a: tuple[int, ...], b: tuple[int, ...], data: Any) -> None:
    axis = data.draw(st.integers(0, len(a) - 1))
    lengths = [a[axis], data.draw(st.integers(0, 5)), 1]
    parts = [integers((*a[:axis], n, *a[axis + 1 :]), "float32", n) for n in lengths]
    joined = pb.concat([pb.constant(p) for p in parts], axis=axis)
    assert np.array_equal(joined.numpy(), np.concatenate(parts, axis=axis))
    shape = b[:2]
    if np.prod(a) // a[axis] * np.prod(shape) > 300_000:
        return
    indices = np.random.default_rng(0).integers(-a[axis], a[axis], shape)
    x = pb.Variable(parts[0])
    y = pb.take(x, indices, axis=axis)
    assert np.array_equal(y.numpy(), np.take(parts[0], indices, axis=axis))
    c = integers(y.shape, "float32", 5)
    (g,) = pb.gradients(y, [x], grad_ys=c)
    want = np.zeros_like(parts[0])
    key = (*(slice(None),) * axis, indices)
    np.add.at(want, key, c)
    assert np.array_equal(g.numpy(), want)


SIZES = st.sampled_from([1, 2, 3, 5, 16, 31, 64, 100, 129, 300])


@given(st.lists(SIZES, min_size=3, max_size=3), DTYPES, st.data())
@BUDGET
def test_products(size: list[int], dtype: str, data: Any) -> None:
    """Operands stored any way round, with batches, broadcast ones too; and both gradients."""
    m, k, n = size
    batch = data.draw(st.sampled_from([(), (3,), (2, 2)]))
    left = (*data.draw(st.sampled_from([batch, (), (1,) * len(batch)])), m, k)
    right = (*batch, k, n)
    a, b = integers(left, dtype), integers(right, dtype, 1)

    def stored(x: Any) -> Any:
        way = data.draw(st.sampled_from(["plain", "transposed", "reversed", "strided", "computed"]))
        swap = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        if way == "transposed":
            return pb.transpose(pb.constant(np.ascontiguousarray(np.transpose(x, swap))), swap)
        if way == "reversed":
            return pb.constant(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
        if way == "strided":
            return pb.constant(np.repeat(np.repeat(x, 2, -1), 2, -2))[..., ::2, ::2]
        return pb.constant(x) * 1 if way == "computed" else pb.constant(x)

    expected = np.matmul(a, b)
    assert np.array_equal((stored(a) @ stored(b)).numpy(), expected)
    if dtype[0] == "f":
        va, vb = pb.Variable(a), pb.Variable(b)
        c = integers(expected.shape, dtype, 2)
        ga, gb = pb.gradients(va @ vb, [va, vb], grad_ys=c)
        want = np.matmul(c, np.swapaxes(b, -1, -2))
        want = want if want.shape == a.shape else want.reshape(-1, m, k).sum(0).reshape(a.shape)
        assert np.array_equal(ga.numpy(), want)
        whole = np.broadcast_to(a, (*batch, m, k))
        assert np.array_equal(gb.numpy(), np.matmul(np.swapaxes(whole, -1, -2), c))


@each("dtype", ["float32", "float64"])
def test_packed_operands_of_a_batch(dtype: str) -> None:
    """Rows and columns in reverse are copied for each matrix of the batch. From k n = 4096 on BLAS
    computes such products, not our kernel, which takes any strides."""
    a, b = integers((3, 33, 64), dtype), integers((3, 64, 100), dtype, 1)
    forward, reverse = np.matmul(a, b), (slice(None), slice(None, None, -1), slice(None, None, -1))
    backward = pb.constant(np.ascontiguousarray(a[reverse]))[reverse]
    np.testing.assert_array_equal(backward @ pb.constant(b), forward)
    turned = pb.constant(np.ascontiguousarray(b[reverse]))[reverse]
    np.testing.assert_array_equal(pb.constant(a) @ turned, forward)
    np.testing.assert_array_equal(backward @ turned, forward)


@pytest.mark.parametrize(
    "m, k, n", [(2, 100_000, 3), (1, 70_001, 1), (3000, 2, 2500), (1, 9, 50_000)]
)
def test_thin_products(m: int, k: int, n: int) -> None:
    """Long sums are cut into parts, wide results into panels."""
    a, b = integers((m, k), "float64"), integers((k, n), "float64", 1)
    assert np.array_equal((pb.constant(a) @ pb.constant(b)).numpy(), a @ b)


def test_a_sum_ends_at_the_end_of_its_result() -> None:
    """The last strip of a middle axis is narrower than the others. The third sum lies in the memory
    of the first, in front of the second, which is read later."""
    a, b, c = (integers((2, 60, 2500), "float64", k) for k in range(3))
    t: Any = 1.0
    for x in (a, b, c):
        before, t = t, pb.sum(pb.constant(x) * t, 1, keepdims=True)
    u = (b * a.sum(1, keepdims=True)).sum(1, keepdims=True)
    expected = (u * (c * u).sum(1, keepdims=True)).sum(2)
    product = pb.sum(before * t, 2)
    del before, t  # what is held has memory of its own
    assert np.array_equal(product.numpy(), expected)


def test_long_axes_of_softmax() -> None:
    x = np.random.default_rng(0).standard_normal((3, 40_000))
    e = np.exp(x - x.max(1, keepdims=True))
    want = e / e.sum(1, keepdims=True)
    np.testing.assert_allclose(pb.softmax(pb.constant(x)).numpy(), want, rtol=1e-13)
    columns = pb.softmax(pb.constant(np.ascontiguousarray(x.T)), axis=0)
    np.testing.assert_allclose(columns.numpy(), want.T, rtol=1e-13)
    v = pb.Variable(x)
    (g,) = pb.gradients(pb.logsumexp(v, axis=1), [v])
    np.testing.assert_allclose(g.numpy(), want, rtol=1e-13)


def test_parts_of_an_axis_meet_at_no_entry() -> None:
    """Rows too narrow to be cut: threads have parts of the axis, here around position 10 000."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, 20_000, 10_000)
    at[:100] = [10_000, 5_000, 15_000, 9_999] * 25
    rows = rng.integers(0, 9, (10_000, 16)).astype(np.float32)
    expected = np.zeros((20_000, 16), np.float32)
    np.add.at(expected, at, rows)
    np.testing.assert_array_equal(pb.zeros((20_000, 16)).at[at].add(rows).numpy(), expected)


def test_many_positions_of_several_blocks() -> None:
    rng = np.random.default_rng(4)
    for blocks, axis, n in (
        (4, 50, 512),
        (11, 49, 3000),
        (5, 9000, 1025),
        (128, 7, 700),
        (3, 8, 999),
    ):
        for dtype in ("float64", "float32", "int32", "bool"):
            x = rng.integers(-9, 9, (blocks, axis)).astype(dtype)
            positions = rng.integers(-axis, axis, n)
            for at in (positions, positions.astype("int32")):
                np.testing.assert_array_equal(pb.constant(x)[:, at], x[:, at])
                np.testing.assert_array_equal(pb.constant(x.T).T[:, at], x[:, at])
            with pytest.raises(IndexError):
                pb.constant(x)[:, np.append(positions, axis)].numpy()
