"""GradientTape.jacobian and batch_jacobian, and jacobian inside of vmap. That every operation goes
over rows is in core/test_ops.py."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each

import pullback as pb


def numerical(f, x, step=1e-6):
    """The jacobian of a NumPy function by central differences."""
    columns = []
    for d in np.eye(x.size).reshape(x.size, *x.shape) * step:
        columns.append((f(x + d) - f(x - d)) / (2 * step))
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def test_against_differences():
    random = np.random.default_rng(0)
    x, mix = random.normal(size=(2, 3)), random.normal(size=(3, 4))
    v = pb.Variable(x)
    with pb.GradientTape() as tape:
        y = pb.tanh(v @ mix) * pb.sum(v)
    got = tape.jacobian(y, v)
    assert got.shape == (2, 4, 2, 3)
    np.testing.assert_allclose(got, numerical(lambda x: np.tanh(x @ mix) * x.sum(), x), atol=1e-8)


def test_the_structure_of_the_sources():
    a, b, c = pb.Variable([1.0, 2.0]), pb.Variable(3.0), pb.Variable([[1.0]])
    with pb.GradientTape(persistent=True) as tape:
        y = a * b
    got = tape.jacobian(y, {"a": a, "rest": (b, c)})
    assert got["a"].numpy().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert got["rest"][0].numpy().tolist() == [1.0, 2.0]
    assert got["rest"][1] is None
    zeros = tape.jacobian(y, [c], unconnected_gradients="zero")[0]
    assert zeros.shape == (2, 1, 1) and not zeros.numpy().any()


def test_a_scalar_an_empty_target_and_a_variable():
    v = pb.Variable([1.0, 2.0])
    with pb.GradientTape(persistent=True) as tape:
        total, none = pb.sum(v * v), v[:0] * 2.0
    assert tape.jacobian(total, v).numpy().tolist() == [2.0, 4.0]
    assert tape.jacobian(none, v).shape == (0, 2)
    assert tape.jacobian(v, v).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_hessian_and_its_gradient():
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as top:
        with pb.GradientTape() as outer:
            with pb.GradientTape() as inner:
                y = x[0] ** 2 * x[1]
            slope = inner.gradient(y, x)
        hessian = outer.jacobian(slope, x)
    assert hessian.numpy().tolist() == [[4.0, 2.0], [2.0, 0.0]]
    third = top.jacobian(hessian, x).numpy()
    assert third.tolist() == [[[0.0, 2.0], [2.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]]]


def test_entries_that_do_not_depend_are_zero_even_where_a_slope_is_infinite():
    x = pb.Variable([0.0, 1.0, 4.0])
    with pb.GradientTape() as tape:
        y = pb.sqrt(x)
    assert tape.jacobian(y, x).numpy().tolist() == [[np.inf, 0, 0], [0, 0.5, 0], [0, 0, 0.25]]


@each("mode", ["forward", "reverse"])
@each("chunk", ["auto", 3])
def test_a_matrix_next_to_the_units(mode, chunk):
    """All unit vectors times a matrix are its rows: no product is computed."""
    random = np.random.default_rng(0)
    a, b, x = random.normal(size=(5, 7)), random.normal(size=(7, 4)), random.normal(size=7)
    slope = lambda z: np.cosh(z)[:, None] ** -2.0  # noqa: E731
    for f, expected in (
        (lambda x: pb.tanh(a @ x), slope(a @ x) * a),
        (lambda x: pb.tanh(x @ b), slope(x @ b) * b.T),
        (lambda x: a @ pb.sin(x), a * np.cos(x)),
        (lambda x: pb.sin(x) @ b, b.T * np.cos(x)),
    ):
        got = pb.jacobian(f, mode=mode, chunk=chunk)(x)
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    by_a = pb.grad(lambda a: pb.sum(pb.jacobian(lambda x: a @ x, mode=mode, chunk=chunk)(x) * a))(a)
    np.testing.assert_allclose(by_a, 2 * a, rtol=1e-15)


@each("mode", ["forward", "reverse"])
def test_entries_of_a_matrix_that_are_not_finite_stay_where_they_are(mode):
    a = np.arange(6.0).reshape(2, 3)
    a[0, 1], a[1, 2] = np.inf, np.nan
    np.testing.assert_array_equal(pb.jacobian(lambda x: a @ x, mode=mode)(np.ones(3)), a)
    np.testing.assert_array_equal(pb.jacobian(lambda x: x @ a, mode=mode)(np.ones(2)), a.T)


def test_columns_of_taken_entries():
    """Forward mode takes all columns of an entry at once, from a table with the columns last."""
    random = np.random.default_rng(0)
    at, mix = np.array([[3, -1, 0, 3], [2, 2, 1, -4]]), random.normal(size=(2, 4, 3, 2))
    x = random.normal(size=3)
    formulas = (
        lambda xp, x: -xp.sin(x * mix[0, :, :, 0])[at],
        lambda xp, x: xp.abs(xp.take(x * mix[..., 0], at, axis=1)),
        lambda xp, x: xp.take(x[:, None] * mix[0], at[0, :1], axis=0),  # fewer than in the table
        lambda xp, x: xp.cumsum(x)[np.array([2, 0, -1, 1])],
    )
    for f in formulas:
        got = pb.jacobian(lambda x, f=f: f(pb, x), mode="forward")(x)
        np.testing.assert_allclose(got, numerical(lambda x, f=f: f(np, x), x), atol=1e-8)
    f = lambda x: pb.sin(x * mix[0, :, :, 0])[at]  # noqa: E731
    second = pb.jacobian(pb.jacobian(f, mode="forward"), mode="forward")(x)
    diagonal = np.einsum("abiii->abi", second.numpy())
    expected = (-np.sin(x * mix[0, :, :, 0]) * mix[0, :, :, 0] ** 2)[at]
    np.testing.assert_allclose(diagonal, expected, rtol=1e-14)
    got = pb.grad(lambda x: pb.sum(pb.jacobian(f, mode="forward")(x)))(x)
    np.testing.assert_allclose(got, expected.sum((0, 1)), rtol=1e-14)
    traced = pb.function(lambda x, at: pb.jacobian(lambda x: -(x * x)[at], mode="forward")(x))
    for _ in range(2):
        got = traced(x, np.array([2, 2, 0, 1, -1]))
        np.testing.assert_array_equal(got, (-2 * np.diag(x))[[2, 2, 0, 1, 2]])
    assert "to out" in next(line for line in traced.plan(x, at[0]).splitlines() if "gather" in line)
    with pytest.raises(IndexError, match="3"):
        traced(x, np.array([0, 1, 2, 3])).numpy()


def test_inside_and_through_a_function():
    @pb.function
    def f(v):
        with pb.GradientTape() as tape:
            tape.watch(v)
            y = pb.sin(v) * pb.sum(v)
        return tape.jacobian(y, v)

    x = np.array([0.5, 1.5, -1.0])
    expected = numerical(lambda x: np.sin(x) * x.sum(), x)
    for _ in range(2):
        np.testing.assert_allclose(f(x), expected, atol=1e-8)
    inner = pb.function(lambda v: pb.sin(v) * pb.sum(v))
    v = pb.Variable(x)
    for _ in range(2):
        with pb.GradientTape() as tape:
            y = inner(v)
        np.testing.assert_allclose(tape.jacobian(y, v), expected, atol=1e-8)


def test_rules_are_called_once_and_may_look():
    calls = []

    def cube(look):
        @pb.custom_gradient
        def f(x):
            def rule(upstream):
                calls.append(1)
                if look and not np.isfinite(upstream.numpy()).all():
                    raise AssertionError
                return 7 * upstream * x

            return x**3, rule

        return f

    x = pb.Variable([1.0, 2.0, 3.0])
    for look, expected_calls in ((False, 1), (True, 4)):
        calls.clear()
        with pb.GradientTape() as tape:
            y = cube(look)(x)
        got = tape.jacobian(y, x).numpy()
        assert got.tolist() == np.diag([7.0, 14.0, 21.0]).tolist()
        # One that looks is refused once, and then asked for each row.
        assert len(calls) == expected_calls


def nested(x):
    """x³, whose rule is a function with a rule of its own, that holds what it is given."""

    @pb.custom_gradient
    def slope(x, upstream):
        return 3 * upstream * x**2, lambda v: (6 * v * upstream * x, 3 * v * x**2)

    return x**3, lambda upstream: slope(x, upstream)


def by_second(x):
    def second(primals, upstream, directions):
        return 6 * primals[0] * upstream[0] * directions[0], 3 * primals[0] ** 2 * directions[0]

    rule = pb.custom_gradient(lambda x: (x**3, lambda u: u * 3 * x**2), second=second)
    return rule(x)


FUNCTIONS = {
    "nested": lambda x: pb.custom_gradient(nested)(x),
    "second": by_second,
    "hook": lambda x: pb.with_gradient(x, lambda g: g * 1.0) ** 3,
    "checkpoint": pb.checkpoint(lambda x: x**3),
    "checkpoint of second": pb.checkpoint(by_second),
    "function": pb.function(lambda x: pb.custom_gradient(nested)(x)),
    "plain": lambda x: x**3,
}


@each("traced", [False, True])
@each("name", FUNCTIONS)
def test_jacobians_of_jacobians(name, traced):
    def both(v):
        with pb.GradientTape() as outer:
            outer.watch(v)
            with pb.GradientTape() as inner:
                inner.watch(v)
                y = FUNCTIONS[name](v)
            rows = inner.jacobian(y, v)
        return rows, outer.jacobian(rows, v)

    x = np.array([1.0, 2.0])
    first, second = (pb.function(both) if traced else both)(pb.constant(x))
    np.testing.assert_allclose(first, np.diag(3 * x**2))
    expected = np.zeros((2, 2, 2))
    expected[[0, 1], [0, 1], [0, 1]] = 6 * x
    np.testing.assert_allclose(second, expected)


def test_errors_of_rules_are_not_lost():
    def ask(target, raised):
        @pb.custom_gradient
        def f(x):
            def rule(upstream):
                raise raised

            return x * 2, rule

        x, z = pb.Variable([1.0, 2.0, 3.0]), pb.Variable([1.0, 2.0])
        with pb.GradientTape() as tape:
            y = target(f(x))
        return tape.jacobian(y, [x, z])

    for error in (RuntimeError("device lost"), NotImplementedError("later"), KeyError("k")):
        for target in (lambda y: y, lambda y: y[:0], lambda y: pb.sum(y)):
            with pytest.raises(type(error), match=str(error.args[0])):
                ask(target, error)


def test_an_empty_target_knows_what_it_is_made_of():
    x, z = pb.Variable([1.0, 2.0, 3.0]), pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = x[:0] * 2
    by_x, by_z = tape.jacobian(y, [x, z])
    assert by_x.shape == (0, 3) and by_z is None


@pytest.mark.parametrize("look", [False, True])
def test_zeros_below_a_rule_that_looks(look):
    @pb.custom_gradient
    def f(x):
        def rule(upstream):
            if look:
                upstream.numpy()
            return upstream

        return x + 0.0, rule

    x = pb.Variable([0.0, 4.0])
    with pb.GradientTape() as tape:
        y = pb.sqrt(f(x))
    assert tape.jacobian(y, x).numpy().tolist() == [[np.inf, 0.0], [0.0, 0.25]]


def test_a_checkpoint_computes_its_inside_once_for_all_rows():
    random = np.random.default_rng(0)
    inner, outer = random.normal(size=(20, 400)), random.normal(size=(400, 4))

    def f(x):
        return pb.tanh(x @ inner) @ outer

    def rows(g):
        def jacobian(x):
            with pb.GradientTape() as tape:
                tape.watch(x)
                y = g(x)
            return tape.jacobian(y, x)

        return jacobian

    x = pb.constant(random.normal(size=20))
    again = rows(pb.checkpoint(f))
    np.testing.assert_allclose(again(x), rows(f)(x), rtol=1e-12)
    plain, more = (
        sum(step.operations for step in pb.profile(g, x).steps) for g in (rows(f), again)
    )
    assert more - plain < 1.5 * 2 * inner.size  # not once for each of the four rows


def test_the_most_axes():
    x = pb.Variable(np.ones((1,) * 15 + (2,)))
    with pb.GradientTape(persistent=True) as tape:
        y, rows = pb.sum(x * x), pb.reshape(x * x, (2,))
    assert tape.jacobian(y, x).shape == x.shape
    with pytest.raises(ValueError, match=r"jacobian: expected at most 16 axes .* got 17"):
        tape.jacobian(rows, x)
    small = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = pb.reshape(pb.reshape(small * small, (1,) * 15 + (2,)) * 3.0, (2,))
    assert tape.jacobian(y, small).numpy().tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_rules_with_several_results():
    @pb.custom_gradient
    def both(x):
        return (x * x, x * 3), lambda g, h: g * 2 * x + h * 3

    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        a, b = both(x)
        y = a * b
    assert tape.jacobian(y, x).numpy().tolist() == [[9.0, 0.0], [0.0, 36.0]]


def test_what_was_taken_from_a_table():
    table = pb.Variable(np.arange(6.0).reshape(3, 2))
    with pb.GradientTape() as tape:
        y = pb.sum(pb.take(table, np.array([0, 2, 2]), axis=0) ** 2, axis=1)
    got = tape.jacobian(y, table).numpy()
    assert got.shape == (3, 3, 2)
    assert got[1].tolist() == got[2].tolist() == [[0, 0], [0, 0], [8, 10]]


# --- batch_jacobian


def test_batches():
    x = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pb.GradientTape() as tape:
        y = x * x
    got = tape.batch_jacobian(y, x).numpy()
    assert got.tolist() == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]


def test_batches_of_more_axes_are_the_diagonal_of_the_jacobian():
    random = np.random.default_rng(1)
    x, mix = pb.Variable(random.normal(size=(4, 2, 3))), random.normal(size=(3, 5))
    with pb.GradientTape(persistent=True) as tape:
        y = pb.softmax(x @ mix, axis=-1)
    batched, full = tape.batch_jacobian(y, x), tape.jacobian(y, x).numpy()
    assert batched.shape == (4, 2, 5, 2, 3)
    np.testing.assert_allclose(batched, [full[i, :, :, i] for i in range(4)], atol=1e-14)


def test_batches_without_a_path():
    x, z = pb.Variable(np.ones((2, 3))), pb.Variable(np.ones((2, 4)))
    with pb.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.batch_jacobian(y, z) is None
    assert tape.batch_jacobian(y, z, unconnected_gradients="zero").shape == (2, 3, 4)


# --- errors


def test_the_tape_answers_once():
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match="jacobian: target: expected one Tensor or Variable"):
        tape.jacobian([y], x)
    with pytest.raises(
        ValueError, match=r"batch_jacobian: expected rank 2 or more for target, .* got shape \(2,\)"
    ):
        tape.batch_jacobian(y, x)
    tape.jacobian(y, x)
    for ask in (tape.jacobian, tape.gradient):
        with pytest.raises(RuntimeError, match="persistent=True"):
            ask(y, x)


def test_bad_arguments():
    x, z = pb.Variable(np.ones((2, 3))), pb.Variable(np.ones((4, 3)))
    with pb.GradientTape(persistent=True) as tape:
        y = x * x
    with pytest.raises(TypeError, match=r"jacobian: expected .* for entry 1 of sources"):
        tape.jacobian(y, [x, 1.0])
    with pytest.raises(ValueError, match=r"expected equal first axes .* shapes \(2, 3\)"):
        tape.batch_jacobian(y, z)
    with pytest.raises(
        ValueError, match="unconnected_gradients must be one of 'none', 'zero'; got 'no'"
    ):
        tape.jacobian(y, x, unconnected_gradients="no")
    with pytest.raises(RuntimeError, match="jacobian: the tape was never entered"):
        pb.GradientTape().jacobian(y, x)


def projected(v):
    """Two results of five numbers."""
    a, b, c, d, e = (v[i] for i in range(5))
    scale = pb.exp(-a * a) / (1 + b * b)
    return pb.stack([scale * pb.sin(c * d), scale * c + e * e * a])


@pytest.mark.parametrize("rows", [3, 64, 200])
def test_jacobians_of_few_results_in_a_batch(rows):
    """From 64 entries on there is a pass for each result."""
    x = np.random.default_rng(0).standard_normal((rows, 5))
    for way in (pb.vmap(pb.jacobian(projected)), pb.function(pb.vmap(pb.jacobian(projected)))):
        got = way(pb.constant(x)).numpy()
        assert got.shape == (rows, 2, 5)
        for k in range(5):
            step = 1e-6 * np.eye(5)[k]
            ends = [pb.vmap(projected)(pb.constant(x + s)).numpy() for s in (step, -step)]
            np.testing.assert_allclose(got[:, :, k], (ends[0] - ends[1]) / 2e-6, atol=1e-8)
    one = pb.jacobian(projected)(pb.constant(x[1])).numpy()
    np.testing.assert_allclose(got[1], one, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("rows", [3, 100])
def test_hessians_of_few_numbers_in_a_batch(rows):
    x = np.random.default_rng(1).standard_normal((rows, 3))
    constant = pb.constant(x)
    y = pb.vmap(pb.hessian(lambda v: pb.sin(v[0] * v[1]) + v[2] ** 3 * v[0]))(constant).numpy()
    a, b, c = x.T
    s, t = np.sin(a * b), np.cos(a * b)
    zero = 0 * a
    expected = [
        [-b * b * s, t - a * b * s, 3 * c * c],
        [t - a * b * s, -a * a * s, zero],
        [3 * c * c, zero, 6 * a * c],
    ]
    np.testing.assert_allclose(y, np.moveaxis(np.array(expected), 2, 0), rtol=1e-12, atol=1e-12)
    linear = pb.vmap(pb.jacobian(lambda v: pb.stack([2 * v[0], pb.sum(v)])))(constant).numpy()
    assert np.array_equal(linear, np.broadcast_to([[2.0, 0, 0], [1, 1, 1]], (rows, 2, 3)))
    none = pb.vmap(pb.jacobian(lambda v: pb.ones((2,), "float64")))(constant).numpy()
    assert np.array_equal(none, np.zeros((rows, 2, 3)))
