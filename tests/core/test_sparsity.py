"""Patterns of derivatives, read off the graph: of exact examples and of random programs the sparse
derivative is the dense one, and has no more entries than needed; and colourings, by their
definitions. Each operation alone is in test_ops.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.properties.sparse import dense

import pullback as pb
from pullback import _core

# Whose index maps the table does not show: the entries of the pattern, per entry of the result.
BUDGET = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def pattern(f, x):
    """Which entries may differ from zero, as a matrix of bool."""
    matrix = pb.sparse_jacobian(f, x)
    matrix.data[:] = 1
    return matrix.toarray().astype(bool)


X = np.arange(1.0, 13.0).reshape(3, 4)
AT = np.array([[2, 0, 2], [-1, 1, 1]])
EXACT = {
    "slice": lambda x: x[::-2, 1:3],
    "broadcast": lambda x: x[:, :1] + pb.zeros((2, 3, 4), "float64"),
    "transpose": lambda x: pb.permute_dims(x, (1, 0)) * 2.0,
    "concat": lambda x: pb.concat([x, pb.ones((1, 4), "float64"), x[:2] * 3.0]),
    "pad": lambda x: pb.pad(x, ((1, 0), (0, 2))),
    "roll": lambda x: pb.roll(x, 5) - x,
    "take": lambda x: pb.take(x, AT, axis=1),
    "take of computed positions": lambda x: pb.take(x, pb.arange(6) // 2, axis=0),
    "take along": lambda x: pb.take_along_axis(x, np.array([[1], [0], [3]]), axis=1),
    "set": lambda x: x.at[1, 2:].set(x[0, :2]),
    "add at positions": lambda x: x.at[np.array([0, 2, 0])].add(2 * x),
    "set at positions": lambda x: x.at[np.array([0, 2])].set(x[1:] ** 2),
    "histogram": lambda x: pb.zeros(4, "float64").at[AT[0]].add(x[:, 1]),
    "sum": lambda x: pb.sum(x * x, axis=0),
    "sum of several axes": lambda x: pb.sum(x[None] * np.ones((2, 1, 1)), axis=(0, 2)),
    "rows of a product": lambda x: x @ np.ones((4, 2)),
    "columns of a product": lambda x: np.ones((2, 3)) @ x,
    "running sum": lambda x: pb.cumsum(x, axis=1),
    "recurrence": lambda x: pb.cumulative_prod(x, axis=0),
    "diagonal": lambda x: pb.diagonal(x) * x[:, 0],
    "tril": lambda x: pb.tril(x),
    "outer": lambda x: pb.outer(x[0], x[1]),
    "logsumexp": lambda x: pb.logsumexp(x, axis=1),
    "softmax": lambda x: pb.softmax(x, axis=0),
    "no entries": lambda x: x[:0] * 2.0,
    "nothing": lambda x: pb.stop_gradient(x),
    "constant": lambda x: pb.ones(3, "float64"),
    "itself": lambda x: x,
}


@pytest.mark.parametrize("name", EXACT)
def test_patterns_are_exact(name):
    """As generic values would show: no entry more than some values make different from zero. Of a
    constant beside it, as in tril, the zeros are not looked at."""
    found = np.zeros(())
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=X.shape)
        found = found + (dense(EXACT[name], x) != 0)
    expected = found > 0
    got = pattern(EXACT[name], X)
    if name in ("tril",):
        assert (got == np.eye(12, dtype=bool)).all()
    else:
        np.testing.assert_array_equal(got, expected)


def test_positions_that_depend_on_the_argument_may_be_anywhere():
    order = lambda x: pb.take(x, pb.argsort(x[0]), axis=1)  # noqa: E731
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(2, 3))
        got = pb.sparse_jacobian(order, x)
        np.testing.assert_array_equal(got.toarray(), dense(order, x))
    assert got.nnz == 2 * 9
    by_row = lambda x: pb.take_along_axis(x, pb.argmax(x, axis=1, keepdims=True), axis=1)  # noqa: E731
    for x in (np.array([[1.0, 2.0], [4.0, 3.0]]), np.array([[2.0, 1.0], [3.0, 4.0]])):
        np.testing.assert_array_equal(pb.sparse_jacobian(by_row, x).toarray(), dense(by_row, x))


def test_positions_in_a_variable_may_change():
    at = pb.Variable(np.array([0, 2]), trainable=False)
    f = lambda x: pb.take(x, at, axis=0) * 2.0  # noqa: E731
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(pb.sparse_jacobian(f, x).toarray(), [[2, 0, 0], [0, 0, 2]])
    at.assign(np.array([1, 1]))
    np.testing.assert_array_equal(pb.sparse_jacobian(f, x).toarray(), [[0, 2, 0], [0, 2, 0]])


def test_random_positions_are_drawn_at_every_call():
    f = lambda x: pb.random.shuffle(x) * 2.0  # noqa: E731
    x = np.arange(1.0, 6.0)
    seen = set()
    for _ in range(8):
        matrix = pb.sparse_jacobian(f, x).toarray()
        np.testing.assert_array_equal(np.sort(matrix @ x), 2 * x)
        seen.add(tuple(matrix @ x))
    assert len(seen) > 1


# --- random programs

STEPS = {
    "shift": lambda x, k: x[k % 3 :] if x.shape[0] > 3 else x,
    "difference": lambda x, k: x[1:] - x[:-1] if x.shape[0] > 1 else x,
    "every other": lambda x, k: x[:: 1 + k % 2],
    "flip": lambda x, k: x[::-1],
    "swap": lambda x, k: pb.permute_dims(x, (1, 0)),
    "pad": lambda x, k: pb.pad(x, ((k % 2, 0), (0, 1))),
    "roll": lambda x, k: pb.roll(x, k, axis=k % 2),
    "square": lambda x, k: x * x,
    "neighbours": lambda x, k: x * pb.roll(x, 1, axis=0),
    "tanh": lambda x, k: pb.tanh(x),
    "choice": lambda x, k: pb.where(x > 0, x, pb.exp(x)),
    "relu": lambda x, k: pb.relu(x - 0.1),
    "row sums": lambda x, k: x + pb.sum(x, axis=k % 2, keepdims=True),
    "running": lambda x, k: pb.cumsum(x, axis=k % 2) * 0.3,
    "take": lambda x, k: pb.take(x, np.arange(k + 1) % x.shape[0], axis=0),
    "gather": lambda x, k: pb.take(x, pb.argsort(x[0]), axis=1),
    "scatter": lambda x, k: x.at[np.arange(k % 3) % x.shape[0]].add(x[0]),
    "set": lambda x, k: x.at[k % x.shape[0]].set(x[-1] ** 2),
    "sort": lambda x, k: pb.sort(x, axis=k % 2),
    "largest": lambda x, k: pb.max(x, axis=k % 2, keepdims=True) * x,
    "product": lambda x, k: x @ np.cos(np.arange(x.shape[1] * 2.0)).reshape(-1, 2),
    "gram": lambda x, k: pb.matmul(x, pb.permute_dims(x, (1, 0))) * 0.2,
    "reshape": lambda x, k: pb.reshape(x, (-1, 1)) if k % 2 else x,
    "join": lambda x, k: pb.concat([x, x[:1] * 2.0], axis=0),
    "checkpoint": lambda x, k: pb.checkpoint(lambda z: pb.sin(z) * z)(x),
    "softmax": lambda x, k: pb.softmax(x, axis=k % 2),
}


@BUDGET
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5)), max_size=6),
       st.integers(1, 5), st.integers(1, 4), st.booleans())  # fmt: skip
def test_random_programs(steps, rows, columns, second):
    def f(x):
        for name, k in steps:
            x = STEPS[name](x, k)
        return pb.sum(x * np.sin(1.0 + np.arange(x.shape[1]))) if second else x

    x = np.random.default_rng(rows * 10 + columns).normal(size=(rows, columns))
    if second:
        got, expected = pb.sparse_hessian(f, x), dense(pb.grad(f), x)
    else:
        got, expected = pb.sparse_jacobian(f, x), dense(f, x)
    np.testing.assert_allclose(got.toarray(), expected, rtol=1e-9, atol=1e-9)


# --- colourings

COUNTS = [(8, 8), (30, 12), (12, 30), (200, 200)]


def pattern_of(rows, columns, at):
    """A pattern with entries at these pairs of a row and a column."""
    x = _core.Trace().argument("float64", (columns,), False)
    i, j = (np.asarray(at, np.int64).reshape(-1, 2).T).copy()
    y = _core.scatter_add(_core.take(x, pb.constant(j), 0), pb.constant(i), 0, rows)
    return _core.dependence(y, x, "test")


def compressed(pattern, size, symmetric=False):
    return _core.compression(pattern, symmetric, size[:1], size[1:], "test")


def random_entries(rows, columns, each, seed):
    rng = np.random.default_rng(seed)
    return np.unique(np.stack([np.repeat(np.arange(rows), each),
                               rng.integers(0, columns, rows * each)], 1), axis=0)  # fmt: skip


@pytest.mark.parametrize("size", COUNTS)
@pytest.mark.parametrize("seed", range(3))
def test_colours_keep_entries_apart(size, seed):
    entries = random_entries(*size, 3, seed)
    known = pattern_of(*size, entries)
    np.testing.assert_array_equal(known.entries, entries[:, 1])
    np.testing.assert_array_equal(
        np.diff(known.starts), np.bincount(entries[:, 0], minlength=size[0])
    )
    by_rows, count, colours, positions = compressed(known, size)
    assert count == compressed(known.transposed(), size[::-1])[1]
    assert colours.min() >= 0 and colours.max() == count - 1
    line, across = (entries[:, 0], entries[:, 1]) if by_rows else (entries[:, 1], entries[:, 0])
    met = list(zip(colours[line].tolist(), across.tolist(), strict=True))
    assert len(set(met)) == len(met)
    width = size[1] if by_rows else size[0]
    np.testing.assert_array_equal(positions, colours[line].astype(int) * width + across)


@pytest.mark.parametrize("n", [6, 25, 120])
@pytest.mark.parametrize("seed", range(4))
def test_symmetric_colours_show_every_entry(n, seed):
    some = random_entries(n, n, 2, seed)
    entries = np.unique(np.concatenate([some, some[:, ::-1]]), axis=0)
    by_rows, count, colours, positions = compressed(pattern_of(n, n, entries), (n, n), True)
    matrix = np.zeros((n, n))
    matrix[entries[:, 0], entries[:, 1]] = np.arange(1.0, len(entries) + 1)
    matrix = np.maximum(matrix, matrix.T)
    products = np.stack([matrix @ (colours == c) for c in range(count)])
    assert by_rows
    np.testing.assert_array_equal(products.ravel()[positions], matrix[tuple(entries.T)])
    # A star colouring: neighbours differ, and no path of four has two colours.
    others = [set(entries[entries[:, 0] == v, 1].tolist()) - {v} for v in range(n)]
    for v in range(n):
        for w in others[v]:
            assert colours[v] != colours[w]
            for x in others[w] - {v}:
                for y in others[x] - {w, v}:
                    assert not (colours[v] == colours[x] and colours[w] == colours[y])


def test_a_pattern_that_is_not_symmetric_is_coloured_by_rows():
    known = pattern_of(3, 3, [(0, 0), (0, 1), (0, 2), (1, 1), (2, 2)])
    by_rows, count, _, positions = compressed(known, (3, 3), True)
    assert by_rows and count == 2 and len(set(positions.tolist())) == 5


def counted(f, x, hessian=False):
    """How many products a derivative takes."""
    x = _core.Trace().argument("float64", x.shape, False)
    y = f(x)
    if hessian:
        (y,) = _core.gradients([y], [x])
    g = _core.Trace().argument("float64", y.shape, False)
    known = _core.dependence(_core.gradients([y], [x], [g])[0], g, "test").transposed()
    by_rows, count, *_ = _core.compression(known, hessian, y.shape, x.shape, "test")
    return count, by_rows


def stencil(u):
    p = pb.pad(u, 1)
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def test_how_many_products_known_matrices_take():
    line, grid = np.zeros(101), np.zeros((40, 41))
    assert counted(lambda u: u[2:] - 2 * u[1:-1] + u[:-2], line)[0] == 3
    assert counted(lambda u: u * 2.0, line)[0] == 1
    assert counted(lambda u: pb.sum(u)[None] * 2.0, line) == (1, True)
    assert counted(lambda u: u + u[0], line) == (2, False)
    assert counted(stencil, grid)[0] == 5
    assert counted(lambda u: stencil(u)[1:-1, 1:-1], grid)[0] == 5
    around = lambda u: sum(pb.roll(u, k, axis=a) for k in (1, -1) for a in (0, 1))  # noqa: E731
    assert counted(around, np.zeros((40, 45)))[0] == 5
    assert counted(around, grid)[0] <= 10
    cube = lambda u: sum(pb.roll(u, k, axis=a) for k in (1, -1) for a in range(3)) - u  # noqa: E731
    assert counted(cube, np.zeros((7, 14, 7)))[0] == 7
    smooth = lambda u: sum(pb.sum((pb.roll(u, 1, axis=a) - u) ** 4) for a in (0, 1))  # noqa: E731
    assert counted(smooth, np.zeros((40, 45)), True)[0] == 5
    assert counted(lambda u: pb.sum(u[0] * u**2), line, True)[0] == 2
    assert counted(lambda u: pb.sum((u[1:] - u[:-1] ** 2) ** 2), line, True)[0] == 3
    assert counted(lambda u: pb.sum(pb.cos(u)), line, True)[0] == 1
    assert counted(lambda u: pb.sum(u) ** 2, line, True)[0] == 101
    blocks = lambda u: pb.reshape(u, (10, 4)) @ np.ones((4, 4))  # noqa: E731
    assert counted(blocks, np.zeros(40))[0] == 4


# --- loops


def test_through_loops_and_branches():
    """Everything depends on everything there, which is more than it does, and never less."""
    x = np.linspace(0.5, 1.5, 4)
    functions = (
        lambda x: pb.fori_loop(0, 3, lambda i, u: u + 0.1 * pb.sin(pb.roll(u, 1)), x),
        lambda x: pb.scan(lambda c, one: (c + one, c * one), pb.sum(x[:0]), x)[1] * x,
        lambda x: pb.while_loop(lambda u: pb.sum(u) < 20, lambda u: u * u + x, x),
        lambda x: pb.cond(pb.sum(x) > 0, lambda u: u**2, lambda u: u, x),
    )
    for f in functions:
        np.testing.assert_allclose(pb.sparse_jacobian(f, x).toarray(), dense(f, x), rtol=1e-12)
        total = lambda x, f=f: pb.sum(f(x) ** 2)  # noqa: E731
        np.testing.assert_allclose(
            pb.sparse_hessian(total, x).toarray(), dense(pb.grad(total), x), rtol=1e-10
        )
