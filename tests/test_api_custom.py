"""custom_gradient: the contract, in every mode that asks for a gradient."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pytest

import pullback as pb

# --- the ways to ask for dL/dx of f(x), where x comes from an array


def by_gradients(f, *arrays):
    xs = [pb.Variable(a) for a in arrays]
    return pb.gradients(f(*xs), xs)


def by_tape(f, *arrays):
    xs = [pb.constant(a) for a in arrays]
    with pb.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)


def by_grad(f, *arrays):
    return list(pb.grad(lambda *xs: pb.sum(f(*xs)), tuple(range(len(arrays))))(*arrays))


def by_function(f, *arrays):
    @pb.function
    def compute(*xs):
        with pb.GradientTape() as tape:
            tape.watch(list(xs))
            y = f(*xs)
        return tape.gradient(y, list(xs))

    compute(*arrays)
    return compute(*arrays)


def through_function(f, *arrays):
    xs = [pb.Variable(a) for a in arrays]
    traced = pb.function(f)
    traced(*[x.read() for x in xs])
    return pb.gradients(traced(*[x.read() for x in xs]), xs)


MODES = [by_gradients, by_tape, by_grad, by_function, through_function]


@pytest.fixture(params=MODES, ids=lambda mode: mode.__name__)
def mode(request):
    def ask(f, *arrays):
        return [None if g is None else g.numpy().tolist() for g in request.param(f, *arrays)]

    return ask


# --- the contract


def test_log1pexp(mode):
    def naive(x):
        return pb.log(1 + pb.exp(x))

    @pb.custom_gradient
    def stable(x):
        e = pb.exp(x)
        return pb.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    assert np.isnan(mode(naive, np.float32(100.0))).all()
    assert mode(stable, np.float32(100.0)) == [1.0]


def test_two_inputs(mode):
    @pb.custom_gradient
    def product(x, y):
        def rule(upstream):
            return upstream * y, upstream * x

        return x * y, rule

    assert mode(product, 2.0, 3.0) == [3.0, 2.0]
    assert mode(lambda x, y: 10 * product(x, y), 2.0, 3.0) == [30.0, 20.0]


def test_one_tensor_twice(mode):
    @pb.custom_gradient
    def f(x, y):
        return x + y, lambda g: (10 * g, 100 * g)

    assert mode(lambda x: f(x, x), 1.0) == [110.0]


def test_several_outputs_and_structures(mode):
    Pair = collections.namedtuple("Pair", "a b")

    @pb.custom_gradient
    def f(x):
        return Pair({"z": x * 2, "y": x * 3}, None), lambda gy, gz: gy * 10 + gz * 1000

    def use(x):
        out = f(x)
        assert type(out) is Pair and out.b is None and list(out.a) == ["y", "z"]
        return out.a["y"] + 5 * out.a["z"]

    assert mode(use, 1.0) == [5010.0]
    assert mode(lambda x: f(x).a["y"], 1.0) == [10.0]  # the other upstream is zeros


def test_numbers_become_tensors(mode):
    @pb.custom_gradient
    def f(x, y):
        return x * pb.sum(y), lambda g: (7, np.float64(2.5))

    assert mode(f, 1.0, np.ones((2, 2), np.float32)) == [7.0, [[2.5, 2.5], [2.5, 2.5]]]


def test_none_is_no_gradient_and_other_paths_count(mode):
    @pb.custom_gradient
    def f(x, y):
        return x * y, lambda g: (None, g)

    assert mode(lambda x, y: f(x, y) + 3 * x, 2.0, 5.0) == [3.0, 1.0]


def test_second_derivatives_come_from_the_rule():
    @pb.custom_gradient
    def cube(x):
        return x**3, lambda g: g * 3 * x**2

    x = pb.Variable(2.0)
    first = pb.gradients(cube(x), x)[0]
    assert (float(first), float(pb.gradients(first, x)[0])) == (12.0, 12.0)
    assert float(pb.grad(pb.grad(cube))(2.0)) == 12.0

    @pb.custom_gradient
    def constant_slope(x):
        return x**3, lambda g: 7 * g

    first = pb.gradients(constant_slope(x), x)[0]
    assert float(first) == 7.0 and pb.gradients(first, x) == [None]


def test_second_order_in_the_wrapped_form():
    """An inner custom function of x, multiplied by dy, carries the second derivative."""

    @pb.custom_gradient
    def f(x):
        def first(dy):
            @pb.custom_gradient
            def slope(x):
                return 3 * x**2, lambda ddy: 1000 * ddy

            return dy * slope(x)

        return x**3, first

    x = pb.Variable(2.0)
    g = pb.gradients(f(x), x)[0]
    assert (float(g), float(pb.gradients(g, x)[0])) == (12.0, 1000.0)
    assert float(pb.grad(pb.grad(f))(2.0)) == 1000.0
    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    assert float(outer.gradient(g, x)) == 1000.0


@pb.custom_gradient
def naively_nested(x):
    @pb.custom_gradient
    def rule(dy):
        return dy * 3 * x**2, lambda ddy: 555 * ddy  # by dy alone, not by x

    return x**3, rule


@pytest.mark.parametrize("outer", [lambda x, y: y, lambda x, y: x * y])
def test_naive_nesting_is_the_ordinary_second_derivative(outer):
    def plain(x):
        return outer(x, x**3)

    def nested(x):
        return outer(x, naively_nested(x))

    second = float(pb.grad(pb.grad(plain))(2.0))
    assert float(pb.grad(pb.grad(nested))(2.0)) == second

    x = pb.Variable(2.0)
    g = pb.gradients(nested(x), x)[0]
    assert float(pb.gradients(g, x)[0]) == second

    with pb.GradientTape() as outer_tape:
        with pb.GradientTape() as tape:
            y = nested(x)
        g = tape.gradient(y, x)
    assert float(outer_tape.gradient(g, x)) == second

    @pb.function
    def compute(x):
        return pb.grad(pb.grad(nested))(x)

    assert float(compute(2.0)) == float(compute(2.0)) == second


# --- arguments


def test_arguments_are_bound_by_signature(mode):
    @pb.custom_gradient
    def f(x, scale, y=None, *rest, flag=False, **more):
        assert isinstance(scale, str) and flag
        total = x + y + sum(rest) + more["z"]
        return total, lambda g: tuple(k * g for k in (1, 10, 100, 1000))

    def call(a, b, c, d):
        return f(a, "scale", b, c, z=d, flag=True)

    def by_keyword(a, b, c, d):
        return f(z=c, flag=True, y=b, scale="scale", x=a) + d

    assert mode(call, 1.0, 2.0, 3.0, 4.0) == [1.0, 10.0, 100.0, 1000.0]

    @pb.custom_gradient
    def g(x, y):
        return 2 * x + 3 * y, lambda up: (1000 * up, 2000 * up)

    assert mode(lambda a, b: g(y=b, x=a), 1.0, 1.0) == [1000.0, 2000.0]


@pytest.mark.parametrize("other", [3, 2.5, "text", None, len, np.ones(3), True])
def test_what_is_not_a_tensor_passes_through(other):
    seen = []

    @pb.custom_gradient
    def f(other, x):
        seen.append(other)
        return x * 2, lambda g: 5 * g

    x = pb.Variable(1.0)
    assert float(pb.gradients(f(other, x), x)[0]) == 5.0
    assert seen[0] is other


def test_nested_containers(mode):
    @pb.custom_gradient
    def f(params, x):
        w, (b, name) = params["w"], params["b"]
        assert name == "bias"
        return w * x + b, lambda g: ({"b": (g * 100, g * 10)}, g)

    assert mode(lambda w, b, x: f({"w": w, "b": (b, "bias")}, x), 2.0, 3.0, 4.0) == [
        10.0,
        100.0,
        1.0,
    ]


def test_closure_tensors_are_no_inputs():
    x, c = pb.Variable(2.0), pb.Variable(5.0).read() * 1

    @pb.custom_gradient
    def f(x):
        return x * c, lambda g: g

    assert [g if g is None else float(g) for g in pb.gradients(f(x), [x, c])] == [1.0, None]


def test_a_leaked_inner_tensor_keeps_its_ordinary_gradient():
    leaked = []

    @pb.custom_gradient
    def f(x):
        leaked.append(x * 6)
        return leaked[0] * 1, lambda g: 100 * g

    x = pb.Variable(1.0)
    y = f(x)
    assert [float(pb.gradients(t, x)[0]) for t in (leaked[0], y)] == [6.0, 100.0]
    assert float(pb.gradients(leaked[0] + y, x)[0]) == 106.0


def test_the_result_is_a_new_tensor():
    @pb.custom_gradient
    def same(x):
        return x, lambda g: 2 * g

    x = pb.Variable(3.0).read()
    y = same(x)
    assert y is not x and float(y) == 3.0
    assert float(pb.gradients(y, x)[0]) == 2.0


def test_the_rule_runs_once_per_gradient_and_never_forward():
    count = []

    @pb.custom_gradient
    def f(x):
        def rule(g):
            count.append(1)
            return g

        return x * 2, rule

    x = pb.Variable(1.0)
    y = f(x)
    y.numpy()
    assert not count
    pb.gradients(y + y * y, x)
    assert len(count) == 1
    pb.gradients(y, [])
    pb.gradients(x * 2, x)
    assert len(count) == 1


def test_unwatched_inputs_call_no_rule():
    @pb.custom_gradient
    def f(x):
        return x * 2, lambda g: pytest.fail("called")

    x, v = pb.constant(1.0), pb.Variable(1.0)
    with pb.GradientTape() as tape:
        y = f(x) * v
    assert float(tape.gradient(y, v)) == 2.0


def test_both_forms_of_the_decorator_and_what_they_keep():
    @pb.custom_gradient
    def one(x):
        "Doc of one."
        return x * 1, lambda g: g

    @pb.custom_gradient()
    def two(x):
        return x * 1, lambda g: 2 * g

    assert one.__name__ == "one" and one.__doc__ == "Doc of one." and one.__wrapped__
    x = pb.Variable(1.0)
    assert float(pb.gradients(two(x), x)[0]) == 2.0


def test_methods():
    class Layer:
        def __init__(self):
            self.k = 3.0

        @pb.custom_gradient
        def call(self, x):
            return self.k * x, lambda g: 50 * g

        @staticmethod
        @pb.custom_gradient
        def static(x):
            return x * 1, lambda g: 60 * g

        @classmethod
        @pb.custom_gradient
        def of_class(cls, x):
            return x * 1, lambda g: 70 * g

    x, layer = pb.Variable(1.0), Layer()
    answers = [pb.gradients(f(x), x)[0] for f in (layer.call, layer.static, layer.of_class)]
    assert [float(g) for g in answers] == [50.0, 60.0, 70.0]


# --- variables


def test_linear_poly(mode):
    weights = pb.Variable([1.0, 1.0], name="weights")
    seen = []

    @pb.custom_gradient
    def poly(x):
        def rule(upstream, variables):
            seen.append(variables)
            assert len(variables) == 1 and variables[0] is weights
            powers = upstream * pb.stack([x**0, x**1])
            return upstream * weights[1], [pb.sum(powers, axis=1)]

        return weights[1] * x + weights[0], rule

    x = pb.Variable([1.0, 2.0, 3.0])
    y = poly(x)
    assert y.numpy().tolist() == [2.0, 3.0, 4.0]
    dx, dw = pb.gradients(y, [x, weights])
    assert dx.numpy().tolist() == [1.0, 1.0, 1.0] and dw.numpy().tolist() == [3.0, 6.0]
    with pb.GradientTape() as tape:
        y = poly(x)
    dx, dw = tape.gradient(y, [x, weights])
    assert dx.numpy().tolist() == [1.0, 1.0, 1.0] and dw.numpy().tolist() == [3.0, 6.0]
    assert mode(poly, np.array([1.0, 2.0, 3.0], np.float32)) == [[1.0, 1.0, 1.0]]


def test_a_rule_that_leaves_variables_out():
    w = pb.Variable([1.0, 2.0])

    @pb.custom_gradient
    def f(x):
        return w[1] * x**2 + w[0], lambda g: 100 * g

    x = pb.Variable(3.0)
    with pb.GradientTape(persistent=True) as tape:
        y = f(x)
    for dx, dw in (pb.gradients(2 * y, [x, w]), tape.gradient(y, [x, w], output_gradients=2)):
        assert float(dx) == 200.0 and dw.numpy().tolist() == [2.0, 18.0]


def test_ordinary_gradients_of_variables_stay_inside():
    """What reaches a variable by way of an argument is the rule's business, not counted twice."""
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g: 100 * g

    x = 5 * w
    # Inside: dy/dw = x = 10; through x: 100 * 5.
    assert float(pb.gradients(f(x), w)[0]) == 510.0
    assert float(pb.gradients(pb.gradients(f(x), w)[0], w)[0]) == 5.0


def test_variables_that_do_not_count():
    frozen, given = pb.Variable(2.0, trainable=False), pb.Variable(3.0)

    @pb.custom_gradient
    def f(x, v):
        def rule(g, variables="not passed"):
            assert variables == "not passed"
            return g, 10 * g

        return x * v * frozen, rule

    x = pb.Variable(1.0)
    dx, dv, df = pb.gradients(f(x, given), [x, given, frozen])
    assert (float(dx), float(dv), df) == (1.0, 10.0, None)


def test_keyword_catch_all_takes_variables():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g, **more: (g, [10 * g for _ in more["variables"]])

    x = pb.Variable(1.0)
    assert [float(g) for g in pb.gradients(f(x), [x, w])] == [1.0, 10.0]


def test_variables_alone():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f():
        return w * 3, lambda g, variables: (None, [g * 8])

    assert float(pb.gradients(f(), w)[0]) == 8.0

    @pb.custom_gradient
    def ordinary():
        return w * 3, lambda g: None

    assert float(pb.gradients(ordinary(), w)[0]) == 3.0


def test_a_tape_that_does_not_watch_gets_none():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g: g

    x = pb.constant(1.0)
    with pb.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = f(x)
    assert [g if g is None else float(g) for g in tape.gradient(y, [x, w])] == [1.0, None]


# --- mistakes, with the rule's name and place in the text


def rule_error(error, make, *words):
    x, w = pb.Variable([1.0, 2.0]), pb.Variable(3.0)

    @pb.custom_gradient
    def faulty(x):
        return make(x, w)

    with pytest.raises(error) as caught:
        pb.gradients(faulty(x), [x, w])
    text = str(caught.value)
    assert all(word in text for word in ("test_api_custom.py:", *words)), text
    assert pb.gradients(x * w, x)[0].numpy().tolist() == [3.0, 3.0]  # the next call works


def test_wrong_count():
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: (g, g)), "2", "1 arguments", "faulty")
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: ()), "0", "1 arguments")
    rule_error(ValueError, lambda x, w: (x * w, lambda g, variables: (g, [])), "0", "1 variables")
    rule_error(ValueError, lambda x, w: (x * w, lambda g, variables: g), "pair")


def test_wrong_shape_or_dtype():
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: pb.sum(g)), "()", "(2,)", "input 0")
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: pb.ones(3)), "(3,)", "(2,)")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: pb.cast(g, "float64")), "float64")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: "nothing"), "str")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: np.ones(2)), "float64", "float32")


@pytest.mark.parametrize(
    "returned",
    [None, 3.0, lambda x: (x, 3.0), lambda x: x, lambda x: (x, x, x), lambda x: (x, "rule")],
)
def test_f_must_return_a_pair(returned):
    @pb.custom_gradient
    def f(x):
        return returned(x) if callable(returned) else returned

    with pytest.raises(TypeError, match=r"test_api_custom.py:\d+"):
        f(pb.Variable(1.0))


def test_wrong_arguments():
    @pb.custom_gradient
    def f(x):
        return x, lambda g: g

    with pytest.raises(TypeError, match="'x'"):
        f()
    with pytest.raises(TypeError):
        f(1.0, 2.0)
    with pytest.raises(TypeError, match="expected a function"):
        pb.custom_gradient(3)


def test_an_exception_inside_leaves_no_tape_behind():
    @pb.custom_gradient
    def f(x):
        raise KeyError("inside")

    v = pb.Variable(1.0)
    with pb.GradientTape() as tape:
        with pytest.raises(KeyError):
            f(v)
        y = v * v
    assert float(tape.gradient(y, v)) == 2.0


def test_an_exception_in_the_rule():
    @pb.custom_gradient
    def f(x):
        def rule(g):
            raise KeyError("in the rule")

        return x * 1, rule

    x = pb.Variable(1.0)
    y = f(x)
    with pytest.raises(KeyError, match="in the rule"):
        pb.gradients(y, x)
    assert float(y) == 1.0


def test_rules_die_with_their_tensors():
    class Marker:
        pass

    marker = Marker()
    watch = weakref.ref(marker)

    @pb.custom_gradient
    def f(x, kept):
        return x * 2, lambda g: (g, kept)[0]

    x = pb.Variable(1.0)
    y = f(x, marker)
    g = pb.gradients(y, x)
    del marker, y, g
    gc.collect()
    assert watch() is None


def test_a_cycle_through_a_rule_is_collected():
    class Holder:
        pass

    def make():
        holder = Holder()

        @pb.custom_gradient
        def f(x):
            return x * 2, lambda g: (g, holder)[0]

        holder.y = f(pb.Variable(1.0))
        return weakref.ref(holder)

    watch = make()
    gc.collect()
    assert watch() is None
