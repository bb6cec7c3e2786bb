"""register_gradient, gradient_override_map and gradients(overrides=): who decides a gradient."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.overrides import fresh, gradient, times

import pullback as pb
from pullback import _core

# --- where it holds


def test_sign_with_a_hard_tanh_window():
    name = fresh()

    @pb.register_gradient(name)
    def hard_tanh(op, g):
        x = op.inputs[0]
        return pb.where((x >= -1) & (x <= 1), g, pb.zeros_like(g))

    x = pb.Variable([-2, -1, -0.5, 0, 0.5, 1, 1.5], dtype="float32")
    with pb.gradient_override_map({"sign": name}):
        y = pb.sign(x)
    assert y.numpy().tolist() == [-1, -1, -1, 0, 1, 1, 1]
    assert gradient(y, x) == [0, 1, 1, 1, 1, 1, 0]
    assert gradient(pb.sign(x), x) == [0] * 7


def test_reversal():
    x1, x2 = pb.Variable(1.0), pb.Variable(3.0)
    total = x1 + x2
    with pb.gradient_override_map({"identity": times(-1)}):
        reversed_total = pb.identity(total)
    assert gradient(reversed_total, total) == -1
    assert gradient(reversed_total, x1) == -1
    assert gradient(total, x1) == 1


def test_reversal_by_stop_gradient():
    x1, x2, x3 = (pb.Variable(v) for v in (1.0, 3.0, 6.0))
    f = x1 + x2 * x3
    t = -f
    y = t + pb.stop_gradient(f - t)
    assert float(y) == 19.0
    assert [float(g) for g in pb.gradients(y, [x1, x2, x3])] == [-1.0, -6.0, -3.0]


def test_operators_and_functions_go_by_one_name():
    x = pb.Variable(2.0)
    with pb.gradient_override_map(
        {"add": lambda op, g: (10 * g, 100 * g), "multiply": "none"}
        | {"multiply": lambda op, g: (g, None)}
    ):
        assert gradient(x + 1, x) == gradient(pb.add(x, 1), x) == 10
        assert gradient(1 + x, x) == 100
        assert gradient(x * x, x) == 1


@pytest.mark.parametrize("name", ["astype", "cast", "permute_dims", "transpose"])
def test_public_names(name):
    x = pb.Variable([[1.0, 2.0]])
    with pb.gradient_override_map({name: lambda op, g: pb.full_like(op.inputs[0], 7)}):
        y = pb.astype(pb.permute_dims(x, (1, 0)), "float64")
    assert gradient(y, x) == [[7.0, 7.0]]


def test_tape():
    x = pb.constant(2.0)
    with pb.GradientTape() as tape, pb.gradient_override_map({"square": times(5)}):
        tape.watch(x)
        y = pb.square(x)
    assert float(tape.gradient(y, x)) == 5.0


def test_grad_and_function():
    def f(x):
        with pb.gradient_override_map({"square": times(5)}):
            return pb.square(x)

    assert float(pb.grad(f)(2.0)) == 5.0
    traced = pb.function(f)
    x = pb.Variable(2.0)
    for _ in range(2):
        assert gradient(traced(x.read()), x) == 5

    @pb.function
    def inside(x):
        return pb.grad(f)(x)

    assert [float(inside(k)) for k in (2.0, 3.0)] == [5.0, 5.0]


def test_a_map_around_a_function():
    x = pb.Variable(2.0)

    @pb.function
    def f(x):
        return pb.square(x)

    assert gradient(f(x.read()), x) == 4
    with pb.gradient_override_map({"square": times(5)}):
        y = f(x.read())
    assert gradient(y, x) == 5
    assert gradient(f(x.read()), x) == 4


def test_higher_order():
    def cubic(op, g):
        return g * op.inputs[0] ** 3

    x = pb.Variable(2.0)
    with pb.gradient_override_map({"square": cubic}):
        y = pb.square(x)
    g = pb.gradients(y, x)[0]
    h = pb.gradients(g, x)[0]
    assert (float(y), float(g), float(h)) == (4.0, 8.0, 12.0)


def test_rules_made_inside_are_overridden_too():
    x = pb.Variable(3.0)

    def rule(op, g):
        return g * 2 * pb.identity(op.inputs[0])

    with pb.gradient_override_map({"square": rule, "identity": times(10)}):
        y = pb.square(x)
        g = pb.gradients(y, x)[0]
    assert (float(g), gradient(g, x)) == (6.0, 20.0)
    g = pb.gradients(y, x)[0]
    assert (float(g), gradient(g, x)) == (6.0, 2.0)


def test_only_what_is_made_inside():
    x = pb.Variable(2.0)
    before = pb.square(x)
    with pb.gradient_override_map({"square": times(5)}):
        inside = pb.square(x)
        assert gradient(before, x) == 4
    assert (gradient(inside, x), gradient(pb.square(x), x)) == (5, 4)


def test_composites():
    x = pb.Variable([1.0, 2.0])
    with pb.gradient_override_map({"softmax": times(7), "mean": lambda op, g: op.inputs[0] * g}):
        y, z = pb.softmax(x), pb.mean(x)
    assert gradient(y, x) == [7.0, 7.0]
    assert gradient(z, x) == [1.0, 2.0]


def test_stop_gradient_can_be_overridden():
    x = pb.Variable(2.0)
    with pb.gradient_override_map({"stop_gradient": times(10)}):
        y = pb.stop_gradient(x)
    assert gradient(y, x) == 10


def test_discrete_results_have_no_gradient():
    """No cotangent passes them, so a rule would never be called."""
    rules = [{key: times(1)} for key in ("greater", pb.argmax, pb.isnan, "left_shift", "argsort")]
    for rule in rules:
        with pytest.raises(ValueError, match=r"map: \w+ has no gradient, .*integers or bool"):
            pb.gradient_override_map(rule)
    with pytest.raises(ValueError, match="overrides: greater has no gradient"):
        pb.gradients(pb.constant(1.0), pb.constant(1.0), overrides=rules[0])
    with pytest.raises(ValueError, match="register_gradient: argmax has no gradient"):
        pb.register_gradient("argmax", replace=True)


def test_broadcast_inputs_are_summed():
    x = pb.Variable(2.0)
    with pb.gradient_override_map({"multiply": lambda op, g: (g, g)}):
        y = x * pb.ones((2, 3))
    assert gradient(y, x) == 6.0


# --- nesting and leaving


def test_inner_maps_win_and_are_restored():
    x = pb.Variable(2.0)

    def chain():
        return [gradient(pb.identity(x), x), gradient(pb.square(x), x)]

    with pb.gradient_override_map({"identity": times(10)}):
        assert chain() == [10, 4]
        with pb.gradient_override_map({"identity": times(100)}):
            assert chain() == [100, 4]
            with pb.gradient_override_map({"square": times(1000)}):
                assert chain() == [100, 1000]
        assert chain() == [10, 4]
    assert chain() == [1, 4]


def test_an_exception_restores():
    x = pb.Variable(2.0)
    with pytest.raises(KeyError), pb.gradient_override_map({"square": times(5)}):
        raise KeyError
    assert gradient(pb.square(x), x) == 4


def test_one_map_entered_twice():
    x = pb.Variable(2.0)
    overriding = pb.gradient_override_map({"square": times(5)})
    with overriding, overriding:
        pass
    with overriding:
        assert gradient(pb.square(x), x) == 5
    assert gradient(pb.square(x), x) == 4


# --- gradients(overrides=)


def test_overrides_of_a_call():
    name = fresh()
    pb.register_gradient(name)(times(3))
    x = pb.Variable(2.0)
    with pb.gradient_override_map({"exp": times(50)}):
        y = pb.square(x) + pb.exp(x)
    assert float(pb.gradients(y, x)[0]) == 54.0
    assert float(pb.gradients(y, x, overrides={"square": times(5), "exp": name})[0]) == 8.0
    assert float(pb.gradients(y, x)[0]) == 54.0


# --- what a rule sees and may answer


def test_what_a_rule_sees():
    seen = []

    def rule(op, g):
        seen.append(op)
        return g, None

    a, b = pb.Variable(np.ones((2, 3))), pb.constant(np.ones((3, 4)))
    with pb.gradient_override_map({"matmul": lambda op, g: (seen.append((op, g)), (0, None))[1]}):
        y = a @ b
    g = pb.gradients(y, a)[0]
    ((op, upstream),) = seen
    assert (op.type, op.name) == ("matmul", "matmul")
    assert [x.shape for x in op.inputs] == [(2, 3), (3, 4)]
    assert [x.shape for x in op.outputs] == [(2, 4)] == [upstream.shape]
    assert g.shape == (2, 3) and g.dtype == np.float64 and not g.numpy().any()
    with pytest.raises(ValueError, match="transpose_a"):
        op.get_attr("transpose_a")
    assert "matmul" in repr(op)


@each(
    "name, run, expected",
    [
        ("sum", lambda x: pb.sum(x, axis=(-1,)), {"axis": (2,), "keepdims": False}),
        ("max", lambda x: pb.max(x, axis=1, keepdims=True), {"axis": (1,), "keepdims": True}),
        ("mean", lambda x: pb.mean(x), {"axis": (0, 1, 2), "keepdims": False}),
        ("prod", lambda x: pb.prod(x, axis=(0, 2)), {"axis": (0, 2), "keepdims": False}),
        ("logsumexp", lambda x: pb.logsumexp(x, axis=0), {"axis": (0,), "keepdims": False}),
        ("softmax", lambda x: pb.softmax(x, axis=-2), {"axis": 1}),
        ("concat", lambda x: pb.concat([x, x], axis=-1), {"axis": 2}),
        ("take", lambda x: pb.take(x, np.array([0, 1]), axis=1), {"axis": 1}),
        ("transpose", lambda x: pb.permute_dims(x, (2, 0, 1)), {"axes": (2, 0, 1)}),
        ("tanh", pb.tanh, {}),
    ],
)
def test_attributes_that_a_rule_sees(name, run, expected):
    seen = {}

    def rule(op, g):
        seen.update({key: op.get_attr(key) for key in expected})
        with pytest.raises(ValueError, match=f"attributes of {name}, .*; got 'no_such'"):
            op.get_attr("no_such")
        return [None] * len(op.inputs)

    x = pb.Variable(np.ones((2, 3, 4)))
    with pb.gradient_override_map({name: rule}):
        y = run(x)
    assert pb.gradients(y, x) == [None]
    assert seen == expected


@pytest.mark.parametrize("number", [0, 2, 2.5, np.float32(3), np.int64(4), True])
def test_numbers_become_tensors(number):
    x = pb.Variable(np.ones((2, 2)))
    with pb.gradient_override_map({"square": lambda op, g: number}):
        g = pb.gradients(pb.square(x), x)[0]
    assert g.dtype == np.float64 and (g.numpy() == float(number)).all() and g.shape == (2, 2)


@pytest.mark.parametrize("nothing", [None, [None], (None,)])
def test_none(nothing):
    x = pb.Variable(2.0)
    with pb.gradient_override_map({"square": lambda op, g: nothing}):
        y = pb.square(x)
    assert gradient(y, x) is None
    assert gradient(y + 3 * x, x) == 3
    assert float(pb.gradients(y, x, unconnected_gradients="zero")[0]) == 0.0


@pytest.mark.parametrize(
    ("rule", "error", "words"),
    [
        (lambda op, g: (g, g), ValueError, ["expected 1 gradient", "got 2"]),
        (lambda op, g: (), ValueError, ["got 0"]),
        (lambda op, g: pb.ones(3), ValueError, ["(3,)", "(2,)", "input 0"]),
        (lambda op, g: pb.sum(g), ValueError, ["()", "(2,)"]),
        (lambda op, g: pb.cast(g, "float64"), TypeError, ["float64", "float32"]),
        (lambda op, g: "nothing", TypeError, ["str"]),
        (lambda op: 1, TypeError, ["(op, *cotangents)"]),
    ],
)
def test_faulty_rules(rule, error, words):
    x = pb.Variable([1.0, 2.0])
    with pb.gradient_override_map({"square": rule}):
        y = pb.square(x)
    with pytest.raises(error) as caught:
        pb.gradients(y, x)
    if words:
        words = [*words, "<lambda>", "test_overrides.py:"]
    assert all(word in str(caught.value) for word in words), caught.value
    assert y.numpy().tolist() == [1.0, 4.0]
    assert gradient(pb.square(x), x) == [2.0, 4.0]


def test_maps_that_are_left_in_another_order():
    """Each takes its own rules away."""
    x = pb.Variable(2.0)
    one, two = (pb.gradient_override_map({"square": times(k)}) for k in (3, 5))
    one.__enter__()
    two.__enter__()
    two.__enter__()
    seen = [gradient(pb.square(x), x)]
    one.__exit__(None, None, None)
    seen.append(gradient(pb.square(x), x))
    two.__exit__(None, None, None)
    seen.append(gradient(pb.square(x), x))
    two.__exit__(None, None, None)
    assert [*seen, gradient(pb.square(x), x)] == [5, 5, 5, 4]
    for left in (one, two):
        with pytest.raises(RuntimeError, match="without __enter__"):
            left.__exit__(None, None, None)


def test_a_map_is_left_on_the_thread_that_entered_it():
    import threading

    x = pb.Variable(2.0)
    shared = pb.gradient_override_map({"square": times(3)})
    seen = []

    def other():
        seen.append(gradient(pb.square(x), x))
        with shared:
            seen.append(gradient(pb.square(x), x))
        with pytest.raises(RuntimeError, match="without __enter__ in this context"):
            shared.__exit__(None, None, None)

    with shared:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert gradient(pb.square(x), x) == 3
    assert (seen, gradient(pb.square(x), x)) == ([4, 3], 4)


# --- composites: functions that are made of several operations


def test_the_inputs_of_a_composite_are_its_tensors():
    """Variables, tensors in lists and keywords count; numbers and arrays do not."""
    seen = []

    def rule(op, g):
        seen.append(op)
        return [pb.full_like(x, 2.0) for x in op.inputs]

    x, y = pb.Variable([1.0, 2.0]), pb.Variable([3.0, 4.0])
    with pb.gradient_override_map({pb.nn.layer_norm: rule, "hstack": rule}):
        a = pb.nn.layer_norm(x, np.ones(2, "float32"), bias=y, axis=0)
        b = pb.hstack([x, (y)])
    for made in (a, b):
        assert [g.numpy().tolist() for g in pb.gradients(made, [x, y])] == [[2.0, 2.0]] * 2
    assert [(op.type, len(op.inputs)) for op in seen] == [("layer_norm", 2), ("hstack", 2)]
    assert [op.outputs[0].shape for op in seen] == [(2,), (4,)]


def test_the_rule_of_several_results_is_called_once():
    x = pb.Variable([1.0, 2.0, 4.0])
    calls = []

    def rule(op, *gs):
        calls.append([op.type, *(y is not None for y in op.outputs)])
        shares = [10.0**k * pb.sum(g) for k, g in enumerate(gs)]
        return [pb.full_like(v, 1.0) * sum(shares) for v in op.inputs]

    with pb.gradient_override_map({"array_split": rule, "meshgrid": rule, "unstack": rule}):
        halves = pb.array_split(x, 2)
        grid = pb.meshgrid(x, x)
        first, *_ = pb.unstack(x)
    assert isinstance(halves, list) and [h.shape for h in halves] == [(2,), (1,)]
    assert gradient(halves[0], x) == [2.0] * 3 and gradient(halves[1], x) == [10.0] * 3
    assert [float(g[0]) for g in pb.gradients(halves, x)] == [12.0]
    assert gradient(first, x) == [1.0] * 3 and len(grid) == 2
    # A result on which the ys do not depend has a zero cotangent and is None.
    assert calls == [
        ["array_split", True, False],
        ["array_split", False, True],
        ["array_split", True, True],
        ["unstack", True, False, False],
    ]


def test_a_composite_in_loops_tapes_and_batches():
    x = pb.Variable(np.linspace(-1.0, 2.0, 6, dtype="float32").reshape(2, 3))
    rule = {"std": lambda op, g: 5.0 * g * pb.ones_like(op.inputs[0])}

    def loop(t):
        return pb.fori_loop(0, 2, lambda i, total: total + pb.std(t + 0.0 * total), 0.0)

    with pb.gradient_override_map(rule):
        y = loop(x)
        with pb.GradientTape() as tape:
            taped = x.std()
        rows = pb.vmap(pb.std)(x)
        recomputed = pb.checkpoint(lambda t: pb.std(t) * 1.0)(x)
    for got in (gradient(recomputed, x), tape.gradient(taped, x).numpy().tolist()):
        assert got == [[5.0] * 3] * 2
    assert gradient(y, x) == [[10.0] * 3] * 2
    assert gradient(rows, x) == [[5.0] * 3] * 2
    (late,) = pb.gradients(loop(x), x, overrides=rule)
    assert late.numpy().tolist() == [[10.0] * 3] * 2
    forward = pb.function(lambda t: pb.jvp(pb.std, (t,), (pb.ones_like(t),))[1])
    with pb.gradient_override_map(rule):
        assert float(forward(x)) == 30.0


def test_a_rule_for_an_operation_reaches_it_inside_a_composite():
    x = pb.Variable([1.0, 3.0])
    y = pb.std(x)
    zero = {"sqrt": lambda op, g: 0.0 * g}
    assert gradient(y, x) == [-0.5, 0.5]
    assert pb.gradients(y, x, overrides=zero)[0].numpy().tolist() == [0.0, 0.0]
    both = {**zero, "std": lambda op, g: op.inputs[0]}
    assert pb.gradients(y, x, overrides=both)[0].numpy().tolist() == [1.0, 3.0]


def test_a_result_that_does_not_depend_on_an_input_is_a_constant():
    """The inputs of its node do not make it tracked or traced, unless there is a rule for it."""
    x = pb.Variable([1.0, 2.0])
    one = pb.constant([3.0, 4.0])

    def value(t):
        free, _ = pb.broadcast_arrays(one, t)
        return t * float(free[1])  # it has a value

    assert pb.function(value)(x).numpy().tolist() == [4.0, 8.0]
    for debugging in (False, True):
        pb.set_debug(debugging)
        try:
            free, _ = pb.broadcast_arrays(one, x)
            with pb.gradient_override_map({"std": times(1)}):
                free_too, _ = pb.broadcast_arrays(one, x)
        finally:
            pb.set_debug(False)
        assert not any(_core.identity_of(y)[2] for y in (free, free_too)), debugging  # tracked
    with pb.gradient_override_map({"broadcast_arrays": lambda op, g, _: [g, 2 * g]}):
        bound, _ = pb.broadcast_arrays(one, x)
    assert gradient(bound, x) == [2.0, 2.0]


def test_composites_are_functions():
    import copy
    import inspect
    import pickle

    assert inspect.isfunction(pb.std) and "x" in inspect.signature(pb.std).parameters
    assert pickle.loads(pickle.dumps(pb.std)) is pb.std is copy.deepcopy(pb.std)
    assert (pb.std.__name__, pb.std.__module__) == ("std", "pullback")
    assert "standard deviation" in pb.std.__doc__ and "<function std" in repr(pb.std)
    with pytest.raises(TypeError, match=r"std\(\)"):
        pb.std()


def test_the_name_of_a_composite_is_in_graphs_and_errors():
    x = pb.Variable([1.0, 2.0])
    assert "std(%" in pb.function(lambda t: pb.std(t)).graph(x)
    with pb.gradient_override_map({"std": lambda op, g: pb.ones(3)}):
        y = pb.std(x)
    with pytest.raises(ValueError, match=r"^std: expected shape \(2,\) from the gradient rule"):
        pb.gradients(y, x)


def test_a_result_that_is_an_argument():
    x = pb.Variable([1.0, 2.0])
    t = x * 1.0
    with pb.gradient_override_map({"atleast_1d": lambda op, g: 3.0 * g}):
        y = pb.atleast_1d(t)
    assert gradient(y, x) == [3.0, 3.0] and gradient(t, x) == [1.0, 1.0]


def test_results_and_arguments_in_pytrees():
    @dataclass
    class Pair:
        first: Any
        second: Any

    x, y = pb.Variable([3.0]), pb.Variable([4.0])
    for pytree, leaves in (
        (Pair(x * 1, y * 1), lambda pair: [pair.first, pair.second]),
        ({"b": y * 1, "a": [x * 1, None]}, lambda entries: [entries["a"][0], entries["b"]]),
    ):

        def rule(op, g, *_):
            return [10.0 * g, *[None] * (len(op.inputs) - 1)]

        with pb.gradient_override_map({"clip_by_global_norm": rule}):
            clipped, norm = pb.clip_by_global_norm(pytree, 2.5)
        assert type(clipped) is type(pytree) and norm.numpy() == 5.0
        first, second = leaves(clipped)
        assert (first.numpy().tolist(), second.numpy().tolist()) == ([1.5], [2.0])
        assert len({id(first), id(second)}) == 2
        assert pb.gradients(first, x)[0].numpy().tolist() == [10.0]


def test_decompositions_and_recurrent_cells():
    a = pb.Variable([[2.0, 0.5], [0.5, 1.0]])
    cases = {
        "cholesky": lambda: pb.linalg.cholesky(a),
        "svd": lambda: pb.linalg.svd(a)[1],
        "eigh": lambda: pb.linalg.eigh(a).eigenvalues,
        "qr": lambda: pb.linalg.qr(a)[1],
        "lu": lambda: pb.linalg.lu(a)[2],
        "expm": lambda: pb.linalg.expm(a),
        "lstsq": lambda: pb.linalg.lstsq(a, [1.0, 2.0])[0],
        "scaled_dot_product_attention": lambda: pb.nn.scaled_dot_product_attention(a, a, a),
    }

    for name in cases:
        own = pb.gradients(pb.sum(cases[name]()), a)[0].numpy()
        with pb.gradient_override_map({name: lambda op, *_: [pb.ones_like(x) for x in op.inputs]}):
            y = pb.sum(cases[name]())
        assert np.any(own != 1), name
        assert pb.gradients(y, a)[0].numpy().min() >= 1, name


def test_arrays_of_an_iterator():
    x = pb.Variable([1.0, 2.0])
    sources = [lambda: (v for v in [x, x * 2]), lambda: deque([x, x * 2])]
    sources.append(lambda: {"a": x, "b": x * 2}.values())
    for source in sources:
        for join in (pb.vstack, pb.stack, pb.hstack):
            y = pb.sum(join(source()))
            rule = {join: lambda op, g: [7.0 * pb.ones_like(v) for v in op.inputs]}
            assert pb.gradients(y, x)[0].numpy().tolist() == [3.0, 3.0]
            assert pb.gradients(y, x, overrides=rule)[0].numpy().tolist() == [21.0, 21.0]


def test_a_number_that_was_passed_to_a_function():
    rule = {"elu": lambda op, g: g * 7}
    f = pb.function(lambda a: pb.gradients(pb.nn.elu(a), a, overrides=rule)[0])
    assert f(2.0).numpy() == 7.0


def test_functions_of_random_numbers_are_not_those_of_special():
    for draw in (pb.random.gamma, pb.random.beta, pb.random.normal):
        with pytest.raises(LookupError, match="not an operation with a gradient"):
            pb.gradient_override_map({draw: times(1)})


def test_checks_of_the_next_call_read_values(debugging):
    with pytest.raises(IndexError):
        pb.take(pb.ones((3, 2)), pb.ravel(pb.constant([7])), axis=0)


@pytest.fixture(params=[False, True])
def debugging(request):
    pb.set_debug(request.param)
    yield request.param
    pb.set_debug(False)
