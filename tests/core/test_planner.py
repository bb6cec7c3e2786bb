"""Plans of small programs: what is one step, what is none at all, how much scratch memory, what a
plan is keyed by, and that their size grows with the program and not faster."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.plans import arena, plan_of

import pullback as pb
from pullback import _core

A = np.ones((30, 20), np.float32)


# --- fusion


def test_a_chain_and_the_sum_at_its_end_are_one_step() -> None:
    x = pb.constant(A)
    steps, text = plan_of(pb.sum(pb.tanh(1.5 * x + 0.3) * pb.exp(-x * x)))
    assert steps == {"tiles": 1} and arena(text) == 0
    assert text.count("load") == 1 and text.count("scalar ") == 2
    assert text.count("store") == 1  # of the sum: a row that is known within the step


def test_value_and_gradient_of_a_chain_share_their_parts() -> None:
    x = pb.Variable(A)
    y = pb.sum(pb.tanh(x * x))
    steps, text = plan_of(y, *pb.gradients(y, [x]))
    assert steps["tiles"] <= 2 and sum(steps.values()) == steps["tiles"]
    assert text.count(" = tanh:") == 1


def test_two_results_of_one_chain_are_two_stores_of_one_step() -> None:
    x = pb.constant(A)
    y = pb.exp(x)
    steps, text = plan_of(y, y + 1)
    assert steps == {"tiles": 1} and text.count("store") == 2


def test_broadcast_operands_are_loads_with_stride_0() -> None:
    x, row = pb.constant(A), pb.constant(A[0])
    column = pb.constant(A[:, :1])
    steps, text = plan_of(x * row + column)
    assert steps == {"tiles": 1} and arena(text) == 0
    assert "strides(0, 1)" in text and "strides(1, 0)" in text


def test_a_product_that_two_groups_need_is_computed_twice() -> None:
    """Its factors are in memory, and the second group reads one of them anyway."""
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((1024, 300)) for _ in range(2))
    gradient = pb.function(lambda x, w: pb.grad(lambda x: pb.sum(pb.nn.softmax(x, axis=0) * w))(x))
    y = np.exp(x - x.max(0)) / np.exp(x - x.max(0)).sum(0)
    expected = y * w - y * (y * w).sum(0)
    np.testing.assert_allclose(gradient(x, w).numpy(), expected, rtol=1e-9, atol=1e-16)
    text = gradient.plan(x, w)
    assert arena(text) < x.nbytes / 10 and text.count(" = multiply:") == 3
    small = gradient.plan(x[:32], w[:32])
    assert small.count(" = multiply:") == 2


def test_scalars_are_slots_and_constant_arrays_are_scalars() -> None:
    steps, text = plan_of(pb.constant(A) * 2 + pb.zeros((30, 20)) - pb.ones((20,)))
    assert steps == {"tiles": 1} and "1 arguments, 3 scalars" in text


def test_groups_over_storage_dtypes_are_widened_by_the_planner() -> None:
    x = pb.constant(A.astype(np.float16))
    steps, text = plan_of(pb.tanh(x) * x)
    assert steps == {"tiles": 1}
    assert " = tanh:float32" in text and " = multiply:float32" in text
    assert text.count(" = cast:float16") == 2 and text.count(" = cast:float32") == 2


def test_numbers_of_a_traced_function_are_constants() -> None:
    def f(x: pb.Tensor) -> pb.Tensor:
        return (2.5 * pb.sin(2.5 * x) + 0.5) * 1.0

    function, x = pb.function(f), pb.constant(A)
    assert np.array_equal(function(x), f(x))
    text = function.plan(x)
    assert " 0 scalars" in text and text.count("constant 2.5") == 1 and "constant 1:" not in text


def test_equal_constant_arrays_of_a_traced_function_are_one() -> None:
    random = np.random.default_rng(0)
    x = pb.constant(random.standard_normal((40, 60)))
    order, w = random.permutation(60), random.standard_normal((60, 5))

    def part(x: pb.Tensor, order: Any) -> pb.Tensor:
        return pb.tanh(x[:, order.copy()]) @ pb.constant(w.copy())

    other = order.copy()
    other[[0, 1]] = other[[1, 0]]
    one = pb.function(lambda x: part(x, order) - part(x, order))
    two = pb.function(lambda x: part(x, order) - part(x, other))
    assert one.plan(x).count("gather ") == one.plan(x).count("gemm ") == 1
    assert two.plan(x).count("gather ") == two.plan(x).count("gemm ") == 2
    assert not one(x).numpy().any()
    z = x.numpy()
    expected = np.tanh(z[:, order]) @ w - np.tanh(z[:, other]) @ w
    np.testing.assert_allclose(two(x).numpy(), expected, rtol=1e-12, atol=1e-12)


def test_signs_of_zeros_and_dtypes_tell_constant_arrays_apart() -> None:
    zeros = np.array([0.0, 1.0])

    @pb.function
    def f(x: pb.Tensor) -> tuple[pb.Tensor, ...]:
        return tuple(x / pb.constant(z) for z in (zeros, -zeros, zeros.copy()))

    first, second, third = (y.numpy()[0] for y in f(pb.constant([1.0, 1.0], "float64")))
    assert (first, second, third) == (np.inf, -np.inf, np.inf)


def test_a_random_draw_in_a_function_is_new_in_every_call() -> None:
    function = pb.function(lambda x: x * pb.random.uniform((3,)) * 2.0)
    draws = [function(pb.ones(3)).numpy() for _ in range(3)]
    assert len({tuple(draw) for draw in draws}) == 3


def test_long_chains_are_cut_and_stay_linear() -> None:
    sizes = []
    for n in (100, 200, 400):
        x = y = pb.constant(A)
        for _ in range(n):
            y = pb.sin(y) + x
        steps, text = plan_of(y)
        assert steps == {"tiles": sum(steps.values())}
        sizes.append((steps["tiles"], len(text)))
    assert sizes[2][0] <= 2 * sizes[1][0] + 1 <= 4 * sizes[0][0] + 3
    assert sizes[2][1] < 2.2 * sizes[1][1]
    assert sizes[0][0] <= 100 * 2 / 40  # not one step for each operation


# --- views cost nothing


def test_transposes_are_flags_of_the_product() -> None:
    a, b = pb.constant(A), pb.constant(np.ones((30, 40), np.float32))
    for product in (
        a.T @ b,
        pb.matmul(pb.transpose(a), b),
        pb.transpose(b) @ a,
        pb.reshape(a, (3, 10, 20)) @ pb.reshape(pb.transpose(a), (20, 30))[:, :5],
    ):
        steps, text = plan_of(product + 0)
        assert steps == {"gemm": 1} and "epilogue tiles" in text
    # Read the other way round, the product has to be whole first.
    steps, _ = plan_of((b.T @ a).T + 0)
    assert steps == {"gemm": 1, "tiles": 1}
    steps, text = plan_of(a.T @ b)
    assert steps == {"gemm": 1} and "arg0:float32(20, 30) strides(1, 20)" in text


def test_gradients_of_a_product_copy_nothing() -> None:
    w = pb.Variable(np.ones((20, 5), np.float32))
    x = pb.Variable(A)
    y = x @ w
    steps, _ = plan_of(*pb.gradients(y, [x, w], grad_ys=np.ones((30, 5), np.float32)))
    assert steps == {"gemm": 2}


def test_the_sum_over_rows_of_a_cotangent_needs_no_product_of_its_size() -> None:
    random = np.random.default_rng(0)
    a, b, w = (random.normal(size=shape) for shape in [(3, 50, 4), (3, 1, 4), (3, 4, 6)])
    shift = pb.Variable(b)
    y = pb.sum(pb.square((a - shift) @ w))
    gradient = pb.gradients(y, [shift])[0]
    steps, text = plan_of(gradient)
    assert steps["gemm"] == 2 and re.search(r"gemm \w+:float64\(3, 1, 6\)", text)
    np.testing.assert_allclose(
        gradient.numpy(), -2 * (((a - b) @ w) @ w.swapaxes(1, 2)).sum(1, keepdims=True), rtol=1e-12
    )


@pytest.mark.parametrize(
    "view",
    [
        lambda x: pb.reshape(x, (20, 30)),
        lambda x: x[4:9],
        lambda x: x[::-1, ::3],
        lambda x: x.T,
        lambda x: pb.reshape(pb.transpose(pb.reshape(x, (5, 6, 20))), (20, 6, 5)),
        lambda x: pb.broadcast_to(x[0], (7, 20)),
        lambda x: pb.expand_dims(pb.squeeze(x[:1]), -1),
        lambda x: pb.stop_gradient(pb.identity(x)),
        lambda x: pb.split(x, 3)[1],
    ],
)
def test_views_are_no_steps(view: Any) -> None:
    steps, text = plan_of(view(pb.constant(A)) * 2)
    assert steps == {"tiles": 1} and arena(text) == 0 and text.count("load") == 1


def test_a_view_of_everything_that_is_looked_at_shares_the_memory() -> None:
    x = pb.Variable(A)
    before = _core.status()
    y = pb.reshape(x, (600,))
    assert np.shares_memory(y.numpy(), x.numpy())
    assert _core.status()["steps"] == before["steps"]


def test_softmax_cross_entropy_and_its_gradient_stay_small() -> None:
    w = pb.Variable(np.ones((20, 5), np.float32))
    labels = pb.constant(np.ones((30, 5), np.float32))
    loss = pb.mean(pb.softmax_cross_entropy(pb.constant(A) @ w, labels))
    steps, _ = plan_of(loss, *pb.gradients(loss, [w]))
    assert steps["gemm"] == 2 and steps["tiles"] <= 10
    assert set(steps) == {"gemm", "tiles"}


# --- scratch memory


def test_scratch_memory_is_reused() -> None:
    def chain(n: int) -> Any:
        y = pb.constant(np.ones((64, 64), np.float32))
        for _ in range(n):
            y = pb.tanh(y @ y)
        return y @ y

    few, many = arena(plan_of(chain(4))[1]), arena(plan_of(chain(64))[1])
    assert many == few <= 3 * 64 * 64 * 4


def test_gradient_of_a_deep_network_needs_its_activations_and_little_more() -> None:
    w = [pb.Variable(np.eye(32, dtype=np.float32)) for _ in range(20)]
    h = pb.constant(np.ones((16, 32), np.float32))
    for k in w:
        h = pb.relu(h @ k)
    loss = pb.sum(h)
    steps, text = plan_of(loss, *pb.gradients(loss, w))
    assert steps["gemm"] == 20 + 39
    assert arena(text) <= 16 * 32 * 4 * (2 * 20 + 8)


# --- what plans are keyed by


def misses() -> int:
    return int(_core.status()["plan_misses"])


def test_values_and_scalars_are_no_part_of_the_key() -> None:
    def run(array: Any, scale: float, seed: int) -> None:
        pb.random.seed(seed)
        noise = pb.random.normal((3,))
        pb.sum(pb.constant(array) * scale + noise + 5).numpy()

    _core.clear_plans()
    before = misses()
    for k in range(20):
        run(np.full(3, k, np.float32), 0.1 * k, k)
    assert misses() == before + 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: pb.sum(pb.constant(np.ones(4, np.float32)) * 2.0),
        lambda: pb.sum(pb.constant(np.ones(3)) * 2.0),
        lambda: pb.sum(pb.constant(np.ones((3, 1), np.float32)) * 2.0),
        lambda: pb.sum(2.0 * pb.constant(np.ones(3, np.float32))),
        lambda: pb.max(pb.constant(np.ones(3, np.float32)) * 2.0),
        lambda: pb.sum(pb.constant(np.ones(3, np.float32)) * 2.0, keepdims=True),
        lambda: pb.sum(pb.constant(np.ones(3, np.float32)) + 2.0),
        lambda: pb.sum(pb.constant(np.ones(6, np.float32))[::2] * 2.0),
        lambda: pb.sum(pb.constant(np.ones(6, np.float32))[1::2] * 2.0),
    ],
)
def test_structure_is_the_key(change: Any) -> None:
    def same() -> Any:
        return pb.sum(pb.constant(np.ones(3, np.float32)) * 2.0)

    same().numpy()
    before = misses()
    same().numpy()
    assert misses() == before
    change().numpy()
    _core.clear_plans()
    same().numpy()
    before = misses()
    change().numpy()
    assert misses() == before + 1


def test_which_results_are_wanted_is_in_the_key() -> None:
    def pair() -> tuple[Any, Any]:
        x = pb.constant(A)
        y = pb.exp(x)
        return y, y * 2

    a, b = pair()
    pb.evaluate(b)
    a, b = pair()
    pb.evaluate(a, b)
    assert np.array_equal(b.numpy(), 2 * a.numpy())


def test_the_same_step_later_in_a_loop_is_the_same_plan() -> None:
    w = pb.Variable(np.zeros(3, np.float32))
    counts = []
    for _ in range(6):
        before = misses()
        w.assign(w * 0.5 + 1)
        w.numpy()
        counts.append(misses() - before)
    assert counts[1:] == [0] * 5


def test_the_cache_is_bounded_and_keeps_what_is_used() -> None:
    def hot() -> float:
        return float(pb.sum(pb.exp(pb.zeros((3, 5, 7)))))

    assert hot() == 105
    once = misses()
    others = 4200
    for n in range(others):
        pb.sin(pb.ones((n % 70 + 1, n // 70 + 1, 2)) + pb.constant(1.0)).numpy()
        if n % 100 == 0:
            hot()
    assert misses() - once == others
    assert _core.status()["plans"] <= 4096


# --- the work of planning, by the size of what it makes


@pytest.mark.parametrize("shape", ["chain", "fan-out", "diamond", "products"])
def test_plans_grow_with_the_program(shape: str) -> None:
    def build(n: int) -> Any:
        x = y = pb.constant(np.ones((4, 4)))
        if shape == "chain":
            for _ in range(n):
                y = pb.exp(y)
        elif shape == "fan-out":
            y = sum((x * float(k) for k in range(n)), start=x)
        elif shape == "diamond":
            for _ in range(n // 2):
                y = pb.sin(y) + pb.cos(y)
        else:
            for _ in range(n // 2):
                y = pb.tanh(y @ x)
        return y

    lengths = [len(plan_of(build(n))[1]) for n in (500, 1000, 2000)]
    assert lengths[1] / lengths[0] < 2.4 and lengths[2] / lengths[1] < 2.4


# --- groups in the order of a copy


def test_the_gradient_of_moved_entries_is_computed_in_the_order_of_memory() -> None:
    x = np.random.default_rng(3).standard_normal((6, 50, 70))
    z = np.random.default_rng(4).standard_normal((70, 6, 50))
    moves = {
        "transpose": lambda x: pb.transpose(x),
        "cycle": lambda x: pb.transpose(x, (2, 0, 1)),
        "flip": lambda x: pb.flip(x, axis=1),
        "flips of axes in another order": lambda x: pb.transpose(
            pb.flip(x, axis=(0, 2)), (0, 2, 1)
        ),
        "rotate": lambda x: pb.rot90(x, 1, (1, 2)),
    }
    for name, move in moves.items():
        slope = pb.function(pb.grad(lambda x, move=move: pb.sum(pb.sin(move(x)))))
        np.testing.assert_array_equal(slope(x), pb.cos(x).numpy(), err_msg=name)
        text = str(slope.plan(x))
        assert "copy" not in text and "strides" not in text, text
    # Another operand that is read in the order of the result has to be read in another one.
    weighted = pb.function(pb.grad(lambda x: pb.sum(pb.sin(moves["cycle"](x)) * z)))
    np.testing.assert_array_equal(weighted(x), pb.cos(x).numpy() * np.transpose(z, (1, 2, 0)))
    # A value that is needed in both orders is stored in one.
    both = pb.function(lambda x: (y := pb.exp(x), pb.transpose(y) + 0.0))
    for got, want in zip(both(x), (np.exp(x), np.exp(x).T), strict=True):
        np.testing.assert_allclose(got, want, 1e-15)
