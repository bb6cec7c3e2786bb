"""grad and value_and_grad."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.process import live

import pullback as pb


def test_value_and_grad():
    value, g = pb.value_and_grad(lambda x: pb.sum(x**3))(np.array([1.0, 2.0]))
    assert value.item() == 9.0 and g.numpy().tolist() == [3.0, 12.0]
    assert value.dtype == g.dtype == np.float64


def test_argnums():
    def f(x, y, z):
        return x * y**2 * z

    assert float(pb.grad(f)(2.0, 3.0, 5.0)) == 45.0
    assert float(pb.grad(f, 1)(2.0, 3.0, 5.0)) == 60.0
    assert float(pb.grad(f, -1)(2.0, 3.0, 5.0)) == 18.0
    gradients = pb.grad(f, argnums=(2, 0))(2.0, 3.0, 5.0)
    assert isinstance(gradients, tuple) and [float(g) for g in gradients] == [18.0, 45.0]
    assert isinstance(pb.grad(f, [1])(2.0, 3.0, 5.0), tuple)


@pytest.mark.parametrize("wrap", [lambda f: f, pb.function])
def test_has_aux(wrap):
    def f(x, y):
        z = x * y
        return pb.sum(z * z), {"z": z, "text": "aux"}

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(2):
        (value, aux), (dx, dy) = wrap(pb.value_and_grad(f, argnums=(0, 1), has_aux=True))(x, y)
        assert float(value) == 73.0 and aux["text"] == "aux"
        np.testing.assert_array_equal(aux["z"].numpy(), [3.0, 8.0])
        np.testing.assert_array_equal(dx.numpy(), [18.0, 64.0])
        np.testing.assert_array_equal(dy.numpy(), [6.0, 32.0])
        dx, aux = pb.grad(wrap(f), has_aux=True)(x, y)
        assert dx.numpy().tolist() == [18.0, 64.0] and aux["z"].shape == (2,)


def test_aux_has_no_part_in_the_gradient():
    def f(x):
        return x * x, 100 * x

    (value, aux), g = pb.value_and_grad(f, has_aux=True)(3.0)
    assert (float(value), float(aux), float(g)) == (9.0, 300.0, 6.0)
    outer = pb.grad(lambda x: pb.grad(f, has_aux=True)(x)[1])
    assert float(outer(3.0)) == 100.0


def test_other_arguments_are_passed_as_they_are():
    seen = []

    def f(x, mode, *, scale):
        seen.append((mode, scale))
        return x * scale

    assert float(pb.grad(f)(1.0, "mode", scale=3)) == 3.0
    assert seen == [("mode", 3)]


def test_nests():
    params = {"w": np.array([1.0, 2.0]), "b": (pb.constant(3.0), 4)}

    def f(p, x):
        return pb.sum(p["w"] * x) * p["b"][0] + p["b"][1] ** 2

    g = pb.grad(f)(params, np.array([10.0, 20.0]))
    assert g["w"].numpy().tolist() == [30.0, 60.0]
    assert isinstance(g["b"], tuple) and [float(t) for t in g["b"]] == [50.0, 8.0]


def test_dataclasses():
    @dataclasses.dataclass(frozen=True)
    class Params:
        w: Any
        b: Any

    def f(p, x):
        return pb.sum(p.w * x) + p.b["k"] ** 2

    g = pb.grad(f)(Params(np.array([1.0, 2.0]), {"k": 4.0}), np.array([10.0, 20.0]))
    assert type(g) is Params and g.w.numpy().tolist() == [10.0, 20.0]
    assert float(g.b["k"]) == 8.0


def test_variables_and_python_integers():
    v = pb.Variable(3.0)
    assert float(pb.grad(lambda x: x * x)(v)) == 6.0
    assert float(pb.grad(lambda x: x * x)(3)) == 6.0
    # A variable in a closure is a constant for grad, and stays differentiable for others.
    g = pb.grad(lambda x: x * x * v)(2.0)
    assert float(g) == 12.0
    assert float(pb.gradients(g, v)[0]) == 4.0


def test_independent_arguments_have_zeros():
    g = pb.grad(lambda x, y: pb.sum(y), argnums=(0, 1))(np.ones(2), np.ones(3))
    assert [t.numpy().tolist() for t in g] == [[0.0, 0.0], [1.0, 1.0, 1.0]]
    assert float(pb.grad(pb.grad(lambda x: 3 * x))(1.0)) == 0.0


def test_one_tensor_for_two_arguments():
    x = pb.constant(3.0)
    gradients = pb.grad(lambda a, b: a * a * b, argnums=(0, 1))(x, x)
    assert [float(g) for g in gradients] == [18.0, 9.0]


def test_perturbations_are_not_confused():
    """d/dx of x · d/dy(x + y) at y = x is 1, not 2."""
    inner = pb.grad(lambda y, x: x + y)
    assert float(pb.grad(lambda x: x * inner(x, x))(1.0)) == 1.0


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_orders(order):
    f = pb.sin
    for _ in range(order):
        f = pb.grad(f)
    expected = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)][order % 4](0.7)
    assert float(f(pb.constant(0.7, "float64"))) == pytest.approx(expected, rel=1e-14)


def test_the_name_is_kept():
    def loss(x):
        "Doc."
        return x * 1

    assert pb.grad(loss).__name__ == pb.value_and_grad(loss).__name__ == "loss"
    assert pb.grad(loss).__doc__ == "Doc."


@each(
    ("call", "error", "words"),
    [
        (lambda: pb.grad(lambda x: x)(np.ones(2)), ValueError, "got (2,)"),
        (lambda: pb.grad(lambda x: 3.0)(1.0), TypeError, "expected a Tensor"),
        (lambda: pb.grad(lambda x: None)(1.0), TypeError, "got None"),
        (lambda: pb.grad(lambda x: x > 0)(1.0), TypeError, "bool"),
        (lambda: pb.grad(lambda x: pb.sum(x))(np.arange(3)), TypeError, "int64"),
        (lambda: pb.grad(lambda x: x * 1)(True), TypeError, "bool"),
        (lambda: pb.grad(lambda x: x * 1)("text"), TypeError, "str"),
        (lambda: pb.grad(lambda x: x * 1, argnums=1)(1.0), TypeError, "1 positional"),
        (lambda: pb.grad(lambda x: x * 1)(), TypeError, "0 positional"),
        (
            lambda: pb.grad(lambda x: x * 1, argnums=(0, -2))(1.0),
            TypeError,
            "argnums=-2 is out of range",
        ),
        (
            lambda: pb.grad(lambda x, y: x * y, argnums=(0, -2))(1.0, 2.0),
            ValueError,
            "expected distinct arguments",
        ),
        (lambda: pb.grad(lambda x: x, argnums="0"), TypeError, "argnums"),
        (lambda: pb.grad(lambda x: x, argnums=(1.5,)), TypeError, "got 1.5"),
        (lambda: pb.grad(lambda x: x, has_aux=True)(1.0), TypeError, "pair (value, aux)"),
        (lambda: pb.grad(lambda x: (x, 1, 2), has_aux=True)(1.0), TypeError, "got (Tensor"),
        (lambda: pb.grad(lambda x: (1.0, x), has_aux=True)(1.0), TypeError, "expected a Tensor"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert float(pb.grad(lambda x: x * x)(1.0)) == 2.0


def test_an_exception_inside_leaves_nothing_behind():
    def faulty(x):
        raise KeyError

    with pytest.raises(KeyError):
        pb.grad(faulty)(1.0)
    x = pb.constant(2.0)
    assert not pb._core.is_tracked(x * x)


@pytest.mark.parametrize("number", [np.int64(3), np.int32(3), 3, np.float32(3.0)])
def test_numbers_of_numpy(number):
    g = pb.grad(lambda x: x * x)(number)
    assert g.dtype == "float32" and g.item() == 6.0


def test_argnums_of_any_sequence():
    for argnums in (range(2), [0, 1], (np.int64(0), 1)):
        assert [g.item() for g in pb.grad(lambda x, y: x * y, argnums)(2.0, 5.0)] == [5.0, 2.0]
    for wrong in (None, "01", 1.0, {0}):
        with pytest.raises(TypeError, match="argnums"):
            pb.grad(lambda x: x, wrong)


@pytest.mark.parametrize("transform", [pb.grad, pb.value_and_grad])
def test_what_is_no_function_is_refused_at_once(transform):
    with pytest.raises(TypeError, match=f"{transform.__name__}: expected a function for f, got 5"):
        transform(5)


def test_an_entry_of_an_argument_that_is_no_number_is_named():
    f = pb.grad(lambda x, p: p["w"][1], 1)
    for wrong, words in (
        ("text", "str"),
        (pb.constant(1), "expected a floating dtype, got int64"),
    ):
        with pytest.raises(TypeError, match=rf"^grad: argument 1\['w'\]\[1\]:? .*{words}"):
            f(1.0, {"b": 1.0, "w": [2.0, wrong]})
    with pytest.raises(TypeError, match=r"^grad: argument 0: .*str"):
        pb.grad(lambda x: x)("text")


def test_results_for_plain_arrays_keep_no_history():
    def loss(x):
        return pb.sum(pb.sin(x) ** 2)

    x = np.linspace(0.1, 1.0, 5)
    (value, aux), g = pb.value_and_grad(lambda x: (loss(x), [x * 2.0]), has_aux=True)(x)
    np.testing.assert_allclose(np.mean(g), np.mean(np.sin(2 * x)), rtol=1e-14)
    assert np.median(value) == float(value) and np.sum(aux[0]) == 2 * np.sum(x)
    t = pb.constant(x)
    for step in range(3000):
        t = t - 1e-3 * pb.grad(loss)(t)
        if step == 1000:
            t.numpy()
            before = live()
    t.numpy()
    assert live()[0] <= before[0] + 1


def test_results_keep_the_history_that_somebody_may_ask_for():
    w = pb.Variable(3.0)
    g = pb.grad(lambda x: x * x * w)(2.0)
    assert float(pb.gradients(g, w)[0]) == 4.0
    with pb.GradientTape() as tape:
        c = pb.constant(5.0)
        tape.watch(c)
        g = pb.grad(lambda x: x * x * c)(2.0)
    assert float(tape.gradient(g, c)) == 4.0
    x = pb.constant(2.0)
    seen = []
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = pb.grad(lambda x: (seen.append(x * x), seen[-1] * x)[1])(x)
    assert float(tape.gradient(y, x)) == 12.0


def test_a_tape_inside_can_be_asked_afterwards():
    def f(x):
        with pb.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = pb.sin(x)
            z = y * y
        return z, (tape, x, y)

    (z, (tape, x, y)), g = pb.value_and_grad(f, has_aux=True)(np.array(0.5))
    np.testing.assert_allclose(tape.gradient(z, x), np.sin(1.0), rtol=1e-15)
    np.testing.assert_allclose(tape.gradient(z, y), 2 * np.sin(0.5), rtol=1e-15)
    np.testing.assert_allclose(g, np.sin(1.0), rtol=1e-15)


def test_of_all_else_inside_no_gradient_can_be_asked():
    seen = []
    x = np.array(0.5)
    z, _ = pb.value_and_grad(lambda x: (seen.append(pb.sin(x)), seen[0] * seen[0])[1])(x)
    with pytest.raises(ValueError, match="not tracked"):
        pb.gradients(z, seen[0])
    assert float(z) == np.sin(0.5) ** 2 and float(seen[0]) == np.sin(0.5)


def test_what_is_kept_of_a_step_does_not_make_the_next_one_grow():
    @pb.custom_gradient
    def clipped(x):
        c = pb.cos(x)
        return pb.sin(x), lambda g: g * c

    seen = []
    t = pb.constant(np.linspace(0.1, 1.0, 5))
    for step in range(600):
        g = pb.grad(lambda x: (seen.append(x * 2.0), pb.sum(clipped(x)))[1])(t)
        t = t - 1e-3 * g
        t.numpy()
        del seen[:-1]
        if step == 100:
            before = live()
    assert live()[0] <= before[0] + 1


def test_values_that_nobody_looks_at_do_not_keep_their_step():
    t = pb.constant(np.linspace(0.0, 1.0, 20_000))
    losses = []
    for step in range(200):
        value, g = pb.value_and_grad(lambda x: pb.sum(pb.sin(x) ** 2))(t)
        losses.append(value)
        t = t - 1e-3 * g
        t.numpy()
        if step == 60:
            before = live()
    assert live()[2] <= before[2] + 2**22


@each(
    "f",
    [
        lambda x: x,
        pb.sum,
        pb.max,
        lambda x: pb.reshape(x, ()),
        lambda x: x.T,
        pb.squeeze,
        lambda x: pb.astype(x, "float64"),
        lambda x: x if x > 0 else -x,
        pb.function(lambda x: x),
    ],
)
def test_a_result_that_is_the_argument(f):
    assert float(pb.grad(f)(2.0)) == 1.0
    assert float(pb.grad(lambda p: f(p["a"]))({"a": 2.0, "b": 3.0})["a"]) == 1.0
    w = pb.Variable(2.0)
    assert float(pb.grad(lambda x: f(w.read()))(2.0)) == 0.0


def test_a_function_that_another_thread_calls():
    f = pb.function(lambda x: pb.sum(x * x))
    x = np.arange(3.0)
    f(x)

    def elsewhere(f, *args):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(f, *args).result()

    def captured(x):
        f = pb.function(lambda: pb.sum(x * x))
        f()
        return elsewhere(f)

    np.testing.assert_array_equal(pb.grad(lambda x: elsewhere(f, x))(x), 2 * x)
    np.testing.assert_array_equal(pb.grad(captured)(x), 2 * x)
