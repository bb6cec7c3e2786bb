"""scan, map, fori_loop: values and gradients are those of the loop written out in Python, bit for
bit where no product is formed in another way."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.gradients import each_mode  # noqa: F401

import pullback as pb
from pullback import _core

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers_in_any_order() -> None:
    rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def unrolled(f: Any, carry: Any, xs: Any, reverse: bool = False) -> Any:
    """scan of one tensor along one tensor, written out."""
    n = xs.shape[0]
    ys = [None] * n
    for i in reversed(range(n)) if reverse else range(n):
        carry, ys[i] = f(carry, xs[i])
    return carry, pb.stack(ys)


def cell(w: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = pb.tanh(h * w + x)
        return h, h * x

    return step


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_bit_for_bit(dtype: str, reverse: bool) -> None:
    w, h, xs = (pb.constant(a.astype(dtype)) for a in (normal(5), normal(5), normal(7, 5)))
    for a, b in zip(
        pb.scan(cell(w), h, xs, reverse=reverse), unrolled(cell(w), h, xs, reverse), strict=True
    ):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@each("reverse", [False, True])
def test_gradients(mode: Any, reverse: bool) -> None:
    w, h, xs = normal(5), normal(5), normal(7, 5)

    def loss(form: Any) -> Any:
        def of(w: Any, h: Any, xs: Any) -> Any:
            last, ys = form(cell(w), h, xs, reverse=reverse)
            return pb.sum(last * last) + pb.sum(pb.sin(ys))

        return of

    for a, b in zip(mode(loss(pb.scan), w, h, xs), mode(loss(unrolled), w, h, xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_second_order() -> None:
    w, h, xs = (pb.Variable(normal(*s), dtype="float64") for s in ((3,), (3,), (4, 3)))
    found = []
    for form in (pb.scan, unrolled):
        last, ys = form(cell(w), h, pb.identity(xs))
        first = pb.gradients(pb.sum(last**2) + pb.sum(ys), [w, h, xs])
        second = pb.gradients(sum(pb.sum(pb.cos(g)) for g in first), [w, h, xs])
        third = pb.gradients(sum(pb.sum(g * g) for g in second), [w, h, xs])
        found.append([g.numpy() for g in first + second + third])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_matrix_products_and_captured_variables() -> None:
    w, b = pb.Variable(normal(4, 4)), pb.Variable(normal(4))
    xs = pb.Variable(normal(6, 2, 4))

    def step(h: Any, x: Any) -> Any:
        h = pb.tanh(h @ w + b + x)
        return h, None

    last, none = pb.scan(step, pb.zeros((2, 4), dtype=w.dtype), xs)
    assert none is None
    h = pb.zeros((2, 4), dtype=w.dtype)
    for i in range(6):
        h, _ = step(h, xs[i])
    np.testing.assert_allclose(last.numpy(), h.numpy(), rtol=1e-6)
    for a, c in zip(
        pb.gradients(pb.sum(last), [w, b, xs]), pb.gradients(pb.sum(h), [w, b, xs]), strict=True
    ):
        np.testing.assert_allclose(a.numpy(), c.numpy(), rtol=1e-5, atol=1e-6)


def test_nests() -> None:
    def step(state: Any, x: Any) -> Any:
        return {"n": state["n"] + 1, "s": (state["s"][0] + x["a"] * x["b"][0],)}, [state["n"], x]

    xs = {"a": pb.constant([1.0, 2.0, 3.0]), "b": [pb.constant([4.0, 5.0, 6.0])]}
    state, (counts, same) = pb.scan(step, {"n": 0, "s": (0.0,)}, xs)
    assert int(state["n"]) == 3 and float(state["s"][0]) == 32.0
    assert counts.numpy().tolist() == [0, 1, 2]
    assert same["b"][0].numpy().tolist() == [4.0, 5.0, 6.0]


def test_no_iterations() -> None:
    w, c = pb.Variable(2.0), pb.Variable(3.0)
    last, ys = pb.scan(lambda s, x: (s * w, x * s), c, pb.zeros((0, 2)))
    assert float(last) == 3.0 and ys.shape == (0, 2)
    assert [float(g) for g in pb.gradients(last, [c, w])] == [1.0, 0.0]


def test_what_no_path_reaches_is_none() -> None:
    a, b, n = pb.Variable(2.0), pb.Variable(3.0), pb.constant(1)
    (x, y, count), _ = pb.scan(
        lambda s, _: ((s[0] * 2, s[1] * 3, s[2] + 1), None), (a, b, n), length=3
    )
    assert pb.gradients(x, [a, b])[1] is None
    assert float(pb.gradients(y, [b])[0]) == 27.0
    assert pb.gradients(count, [a]) == [None]


def test_a_state_that_is_stopped() -> None:
    """As of the loop written out: None after an iteration, and ones where there is none."""
    x = pb.Variable([1.0, 2.0])
    for n in (0, 1, 3):
        last, _ = pb.scan(lambda s, _: (pb.stop_gradient(s) * 2, None), x, length=n)
        (g,) = pb.gradients(pb.sum(last), [x])
        assert g is None if n else g.numpy().tolist() == [1.0, 1.0]


def test_swapped_and_same() -> None:
    a, b = pb.Variable(2.0), pb.Variable(3.0)
    (x, y), ys = pb.scan(lambda s, _: ((s[1], s[0]), (s[0], s[0])), (a, b), length=3)
    assert (float(x), float(y)) == (3.0, 2.0)
    assert ys[0].numpy().tolist() == ys[1].numpy().tolist() == [2.0, 3.0, 2.0]
    assert [float(g) for g in pb.gradients(x + 2 * y + pb.sum(ys[0]), [a, b])] == [4.0, 2.0]


def test_nested() -> None:
    x = pb.Variable(normal(3, 4))

    def inner(s: Any, row: Any) -> Any:
        return pb.scan(lambda t, v: (pb.sin(t + v * s), t), s, row)

    last, all_of = pb.scan(inner, pb.constant(0.5, x.dtype), x)
    s, seen = pb.constant(0.5, x.dtype), []
    for i in range(3):
        t = s
        for j in range(4):
            seen.append(t)
            t = pb.sin(t + x[i, j] * s)
        s = t
    np.testing.assert_array_equal(last.numpy(), s.numpy())
    np.testing.assert_array_equal(all_of.numpy().ravel(), pb.stack(seen).numpy())
    (a,) = pb.gradients(last + pb.sum(all_of), [x])
    (b,) = pb.gradients(s + sum(seen), [x])
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=1e-6)


@pytest.mark.usefixtures("processor")
def test_one_step_whatever_the_length() -> None:
    misses = _core.status()["plan_misses"]
    for n in (3, 3, 3):
        pb.scan(lambda s, x: (s * 1.5 + x, None), 0.0, pb.ones(n))[0].numpy()
    assert _core.status()["plan_misses"] <= misses + 2
    before = _core.status()["steps"]
    pb.scan(lambda s, x: (pb.tanh(s + x), None), pb.zeros(3), pb.ones((1000, 3)))[0].numpy()
    steps = {k: n - before[k] for k, n in _core.status()["steps"].items()}
    assert steps["loop"] == 1 and steps["tiles"] <= 1002


def test_argument_order_is_no_accident() -> None:
    """Two bodies that differ in which input is which."""
    a, b = pb.constant(5.0), pb.constant(3.0)
    x, _ = pb.scan(lambda s, _: ((s[0] - s[1], s[1]), None), (a, b), length=1)
    y, _ = pb.scan(lambda s, _: ((s[1] - s[0], s[1]), None), (a, b), length=1)
    assert float(x[0]) == 2.0 and float(y[0]) == -2.0
    n = [pb.scan(lambda s, _, k=k: (s + k, None), 0, length=2)[0] for k in (1, 2)]
    assert [int(v) for v in n] == [2, 4]


def test_stop_gradient_in_each_iteration() -> None:
    """s = s * stop_gradient(s) from 2, three times: the slope is 2 * 4 * 16 / 2."""
    x = pb.Variable(2.0)
    last, _ = pb.scan(lambda s, _: (s * pb.stop_gradient(s), None), x, length=2)
    assert float(last) == 16.0 and float(pb.gradients(last, x)[0]) == 8.0


def test_custom_gradient_and_override_inside() -> None:
    @pb.custom_gradient
    def double(x: Any) -> Any:
        return x * 1.0, lambda upstream: upstream * 2.0

    x = pb.Variable(1.0)
    last, _ = pb.scan(lambda s, _: (double(s), None), x, length=3)
    assert float(pb.gradients(last, x)[0]) == 8.0
    with pb.gradient_override_map({"tanh": lambda op, g: g}):
        last, _ = pb.scan(lambda s, _: (pb.tanh(s), None), x, length=3)
    assert float(pb.gradients(last, x)[0]) == 1.0
    last, _ = pb.scan(lambda s, _: (pb.sin(s), None), x, length=3)
    assert float(pb.gradients(last, x, overrides={"sin": lambda op, g: 3 * g})[0]) == 27.0


def test_custom_gradient_that_keeps_what_it_saw() -> None:
    @pb.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 2.0 * x

    x = pb.Variable(1.5)
    last, _ = pb.scan(lambda s, _: (square(s), None), x, length=3)
    np.testing.assert_allclose(float(pb.gradients(last, x)[0]), 8 * 1.5**7, rtol=1e-6)


def test_random_numbers_differ_and_repeat() -> None:
    pb.random.seed(7)
    _, ys = pb.scan(lambda s, _: (s, pb.random.normal((3,))), 0.0, length=4)
    drawn = ys.numpy()
    assert len(np.unique(drawn)) == 12
    pb.random.seed(7)
    x = pb.Variable(1.0)
    last, again = pb.scan(lambda s, _: (s * pb.sum(r := pb.random.normal((3,))), r), x, length=4)
    (g,) = pb.gradients(last, x)
    np.testing.assert_allclose(float(g), np.prod(drawn.sum(1)), rtol=1e-5)
    np.testing.assert_array_equal(again.numpy(), drawn)

    @pb.function
    def draw() -> Any:
        return pb.scan(lambda s, _: (s, pb.random.uniform((2,))), 0.0, length=2)[1]

    draw()
    assert len(np.unique([draw().numpy(), draw().numpy()])) == 8


def test_half() -> None:
    start, xs = (pb.zeros(2, dtype="float16"), pb.ones((3, 2), dtype="float16"))
    _, halves = pb.scan(lambda s, x: (s + x, s), start, xs)
    assert halves.dtype == np.float16 and halves.numpy().tolist() == [[0, 0], [1, 1], [2, 2]]


def test_complex_gradient() -> None:
    xs = normal(3, 2) + 1j * normal(3, 2)
    found = []
    for form in (pb.scan, unrolled):
        z, w = pb.Variable(xs[0]), pb.Variable(np.array(0.5 + 0.25j))
        last, ys = form(lambda s, x, w=w: (s * w + x, s * s), pb.identity(z), pb.constant(xs))
        y = pb.sum(pb.real(last * pb.conj(last))) + pb.sum(pb.imag(ys))
        found.append([y.numpy()] + [g.numpy() for g in pb.gradients(y, [z, w])])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_inside_of_function() -> None:
    v = pb.Variable(1.0)

    @pb.function
    def train(xs: Any) -> Any:
        last, _ = pb.scan(lambda s, x: (s * v + x, None), 0.0, xs)
        loss = (last - 3.0) ** 2
        v.assign_sub(0.01 * pb.gradients(loss, v)[0])
        return loss

    losses = [float(train(pb.constant([1.0, 2.0, 0.5]))) for _ in range(20)]
    assert losses[-1] < losses[0] / 5


def test_map() -> None:
    x = pb.Variable(normal(4, 3))
    y = pb.map(lambda row: {"n": pb.sum(row**2), "r": row[::-1]}, x)
    np.testing.assert_allclose(y["n"].numpy(), (x.numpy() ** 2).sum(1), rtol=1e-6)
    np.testing.assert_array_equal(y["r"].numpy(), x.numpy()[:, ::-1])
    (g,) = pb.gradients(pb.sum(y["n"]), [x])
    np.testing.assert_array_equal(g.numpy(), 2 * x.numpy())


def test_fori_loop() -> None:
    x = pb.Variable(2.0)
    y = pb.fori_loop(1, 5, lambda i, s: s * x * pb.cast(i, "float32"), 1.0)
    assert float(y) == 16 * 24
    assert float(pb.gradients(y, x)[0]) == 4 * 8 * 24
    assert int(pb.fori_loop(3, 1, lambda i, s: s + i, 5)) == 5


def test_memory_goes(nothing_left: None) -> None:
    x = pb.Variable(normal(3))
    last, ys = pb.scan(lambda s, v: (pb.sin(s * v), s), x, pb.constant(normal(5, 3), "float32"))
    (g,) = pb.gradients(pb.sum(last) + pb.sum(ys), x)
    g.numpy()
    del x, last, ys, g


@each(
    ("call", "kind", "text"),
    [
        (lambda: pb.scan(lambda s, x: s, 0.0, pb.ones(3)), TypeError, "expected a pair"),
        (
            lambda: pb.scan(lambda s, x: ((s, s), x), 0.0, pb.ones(3)),
            ValueError,
            r"expected the structure · for carry .*, got \(·, ·\)",
        ),
        (
            lambda: pb.scan(lambda s, x: (s + x, x), pb.zeros(2), pb.ones((3, 3, 2))),
            ValueError,
            r"expected shape \(2,\) for carry .*, got \(3, 2\); a loop",
        ),
        (
            lambda: pb.scan(
                lambda s, x: ({"x": pb.cast(s["x"], "float64")}, x), {"x": pb.zeros(2)}, pb.ones(3)
            ),
            TypeError,
            r"expected dtype float32 for carry\['x'\] .*, got float64; cast it",
        ),
        (lambda: pb.scan(lambda s, x: (s, x), 0.0), ValueError, "length"),
        (
            lambda: pb.scan(lambda s, x: (s, x), 0.0, (pb.ones(3), pb.ones(4))),
            ValueError,
            r"expected size 3 for the first axis of xs\[1\], got 4",
        ),
        (lambda: pb.scan(lambda s, x: (s, x), 0.0, pb.ones(())), ValueError, "at least one axis"),
        (
            lambda: pb.scan(lambda s, x: (s if s > 0 else -s, x), 0.0, pb.ones(3)),
            RuntimeError,
            "cond",
        ),
        (lambda: pb.scan(3, 0.0, pb.ones(3)), TypeError, "expected a function"),
    ],
)
def test_errors(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_assignment_inside_is_an_error() -> None:
    v = pb.Variable(1.0)
    with pytest.raises(RuntimeError, match="pass its value as a carry"):
        pb.scan(lambda s, x: (s + v.assign(x), None), 0.0, pb.ones(3))
    assert float(pb.scan(lambda s, x: (s + v * x, None), 0.0, pb.ones(3))[0]) == 3.0


def test_an_error_inside_names_the_operation() -> None:
    with pytest.raises(IndexError, match="take: index 3 is out of range"):
        pb.scan(
            lambda s, i: (s + pb.take(pb.constant([1.0, 2.0, 3.0]), i), None),
            0.0,
            pb.constant([0, 1, 3]),
        )[0].numpy()


def test_a_number_takes_the_dtype_that_the_body_gives() -> None:
    xs = np.arange(3, dtype="f4")
    last, _ = pb.scan(lambda c, x: (c + x, c), 0, xs)
    assert last.dtype == "float32" and float(last) == 3.0
    assert float(pb.while_loop(lambda s: s < 3, lambda s: s + 0.5, 0)) == 3.0
    assert pb.fori_loop(0, 2, lambda i, s: s + np.float64(0.5), 1).dtype == "float64"
    with pytest.raises(TypeError, match=r"expected dtype float32 for carry .* got int64"):
        pb.scan(lambda c, x: (pb.cast(c, "int64"), None), 0.5, xs)


def test_a_path_that_takes_several_iterations() -> None:
    """The last carry depends on the first by way of the second only, which is no x."""
    a = pb.Variable(2.0)

    def step(carry: Any, _: Any) -> Any:
        x, y, z = carry
        return (x, y + x * x, z + y), None

    (_, _, z), _ = pb.scan(step, (a, 3.0, 5.0), None, length=4)
    assert float(pb.gradients(z, [a])[0]) == 6 * 2 * 2.0


def test_a_chain_of_carries() -> None:
    """Each carry reaches the one before it only; the first one is multiplied by x."""

    def step(carry: Any, _: Any) -> Any:
        return (carry[0] * x, *(2.0 * c + 0.5 * first for c in carry[:-1])), None

    def unrolled(x: Any) -> Any:
        carry: Any = (x,) * 6
        for _ in range(7):
            carry = (carry[0] * x, *(2.0 * c + 0.5 * first for c in carry[:-1]))
        return carry[-1]

    x = pb.Variable(1.25, dtype="float64")
    first = x * x
    carry, _ = pb.scan(step, (x.read(),) * 6, None, length=7)
    expected = pb.gradients(unrolled(x), [x])[0]
    np.testing.assert_allclose(pb.gradients(carry[-1], [x])[0], expected, rtol=1e-14)


def test_weights_of_recurrent_cells() -> None:
    """Products of few rows are formed once after the loop, others in each iteration."""
    rows = normal(12, 3, 4)
    values = [normal(4, 5), normal(5, 5), normal(5, 5), normal(5)]
    directions = [normal(*value.shape) for value in values]

    def loss(loop: Any, inputs: Any, w: Any, u: Any, v: Any, bias: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = pb.tanh(x @ w + h @ u - pb.sin(h) @ v.T + (h @ u) * 0.1 + bias)
            return h, h

        return pb.sum(loop(step, pb.zeros((inputs.shape[1], 5), dtype="float64"), inputs) ** 2)

    def scanned(step: Any, h: Any, inputs: Any) -> Any:
        return pb.scan(step, h, inputs)[1]

    def written_out(step: Any, h: Any, inputs: Any) -> Any:
        states = []
        for k in range(inputs.shape[0]):
            h, _ = step(h, inputs[k])
            states.append(h)
        return pb.stack(states)

    def derivatives(loop: Any, inputs: Any) -> list[Any]:
        f = partial(loss, loop, pb.constant(inputs))
        gradient = pb.grad(f, (0, 1, 2, 3))

        def along(*at: Any) -> Any:
            return sum(pb.sum(g * d) for g, d in zip(gradient(*at), directions, strict=True))

        tangents = pb.jvp(gradient, values, directions)[1]
        return [*gradient(*values), *pb.grad(along, (0, 1, 2, 3))(*values), *tangents]

    for inputs in (rows, rows[:, :1], normal(3, 40, 4)):
        found, expected = derivatives(scanned, inputs), derivatives(written_out, inputs)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    batch = pb.vmap(lambda x: pb.grad(partial(loss, scanned, x), 0)(*values))
    one_by_one = [pb.grad(partial(loss, scanned, rows[:, [k]]), 0)(*values) for k in range(3)]
    np.testing.assert_allclose(
        batch(rows.transpose(1, 0, 2)[:, :, None]), np.stack(one_by_one), rtol=1e-12, atol=1e-14
    )
    gradient = pb.function(pb.grad(partial(loss, scanned, rows), 0))
    assert "gemm" in str(gradient.plan(*values)).splitlines()[-1]


def test_biases_of_recurrent_cells() -> None:
    """Their cotangents are sums of rows that are stacked for the inputs and weights anyway."""
    values = [normal(6, 3, 5), normal(5, 5), normal(5), normal(1, 5)]

    def step(h: Any, x: Any, u: Any, bias: Any, row: Any) -> Any:
        return pb.tanh(x + h @ u + bias + row * 0.5)

    def scanned(xs: Any, *parameters: Any) -> Any:
        def body(h: Any, x: Any) -> Any:
            h = step(h, x, *parameters)
            return h, h

        return pb.sum(pb.scan(body, pb.zeros((3, 5), dtype="float64"), xs)[1] ** 2)

    def written_out(xs: Any, *parameters: Any) -> Any:
        h, total = pb.zeros((3, 5), dtype="float64"), 0.0
        for k in range(6):
            h = step(h, xs[k], *parameters)
            total = total + pb.sum(h**2)
        return total

    for argnums in ((0, 1, 2, 3), (2,), (1, 3), (0, 2)):
        found, expected = (pb.grad(f, argnums)(*values) for f in (scanned, written_out))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    batch = pb.vmap(pb.grad(scanned, 2), in_axes=(None, None, 0, None))
    several = np.stack([values[2], -values[2]])
    one_by_one = [pb.grad(scanned, 2)(*values[:2], bias, values[3]) for bias in several]
    np.testing.assert_allclose(
        batch(*values[:2], several, values[3]), np.stack(one_by_one), rtol=1e-12
    )
    lines = str(pb.function(pb.grad(scanned, (0, 1, 2, 3))).plan(*values)).splitlines()
    assert not [line for line in lines if line.startswith(" " * 8) and "sum v" in line]


def test_products_of_weights_that_stay_in_the_loop() -> None:
    def plan(f: Any, *args: Any) -> str:
        return str(pb.function(pb.grad(f)).plan(*args)).splitlines()[-1]

    rows, narrow, wide = normal(3, 4), normal(4, 4), normal(4, 64)

    def widens(w: Any) -> Any:  # the factors would take 32 times the memory of the states
        step = lambda h, _: (h + pb.tanh(h @ w) @ pb.tanh(h @ w).T @ h, None)  # noqa: E731
        return pb.sum(pb.scan(step, rows, None, length=5)[0])

    def doubles(w: Any) -> Any:  # 2**40 products if each path is one
        def step(h: Any, _: Any) -> Any:
            sum_of_paths = w + pb.sum(h)
            for _ in range(40):
                sum_of_paths = (sum_of_paths + sum_of_paths) * 0.5 + 0.0 * sum_of_paths
            return pb.tanh(h @ sum_of_paths), None

        return pb.sum(pb.scan(step, rows, None, length=5)[0])

    def shares(w: Any) -> Any:
        def step(h: Any, _: Any) -> Any:
            total = w
            for _ in range(40):
                total = total + total
            return pb.tanh(h @ total * 1e-12), None

        return pb.sum(pb.scan(step, rows, None, length=5)[0])

    assert "gemm" not in plan(widens, wide)
    for f in (doubles, shares):
        assert np.isfinite(pb.grad(f)(pb.constant(narrow)).numpy()).all()


def test_products_that_the_reverse_reads() -> None:
    """A loop keeps matrix products for its reverse if both are in one plan."""
    rows, w, u = normal(6, 3, 4), normal(4, 16), normal(4, 16)

    def loss(cell: Any, w: Any, u: Any) -> Any:
        start = (pb.zeros((3, 4), dtype="float64"), pb.zeros((3, 4), dtype="float64"))
        return pb.sum(pb.scan(cell(w, u), start, pb.constant(rows))[1] ** 2)

    def lstm(w: Any, u: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            h, c = state
            i, f, g, o = pb.split(x @ w + h @ u, 4, axis=1)
            c = pb.sigmoid(f) * c + pb.sigmoid(i) * pb.tanh(g)
            h = pb.sigmoid(o) * pb.tanh(c)
            return (h, c), h

        return step

    def recomputed(w: Any, u: Any) -> Any:
        return pb.checkpoint(lstm(w, u))

    def stopped(w: Any, u: Any) -> Any:  # the product is a root of both bodies
        def step(state: Any, x: Any) -> Any:
            h, c = state
            product = h @ u[:, :4]
            return (pb.tanh(product + x @ w[:, :4]), pb.stop_gradient(product) * c), product

        return step

    def two_uses(w: Any, u: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            h, c = state
            a, b = x @ w[:, :4], h @ u[:, :4]
            return (pb.tanh(a + b), pb.sin(a) * b + 0.5 * c), a * b

        return step

    for cell, products in ((lstm, 3), (recomputed, 5), (stopped, None), (two_uses, None)):
        gradient = pb.function(pb.grad(partial(loss, cell), (0, 1)))
        # One plan has both loops; with the loss evaluated first, the reverse is a plan of its own.
        x, y = pb.Variable(w), pb.Variable(u)
        z = loss(cell, x, y)
        gs = pb.gradients(z, [x, y])
        assert np.isfinite(float(z))
        for one, other in zip(gradient(w, u), gs, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        inside = [line for line in str(gradient.plan(w, u)).splitlines() if line.startswith("   ")]
        count = sum("gemm" in line for line in inside)
        assert products is None or count == products, (cell.__name__, count)
        pb.testing.check_gradients(partial(loss, cell), w, u, order=2)


def test_rules_of_products_in_a_loop() -> None:
    """The cotangent of w is a product with a rule of its own, by which it is differentiated."""

    def ten_times(op: Any, g: Any) -> Any:
        a, b = op.inputs
        return 10.0 * (g @ b.T), 10.0 * (a.T @ g)

    @pb.custom_gradient(intentional=True)
    def weighted(w: Any, x: Any) -> Any:
        with pb.gradient_override_map({"matmul": ten_times}):
            product = x.T @ x
        return pb.sum(product * w), lambda g: (product, None)

    def slopes(loop: bool) -> Any:
        w, xs = pb.Variable(np.eye(3)), pb.Variable(rows)
        total = pb.constant(0.0, dtype="float64")
        if loop:
            total, _ = pb.scan(lambda c, x: (c + weighted(w, x), None), total, xs)
        else:
            for k in range(4):
                total = total + weighted(w, xs[k])
        return pb.gradients(pb.sum(pb.gradients(total, w)[0] ** 2), xs)[0]

    rows = normal(4, 2, 3)
    np.testing.assert_allclose(slopes(True), slopes(False), rtol=1e-12)


def test_chains_of_carries_take_linear_work() -> None:
    """A carry becomes part of a derivative one iteration after the one before it."""

    def last(x: Any, count: int) -> Any:
        def step(carry: Any, _: Any) -> Any:
            return (carry[0] * x, *(2.0 * b + a for a, b in pairwise(carry))), None

        return pb.scan(step, (x, *([pb.constant(1.0)] * (count - 1))), None, length=3)[0][-1]

    def gradient(count: int) -> Any:
        x = pb.Variable(2.0)
        return pb.gradients(last(x, count), [x])

    def tangent(count: int) -> Any:
        x = pb.constant(2.0)
        return pb.jvp(lambda x: last(x, count), (x,), (x,))

    def batch(count: int) -> Any:
        return pb.vmap(lambda x: last(x, count))(pb.constant([1.0, 2.0]))

    def nodes(derive: Any, count: int) -> int:
        first = _core.next_number()
        derive(count)
        return (int(_core.next_number()) - int(first)) % 2**32  # a body reserves 2**32 numbers

    for derive in (gradient, tangent, batch):
        assert nodes(derive, 64) < 2.2 * nodes(derive, 32), derive.__name__


@pytest.mark.parametrize("kind", [int, pb.constant])
def test_fori_loop_from_another_number_than_zero(kind: Any) -> None:
    x = pb.Variable(3.0)
    y = pb.fori_loop(kind(2), kind(5), lambda i, total: total * x + pb.cast(i, "float32"), x)
    assert float(y) == ((3 * 3 + 2) * 3 + 3) * 3 + 4
    assert float(pb.gradients(y, [x])[0]) == 4 * 27 + 2 * 2 * 3 + 3
