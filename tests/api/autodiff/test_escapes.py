"""Values that leave the graph inside of a differentiated function: the ways out that raise, those
that warn and those that stay; the products of SciPy's sparse matrices, which are operations."""

import copy
import inspect
import math
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.interpolate import CubicSpline
from support.each import each

import pullback as pb

X = np.array([0.5, 2.0, 1.25])
A = scipy.sparse.random(4, 3, 0.6, format="csr", random_state=0)
SPLINE = CubicSpline(np.arange(5.0), np.arange(5.0) ** 3)


class Foreign:
    """What pandas and xarray do with an operand: they convert it."""

    def __mul__(self, other):
        return np.asarray(other) * 2.0

    __matmul__ = __mul__


ARRAYS = {
    "numpy.asarray": np.asarray,
    "numpy.array of a list": lambda z: np.array([z[0], z[1], z[2]]),
    "numpy()": lambda z: z.numpy(),
    "tolist()": lambda z: z.tolist(),
    "evaluate": lambda z: pb.evaluate({"z": z})["z"],
    "DLPack": np.from_dlpack,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda z: pickle.loads(pickle.dumps(z)),
    "a spline": SPLINE,
    "a sparse elementwise product": lambda z: scipy.sparse.csr_array(A).multiply(z).sum(axis=0),
    "a foreign product": lambda z: Foreign() * z,
    "a foreign matrix product": lambda z: Foreign() @ z,
}
NUMBERS = {
    "float": lambda z: float(z[0]),
    "int": lambda z: int(z[1]),
    "item": lambda z: z[0].item(),
    "complex": lambda z: complex(z[0]).real,
    "math.sin": lambda z: math.sin(z[0]),
}
STAY = {
    "bool": lambda z: 1.0 if z[0] > 0 and z[1] else 2.0,
    "in": lambda z: 1.0 if 2.0 in z else 2.0,
    "max": lambda z: float(max(range(3), key=lambda i: z[i] > 1)),
    "str": lambda z: float(len(str(z)) > 0),
    "repr": lambda z: float(len(repr(z)) > 0),
    "format": lambda z: float(f"{z[0]:.3f}") * 0,
    "a comparison": lambda z: np.asarray(z > 1),
    "argmax": lambda z: int(pb.argmax(z)),
    "numpy.argmax": lambda z: int(np.argmax(z)),
    "shape": lambda z: np.zeros_like(z),
    "stop_gradient": lambda z: np.asarray(pb.stop_gradient(z)),
    "another constant": lambda z: np.asarray(pb.constant(X) * 2),
    "numpy_function": lambda z: pb.numpy_function(np.sin, z, vjp="fd")(z),
    "library code that reads": lambda z: pb.quantile(pb.constant(X), z[0]),
}


def differentiate(f, x=X):
    return pb.grad(lambda x: pb.sum(pb.sin(x * 3) * f(x * 2)))(pb.constant(x))


@each("name", ARRAYS)
def test_an_array_is_an_error(name):
    with pytest.raises(RuntimeError) as caught:
        differentiate(ARRAYS[name])
    text = str(caught.value)
    for part in ("test_escapes.py:", "an argument of grad", "stop_gradient", "numpy_function"):
        assert part in text


@each("name", NUMBERS)
def test_a_number_is_a_warning(name):
    with pytest.warns(RuntimeWarning, match="leaves the graph as a Python number") as caught:
        differentiate(NUMBERS[name])
    assert {one.filename for one in caught} == {__file__}


@each("name", STAY)
def test_what_stays_as_it_is(name):
    assert np.isfinite(differentiate(STAY[name]).numpy()).all()


def transforms():
    """Each calls f(x) and differentiates it."""
    x, one = pb.constant(X), pb.ones(3, dtype="float64")
    s = lambda f: lambda x: pb.sum(f(x))  # noqa: E731
    return {
        "grad": lambda f: pb.grad(s(f))(x),
        "value_and_grad": lambda f: pb.value_and_grad(s(f))(x),
        "jvp": lambda f: pb.jvp(f, (x,), (one,)),
        "linearize": lambda f: pb.linearize(f, x),
        "vjp": lambda f: pb.vjp(f, x),
        "jacobian": lambda f: pb.jacobian(f)(x),
        "hessian": lambda f: pb.hessian(s(f))(x),
        "hvp": lambda f: pb.hvp(s(f), (x,), (one,)),
        "vhp": lambda f: pb.vhp(s(f), (x,), (one,)),
        "laplacian": lambda f: pb.laplacian(s(f))(x),
        "sparse_jacobian": lambda f: pb.sparse_jacobian(f, x),
        "vmap": lambda f: pb.vmap(f)(x),
        "function": lambda f: pb.function(f)(x),
        "grad of vmap": lambda f: pb.grad(s(pb.vmap(lambda a: a * pb.sum(f(x)))))(x),
        "vmap of grad": lambda f: pb.vmap(pb.grad(lambda a: f(a * 2) * a))(x),
    }


@each("name", transforms())
def test_in_each_transform(name):
    outside = name == "grad of vmap"  # f then reads a constant, which is no escape
    call = transforms()[name]
    call(lambda x: x * 2.0)
    if outside:
        call(lambda x: np.asarray(x) * 2.0)
        return
    with pytest.raises(RuntimeError, match=r"^numpy \(.*test_escapes.py:"):
        call(lambda x: x * np.asarray(x * 2))


def test_nested_transforms():
    x = pb.constant(2.0)
    # The outer argument leaves inside of the inner function.
    with pytest.raises(RuntimeError, match="an argument of grad"):
        pb.grad(lambda x: pb.grad(lambda y: y * y * x.numpy())(3.0))(x)
    # Here it depends on the argument of jvp alone.
    with pytest.raises(RuntimeError, match="an argument of jvp"):
        pb.grad(lambda x: x * pb.jvp(lambda y: y * np.asarray(y), (3.0,), (1.0,))[1])(x)
    # A result of an earlier call depends on no argument of this one.
    value, _ = pb.value_and_grad(pb.square)(x)
    assert float(pb.grad(lambda x: x * np.asarray(value))(x)) == 4.0


def test_a_custom_gradient_may_leave_with_its_own_arguments():
    @pb.custom_gradient
    def cube(x):
        values = np.asarray(x)
        return pb.constant(values**3), lambda g: g * 3 * values**2

    x = pb.constant(X)
    np.testing.assert_allclose(pb.grad(lambda x: pb.sum(cube(x * 2)))(x), 24 * X**2)
    np.testing.assert_allclose(pb.grad(lambda x: pb.sum(cube(x)))(x), 3 * X**2)

    def other(x):
        @pb.custom_gradient
        def closes_over(y):
            factor = np.asarray(x)  # no argument of this function
            return y * factor, lambda g: g * factor

        return pb.sum(closes_over(x * 2))

    with pytest.raises(RuntimeError, match="an argument of grad"):
        pb.grad(other)(x)


def test_the_policy():
    array = lambda z: np.asarray(z)  # noqa: E731
    try:
        pb.set_escapes("warn")
        with pytest.warns(RuntimeWarning, match="leaves the graph as an array"):
            differentiate(array)
        pb.set_escapes("allow")
        wrong = differentiate(array)
        differentiate(lambda z: float(z[0]))
    finally:
        pb.set_escapes("raise")
    np.testing.assert_allclose(wrong, 3 * np.cos(3 * X) * 2 * X)  # without the second factor's
    with pytest.raises(ValueError, match="set_escapes: policy must be one of"):
        pb.set_escapes("never")


def test_a_line_warns_once():
    def f(x):
        total = x
        for _ in range(5):
            total = total + float(pb.sum(x)) * x
        return pb.sum(total)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        pb.grad(f)(pb.constant(X))
    lines, first = inspect.getsourcelines(f)
    [line] = [first + k for k, text in enumerate(lines) if "float" in text]
    assert [one.lineno for one in caught] == [line]


def test_variables_and_tapes_warn_while_debugging():
    x = pb.Variable(X)
    with pb.GradientTape():
        np.asarray(x * 2)
    pb.set_debug(True)
    try:
        with pytest.warns(RuntimeWarning, match="leaves the graph as an array"):
            np.asarray(x * 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.asarray(pb.constant(X) * 2)  # not tracked
            print(x * 2)
    finally:
        pb.set_debug(False)


@pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")
def test_explain_reports_what_a_finite_gradient_misses():
    pb.set_debug(True)
    try:
        x = pb.Variable(X)
        z = pb.exp(x)
        array = pb.sum(z * pb.constant(z.numpy()))
        number = pb.sum(z) * float(pb.sum(z))
        whole = pb.sum(z * z)
        float(whole)
        for y in (array, number):
            why = pb.explain(y, x)
            assert (why.status, why.reason) == ("flows", "numpy")
            assert "incomplete" in why.findings[0].what
            assert why.findings[0].place.line
        assert pb.explain(whole * 2.0, x).findings == []
    finally:
        pb.set_debug(False)


def test_sparse_products():
    vector, rows = np.array([1.0, -2.0, 0.5]), np.arange(6.0).reshape(3, 2) - 1
    left = np.arange(8.0).reshape(2, 4)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        a = kind(A)
        calls = [
            (lambda x, a=a: a @ x, vector),
            (lambda x, a=a: a @ x, rows),
            (lambda x, a=a: x @ a, left),
            (lambda x, a=a: x @ a, left[0]),
            (lambda x, a=a: a.T @ x, left.T),
            (lambda x, a=a: a.dot(x), rows),
        ]
        if issubclass(kind, scipy.sparse.spmatrix):
            calls += [(lambda x, a=a: a * x, rows), (lambda x, a=a: x * a, left)]
        for f, x in calls:
            y = f(pb.constant(x))
            assert isinstance(y, pb.Tensor)
            np.testing.assert_allclose(y, f(x), rtol=1e-14)
            assert isinstance(f(pb.Variable(x)), pb.Tensor)
            pb.testing.check_gradients(f, x, order=2)
    f = pb.function(lambda x: A @ pb.tanh(x))
    np.testing.assert_allclose(f(vector), A @ np.tanh(vector), rtol=1e-14)
    np.testing.assert_allclose(pb.jacobian(lambda x: A @ x)(vector), A.toarray())
    batch = pb.vmap(lambda x: A @ x)(pb.constant(left[:, :3]))
    np.testing.assert_allclose(batch, left[:, :3] @ A.toarray().T)
    assert (A.astype("float32") @ pb.constant(np.float32(vector))).dtype == "float32"
    empty = scipy.sparse.csr_array((4, 3))
    np.testing.assert_array_equal(empty @ pb.constant(vector), np.zeros(4))
    for bad in (lambda: A @ pb.ones(4), lambda: pb.ones(3) @ A, lambda: A @ pb.ones(())):
        with pytest.raises(ValueError, match="matmul: expected a sparse matrix"):
            bad()


def test_items_of_an_array_that_lose_a_gradient():
    """NumPy raises a ValueError whose cause is the error that names the replacement."""

    def squares(x):
        y = np.zeros((1, 2))
        for i in range(2):
            y[0, i] = x[i] ** 2
        return pb.sum(y * x)

    x = np.array([1.0, 2.0])
    for transform in (pb.grad, pb.jacobian, pb.hessian, lambda f: lambda x: pb.jvp(f, (x,), (x,))):
        with pytest.raises(ValueError, match="setting an array element") as caught:
            transform(squares)(x)
        assert "float (" in str(caught.value.__cause__)
        assert "in an item of an array" in str(caught.value.__cause__)
        assert "call pb.stack" in str(caught.value.__cause__)
    with pytest.raises(RuntimeError, match=r"use pullback's|compute on with operations"):
        try:
            pb.function(squares)(x)
        except ValueError as error:
            raise error.__cause__ from None
    assert squares(pb.constant(x)).item() == squares(x).item() == 9.0

    def counts(x):  # integers, constants and explicit numbers are stored
        y, total = np.zeros(3), pb.stop_gradient(x)
        y[0] = pb.argmax(x)
        y[1] = total[1]
        with pytest.warns(RuntimeWarning, match="leaves the graph as a Python number"):
            y[2] = float(x[0])
        return pb.sum(x) * y.sum()

    assert pb.grad(counts)(x).tolist() == [4.0, 4.0]
    pb.set_escapes("allow")
    try:
        assert pb.grad(squares)(x).tolist() == [1.0, 4.0]
        pb.set_escapes("warn")
        with pytest.warns(RuntimeWarning, match="in an item of an array"):
            pb.grad(squares)(x)
    finally:
        pb.set_escapes("raise")


def test_an_array_of_differentiated_tensors_names_stack():
    with pytest.raises(RuntimeError, match=r"pb\.stack or pb\.asarray in place of np\.array"):
        pb.grad(lambda x: pb.sum(np.array([x[0], x[1]]) * x))(np.array([1.0, 2.0]))


def test_a_buffer_of_a_differentiated_tensor_is_an_error():
    for read in (memoryview, bytes, lambda x: x.tobytes()):
        with pytest.raises(RuntimeError, match="leaves the graph as an array"):
            pb.grad(lambda x, read=read: [read(x), pb.sum(x)][1])(np.array([1.0, 2.0]))
