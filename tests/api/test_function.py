"""function: traces once per signature, and is as if it were not there: results, variables, random
numbers. Derivatives: test_function_gradients.py; failures: test_function_errors.py."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from support.each import each
from support.traced import Counted

import pullback as pb

# --- signatures


def test_one_trace_per_signature():
    f = Counted(lambda x: pb.sum(x * 2))
    for _ in range(3):
        assert float(f(pb.constant([1.0, 2.0]))) == 6.0
        assert float(f(np.array([3.0, 4.0], np.float32))) == 14.0
    assert f.runs == 1
    assert float(f(pb.ones(3))) == 6.0
    assert f.runs == 2
    assert f(np.ones(2)).dtype == np.float64
    assert f.runs == 3


def test_floats_are_traced_and_integers_are_not():
    f = Counted(lambda x, k: x * k)
    assert [float(f(pb.constant(2.0), r)) for r in (0.1, 0.5, 3.0)] == pytest.approx(
        [0.2, 1.0, 6.0]
    )
    assert f.runs == 1
    assert [float(f(pb.constant(2.0), n)) for n in (3, 4, 3)] == [6.0, 8.0, 6.0]
    assert f.runs == 3
    assert float(f(pb.constant(2.0), np.float32(5))) == 10.0

    g = Counted(lambda x, axis: pb.sum(x, axis=axis))
    assert g(np.ones((2, 3)), 0).shape == (3,)
    assert g(np.ones((2, 3)), 1).shape == (2,)


def test_static_values():
    f = Counted(lambda x, mode, flag=False: x * {"a": 2, "b": 3}[mode] + (1 if flag else 0))
    x = pb.constant(1.0)
    assert [float(f(x, mode)) for mode in "abab"] == [2.0, 3.0, 2.0, 3.0]
    assert f.runs == 2
    assert float(f(x, "a", flag=True)) == 3.0
    assert float(f(x, "a", flag=1)) == 3.0
    assert f.runs == 4  # True and 1 are not the same


def test_structures():
    Pair = collections.namedtuple("Pair", "left right")

    def body(tree):
        assert type(tree["p"]) is Pair
        return {"sum": tree["p"].left + tree["p"].right, "rest": [tree["l"][0] * 2, None, "text"]}

    f = Counted(body)
    for k in (1.0, 5.0):
        out = f({"l": [np.float64(k)], "p": Pair(pb.constant(k), k)})
        assert float(out["sum"]) == 2 * k
        assert float(out["rest"][0]) == 2 * k and out["rest"][1:] == [None, "text"]
    assert f.runs == 1
    f({"l": [1.0, 2.0], "p": Pair(1.0, 2.0)})
    assert f.runs == 2


def test_keywords():
    f = Counted(lambda x, *, y: x - y)
    assert float(f(pb.constant(5.0), y=2.0)) == float(f(y=2.0, x=pb.constant(5.0))) == 3.0


def test_unhashable_static():
    f = Counted(lambda x, other: x)
    with pytest.raises(TypeError, match=r"set.*hashable"):
        f(pb.constant(1.0), {1, 2})
    assert float(f(pb.constant(1.0), frozenset({1, 2}))) == 1.0


def test_the_default_dtype_is_part_of_the_signature():
    f = Counted(lambda: pb.zeros(2))
    assert f().dtype == np.float32
    pb.set_default_dtype("float64")
    try:
        assert f().dtype == np.float64
    finally:
        pb.set_default_dtype("float32")


def test_methods_and_what_the_decorator_keeps():
    class Model:
        def __init__(self, k):
            self.w = pb.Variable(k)

        @pb.function
        def call(self, x):
            "Doc."
            return self.w * x

    one, two = Model(2.0), Model(3.0)
    assert [float(m.call(5.0)) for m in (one, two, one)] == [10.0, 15.0, 10.0]
    assert Model.call.__name__ == "call" and Model.call.__doc__ == "Doc."


# --- results


def test_no_result_and_constants():
    v = pb.Variable(0.0)

    @pb.function
    def f():
        v.assign_add(1.0)

    assert f() is None and f() is None
    assert v.item() == 2.0
    assert pb.function(lambda: (3, "x", None))() == (3, "x", None)
    assert float(pb.function(lambda: pb.constant(7.0))()) == 7.0


def test_an_argument_is_returned():
    f = Counted(lambda x, y: (y, x, x))
    for k in (1.0, 2.0):
        out = f(pb.constant(k), np.array([k]))
        assert [t.numpy().tolist() for t in out] == [[k], k, k]


def test_a_variable_is_returned_as_itself():
    v = pb.Variable(1.0)
    f = Counted(lambda: v.assign_add(1.0))
    assert f() is v and f() is v and v.item() == 3.0


def test_captured_tensors():
    c = pb.constant([1.0, 2.0])
    f = Counted(lambda x: x * c)
    assert [f(k).numpy().tolist() for k in (1.0, 2.0)] == [[1.0, 2.0], [2.0, 4.0]]


WITH_A_FLOAT = [
    lambda x, r: x * r,
    lambda x, r: r**x,
    lambda x, r: x % r,
    lambda x, r: (1 - r) * x,
    lambda x, r: x - (2 * r + 1) / -(abs(r) ** 2),
    lambda x, r: pb.where(x > 1, r, 0),
    lambda x, r: pb.where(x > r, x, 2 * r),
    lambda x, r: pb.clip(x, -r, r),
    lambda x, r: pb.exp(r),
    lambda x, r: pb.exp(r) * x,
    lambda x, r: pb.exp(1 - r) * x,
    lambda x, r: pb.full((2,), r),
    lambda x, r: pb.full_like(x, r),
    lambda x, r: pb.full((2,), 3 * r, "float64"),
    lambda x, r: pb.constant(r),
    lambda x, r: pb.constant(r, "float64") * pb.ones(2),
    lambda x, r: pb.astype(x, "int32") * r,
    lambda x, r: (x > 0) * r,
    lambda x, r: pb.stack([x[0], r]),
    lambda x, r: pb.concat([x, [r]]),
    lambda x, r: x * (r, r),
    lambda x, r: pb.sum(r) + pb.mean(3 * r),
    lambda x, r: pb.identity(r),
    lambda x, r: pb.zeros_like(r),
    lambda x, r: pb.gradients(pb.sum(WEIGHT * x * r), WEIGHT)[0],
]
WEIGHT = pb.Variable([1.0, 2.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@each("body", WITH_A_FLOAT)
def test_python_floats_are_as_if_untraced(body, dtype):
    x, traced = np.array([1, 3], dtype), pb.function(body)
    for rate in (0.1, 0.7):
        got, expected = traced(x, rate), body(pb.constant(x), rate)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@each("body", WITH_A_FLOAT)
def test_python_floats_of_calls_inside_calls(body, dtype):
    x, inner = np.array([1, 3], dtype), pb.function(body)
    expected = body(pb.constant(x), 0.1)
    calls = [
        lambda: pb.function(lambda x: inner(x, 0.1))(x),
        lambda: pb.function(lambda x, r: inner(x, r))(x, 0.1),
        lambda: overridden(inner, x, 0.1),
    ]
    for call in calls:
        got = call()
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_the_dtype_of_a_python_float_is_that_of_its_result():
    seen = []
    result = pb.function(lambda x: seen.append(x.dtype) or x * 2)(1.5)
    pb.grad(lambda x: seen.append(x.dtype) or x * 2)(1.5)
    assert seen == [np.float32, np.float32] and result.dtype == np.float32


def overridden(f, *args):
    with pb.gradient_override_map({"sign": lambda op, g: g}):
        return f(*args)


# --- variables


def test_variables_are_read_anew():
    v = pb.Variable(1.0, trainable=False)
    f = Counted(lambda x: x * v)
    assert float(f(2.0)) == 2.0
    v.assign(5.0)
    assert float(f(2.0)) == 10.0
    assert f.runs == 1


def test_assignments_inside():
    v = pb.Variable(1.0)

    def body(x):
        before = v.read()
        v.assign_add(x)
        middle = v * 10
        v.assign(v * 2)
        return before, middle, v.read()

    f = Counted(body)
    assert [float(t) for t in f(2.0)] == [1.0, 30.0, 6.0]
    assert [float(t) for t in f(4.0)] == [6.0, 100.0, 20.0]
    assert v.item() == 20.0 and f.runs == 1


def test_swapping_variables():
    v, w = pb.Variable(1.0), pb.Variable(2.0)

    @pb.function
    def swap():
        old = v.read()
        v.assign(w)
        w.assign(old)

    for expected in ((2.0, 1.0), (1.0, 2.0), (2.0, 1.0)):
        swap()
        assert (v.item(), w.item()) == expected


def test_a_variable_as_argument():
    v, w = pb.Variable(1.0), pb.Variable(2.0)
    f = Counted(lambda var, x: var.assign_add(x))
    f(v, 10.0), f(w, 20.0), f(v, 100.0)
    assert (v.item(), w.item(), f.runs) == (111.0, 22.0, 2)


def test_variables_made_inside():
    def body(x):
        return pb.Variable(1.0) * x

    f = Counted(body)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="make it outside"):
            f(1.0)
    assert float(pb.Variable(1.0)) == 1.0


def test_a_training_step():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    truth = np.array([1.0, -2.0, 0.5])
    w = pb.Variable(np.zeros(3))

    def step(x, y, rate):
        loss = pb.mean(pb.square(x @ w - y))
        w.assign_sub(rate * pb.gradients(loss, w)[0])
        return loss

    f = Counted(step)
    expected = np.zeros(3)
    for k in range(30):
        rate = 0.3 / (1 + k)
        error = x @ expected - x @ truth
        loss = f(x, x @ truth, rate)
        assert float(loss) == pytest.approx(np.mean(error**2), rel=1e-10)
        expected -= rate * 2 * x.T @ error / 50
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-10)
    assert f.runs == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: pb.optimizers.GradientDescent(0.1),
        lambda: pb.optimizers.Momentum(0.1, 0.9),
        lambda: pb.optimizers.RMSProp(0.1, momentum=0.5, centered=True),
        lambda: pb.optimizers.Adam(0.1),
    ],
)
def test_optimizers_inside(make):
    def run(wrap):
        v, optimizer = pb.Variable([1.0, -2.0]), make()
        step = wrap(lambda: optimizer.minimize(lambda: pb.sum(v**4)))
        for _ in range(5):
            step()
        return v.numpy()

    np.testing.assert_array_equal(run(pb.function), run(lambda f: f))


# --- randomness


def test_every_call_draws_anew():
    f = Counted(lambda: pb.random.normal(4))
    pb.random.seed(3)
    one, two = f().numpy(), f().numpy()
    assert f.runs == 1 and not np.array_equal(one, two)

    x = pb.Variable(np.ones(4, np.float32))
    g = Counted(lambda x: x * pb.random.uniform(4))
    draws = [g(x.read()).numpy() for _ in range(3)]
    assert not np.array_equal(draws[1], draws[2])


# --- plans


def test_calls_add_no_plans():
    f = Counted(lambda x, r: pb.sum(x * r))
    f(np.ones(4), 0.5)
    before = pb._core.status()["plan_misses"]
    for k in range(100):
        f(np.ones(4), k / 7).numpy()
    assert pb._core.status()["plan_misses"] == before


def test_a_cache_of_any_size():
    f = pb.function(lambda x: x + 1, cache_size=2**64)
    assert f(1.0).item() == 2.0 and f.cache_info().currsize == 1
