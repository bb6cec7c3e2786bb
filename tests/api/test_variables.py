"""Variable, constant, evaluate, and the settings."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from support.each import each
from support.process import run

import pullback as pb

# --- variables


@pytest.mark.parametrize(
    ("initial", "dtype"),
    [
        (1, "int64"),
        (1.0, "float32"),
        (np.float64(1.0), "float64"),
        (np.ones(2, np.float64), "float64"),
        (np.ones(2, np.int32), "int32"),
        ([1.0, 2.0], "float32"),
        (True, "bool"),
    ],
)
def test_dtype_follows_from_the_value(initial, dtype):
    v = pb.Variable(initial)
    assert v.dtype == dtype and v.shape == np.shape(initial)
    np.testing.assert_array_equal(v.numpy(), initial)


def test_attributes():
    v = pb.Variable([1, 2], trainable=False, name="w", dtype="float64")
    assert (v.name, v.trainable, v.dtype, v.shape) == ("w", False, np.float64, (2,))
    assert pb.Variable(1.0).trainable
    assert repr(v) == "Variable('w', [1., 2.], dtype=float64)"


def test_assign():
    v = pb.Variable([1.0, 2.0])
    assert v.assign([3, 4]) is v
    assert v.assign_add(1) is v
    v.assign_sub(pb.constant([1.0, 10.0]))
    assert v.numpy().tolist() == [3.0, -5.0]


def test_a_variable_in_operations():
    v = pb.Variable([1.0, 2.0])
    assert (2 * v + 1).numpy().tolist() == [3.0, 5.0]
    assert (np.ones(2, np.float32) @ v).numpy() == 3.0
    assert v[1].item() == 2.0 and len(v) == 2 and [float(x) for x in v] == [1.0, 2.0]
    assert pb.sum(v).item() == 3.0
    assert (v.T.shape, v.ndim, v.size) == ((2,), 1, 2)


def test_reads_are_snapshots():
    v, w = pb.Variable(1.0), pb.Variable(2.0)
    old = v.read()
    v.assign(w)
    w.assign(old)
    assert (v.item(), w.item(), old.item()) == (2.0, 1.0, 1.0)

    v = pb.Variable(np.arange(4.0))
    view = pb.reshape(v, (2, 2)).T
    v.assign_add(view[0, 1] + v[::-1])
    assert v.numpy().tolist() == [5.0, 5.0, 5.0, 5.0]
    assert view.numpy().tolist() == [[0.0, 2.0], [1.0, 3.0]]


def test_an_array_that_was_handed_out_does_not_change():
    v = pb.Variable([1.0, 2.0])
    array = v.numpy()
    v.assign([5.0, 6.0])
    assert array.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 9


def test_an_initial_array_may_change():
    array = np.ones(2)
    v, c = pb.Variable(array), pb.constant(array)
    array[0] = 7
    assert v.numpy().tolist() == c.numpy().tolist() == [1.0, 1.0]


@each("method", ["assign", "assign_add", "assign_sub"])
@each(
    ("value", "error", "words"),
    [
        ([1.0, 2.0, 3.0], ValueError, ["(3,)", "(2,)"]),
        (np.ones(2), TypeError, ["float64", "float32", "'w'"]),
        (np.ones(2, np.int32), TypeError, ["int32", "float32"]),
        ("x", TypeError, ["str"]),
        (None, TypeError, ["NoneType"]),
    ],
)
def test_assignments_that_do_not_fit(method, value, error, words):
    v = pb.Variable([1.0, 2.0], name="w")
    with pytest.raises(error) as caught:
        getattr(v, method)(value)
    assert all(word in str(caught.value) for word in words)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_scalar_is_not_assigned_to_a_vector():
    v = pb.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"expected shape \(2,\) for variable .*, got \(\)"):
        v.assign(1.0)


def test_float_into_an_integer_variable():
    v = pb.Variable(1)
    with pytest.raises(TypeError, match="int64"):
        v.assign(1.5)
    v.assign(4)
    assert v.item() == 4


@pytest.mark.parametrize("initial", ["x", None, object(), {}, [1, "x"], np.array(["a"])])
def test_initial_values_that_are_none(initial):
    with pytest.raises(TypeError):
        pb.Variable(initial)
    with pytest.raises(TypeError):
        pb.constant(initial)


def test_a_long_loop_without_a_look():
    v = pb.Variable(0.0)
    for _ in range(5000):
        v.assign_add(1.0)
    assert v.item() == 5000.0


# --- constant and evaluate


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([[1, 2], [3]], ValueError),
        (np.array([1, None]), TypeError),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), TypeError),
    ],
)
def test_constants_that_are_refused(value, error):
    with pytest.raises(error):
        pb.constant(value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_list_of_numbers_takes_the_dtype_next_to_it(dtype):
    x = np.array([1, 2], dtype)
    expected = np.array([0.1, 3], dtype)
    for t in (pb.constant(x), pb.Variable(x)):
        for got in (t * [0.1, 3], [0.1, 3] * t, pb.multiply(t, (0.1, 3))):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got.numpy(), x * expected)
    got = pb.where([True, False], pb.constant(x), [0.1, 0.1])
    np.testing.assert_array_equal(got.numpy(), np.array([1, 0.1], dtype))
    assert got.dtype == dtype
    t = pb.constant([0.1, 0.7], dtype)
    np.testing.assert_array_equal(t.numpy(), np.array([0.1, 0.7], dtype))
    assert pb.Variable([0.1], dtype=dtype).numpy()[0] == np.array(0.1, dtype)
    assert (pb.constant([1, 2]) * [1, 2]).dtype == np.int64
    assert (pb.constant([1, 2]) * [0.5, 2]).dtype == np.float32


@pytest.mark.parametrize("dtype", ["no such", object, 3, "U3"])
def test_unknown_dtypes(dtype):
    with pytest.raises(TypeError, match="complex64 or complex128"):
        pb.constant(1.0, dtype)
    with pytest.raises(TypeError, match="complex64 or complex128"):
        pb.zeros(2, dtype)


def test_evaluate_keeps_the_structure():
    Pair = collections.namedtuple("Pair", "left right")
    x = pb.Variable([1.0, 2.0])
    nest = {"b": [x * 2, (x,)], "a": Pair(pb.sum(x), None), "c": "text"}
    out = pb.evaluate(nest)
    assert type(out["a"]) is Pair and out["a"].right is None and out["c"] == "text"
    assert isinstance(out["a"].left, np.ndarray) and out["a"].left == 3.0
    assert out["b"][0].tolist() == [2.0, 4.0] and out["b"][1][0].tolist() == [1.0, 2.0]
    one, two = pb.evaluate(x, pb.sum(x))
    assert one.tolist() == [1.0, 2.0] and two == 3.0
    assert pb.evaluate() == ()
    assert pb.evaluate([]) == []


def test_evaluate_computes_everything_in_one_plan():
    x = pb.Variable(np.ones((8, 8), np.float32))
    product = x @ x
    loss = pb.sum(product)
    g = pb.gradients(loss, x)[0]
    before = pb._core.status()["steps"]["gemm"]
    pb.evaluate(loss, product * 2, g)
    made = pb._core.status()["steps"]["gemm"] - before
    float(loss), product.numpy(), g.numpy()
    assert pb._core.status()["steps"]["gemm"] - before == made == 3


# --- settings


@pytest.fixture
def default_dtype():
    yield
    pb.set_default_dtype("float32")


def test_default_dtype(default_dtype):
    assert pb.get_default_dtype() == np.float32
    pb.set_default_dtype(pb.float64)
    assert pb.get_default_dtype() == np.float64
    for made in (pb.constant(0.1), pb.constant([0.1]), pb.zeros(2), pb.random.normal(2)):
        assert made.dtype == np.float64
    assert pb.constant(0.1).item() == 0.1
    assert pb.divide(1, 2).dtype == np.float64
    for wrong in ("int32", "float16", None):
        with pytest.raises(TypeError):
            pb.set_default_dtype(wrong)


def test_threads():
    before = pb.num_threads()
    pb.set_num_threads(1)
    assert pb.get_num_threads() == pb.num_threads() == 1
    pb.set_num_threads(before)
    with pytest.raises(ValueError, match=">= 1 for n"):
        pb.set_num_threads(0)


def test_importing_is_light():
    code = (
        "import sys, numpy, pathlib; before = set(sys.modules)\n"
        "import pullback; print(*sorted(set(sys.modules) - before))"
    )
    new = run(code).split()
    heavy = {"scipy", "tqdm", "matplotlib", "scipy_openblas32", "inspect", "difflib", "dataclasses"}
    heavy |= {"glob", "threading"}
    assert not heavy & {name.split(".")[0] for name in new}, new
    # Imported at their first use.
    assert not {"pullback._explain.query", "pullback._explain.svg"} & set(new)
