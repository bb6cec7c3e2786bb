"""What runs together: whole layers with their gradients as one group of tiles, products with what
follows them, and what is left apart because it would only keep memory alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.plans import arena, large_steps, operations, plan_of

import pullback as pb

R = np.random.default_rng(0)
A = R.normal(size=(64, 200))
LABELS = pb.constant(R.dirichlet(np.ones(200), 64))
DIGITS = pb.constant(R.integers(0, 200, 64))


def normalized(x: Any) -> Any:
    centred = x - pb.mean(x, -1, keepdims=True)
    return centred / pb.sqrt(pb.mean(pb.square(centred), -1, keepdims=True) + 1e-5)


LOSSES: dict[str, Callable[[Any], Any]] = {
    "chain": lambda x: pb.sum(pb.tanh(1.5 * x + 0.3) * pb.exp(-(x * x))),
    "softmax": lambda x: pb.sum(pb.square(pb.softmax(x))),
    "log_softmax": lambda x: pb.sum(pb.square(pb.log_softmax(x))),
    "layer norm": lambda x: pb.sum(pb.tanh(normalized(x))),
    "cross entropy": lambda x: pb.mean(pb.softmax_cross_entropy(x, LABELS)),
    "sparse cross entropy": lambda x: pb.mean(pb.nn.sparse_softmax_cross_entropy(x, DIGITS)),
    "logsumexp of rows": lambda x: pb.sum(pb.special.logsumexp(x, axis=1)),
    "max of rows": lambda x: pb.sum(pb.square(pb.max(x, axis=1))),
}


@each("name", LOSSES)
def test_a_layer_with_its_gradient_reads_its_input_once(name: str) -> None:
    x = pb.Variable(A)
    loss = LOSSES[name](x)
    steps, text = plan_of(loss, *pb.gradients(loss, [x]))
    assert set(steps) == {"tiles"} and steps["tiles"] <= 2
    (large,) = large_steps(text)
    assert large.count("load arg0:") == 1 and text.count("load arg0:") == 1
    assert arena(text) <= 128


def test_gradients_of_shared_rows_are_columns_of_the_same_group() -> None:
    x, scale, shift = pb.Variable(A), pb.Variable(np.ones(200)), pb.Variable(np.zeros(200))
    loss = pb.sum(pb.tanh(normalized(x) * scale + shift))
    steps, text = plan_of(loss, *pb.gradients(loss, [x, scale, shift]))
    assert steps == {"tiles": 1} and text.count("sum v") == 3 and arena(text) == 0


# --- products


def network(rows: int = 16) -> tuple[list[pb.Variable], Any]:
    shapes = [(30, 20), (20,), (20, 12), (12,)]
    w = [pb.Variable(R.normal(size=s)) for s in shapes]
    x = pb.constant(R.normal(size=(rows, 30)))
    labels = pb.constant(R.dirichlet(np.ones(12), rows))
    hidden = pb.relu(x @ w[0] + w[1])
    return w, pb.mean(pb.softmax_cross_entropy(hidden @ w[2] + w[3], labels))


def test_what_follows_a_product_runs_in_its_panels() -> None:
    w, loss = network()
    steps, text = plan_of(loss, *pb.gradients(loss, w))
    assert steps == {"gemm": 5, "tiles": 1}  # the tiles: the mean over 16 numbers
    assert text.count("epilogue tiles") == 3
    counts = operations(text)
    assert counts["relu"] == counts["exp"] == 1
    assert len(large_steps(text)) == 5


def test_a_product_with_a_bias_and_an_activation_is_one_step() -> None:
    x, w = pb.constant(A), pb.constant(np.ones((200, 8)))
    for after in (pb.relu, pb.tanh, pb.softmax, lambda y: y * pb.ones(8, dtype=np.float64)):
        steps, text = plan_of(after(pb.matmul(x, w)))
        assert steps["gemm"] == 1 and "epilogue tiles" in text


# --- what stays apart


def test_a_sum_over_a_middle_axis_waits_for_the_whole_product() -> None:
    """Sums of rows and of columns follow the product panel by panel."""
    x, w = pb.constant(A.reshape(4, 16, 200)), pb.constant(np.ones((200, 8)))
    for axis, apart in ((0, False), (1, True), (2, False)):
        steps, text = plan_of(pb.sum(pb.tanh(x @ w), axis))
        assert steps == {"gemm": 1, **({"tiles": 1} if apart else {})}, axis
        assert ("epilogue tiles" in text) == (not apart)


def test_unrelated_groups_of_one_size_do_not_wait_for_each_other() -> None:
    """Fused, all 100 products would be alive at once."""
    x = pb.constant(np.ones((256, 64), np.float32))
    total = pb.constant(np.float32(0))
    for k in range(100):
        w = pb.constant(np.full((64, 256), 1 + k, np.float32))
        total = total + pb.sum(pb.sum(pb.tanh(x @ w), axis=1))
    _, text = plan_of(total)
    assert text.count("gemm") == 100
    # Products are kept for whoever looks at them again, so count what is not an output.
    assert arena(text) <= 4 * 256 * 256 * 4


def test_long_chains_over_large_arrays_are_cut() -> None:
    def chain(n: int) -> int:
        x = y = pb.constant(np.ones(n, np.float32))
        for _ in range(300):
            y = pb.sin(y) + x
        return plan_of(y)[0]["tiles"]

    assert chain(100) == 1 and 600 / 96 <= chain(20_000) <= 600 / 48 + 1


def test_rows_too_long_for_the_cache_are_folded_apart() -> None:
    for length, count in ((8192, 1), (8193, 3)):
        x = pb.constant(np.ones((4, length), np.float32))
        steps, _ = plan_of(pb.softmax(x))
        assert (steps["tiles"] == 1) == (count == 1), length


# --- values, where the plan is special


@each("length", [1, 2, 1023, 8191, 8192, 8193, 20_000])
@each("rows", [0, 1, 3])
def test_rows_of_any_length(rows: int, length: int) -> None:
    """Small whole numbers: sums are exact in any order."""
    data = R.integers(-3, 4, (rows, length)).astype(np.float64)
    x = pb.Variable(data)
    top = pb.max(x, 1, keepdims=True)
    y = (x - top) * pb.sum(x, 1, keepdims=True)
    loss = pb.sum(y)
    values = y, loss, pb.sum(y, 0), *pb.gradients(pb.sum(x * pb.sum(x, 1, keepdims=True)), [x])
    pb.evaluate(values)
    sums = data.sum(1, keepdims=True)
    expected = (data - data.max(1, keepdims=True)) * sums
    for got, want in zip(
        values, (expected, expected.sum(), expected.sum(0), 2 * sums + 0 * data), strict=True
    ):
        assert got is not None and np.array_equal(got.numpy(), want)


def test_several_row_lengths_of_one_element_count() -> None:
    data = R.integers(-3, 4, 240).astype(np.float64)
    x = pb.constant(data)
    results, expected = [], []
    for shape in ((2, 120), (120, 2), (240, 1), (1, 240), (8, 30), (15, 16)):
        y, z = pb.reshape(x, shape), data.reshape(shape)
        results += [y * pb.sum(y, 1, keepdims=True), pb.sum(y, 0), pb.max(y), pb.max(y, 1)]
        expected += [z * z.sum(1, keepdims=True), z.sum(0), z.max(), z.max(1)]
    pb.evaluate(results)
    for k, (got, want) in enumerate(zip(results, expected, strict=True)):
        assert np.array_equal(got.numpy(), want), k


def test_folds_of_folds() -> None:
    data = R.integers(-3, 4, (6, 5, 7)).astype(np.float64)
    x = pb.constant(data)
    for axes in ((0, 0, 0), (2, 1, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0)):
        y, z = x, data
        for axis in axes:
            y, z = pb.sum(y, axis) * 2.0, z.sum(axis) * 2.0
            y, z = y - pb.max(y), z - z.max()
        assert np.array_equal(y.numpy(), z), axes


@pytest.mark.parametrize("shape", [(93, 1), (31, 3), (1, 5), (0, 3)])
def test_rows_of_one_entry(shape: tuple[int, ...]) -> None:
    """Picking from rows of one entry and placing into such, beside other groups of that size."""
    from pullback import _core

    data = R.integers(-3, 4, shape).astype(np.float64)
    x = pb.Variable(data)
    zero = pb.constant(np.zeros(shape[:-1], np.int64))
    first = _core.pick(x, zero)
    placed = _core.place(pb.sign(first), zero, 1)
    total = pb.sum(first * 2.0)
    results = [first, placed, total, *pb.gradients([total, placed], [x])]
    pb.evaluate(results)
    slope = np.zeros(shape)
    slope[:, 0] = 2
    expected = [data[:, 0], np.sign(data[:, :1]), 2 * data[:, 0].sum(), slope]
    for got, want in zip(results, expected, strict=True):
        assert got is not None and np.array_equal(got.numpy(), want)


ROWS = R.integers(-3, 4, (40, 50)).astype(np.float64)
PLACES = R.integers(0, 50, 40)


def placed(values: Any, x: pb.Variable) -> Any:
    """Return the gradient by `x`, of shape (40, 50), of one entry of each row."""
    from pullback import _core

    [g] = pb.gradients(_core.pick(x, pb.constant(PLACES)), [x], grad_ys=values)
    return g


def one_hot(values: Any) -> Any:
    out = np.zeros_like(ROWS)
    out[np.arange(40), PLACES] = values
    return out


def test_a_placed_entry_that_is_added_and_multiplied() -> None:
    values = R.integers(1, 4, 40).astype(np.float64)
    g = placed(pb.constant(values), pb.Variable(ROWS))
    results = [g + pb.constant(ROWS), g * pb.constant(ROWS)]
    del g
    pb.evaluate(results)
    expected = one_hot(values)
    assert np.array_equal(results[0].numpy(), expected + ROWS)
    assert np.array_equal(results[1].numpy(), expected * ROWS)


def test_a_placed_entry_is_read_before_its_memory_is_written() -> None:
    """The row sums take the memory of the placed values, which nothing else reads."""
    left, right = R.integers(1, 4, (40, 8)) * 1.0, R.integers(1, 4, (40, 3)) * 1.0
    entries = pb.Variable(ROWS)

    @pb.function
    def step(x: Any, left: Any, right: Any) -> Any:
        total = pb.reshape(left[:1] @ pb.transpose(left[:1], (1, 0)), ())
        g = placed(left @ pb.ones(8, dtype="float64"), entries)
        sums = pb.sum(x * total, 1)
        return g + x, sums @ right

    added, product = step(pb.constant(ROWS), pb.constant(left), pb.constant(right))
    assert np.array_equal(added.numpy(), one_hot(left.sum(1)) + ROWS)
    total = (left[0] ** 2).sum()
    assert np.array_equal(product.numpy(), (ROWS * total).sum(1) @ right)


@each("of_rows", [pb.sin, pb.cos])
def test_sine_and_cosine_of_rows_and_of_elements(of_rows: Callable[[Any], Any]) -> None:
    """One call computes both of one value, but only if both are over rows or over elements."""
    of_elements = pb.cos if of_rows is pb.sin else pb.sin
    x = pb.constant(ROWS)
    sums = pb.sum(x, 1, keepdims=True)
    results = [of_rows(sums), of_elements(pb.broadcast_to(sums, ROWS.shape)) * x]
    del sums
    pb.evaluate(results)
    want = ROWS.sum(1, keepdims=True)
    numpy = {pb.sin: np.sin, pb.cos: np.cos}
    np.testing.assert_allclose(results[0].numpy(), numpy[of_rows](want), rtol=1e-12)
    expected = numpy[of_elements](want) * ROWS
    np.testing.assert_allclose(results[1].numpy(), expected, rtol=1e-12)


def test_sums_of_complex_tensors_read_pairs_in_order() -> None:
    """Their real and imaginary parts alternate in memory; a sum has no need to separate them."""
    rng = np.random.default_rng(0)
    z, w = (rng.standard_normal((30, 50)) + 1j * rng.standard_normal((30, 50)) for _ in range(2))
    sums = pb.function(lambda z, w: (pb.reshape(-(z + w) - z, (1500,)), z + w))
    steps = sums.plan(z, w)
    assert steps.count("tiles") == 1 and "strides" not in steps, steps
    shifted, total = sums(z, w)
    assert np.array_equal(total.numpy(), z + w)
    assert np.array_equal(shifted.numpy(), (-(z + w) - z).reshape(-1))
    # Operations on parts after a sum are computed with it.
    products = pb.function(lambda z, w: ((z + w) * w, z + w))
    product, total = products(z, w)
    assert np.allclose(product.numpy(), (z + w) * w) and np.array_equal(total.numpy(), z + w)
    assert pb.function(lambda z, w: (z + w) * w).plan(z, w).count("tiles") == 1


def test_columns_of_one_memory_are_read_together() -> None:
    x = np.random.default_rng(0).standard_normal((2000, 3))
    columns = pb.function(lambda x: (pb.exp(x[:, 0]), pb.sin(x[:, 1]), x[:, 2] + 1))
    assert columns.plan(x).count("tiles") == 1
    for got, want in zip(columns(x), (np.exp(x[:, 0]), np.sin(x[:, 1]), x[:, 2] + 1), strict=True):
        assert np.allclose(got.numpy(), want, rtol=1e-15)
    z = x[:, 0] + 1j * x[:, 1]
    assert pb.function(pb.conj).plan(z).count("tiles") == 1
