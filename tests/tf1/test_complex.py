"""Complex tensors in compat.tf1: values against NumPy, gradients against differences, dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, run  # noqa: F401

import pullback.compat.tf1 as tf

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
W = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))

UNARY = [
    ("negative", np.negative), ("square", np.square), ("exp", np.exp), ("expm1", np.expm1),
    ("log", np.log), ("log1p", np.log1p), ("sqrt", np.sqrt), ("rsqrt", lambda z: 1 / np.sqrt(z)),
    ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("sinh", np.sinh), ("cosh", np.cosh),
    ("tanh", np.tanh), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan),
    ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh),
    ("reciprocal", np.reciprocal), ("conj", np.conj), ("real", np.real), ("imag", np.imag),
    ("angle", np.angle), ("abs", np.abs), ("sign", lambda z: z / np.abs(z)),
    ("reduce_sum", np.sum), ("reduce_mean", np.mean), ("reduce_prod", np.prod),
    ("transpose", np.transpose), ("cumsum", lambda z: np.cumsum(z, 0)), ("identity", np.array),
]  # fmt: skip
BINARY = [
    ("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
    ("divide", np.divide), ("pow", np.power), ("equal", np.equal), ("not_equal", np.not_equal),
    ("squared_difference", lambda x, y: (x - y) ** 2),
]  # fmt: skip
NAMES = [name for name, _ in UNARY + BINARY]
REFERENCE = dict(UNARY + BINARY)


def inputs_of(name):
    return (Z, W) if name in dict(BINARY) else (Z,)


@each("name", NAMES, around=graph_of_its_own)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_values_are_those_of_numpy(name, dtype):
    values = [x.astype(dtype) for x in inputs_of(name)]
    holders = [tf.placeholder(dtype, [None, 4]) for _ in values]
    made = getattr(tf, name)(*holders)
    want = np.asarray(REFERENCE[name](*values))
    got = run(made, dict(zip(holders, values, strict=True)))
    assert made.dtype.name == want.dtype.name == got.dtype.name
    np.testing.assert_allclose(got, want, rtol=2e-5 if dtype == "complex64" else 2e-13)


FLAT = {"equal", "not_equal"}


@each("name", [n for n in NAMES if n not in FLAT], around=graph_of_its_own)
def test_gradients_are_those_of_differences(name):
    """Of a real loss by x + iy: dL/dx + i dL/dy, as in TensorFlow."""
    z, *others = inputs_of(name)
    weights = W if np.shape(REFERENCE[name](z, *others)) else 1.0 + 0.5j
    weights = weights.T if name == "transpose" else weights

    def loss_of(x):
        return float(np.sum(np.real(REFERENCE[name](x, *others) * np.conj(weights))))

    h = 1e-6
    want = np.zeros_like(z)
    for at in np.ndindex(z.shape):
        for step in (h, 1j * h):
            left, right = z.copy(), z.copy()
            left[at] -= step
            right[at] += step
            want[at] += (loss_of(right) - loss_of(left)) / (2 * h) * (step / h)
    x = tf.placeholder(tf.complex128, [None, 4])
    made = getattr(tf, name)(x, *(tf.constant(y) for y in others))
    made = made if made.dtype.is_complex else tf.complex(made, tf.zeros_like(made))
    loss = tf.reduce_sum(tf.real(made * tf.conj(tf.constant(weights, tf.complex128))))
    got = run(tf.gradients(loss, x)[0], {x: z})
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-7)


def test_the_adjoint_is_the_transpose_of_the_conjugate():
    a, b = tf.constant(Z), tf.constant(W)
    for got, want in (
        (tf.matmul(a, b, adjoint_a=True), Z.conj().T @ W),
        (tf.matmul(a, b, adjoint_b=True), Z @ W.conj().T),
        (tf.matmul(a, b, transpose_b=True), Z @ W.T),
        (tf.matmul(Z, W, adjoint_b=True), Z @ W.conj().T),
        (tf.transpose(a, conjugate=True), Z.conj().T),
        (tf.linalg.matrix_transpose(a, conjugate=True), Z.conj().T),
        (tf.einsum("ij,kj->ik", a, b), np.einsum("ij,kj->ik", Z, W)),
    ):
        np.testing.assert_allclose(run(got), want, rtol=1e-12)
    real = tf.constant(Z.real)
    assert run(tf.matmul(real, real, adjoint_b=True)).dtype == np.float64


def test_dtypes():
    assert tf.constant(1j).dtype == tf.complex128 and tf.constant([1, 2j]).shape == [2]
    assert tf.constant(np.complex64(1j)).dtype == tf.complex64
    assert tf.constant(1.5, tf.complex64).dtype == tf.complex64
    z = tf.constant(Z, tf.complex128)
    assert (z * 2.0).dtype == (1 + z).dtype == (z * 1j).dtype == tf.complex128
    assert tf.complex(1.0, 2.0).dtype == tf.complex64
    assert tf.complex(np.float64(1.0), 2.0).dtype == tf.complex128
    assert tf.complex64.is_complex and not tf.complex64.is_floating
    assert tf.complex128.real_dtype == tf.float64 and tf.float32.real_dtype == tf.float32
    assert tf.as_dtype(complex) == tf.as_dtype("complex128") == tf.complex128
    x = tf.constant([1.0, -2.0])
    assert tf.real(x) is x and tf.conj(x) is x
    assert run([tf.imag(x), tf.angle(x)])[0].tolist() == [0.0, 0.0]
    assert tf.zeros([2], tf.complex64).dtype == tf.complex64 and tf.ones_like(z).dtype == z.dtype


def test_casts():
    x, z = tf.constant([1.0, 2.0]), tf.constant([1 + 2j, 3 - 1j], tf.complex64)
    y = tf.cast(x, tf.complex64)
    assert run(y).tolist() == [1, 2] and run(tf.to_complex128(x)).dtype == np.complex128
    assert run(tf.cast(z, tf.float32)).tolist() == [1, 3]
    assert run(tf.gradients(tf.abs(tf.reduce_sum(y * z)), x)[0]).dtype == np.float32
    slope = run(tf.gradients(tf.reduce_sum(tf.cast(z, tf.float32)), z)[0])
    assert slope.dtype == np.complex64 and slope.tolist() == [1, 1]


@each("wrong, text", [
    (lambda z: tf.less(z, z), "less"), (lambda z: tf.maximum(z, z), "maximum"),
    (lambda z: tf.floor(z), "floor"), (lambda z: tf.sigmoid(z), "sigmoid"),
    (lambda z: tf.nn.relu(z), "relu"), (lambda z: tf.reduce_max(z), "max"),
    (lambda z: tf.constant([1j], tf.float32), "expected float32"),
    (lambda z: tf.constant([1.0]) + 1j, "expected float32"),
    (lambda z: tf.complex(1, 2), "Complex"), (lambda z: z + tf.constant([1.0]), "one dtype"),
    (lambda z: tf.complex64.min, "complex64"),
], ids=str, around=graph_of_its_own)  # fmt: skip
def test_what_complex_numbers_have_not(wrong, text):
    with pytest.raises(TypeError, match=text):
        wrong(tf.constant([1j, 2.0], tf.complex64))


def test_variables_and_loops():
    v = tf.Variable(tf.constant([1 + 1j, 2.0]))
    step = v.assign(v * 1j)
    total = tf.while_loop(
        lambda i, z: i < 3, lambda i, z: (i + 1, z * v), [0, tf.ones([2], v.dtype)]
    )
    loss = tf.reduce_sum(tf.abs(total[1]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(v)
        np.testing.assert_allclose(session.run(total[1]), value**3)
        got = session.run(tf.gradients(loss, v)[0])
        np.testing.assert_allclose(got, 3 * np.abs(value) * value)
        np.testing.assert_allclose(session.run(step), value * 1j)


def test_py_function():
    x = tf.constant(Z)
    y = tf.py_function(lambda z: z * z, [x], tf.complex128)
    np.testing.assert_allclose(run(y), Z * Z)
    slope = run(tf.gradients(tf.reduce_sum(tf.real(y)), x)[0])
    np.testing.assert_allclose(slope, 2 * Z.conj())
