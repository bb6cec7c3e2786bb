"""sparse_jacobian and sparse_hessian. That patterns are right is in core/test_sparsity.py."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import scipy.sparse

import pullback as pb
from pullback import _core

X = np.array([0.5, -1.0, 2.0, 3.0])


def differences(u):
    return u[1:] ** 2 - u[:-1]


def dense(f, x):
    v = pb.Variable(x)
    with pb.GradientTape() as tape:
        y = f(v)
    return tape.jacobian(y, v).numpy().reshape(int(np.prod(y.shape)), -1)


def test_what_it_is():
    matrix = pb.sparse_jacobian(differences, X)
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.has_sorted_indices and matrix.has_canonical_format
    assert matrix.dtype == np.float64 and matrix.indices.dtype == np.int32
    np.testing.assert_array_equal(matrix.toarray(), [[-1, -2, 0, 0], [0, -1, 4, 0], [0, 0, -1, 6]])
    # It is the caller's: changed in place, it changes no later one.
    matrix.data[:] = 0
    matrix.eliminate_zeros()
    assert pb.sparse_jacobian(differences, X).nnz == 6
    for f in (lambda x: 2.0 * x, lambda x: x):  # whose entries are constants of the plan
        for _ in range(3):
            matrix = pb.sparse_jacobian(f, X)
            expected = f(np.ones(4))
            np.testing.assert_array_equal(matrix.diagonal(), expected)
            matrix.data[:] = 7


@pytest.mark.parametrize(
    "x",
    [
        X,
        X.astype(np.float32),
        [1.0, 2.0, 3.0, 4.0],
        pb.constant(X),
        pb.Variable(X),
        pb.identity(pb.Variable(X)),
        np.arange(4),
    ],
    ids=["array", "float32", "list", "tensor", "variable", "tracked", "integers"],
)
def test_arguments(x):
    values = np.asarray(x.numpy() if hasattr(x, "numpy") else x)
    if values.dtype.kind == "i":
        with pytest.raises(TypeError, match=r"^sparse_jacobian: x: expected a floating dtype"):
            pb.sparse_jacobian(differences, x)
        return
    matrix = pb.sparse_jacobian(differences, x)
    expected = np.diag(2 * values[1:], 1)[:3] - np.eye(3, 4)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert matrix.dtype == pb.constant(x).dtype


def test_shapes_are_flattened():
    x = np.arange(6.0).reshape(2, 3)
    matrix = pb.sparse_jacobian(lambda x: pb.permute_dims(x, (1, 0)) ** 2, x)
    expected = np.zeros((6, 6))
    for i in range(2):
        for j in range(3):
            expected[j * 2 + i, i * 3 + j] = 2 * x[i, j]
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert pb.sparse_jacobian(lambda x: x**2, 3).toarray() == [[6]]
    assert pb.sparse_hessian(lambda x: x**3, 2.0).toarray() == [[12]]
    assert pb.sparse_jacobian(lambda x: x[:0], X).shape == (0, 4)
    assert pb.sparse_jacobian(lambda x: pb.zeros(3, "float64"), X).nnz == 0
    assert pb.sparse_hessian(lambda x: pb.sum(3 * x), X).nnz == 0
    assert pb.sparse_hessian(lambda x: pb.constant(1.0), X).shape == (4, 4)
    assert pb.sparse_jacobian(lambda x: x * 2.0, np.zeros(0)).shape == (0, 0)
    deep = np.ones((2,) + (1,) * 15)
    np.testing.assert_array_equal(
        pb.sparse_jacobian(lambda x: x * 3.0, deep).toarray(), 3 * np.eye(2)
    )


def test_a_result_of_another_dtype():
    matrix = pb.sparse_jacobian(lambda x: pb.cast(x, "float32") ** 2 + x[0], X)
    assert matrix.dtype == np.float64
    matrix = pb.sparse_jacobian(lambda x: pb.cast(pb.sum(x**2), "float32")[None] + x, X)
    assert matrix.dtype == np.float64
    by_rows = pb.sparse_jacobian(lambda x: pb.cast(x[:2] * x[2], "float16"), X.astype(np.float32))
    assert by_rows.dtype == np.float32
    np.testing.assert_array_equal(by_rows.toarray(), [[2, 0, 0.5, 0], [0, 2, -1, 0]])


def test_entries_beside_infinite_slopes():
    """A zero of a cotangent meets no infinite slope, by rows and by columns."""
    x = np.array([0.0, 1.0, 4.0])
    got = pb.sparse_jacobian(lambda x: pb.sqrt(x), x)
    assert got.toarray().tolist() == [[np.inf, 0, 0], [0, 0.5, 0], [0, 0, 0.25]]
    by_rows = pb.sparse_jacobian(lambda x: pb.concat([pb.sqrt(x), pb.sum(x)[None]]), x)
    assert by_rows.toarray().tolist() == [*got.toarray().tolist(), [1, 1, 1]]
    by_columns = pb.sparse_jacobian(lambda x: pb.sqrt(x) + x[2], x)
    assert by_columns.toarray().tolist() == [[np.inf, 0, 1], [0, 0.5, 1], [0, 0, 1.25]]
    hessian = pb.sparse_hessian(lambda x: pb.sum(x**1.5), x)
    assert hessian.toarray().tolist() == [[np.inf, 0, 0], [0, 0.75, 0], [0, 0, 0.375]]


def test_it_is_traced_once_and_run_as_one_plan():
    calls = []

    def f(x):
        calls.append(x.shape)
        return pb.tanh(x[1:] * x[:-1])

    for n in (5, 7, 5, 7, 5):
        x = np.linspace(0, 1, n)
        np.testing.assert_allclose(pb.sparse_jacobian(f, x).toarray(), dense(f, x), rtol=1e-14)
        calls = [shape for shape in calls if shape]
    traced = [shape for shape in calls if shape in ((5,), (7,))]
    assert len(traced) == 5 + 2  # five times for `dense`
    plans = _core.status()["plan_misses"]
    for k in range(3):
        pb.sparse_jacobian(f, np.full(7, k * 1.0))
    assert _core.status()["plan_misses"] == plans
    count = len(calls)
    pb.sparse_hessian(lambda x: pb.sum(f(x)), x)
    pb.sparse_jacobian(f, x.astype(np.float32))
    assert len(calls) == count + 2


def test_variables_are_read_at_every_call():
    v = pb.Variable(2.0, dtype="float64")
    f = lambda x: v * x[1:] * x[:-1]  # noqa: E731
    for value in (2.0, 5.0):
        v.assign(value)
        np.testing.assert_array_equal(pb.sparse_jacobian(f, X).toarray(), dense(f, X))


class Model:
    def __init__(self, scale):
        self.scale = pb.Variable(scale)
        self.calls = 0

    def residual(self, x):
        self.calls += 1
        return self.scale * x**2

    def __call__(self, x):
        return self.residual(x) * 2.0


def test_methods_and_objects_are_known_again_and_not_kept():
    model, other = Model(1.0), Model(3.0)
    for _ in range(3):
        assert pb.sparse_jacobian(model.residual, np.float32([1, 2])).toarray()[1, 1] == 4
        assert pb.sparse_jacobian(other.residual, np.float32([1, 2])).toarray()[1, 1] == 12
        assert pb.sparse_jacobian(model, np.float32([1, 2])).toarray()[1, 1] == 8
    assert model.calls == 2 and other.calls == 1
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    f = lambda x: x * 2.0  # noqa: E731
    pb.sparse_jacobian(f, X)
    gone = weakref.ref(f)
    del f
    assert gone() is None


class Unhashable:
    __hash__ = None

    def __call__(self, x):
        return x**2

    def method(self, x):
        return x**3


class Slotted:
    __slots__ = ()

    def __call__(self, x):
        return x**2


def test_what_cannot_be_remembered_is_traced_anew():
    for f in (Unhashable(), Slotted(), pb.function(lambda x: x**2)):
        for _ in range(2):
            np.testing.assert_array_equal(pb.sparse_jacobian(f, X).toarray(), np.diag(2 * X))
    np.testing.assert_array_equal(
        pb.sparse_jacobian(Unhashable().method, X).toarray(), np.diag(3 * X**2)
    )
    assert pb.sparse_hessian(pb.sum, X).nnz == 0


# --- rules


def test_rules_count_as_they_are():
    reverse = pb.custom_gradient(lambda x: (x * 1.0, lambda upstream: upstream[::-1] * 3.0))
    assert (pb.sparse_jacobian(reverse, X).toarray() == 3 * np.eye(4)[::-1]).all()
    rounded = lambda x: pb.straight_through(pb.round)(x) * x  # noqa: E731
    through = pb.sparse_jacobian(rounded, X)
    np.testing.assert_array_equal(through.toarray(), dense(rounded, X))
    cube = pb.custom_gradient(lambda x: (x**3, lambda upstream: upstream * 3 * x**2))
    hessian = pb.sparse_hessian(lambda x: pb.sum(cube(x)), X)
    np.testing.assert_array_equal(hessian.toarray(), np.diag(6 * X))
    sparse = pb.sparse_jacobian(lambda x: cube(x) + x[0], X)
    np.testing.assert_array_equal(sparse.toarray(), dense(lambda x: cube(x) + x[0], X))


def test_a_rule_that_looks():
    def f(x):
        def rule(upstream):
            return upstream * float(pb.sum(upstream))

        return x**2, rule

    with pytest.raises(RuntimeError, match="sparse_jacobian"):
        pb.sparse_jacobian(pb.custom_gradient(f), X)


def test_overrides():
    f = lambda x: pb.sin(x) * 1.0  # noqa: E731
    pb.sparse_jacobian(f, X)
    with pb.gradient_override_map({"sin": lambda op, g: g * 7.0}):
        np.testing.assert_array_equal(pb.sparse_jacobian(f, X).toarray(), 7 * np.eye(4))
    np.testing.assert_allclose(pb.sparse_jacobian(f, X).toarray(), np.diag(np.cos(X)))


def test_under_a_tape_and_while_numbers_are_checked():
    with pb.GradientTape() as tape:
        x = pb.constant(X)
        tape.watch(x)
        matrix = pb.sparse_jacobian(differences, x)
    np.testing.assert_array_equal(matrix.toarray(), dense(differences, X))
    by_columns = lambda x: x**2 + x[0]  # noqa: E731
    with pb.check_numerics():
        for f in (differences, by_columns):
            np.testing.assert_array_equal(pb.sparse_jacobian(f, X).toarray(), dense(f, X))


# --- errors


def test_errors():
    for name in ("sparse_jacobian", "sparse_hessian"):
        call = getattr(pb, name)
        for f, x, error, text in (
            (3, X, TypeError, "expected a function for f, got 3"),
            (lambda x: x, 1j, TypeError, "expected float32 or float64 for x, got complex"),
            (
                lambda x: x,
                np.float16([1]),
                TypeError,
                "expected float32 or float64 for x, got float16",
            ),
            (lambda x: x, "abc", TypeError, ""),
            (lambda x: x, None, TypeError, ""),
            (lambda x: [x], X, TypeError, r"expected a Tensor from .*<lambda>.* got"),
            (lambda x: None, X, TypeError, "expected a Tensor .* got None"),
            (lambda x: x > 0, X, TypeError, "got bool"),
            (lambda x: pb.sum(x) > 0, X, TypeError, "got bool"),
        ):
            with pytest.raises(error, match=f"^{name}: .*{text}"):
                call(f, x)
    with pytest.raises(ValueError, match=r"^sparse_hessian: expected shape \(\) .* got \(4,\)"):
        pb.sparse_hessian(lambda x: x, X)
    with pytest.raises(RuntimeError, match=r"^sparse_jacobian: the result .* call it outside"):
        pb.function(lambda x: pb.sparse_jacobian(lambda x: x, x))(X)
    # An error leaves nothing behind.
    with pytest.raises(ZeroDivisionError):
        pb.sparse_jacobian(lambda x: 1 / 0, X)
    assert not _core.Trace.active()


def test_too_dense():
    x = np.zeros((2, 20000), np.float32)
    with pytest.raises(MemoryError, match=r"^sparse_jacobian: the dependence sets"):
        pb.sparse_jacobian(lambda x: pb.permute_dims(pb.cumsum(x, axis=1), (1, 0)), x)
    with pytest.raises(
        MemoryError, match=r"^sparse_jacobian: expected at most \d+ entries that may differ"
    ):
        pb.sparse_jacobian(lambda x: pb.cumsum(x), x[0])
    with pytest.raises(MemoryError, match=r"^sparse_jacobian: the matrix requires 100000 products"):
        pb.sparse_jacobian(lambda x: pb.concat([pb.sum(x)[None], x[1:] * x[0]]), np.ones(100000))
    with pytest.raises(
        MemoryError, match=r"^sparse_hessian: expected at most \d+ entries that may differ"
    ):
        pb.sparse_hessian(lambda x: pb.sum(x) ** 2, np.ones(30000, np.float32))


def test_without_scipy():
    program = """
import sys
sys.modules["scipy"] = None
sys.modules["scipy.sparse"] = None
import pullback as pb
try:
    pb.sparse_jacobian(lambda x: x, [1.0])
except ImportError as error:
    print(error)
"""
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout == (
        "sparse_jacobian: the result is an array of scipy.sparse, which requires SciPy; "
        "install scipy\n"
    )
