"""Operations under TensorFlow's names: values, types, gradients, kinks.
Dtypes are in test_dtypes.py, shapes in test_shapes.py."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1._graph.opdef import OPS

NAN, INF = float("nan"), float("inf")
X = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]], np.float32)
P = np.abs(X)
Y = np.array([[2.0, 0.5, -1.0]], np.float32)
M = np.array([[2.0, 0.75, -1.125]], np.float32)
B = np.array([[True, False, True], [False, False, True]])

# Function, op type, arguments, NumPy's answer.
ROWS = [
    (tf.add, "AddV2", (X, Y), X + Y),
    (tf.subtract, "Sub", (X, Y), X - Y),
    (tf.multiply, "Mul", (X, Y), X * Y),
    (tf.divide, "RealDiv", (X, Y), X / Y),
    (tf.realdiv, "RealDiv", (X, Y), X / Y),
    (tf.floordiv, "FloorDiv", (X, Y), X // Y),
    (tf.mod, "FloorMod", (X, M), X % M),
    (tf.pow, "Pow", (P, Y), P**Y),
    (tf.maximum, "Maximum", (X, Y), np.maximum(X, Y)),
    (tf.minimum, "Minimum", (X, Y), np.minimum(X, Y)),
    (tf.squared_difference, "SquaredDifference", (X, Y), (X - Y) ** 2),
    (tf.negative, "Neg", (X,), -X),
    (tf.abs, "Abs", (X,), P),
    (tf.sign, "Sign", (X,), np.sign(X)),
    (tf.square, "Square", (X,), X * X),
    (tf.exp, "Exp", (X,), np.exp(X)),
    (tf.math.expm1, "Expm1", (X,), np.expm1(X)),
    (tf.log, "Log", (P,), np.log(P)),
    (tf.math.log, "Log", (P,), np.log(P)),
    (tf.log1p, "Log1p", (P,), np.log1p(P)),
    (tf.sqrt, "Sqrt", (P,), np.sqrt(P)),
    (tf.rsqrt, "Rsqrt", (P,), 1 / np.sqrt(P)),
    (tf.reciprocal, "Reciprocal", (X,), 1 / X),
    (tf.sin, "Sin", (X,), np.sin(X)),
    (tf.cos, "Cos", (X,), np.cos(X)),
    (tf.tanh, "Tanh", (X,), np.tanh(X)),
    (tf.sigmoid, "Sigmoid", (X,), 1 / (1 + np.exp(-X))),
    (tf.round, "Round", (X,), np.round(X)),
    (tf.floor, "Floor", (X,), np.floor(X)),
    (tf.ceil, "Ceil", (X,), np.ceil(X)),
    (tf.nn.relu, "Relu", (X,), np.maximum(X, 0)),
    (tf.nn.softplus, "Softplus", (X,), np.log1p(np.exp(X))),
    (tf.nn.leaky_relu, "LeakyRelu", (X,), np.where(X > 0, X, 0.2 * X)),
    (tf.math.log_sigmoid, "Neg", (X,), -np.log1p(np.exp(-X))),
    (tf.equal, "Equal", (X, Y), X == Y),
    (tf.not_equal, "NotEqual", (X, Y), X != Y),
    (tf.less, "Less", (X, Y), X < Y),
    (tf.less_equal, "LessEqual", (X, Y), X <= Y),
    (tf.greater, "Greater", (X, Y), X > Y),
    (tf.greater_equal, "GreaterEqual", (X, Y), X >= Y),
    (tf.logical_and, "LogicalAnd", (B, B[:1]), B & B[:1]),
    (tf.logical_or, "LogicalOr", (B, B[:1]), B | B[:1]),
    (tf.logical_xor, "LogicalXor", (B, B[:1]), B ^ B[:1]),
    (tf.logical_not, "LogicalNot", (B,), ~B),
    (tf.is_nan, "IsNan", ([1.0, NAN],), [False, True]),
    (tf.is_inf, "IsInf", ([1.0, INF],), [False, True]),
    (tf.is_finite, "IsFinite", ([1.0, INF],), [True, False]),
    (tf.where, "Select", (B, X, P), np.where(B, X, P)),
    (tf.cast, "Cast", (X, tf.int32), X.astype(np.int32)),
    (tf.to_int64, "Cast", (X,), X.astype(np.int64)),
    (tf.identity, "Identity", (X,), X),
    (tf.stop_gradient, "StopGradient", (X,), X),
    (tf.matmul, "MatMul", (X, X.T), X @ X.T),
    (tf.add_n, "AddN", ([X, X, P],), X + X + P),
    (tf.reduce_sum, "Sum", (X,), X.sum()),
    (tf.reduce_sum, "Sum", (X, 0), X.sum(0)),
    (tf.reduce_sum, "Sum", (X, [0, -1]), X.sum()),
    (tf.reduce_mean, "Mean", (X, 1), X.mean(1)),
    (tf.reduce_max, "Max", (X, 1), X.max(1)),
    (tf.reduce_min, "Min", (X, 1, True), X.min(1, keepdims=True)),
    (tf.reduce_prod, "Prod", (X, 0), X.prod(0)),
    (tf.reduce_all, "All", (B, 1), B.all(1)),
    (tf.reduce_any, "Any", (B, 1), B.any(1)),
    (tf.reduce_logsumexp, "LogSumExp", (X, 1), np.log(np.exp(X).sum(1))),
    (tf.argmax, "ArgMax", (X, 1), X.argmax(1)),
    (tf.argmin, "ArgMin", (X,), X.argmin(0)),
    (tf.nn.softmax, "Softmax", (X,), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    (tf.nn.log_softmax, "LogSoftmax", (X,), X - np.log(np.exp(X).sum(1, keepdims=True))),
    (tf.nn.l2_loss, "L2Loss", (X,), (X * X).sum() / 2),
    (tf.nn.bias_add, "BiasAdd", (X, Y[0]), X + Y),
    (tf.zeros, "Fill", ([2, 3],), np.zeros((2, 3))),
    (tf.ones, "Fill", ([2], tf.int32), [1, 1]),
    (tf.zeros_like, "ZerosLike", (X,), 0 * X),
    (tf.ones_like, "OnesLike", (X,), np.ones_like(X)),
    (tf.fill, "Fill", ([2, 2], 7), np.full((2, 2), 7)),
    (tf.eye, "Const", (2, 3), np.eye(2, 3)),
    (tf.range, "Range", (2, 9, 3), np.arange(2, 9, 3)),
    (tf.range, "Range", (4,), np.arange(4)),
    (tf.shape, "Shape", (X,), [2, 3]),
    (tf.size, "Size", (X,), 6),
    (tf.rank, "Rank", (X,), 2),
    (tf.reshape, "Reshape", (X, [3, -1]), X.reshape(3, 2)),
    (tf.reshape, "Reshape", (X[:1, :1], []), 0.5),
    (tf.transpose, "Transpose", (X,), X.T),
    (tf.transpose, "Transpose", (X, [1, 0]), X.T),
    (tf.expand_dims, "ExpandDims", (X, 1), X[:, None]),
    (tf.squeeze, "Squeeze", (Y,), Y[0]),
    (tf.squeeze, "Squeeze", (Y, 0), Y[0]),
    (tf.tile, "Tile", (X, [2, 1]), np.tile(X, [2, 1])),
    (tf.pad, "Pad", (X, [[1, 0], [0, 2]]), np.pad(X, [[1, 0], [0, 2]])),
    (tf.broadcast_to, "BroadcastTo", (Y, [2, 3]), np.broadcast_to(Y, (2, 3))),
    (tf.stack, "Pack", ([X, P],), np.stack([X, P])),
    (tf.stack, "Pack", ([X, P], -1), np.stack([X, P], -1)),
    (tf.concat, "ConcatV2", ([X, Y], 0), np.concatenate([X, Y])),
    (tf.gather, "GatherV2", (X, [1, 1, 0]), X[[1, 1, 0]]),
    (tf.gather, "GatherV2", (X, [2, 0], 1), X[:, [2, 0]]),
    (tf.one_hot, "OneHot", ([2, 0, 5], 3), [[0, 0, 1], [1, 0, 0], [0, 0, 0]]),
    (tf.one_hot, "OneHot", ([1], 2, 5, -5), [[-5, 5]]),
]


@each(
    ("function", "type", "arguments", "expected"),
    ROWS,
    ids=[f"{r[1]}-{i}" for i, r in enumerate(ROWS)],
    around=graph_of_its_own,
)
def test_values_types_and_shapes(function, type, arguments, expected):
    y = function(*arguments)
    assert y.op.type == type
    value = run(y)
    np.testing.assert_allclose(value, expected, rtol=2e-6, atol=1e-6)
    assert y.shape == list(np.shape(expected))
    assert value.dtype == y.dtype
    if isinstance(expected, np.ndarray) and expected.dtype.kind in "bf":
        assert value.dtype.kind == expected.dtype.kind


@each(
    ("function", "type", "arguments", "expected"),
    ROWS,
    ids=[f"{r[1]}-{i}" for i, r in enumerate(ROWS)],
    around=graph_of_its_own,
)
def test_gradients_agree_with_differences(function, type, arguments, expected):
    """For every row whose first argument is an array of floats and whose result is too."""
    at = arguments[0]
    if not isinstance(at, np.ndarray) or at.dtype.kind != "f" or not hasattr(expected, "dtype"):
        return
    x = tf.placeholder(tf.float64, at.shape)
    rest = [
        a.astype(float) if getattr(a, "dtype", None) == np.float32 else a for a in arguments[1:]
    ]
    y = function(x, *rest)
    if not y.dtype.is_floating or type == "StopGradient":
        assert tf.gradients(y, x) == [None]
        return
    weights = np.random.default_rng(0).normal(size=np.shape(expected))
    (g,) = tf.gradients(y, x, grad_ys=tf.constant(weights))
    if g is None:
        assert type in ("Round", "Floor", "Ceil", "FloorDiv", "ZerosLike", "OnesLike")
        return
    step = 1e-6
    with tf.Session() as session:
        slope = session.run(tf.convert_to_tensor(g), {x: at})
        for index in np.ndindex(at.shape):
            moved = np.array(at, float)
            moved[index] += step
            up = session.run(y, {x: moved})
            moved[index] -= 2 * step
            down = session.run(y, {x: moved})
            difference = np.sum(weights * (up - down)) / (2 * step)
            assert slope[index] == pytest.approx(difference, rel=1e-5, abs=1e-7)


def test_operators():
    x, n, b = tf.constant([7.0, -7.0]), tf.constant([7, -7]), tf.constant([True, False])
    pairs = [
        (x + 1, [8, -6], "AddV2"), (1 + x, [8, -6], "AddV2"), (x - 1, [6, -8], "Sub"),
        (1 - x, [-6, 8], "Sub"), (x * 2, [14, -14], "Mul"), (2 * x, [14, -14], "Mul"),
        (x / 2, [3.5, -3.5], "RealDiv"), (14 / x, [2, -2], "RealDiv"),
        (x // 2, [3, -4], "FloorDiv"), (15 // x, [2, -3], "FloorDiv"),
        (x % 4, [3, 1], "FloorMod"), (9 % x, [2, -5], "FloorMod"),
        (x**2, [49, 49], "Pow"), (2**x, [128, 1 / 128], "Pow"), (-x, [-7, 7], "Neg"),
        (abs(x), [7, 7], "Abs"), (n / 2, [3.5, -3.5], "RealDiv"), (n // 2, [3, -4], "FloorDiv"),
        (n % 4, [3, 1], "FloorMod"), (x < 0, [False, True], "Less"),
        (x <= 7, [True, True], "LessEqual"), (x > 0, [True, False], "Greater"),
        (x >= 7, [True, False], "GreaterEqual"),
        (b & True, [True, False], "LogicalAnd"), (True | b, [True, True], "LogicalOr"),
        (b ^ b, [False, False], "LogicalXor"), (~b, [False, True], "LogicalNot"),
        (x[0], 7, "StridedSlice"), (x[::-1], [-7, 7], "StridedSlice"),
        (np.array([1.0, 2.0]) * x, [7, -14], "Mul"), ((1.0, 2.0) - x, [-6, 9], "Sub"),
        (tf.reshape(x, [1, 2]) @ tf.reshape(x, [2, 1]), [[98]], "MatMul"),
        ([[1.0, 1.0]] @ tf.reshape(x, [2, 1]), [[0]], "MatMul"),
    ]  # fmt: skip
    for y, expected, type in pairs:
        assert y.op.type == type
        assert listed(run(y)) == expected, type
    assert run(n / 2).dtype == np.float64


def test_kinks_and_conventions():
    def slope(f, at):
        x = tf.constant(at)
        return listed(run(tf.gradients(f(x), x))[0])

    assert slope(tf.abs, [0.0, -2.0]) == [0.0, -1.0]
    assert slope(tf.nn.relu, [0.0, 1.0, -1.0]) == [0.0, 1.0, 0.0]
    assert slope(tf.nn.leaky_relu, [0.0]) == pytest.approx([0.2])
    assert slope(tf.sign, [0.0, 3.0]) == [0.0, 0.0]
    assert slope(lambda x: tf.reduce_max(x), [2.0, 2.0, 1.0]) == [0.5, 0.5, 0.0]
    assert slope(lambda x: tf.reduce_min(x), [2.0, 1.0, 1.0]) == [0.0, 0.5, 0.5]
    assert slope(lambda x: x**2, [0.0]) == [0.0]
    assert slope(tf.sqrt, [0.0]) == [INF]
    assert slope(lambda x: 0 * tf.sqrt(x), [0.0, 4.0]) == [0.0, 0.0]
    assert slope(lambda x: tf.reduce_prod(x), [2.0, 0.0, 3.0]) == [0.0, 6.0, 0.0]
    a, b = tf.constant(2.0), tf.constant(2.0)
    for f in (tf.maximum, tf.minimum):
        assert listed(run(tf.gradients(f(a, b), [a, b]))) == [1.0, 0.0]
    base, exponent = tf.constant([-1.0, 0.0, 2.0]), tf.constant([2.0, 2.0, 2.0])
    by_exponent = run(tf.gradients(base**exponent, exponent))[0]
    assert by_exponent == pytest.approx([0.0, 0.0, 4 * np.log(2)])
    x, y = tf.constant(-7.0), tf.constant(2.0)
    assert listed(run(tf.gradients(x % y, [x, y]))) == [1.0, 4.0]
    assert tf.gradients(x // y, [x, y]) == [None, None]
    for f in (
        tf.round,
        tf.floor,
        tf.ceil,
        tf.argmax,
        tf.shape,
        tf.size,
        tf.zeros_like,
        tf.ones_like,
    ):
        v = tf.constant([1.0, 2.0])
        assert tf.gradients(f(v), v) == [None]


def test_nan_wins_maximum_and_minimum():
    for f in (tf.maximum, tf.minimum):
        assert np.isnan(run([f(NAN, 1.0), f(1.0, NAN)])).all()


def test_cross_entropies():
    logits = tf.constant([[1.0, 2.0, -1.0], [0.0, 0.0, 90.0]])
    labels = tf.constant([[0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    p = np.exp(run(tf.nn.log_softmax(logits)))
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert loss.op.type == "SoftmaxCrossEntropyWithLogits"
    expected = -np.sum(run(labels) * run(tf.nn.log_softmax(logits)), 1)
    assert run(loss) == pytest.approx(expected, rel=1e-6)
    by_logits, by_labels = run(tf.gradients(loss, [logits, labels]))
    np.testing.assert_allclose(by_logits, p - run(labels), atol=1e-6)
    np.testing.assert_allclose(by_labels, -run(tf.nn.log_softmax(logits)), rtol=1e-6)
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert tf.gradients(old, labels) == [None]
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=logits)
    assert run(sparse) == pytest.approx([-np.log(p[0, 1]), 0.0], abs=1e-6)
    x = tf.constant([-200.0, 0.5, 200.0])
    both = tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0, 0.0], logits=x)
    assert run(both) == pytest.approx([0.0, np.log1p(np.exp(-0.5)), 200.0], rel=1e-6)
    with pytest.raises(ValueError, match="labels="):
        tf.nn.softmax_cross_entropy_with_logits(labels, logits)


@pytest.mark.parametrize("axis", [0, 1, -2, -1])
def test_cross_entropy_along_any_axis(axis):
    logits = np.array([[1.0, 2.0, -1.0], [0.0, 0.5, 3.0]])
    labels = np.array([[0.0, 1.0, 0.25], [1.0, 0.0, 0.75]])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=axis)
    expected = -np.sum(labels * (logits - np.log(np.exp(logits).sum(axis, keepdims=True))), axis)
    np.testing.assert_allclose(run(loss), expected, rtol=1e-12)


def test_matmul():
    a, b = tf.constant(X), tf.constant(P)
    assert run(tf.matmul(a, b, transpose_b=True)) == pytest.approx(X @ P.T)
    assert run(tf.matmul(a, b, transpose_a=True)) == pytest.approx(X.T @ P)
    batch = tf.constant(np.stack([X, P]))
    y = tf.matmul(batch, batch, transpose_b=True)
    assert y.op.type == "BatchMatMulV2" and y.shape == [2, 2, 2]
    assert run(tf.matmul([[2]], [[3]])).tolist() == [[6]]
    with pytest.raises(ValueError, match="rank 2"):
        tf.matmul([1.0], [[1.0]])
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        tf.matmul(a, b)


def test_split_unstack_and_their_gradients():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    parts = tf.split(x, [1, 3]) + tf.split(x, 2) + tf.unstack(x)
    assert listed(run(parts)) == [
        [1.0],
        [2.0, 3.0, 4.0],
        [1.0, 2.0],
        [3.0, 4.0],
        1.0,
        2.0,
        3.0,
        4.0,
    ]
    (g,) = tf.gradients([parts[1], 10 * parts[3], 100 * parts[5]], x)
    assert run(g).tolist() == [0.0, 101.0, 11.0, 11.0]
    with pytest.raises(ValueError, match="splits into 3 equal parts"):
        tf.split(x, 3)
    with pytest.raises(ValueError, match="give num"):
        tf.unstack(tf.placeholder(tf.float32, [None]))


def test_slices():
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    value = np.arange(24).reshape(2, 3, 4)
    for key in (
        0,
        (1, 2),
        (slice(None), slice(1, None)),
        (Ellipsis, 0),
        (None, 1),
        slice(None, None, -1),
    ):
        assert np.array_equal(run(x[key]), value[key])
    assert np.array_equal(run(x[tf.constant(1)]), value[1])
    with pytest.raises(ValueError, match="out of range"):
        x[5]


def test_wrong_arguments():
    x = tf.constant(1.0)
    with pytest.raises(TypeError):
        tf.add(x)
    with pytest.raises(TypeError):
        tf.exp(x, axis=3)
    with pytest.raises(TypeError, match="identity"):
        tf.constant(x)


def test_random():
    n, u, t = run([
        tf.random_normal([4000], 2.0, 3.0), tf.random_uniform([4000], -1.0, 3.0),
        tf.truncated_normal([4000], stddev=2.0),
    ])  # fmt: skip
    assert n.mean() == pytest.approx(2.0, abs=0.25) and n.std() == pytest.approx(3.0, abs=0.2)
    assert u.min() >= -1 and u.max() < 3 and u.mean() == pytest.approx(1.0, abs=0.1)
    assert np.abs(t).max() <= 4.0 and t.std() == pytest.approx(2 * 0.88, abs=0.1)
    x = tf.constant(np.arange(50))
    shuffled = run(tf.random_shuffle(x))
    assert sorted(shuffled) == list(range(50)) and shuffled.tolist() != list(range(50))
    with pytest.raises(TypeError, match="float32 or float64"):
        tf.random_normal([2], dtype=tf.int32)
    with pytest.raises(TypeError, match="integer"):
        tf.set_random_seed(1.5)


# --- completeness


def test_every_public_name_is_documented():
    missing = [
        name
        for name, thing in vars(tf).items()
        if not name.startswith("_") and callable(thing) and not inspect.getdoc(thing)
    ]
    assert missing == []


def test_every_row_is_differentiated_or_says_why_not():
    assert len(OPS) > 80
    for row in OPS.values():
        assert (row.function is None) != (row.execute is None)
        assert row.flows or row.from_output is None
