"""NumPy's functions, and SciPy's and Matplotlib's, given tensors: they take values, and no gradient
is lost silently."""

from __future__ import annotations

import operator
import warnings
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.check import Check
from support.each import each
from support.process import live

import pullback as pb

A = np.array([[1.0, 4.0], [9.0, 2.5]])
ROWS = np.zeros((2, 2), int)


def fix(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5
        return np.fix(x)


# What an answer with a derivative is made with: functions of pullback.
COMPUTE: list[Callable[[Any], Any]] = [
    np.mean,
    np.var,
    np.median,
    lambda x: np.dot(x, A),
    lambda x: np.dot(A, x),
    lambda x: np.einsum("ij->i", x),
    lambda x: np.tensordot(x, x),
    lambda x: np.where(A > 0, x, 0.0),
    lambda x: np.concatenate([A, x]),
    lambda x: np.stack([x, A]),
    lambda x: np.hstack((A, x)),
    np.transpose,
    lambda x: np.reshape(x, 4),
    lambda x: np.squeeze(x),
    lambda x: np.clip(x, 2.0, 3.0),
    np.trace,
    np.linalg.inv,
    np.linalg.matrix_transpose,
    lambda x: np.linalg.svd(x)[1],
    lambda x: np.interp(0.5, [0.0, 1.0], x[0]),
    lambda x: np.take(x, 0),
    np.sort,
    lambda x: np.round(x * 0.3),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.cross(np.reshape(x, 4)[1:], [1.0, 2.0, 0.5]),
    np.cumsum,
    np.diff,
    lambda x: np.tile(x, 2),
    lambda x: np.pad(x, 1),
    lambda x: np.insert(x, 1, x[0], axis=1),
    lambda x: np.delete(x, 0, axis=1),
    lambda x: np.block([[x, A], [A, x]]),
    lambda x: np.copy(x),
    lambda x: np.apply_along_axis(np.sum, 0, x),
    lambda x: np.apply_over_axes(np.sum, x, (0, 1)),
    lambda x: np.polyfit(x[0], x[1], 1),
    lambda x: fix(x * 0.3),
    lambda x: np.modf(x * 0.3)[0],
    lambda x: np.frexp(x * 0.7)[0],
    lambda x: np.ldexp(x, 3),
    lambda x: np.prod(x, axis=0),
    lambda x: np.fft.fft(x),
    np.sin,
    np.fabs,
    lambda x: np.maximum(A[::-1], x),
    lambda x: np.logaddexp(x, A),
    lambda x: np.hypot(A, x),
    np.add.reduce,
    lambda x: np.multiply.reduce(x, axis=1, keepdims=True),
    np.add.accumulate,
    lambda x: np.logaddexp.reduce(x, axis=1),
    np.logaddexp.accumulate,
    lambda x: np.subtract.outer(x, A[0]),
]
# Those that pullback does not have, and what the message says.
ABSENT: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: np.polyder(x[0]), "polyder: .*use operations of pullback, or pass .* constant by"),
    (np.trim_zeros, "trim_zeros: "),
    (np.spacing, r"^spacing: expected NumPy arrays, .*use operations of pullback, or x.numpy\(\)"),
    (lambda x: np.add.at(np.zeros(2), [0], x[0, 0]), "^add.at: expected a tensor to write into"),
    (lambda x: np.divide.at(x, [0], 2.0), "^divide.at: expected NumPy arrays"),
]
# Whose answers have none, or are values.
LOOK: list[Callable[[Any], Any]] = [
    np.asarray,
    np.array,
    lambda x: np.array(x, dtype=np.float32),
    lambda x: np.asarray([x, x])[0].tolist(),
    np.shape,
    np.ndim,
    np.size,
    np.argmax,
    np.argsort,
    np.count_nonzero,
    np.nonzero,
    lambda x: np.searchsorted(np.arange(10.0), x),
    lambda x: np.allclose(x, A),
    lambda x: np.array_equal(x, A),
    lambda x: np.isclose(x, A),
    np.array2string,
    np.array_repr,
    np.zeros_like,
    np.ones_like,
    np.atleast_1d,
    lambda x: np.broadcast_arrays(x, 1.0)[0],
    lambda x: np.histogram(x, 3)[0],
    np.iscomplexobj,
    lambda x: np.result_type(x, np.float32),
]


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    else:
        assert a == b


def tracked() -> list[Any]:
    v = pb.Variable(A)
    return [v, v.read(), v * 1.0]


@each("call", COMPUTE)
def test_a_function_of_a_tracked_tensor_has_a_gradient(call: Callable[[Any], Any]) -> None:
    want = call(A)
    for x in (*tracked(), pb.vmap(lambda row: row)(pb.Variable(A))):
        got = call(x)
        assert isinstance(got, pb.Tensor)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-14)
    np.testing.assert_allclose(pb.function(call)(A).numpy(), want, rtol=1e-14)
    weights = np.random.default_rng(0).standard_normal(np.shape(want))

    def loss(x: Any) -> Any:
        return (call(x) * weights).sum().real

    slope = pb.grad(loss)(A).numpy()
    for at in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[at] = 1e-6
        assert slope[at] == pytest.approx((loss(A + step) - loss(A - step)) / 2e-6, abs=1e-5)
    for x in (pb.constant(A), pb.constant(A) * 1.0, pb.stop_gradient(pb.constant(A))):
        got = call(x)
        if isinstance(got, pb.Tensor):  # a ufunc
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-14)
        else:
            same(got, want)


@each("call, text", ABSENT, ids=[t for _, t in ABSENT])
def test_no_gradient_is_lost(call: Callable[[Any], Any], text: str) -> None:
    for x in tracked():
        with pytest.raises(TypeError, match=text):
            call(x)


def test_scripts_of_numpy_have_gradients() -> None:
    """Written for arrays: nothing in them names pullback."""

    def regression(w: Any) -> Any:
        features = np.column_stack([np.ones(5), np.linspace(0, 1, 5), np.linspace(0, 1, 5) ** 2])
        odds = 1 / (1 + np.exp(-np.dot(features, w)))
        return -np.sum(np.log(odds)) + 0.1 * np.linalg.norm(w) ** 2

    def chain(w: Any) -> Any:
        angles = np.cumsum(w)
        ends = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        reach = np.ravel(np.sum(ends, axis=0))
        return np.sqrt(np.sum(np.square(reach - np.array([1.0, 0.5]))))

    def rows(w: Any) -> Any:
        table = np.vstack([w, np.roll(w, 1), np.flip(w)])
        scaled = np.where(table > 0, np.log1p(np.abs(table)), np.tanh(table))
        return np.max(np.mean(np.atleast_2d(scaled), axis=0)) + np.var(scaled)

    w = np.array([0.3, -0.7, 1.1])
    for f in (regression, chain, rows):
        for slope in (pb.grad(f), pb.function(pb.grad(f))):
            got = slope(w).numpy()
            for k, step in enumerate(1e-6 * np.eye(3)):
                assert got[k] == pytest.approx((f(w + step) - f(w - step)) / 2e-6, abs=1e-6), f


@each("call", LOOK)
def test_what_has_no_derivative_is_answered(call: Callable[[Any], Any]) -> None:
    for x in (*tracked(), pb.constant(A)):
        same(call(x), call(A))


def test_what_is_refused_writes_nothing() -> None:
    out = np.zeros(2)
    for x in tracked():
        with pytest.raises(TypeError, match=r"mean: .*pullback\.mean"):
            np.mean(x, axis=0, out=out)
    assert not out.any()
    np.mean(pb.constant(A), axis=0, out=out)
    np.testing.assert_array_equal(out, A.mean(axis=0))


def test_no_gradient_is_lost_by_writing_into_an_array() -> None:
    calls = {
        "copyto": lambda z: np.copyto(np.empty((2, 2)), z),
        "put": lambda z: np.put(np.empty(4), [0, 1, 2, 3], z * z),
        "putmask": lambda z: np.putmask(np.empty((2, 2)), A > 0, z),
        "place": lambda z: np.place(np.empty((2, 2)), A > 0, z),
        "put_along_axis": lambda z: np.put_along_axis(
            np.empty((2, 2)), np.zeros((2, 2), int), z, 0
        ),
        "fill_diagonal": lambda z: np.fill_diagonal(np.empty((2, 2)), z[0]),
        "full_like": lambda z: np.full_like(A, z[0, 0]),
        "nan_to_num": lambda z: np.nan_to_num(A, nan=z[0, 0]),
    }
    check = Check()
    for name, call in calls.items():

        def f(z: Any, call: Any = call) -> Any:
            call(z)
            return pb.sum(z)

        for transform in (pb.grad, pb.jacobian, pb.hessian):
            try:
                transform(f)(A)
                check.that(False, f"{name}: no error by {transform.__name__}")
            except RuntimeError as error:
                check.that("leaves the graph as an array" in str(error), f"{name}: {error}")
        call(pb.constant(A))
        call(pb.Variable(A))  # lazy: explain reports it
    check.done()


def test_integers_have_no_gradient() -> None:
    n = pb.Variable([1, 2, 3])
    assert np.mean(n) == 2.0 and np.sum(n.read().numpy()) == 6
    assert np.concatenate([n, [4]]).tolist() == [1, 2, 3, 4]


def test_shapes_are_not_looked_at() -> None:
    x = pb.constant(np.ones((300, 300))) * 2.0
    before = live()[1]
    assert np.shape(x) == (300, 300) and np.ndim(x) == 2 and np.size(x) == 90_000
    assert live()[1] == before


def test_files_and_copies_take_values(tmp_path: Any) -> None:
    v, out = pb.Variable(A), np.zeros((2, 2))
    np.save(tmp_path / "v.npy", v)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), A)
    np.copyto(out, v * 1.0)
    np.testing.assert_array_equal(out, A)
    np.testing.assert_allclose(v, A)
    np.testing.assert_array_equal(v * 2.0, 2 * A)


def test_traced_tensors_have_no_value() -> None:
    @pb.function
    def f(x: Any) -> Any:
        assert np.shape(x) == (2, 2)
        return np.mean(x)

    assert float(f(A)) == A.mean()
    with pytest.raises(RuntimeError, match="use pullback's operations"):
        pb.function(np.trim_zeros)(A[0])


def test_options_are_refused_and_operators_are_tensors() -> None:
    v = pb.Variable([1.0, 2.0])
    for wrong, text in (
        (lambda: np.sin(v, dtype="float32"), "^sin: .* got dtype; cast the inputs"),
        (lambda: np.sin(v, out=np.ones(2)), r"^sin: .* got out; .* the result, x = sin\("),
        (lambda: np.sin(v, where=[True, False]), "^sin: .* got where; choose .* pb.where"),
        (
            lambda: np.multiply(np.ones(2), v, out=np.ones(2)),
            r"^multiply: .*got out; .* x = x \* y",
        ),
    ):
        with pytest.raises(TypeError, match=text):
            wrong()
    x = np.array([2.0, 5.0])
    with pytest.raises(TypeError, match="expected no option with a tensor, got out"):
        x += v
    assert isinstance(np.add(x, v), pb.Tensor)  # NumPy's own operators call it, too
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.matmul, operator.lt, operator.le, operator.eq, operator.ne,
        operator.gt, operator.ge,
    ):  # fmt: skip
        assert f(x, v).numpy().tolist() == f(x, v.numpy()).tolist(), f
    n, m = np.array([6, 3]), pb.constant([3, 1], "int64")
    for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
        assert f(n, m).numpy().tolist() == f(n, m.numpy()).tolist(), f
    assert [y.numpy().tolist() for y in divmod(x, v)] == [[2.0, 2.0], [0.0, 1.0]]
    for y in (np.ones(2) * v, np.float64(3.0) - v, np.ones((2, 2)) @ v, np.array([1.0, 5.0]) < v):
        assert isinstance(y, pb.Tensor)


class Costly(np.ndarray):  # type: ignore[type-arg]
    @property
    def __array_interface__(self) -> Any:
        raise AssertionError("made for nothing: it takes longer than the operation")


def test_operators_do_not_describe_arrays() -> None:
    x = np.ones(3).view(Costly)
    t = pb.constant([1.0, 2.0, 3.0])
    for y in (t * x, x * t):
        assert isinstance(y, pb.Tensor) and y.numpy().tolist() == [1, 2, 3]


def test_scipy_takes_values() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    import scipy.integrate
    import scipy.linalg
    import scipy.stats

    v = pb.Variable([1.0, 2.0, 4.0])
    matrix = pb.Variable(np.eye(3) * 2.0)
    np.testing.assert_allclose(scipy.linalg.solve(matrix, v), [0.5, 1.0, 2.0])
    np.testing.assert_allclose(scipy.linalg.svd(matrix)[1], 2.0)
    assert scipy.stats.describe(v).mean == pytest.approx(7 / 3)
    np.testing.assert_allclose(optimize.least_squares(lambda x: x - 1, v).x, 1.0)
    np.testing.assert_allclose(optimize.root(lambda x: x - 1, v).x, 1.0)
    a, _ = optimize.curve_fit(lambda x, a: a * x, v, v * 3.0)
    np.testing.assert_allclose(a, 3.0)
    end = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), v, rtol=1e-8).y[:, -1]
    np.testing.assert_allclose(end, np.exp(-1.0) * v.read().numpy(), rtol=1e-6)


def test_what_grad_watched_for_itself_is_nobodys_source() -> None:
    """Its answers are values for SciPy, which has no name for what they depend on."""
    value, slope = pb.value_and_grad(lambda x: pb.sum(x * x))(np.array([1.0, 3.0]))
    assert np.mean(slope) == 4.0
    assert np.dot(slope, slope) == 40.0
    assert np.sum(value) == 10.0
    slopes = pb.grad(lambda x: pb.sum(x**3))
    rows = [pb.grad(lambda x, e=e: pb.sum(slopes(x) * e))(np.ones(2)) for e in np.eye(2)]
    assert np.stack(rows).tolist() == [[6.0, 0.0], [0.0, 6.0]]
    w = pb.Variable([1.0, 2.0])
    slope = pb.grad(lambda x: pb.sum(w * x * x))(np.array([1.0, 3.0]))
    assert isinstance(np.mean(slope), pb.Tensor)
    x = pb.constant([1.0, 2.0])
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert isinstance(np.mean(y), pb.Tensor)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_containers_that_are_no_nests() -> None:
    x = pb.constant([1.0, 2.0])
    assert np.concatenate(deque([x, x])).tolist() == [1.0, 2.0, 1.0, 2.0]  # type: ignore[call-overload]
    assert np.stack(deque([x, x])).shape == (2, 2)  # type: ignore[call-overload]
    many = np.empty(2, object)
    many[0] = many[1] = x
    assert np.concatenate(many).tolist() == [1.0, 2.0, 1.0, 2.0]


def test_answers_that_are_types() -> None:
    assert np.common_type(pb.Variable([1.0])) is np.float32  # type: ignore[call-overload]


def test_operators_of_a_subclass_are_called_beside_an_array() -> None:
    class Marked(pb.Variable):  # type: ignore[misc, unused-ignore]
        def __rmul__(self, other: Any) -> Any:
            return "reflected"

        def __add__(self, other: Any) -> Any:
            return "added"

        def __rpow__(self, other: Any, modulus: Any = None) -> Any:
            return "power"

        def __gt__(self, other: Any) -> Any:
            return "greater"

    x, array = Marked([1.0, 2.0]), np.ones(2)
    assert array * x == "reflected" and x + array == "added"
    assert array**x == "power" and (array < x) == "greater" and (x > array) == "greater"
    np.testing.assert_array_equal(array > x, [False, False])
    np.testing.assert_array_equal(array <= x, [True, True])
    np.testing.assert_array_equal(x**array, [1, 2])
    np.testing.assert_array_equal(array + x, [2, 3])
    np.testing.assert_array_equal(x * array, [1, 2])


def test_functions_of_other_modules_of_numpy_are_not_ours() -> None:
    """`numpy.emath` has complex results where `numpy` has NaN."""
    x = np.array([-4.0, 9.0])
    np.testing.assert_array_equal(np.emath.sqrt(pb.constant(x)), [2j, 3])
    for f in (np.emath.sqrt, np.emath.log):
        with pytest.raises(TypeError, match="NumPy would lose the gradient"):
            pb.grad(lambda x, f=f: pb.sum(pb.abs(f(x))))(x)
        with pytest.raises(RuntimeError, match="use pullback's operations"):
            pb.function(f)(x)


def test_functions_of_scipy_with_private_ufuncs() -> None:
    special = pytest.importorskip("scipy.special")
    ufuncs = pytest.importorskip("scipy.special._ufuncs")
    x = np.array([-0.2, -0.05])
    for f, inputs in (
        (special.lambertw, x + 1),
        (lambda x: special.lambertw(x, -1), x),
        (special.zeta, x + 3),
        (lambda x: special.zeta(x, 1.5), x + 3),
        *((partial(getattr(ufuncs, f"_spherical_{kind}n"), 2), x + 1) for kind in "jyik"),
    ):
        value, (g,) = pb.value_and_grad(lambda x, f=f: pb.sum(pb.real(f(x))), [0])(inputs)
        np.testing.assert_allclose(float(value), np.sum(np.real(f(inputs))), rtol=1e-13)
        wanted = np.real(f(inputs + 1e-6) - f(inputs - 1e-6)) / 2e-6
        np.testing.assert_allclose(g.numpy(), wanted, rtol=1e-7)
    with pytest.raises(TypeError, match="lambertw: expected no tol with a tensor"):
        special.lambertw(pb.constant(x), 0, 1e-3)
