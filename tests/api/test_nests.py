"""Nests of tensors go through everything in their own structure: gradients, tapes, transforms,
clipping, optimizers."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback._base.pytree import leaves_like

Pair = namedtuple("Pair", "w b")


@dataclass
class Layer:
    w: Any
    b: Any


MAKERS = {
    "dict": lambda w, b: {"w": w, "b": b},
    "ordered": lambda w, b: OrderedDict([("w", w), ("b", b)]),
    "list": lambda w, b: [w, [b]],
    "tuple": lambda w, b: (w, (b,)),
    "namedtuple": Pair,
    "dataclass": Layer,
    "deep": lambda w, b: {"layers": [Pair(w, Layer(b, b))]},
}


def values(nest):
    return pb.evaluate(nest)


@pytest.fixture(params=MAKERS)
def parameters(request):
    w = pb.Variable([3.0, 4.0], name="w")
    b = pb.Variable(12.0, name="b")
    return MAKERS[request.param](w, b)


def leaves(nest):
    from pullback import _core

    return _core.flatten(nest)[0]


def same_structure(a, b):
    from pullback import _core

    marks = list(range(len(leaves(a))))
    twins = [_core.unflatten(_core.flatten(x)[1], marks) for x in (a, b)]
    return type(a) is type(b) and twins[0] == twins[1]


def loss(nest):
    return sum(pb.sum(leaf * leaf) for leaf in leaves(nest)) / 2


def test_a_training_step_from_end_to_end(parameters):
    """value_and_grad → clip_by_global_norm → apply_gradients, with nothing in between."""
    before = [np.array(leaf.numpy()) for leaf in leaves(parameters)]
    for transformed in (pb.value_and_grad(loss), pb.function(pb.value_and_grad(loss))):
        value, slopes = transformed(parameters)
        assert same_structure(slopes, parameters)
        clipped, norm = pb.clip_by_global_norm(slopes, 1.0)
        assert same_structure(clipped, parameters)
        length = np.sqrt(sum(np.sum(x * x) for x in before))
        assert norm.item() == pytest.approx(length) == pb.global_norm(slopes).item()
        assert value.item() == pytest.approx(length**2 / 2)
    if len(before) == 2:  # in "deep" one variable stands twice
        pb.optimizers.GradientDescent(0.5).apply_gradients(clipped, parameters)
        for leaf, old in zip(leaves(parameters), before, strict=True):
            np.testing.assert_allclose(leaf.numpy(), old - 0.5 * old / length, rtol=1e-6)


def test_gradients_and_tapes(parameters):
    with pb.GradientTape(persistent=True) as tape:
        y = loss(parameters)
    answers = [tape.gradient(y, parameters), pb.gradients(y, parameters)]
    assert same_structure(answers[0], parameters)
    if type(parameters) is not tuple:  # `gradients` gives a list for a flat tuple
        assert same_structure(answers[1], parameters)
    for answer in answers:
        assert [g.shape for g in leaves(answer)] == [x.shape for x in leaves(parameters)]
    pb.optimizers.Adam(0.1).minimize(lambda: loss(parameters), parameters)
    pb.optimizers.Adam(0.1).compute_gradients(lambda: loss(parameters), parameters)


def test_targets_and_their_weights(parameters):
    """Weights have the structure of the targets; in place of a tensor anything that makes one."""
    w, b = leaves(parameters)[:2]
    if w.shape == ():
        w, b = b, w
    with pb.GradientTape(persistent=True) as tape:
        ys = MAKERS["deep"](w * 2.0, b * 3.0)
    for weight in ([1.0, 10.0], np.array([1.0, 10.0], "float32"), pb.constant([1.0, 10.0])):
        seeds = {"layers": (Pair(weight, Layer(7.0, None)),)}
        for answer in (
            pb.gradients(ys, [w, b], grad_ys=seeds),
            tape.gradient(ys, [w, b], output_gradients=seeds),
        ):
            assert answer[0].numpy().tolist() == [2.0, 20.0]
            assert answer[1].item() == 3.0 * 8.0
    answer = tape.gradient([w * 1.0, b], [w, b], output_gradients=[[5.0, 6.0], 2])
    assert answer[1].item() == 2.0
    for weight in (None, 1.0, [1.0], np.float32(1.0)):
        for call in (
            lambda g: pb.gradients(b * b, b, grad_ys=g),
            lambda g: [tape.gradient(ys["layers"][0].b.w, b, output_gradients=g)],
        ):
            expected = call(None)[0].item()
            assert call(weight)[0].item() == expected
            assert call(2.0)[0].item() == 2 * expected


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ({"layers": []}, ["['layers']", "expected 1 entry, got 0"]),
        ({"layer": [1.0]}, ["keys", "'layers'", "'layer'"]),
        ([1.0, 2.0, 3.0], ["keys", "'layers'"]),
        ({"layers": [Pair(1.0, 1.0)]}, ["Layer", "1.0"]),
        ({"layers": [(1.0, Layer(1.0, "x"), 1.0)]}, ["expected 2 entries, got 3"]),
    ],
)
def test_weights_of_another_structure(seeds, words):
    w, b = pb.Variable([1.0, 2.0]), pb.Variable(1.0)
    with pb.GradientTape(persistent=True) as tape:
        ys = MAKERS["deep"](w * 2.0, b * 3.0)
    for who, call in (
        ("grad_ys", lambda: pb.gradients(ys, [w, b], grad_ys=seeds)),
        ("output_gradients", lambda: tape.gradient(ys, [w, b], output_gradients=seeds)),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert all(word in str(caught.value) for word in [who, *words]), caught.value


def test_the_order_of_keys():
    """A dict's entries come in the order of its keys, an OrderedDict's in its own."""
    assert leaves_like({"b": 0, "a": 0}, {"b": 2, "a": 1}, "f") == [1, 2]
    ordered = OrderedDict([("b", 0), ("a", 0)])
    assert leaves_like(ordered, {"a": 1, "b": 2}, "f") == [2, 1]
    assert leaves_like({1: 0, "a": 0}, {"a": 1, 1: 2}, "f") == [2, 1]
    assert leaves_like([], [], "f") == [] and leaves_like({}, {}, "f") == []


class Parameters(dict):
    def __getattr__(self, name):
        return self[name]


class Counted(defaultdict):
    pass


@pytest.mark.parametrize(
    "make",
    [
        dict,
        OrderedDict,
        Parameters,
        lambda entries: defaultdict(list, entries),
        lambda entries: Counted(float, entries),
    ],
)
def test_dicts_come_back_as_they_were(make):
    """In the order in which they were filled, and of their type: `.values()` of what comes back go
    with those of what was given."""
    p = make({"w": pb.Variable([3.0, 4.0]), "b": pb.Variable(12.0), "a": pb.Variable(1.0)})
    seen = []

    def f(nest):
        seen.append((type(nest), list(nest)))
        return pb.sum(nest["w"] * nest["w"]) + 3 * nest["b"] + nest["a"]

    y = f(p)
    slopes = pb.grad(f)(p)
    for back in (
        pb.evaluate(p),
        slopes,
        pb.function(pb.grad(f))(p),
        pb.value_and_grad(f)(p)[1],
        pb.gradients(y, p),
        pb.clip_by_global_norm(p, 1.0)[0],
        pb.function(lambda nest: nest)(p),
    ):
        assert type(back) is type(p)
        assert list(back) == ["w", "b", "a"]
        assert [x.shape for x in back.values()] == [(2,), (), ()]
        if isinstance(p, defaultdict):
            assert back.default_factory is p.default_factory
    assert seen == [(type(p), ["w", "b", "a"])] * 4
    assert slopes["w"].numpy().tolist() == [6.0, 8.0] and slopes["b"].item() == 3.0


def test_dicts_of_another_order_match():
    """By key, whatever the order: in signatures, in pairs with variables, in weights."""
    ab, ba = {"a": 1.0, "b": [2.0, 3.0]}, {"b": [2.0, 3.0], "a": 1.0}
    f = pb.function(lambda p: p["a"] + pb.sum(p["b"]))
    assert f(ab).item() == f(ba).item() == 6.0 and f.cache_info().currsize == 1
    variables = {"b": pb.Variable([0.0, 0.0]), "a": pb.Variable(0.0)}
    pb.optimizers.GradientDescent(1.0).apply_gradients(ab, variables)
    assert variables["a"].item() == -1.0 and variables["b"].numpy().tolist() == [-2.0, -3.0]


def test_namedtuples_keep_their_type():
    pair = Pair(pb.Variable(2.0), pb.Variable(3.0))
    y = pair.w * pair.b
    for answer in (
        pb.gradients(y, pair),
        pb.gradients(y, pair, unconnected_gradients="zero"),
        pb.grad(lambda p: p.w * p.b)(pair),
        pb.clip_by_global_norm(Pair(pb.constant(3.0), pb.constant(2.0)), 100.0)[0],
    ):
        assert type(answer) is Pair and values(answer) == (3.0, 2.0)


def test_entries_of_a_nest_to_clip():
    clipped, norm = pb.clip_by_global_norm({"a": None, "b": [pb.constant([3.0, 4.0])]}, 1.0)
    assert clipped["a"] is None and norm.item() == 5.0
    with pytest.raises(TypeError, match="expected a list or another pytree of tensors, got"):
        pb.clip_by_global_norm(pb.ones(2), 1.0)
    with pytest.raises(TypeError, match=r"entry \['b'\]\[0\]:"):
        pb.global_norm({"a": 1.0, "b": ["text"]})


def test_a_known_norm_keeps_its_digits():
    x = pb.constant([1e-3, 2.0], "float64")
    for known in (1 + 1e-12, np.float64(1 + 1e-12), pb.constant(1 + 1e-12, "float64")):
        clipped, norm = pb.clip_by_global_norm([x], 0.5, use_norm=known)
        assert norm.dtype == "float64" and norm.item() == 1 + 1e-12
        np.testing.assert_allclose(clipped[0].numpy(), x.numpy() * 0.5 / (1 + 1e-12), rtol=1e-15)
    clipped, norm = pb.clip_by_global_norm([pb.ones(2)], 0.5, use_norm=np.float64(2.0))
    assert norm.dtype == clipped[0].dtype == "float32"


# --- a result that does not depend on its argument has the gradient zero

CONSTANT = pb.constant(5.0)
OTHER = pb.Variable(2.0)
INDEPENDENT = {
    "number": lambda x: pb.constant(3.0),
    "tensor": lambda x: CONSTANT * 2.0,
    "variable": lambda x: OTHER * OTHER,
    "read": lambda x: OTHER,
    "stopped": lambda x: pb.stop_gradient(x),
    "integer": lambda x: pb.cast(pb.cast(x, "int32"), "float32"),
}


def taped(f):
    def call(x):
        x = pb.identity(pb.constant(x))
        with pb.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x, unconnected_gradients="zero")

    return call


def by_gradients(f):
    return lambda x: pb.gradients(f(x), x, unconnected_gradients="zero")[0]


STYLES = {
    "grad": pb.grad,
    "value_and_grad": lambda f: lambda x: pb.value_and_grad(f)(x)[1],
    "grad of function": lambda f: pb.grad(pb.function(f)),
    "function of grad": lambda f: pb.function(pb.grad(f)),
    "function of value_and_grad": lambda f: lambda x: pb.function(pb.value_and_grad(f))(x)[1],
    "function of grad of function": lambda f: pb.function(pb.grad(pb.function(f))),
    "second": lambda f: pb.grad(pb.grad(f)),
    "function of second": lambda f: pb.function(pb.grad(pb.grad(f))),
    "tape": taped,
    "function of tape": lambda f: pb.function(taped(f)),
    "function of gradients": lambda f: pb.function(by_gradients(f)),
}


@pytest.mark.parametrize("style", STYLES)
@each("f", INDEPENDENT.values(), ids=INDEPENDENT)
def test_zeros(f, style):
    g = STYLES[style](f)(pb.constant(1.5))
    assert isinstance(g, pb.Tensor) and g.shape == () and g.item() == 0.0
    assert g.dtype == "float32"


@pytest.mark.parametrize("f", INDEPENDENT.values(), ids=INDEPENDENT)
def test_zeros_for_one_of_two(f):
    for transformed in (pb.grad, lambda f, n: pb.function(pb.grad(f, n))):
        g = transformed(lambda x, y: f(x) * y, (0, 1))(1.0, 2.0)
        assert g[0].item() == 0.0 and g[1].item() == float(f(pb.constant(1.0)))


def test_none_inside_a_function_where_zeros_are_not_asked_for():
    found = []

    @pb.function
    def f(x):
        found.extend(pb.gradients(CONSTANT * 1.0, x))
        return x

    f(pb.constant(1.0))
    assert found == [None]


def test_a_tensor_watched_too_late_is_still_an_error():
    x = pb.constant(2.0)
    y = x * x
    with pb.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(ValueError, match="expected a tracked tensor in ys"):
            pb.gradients(y, x)


# --- containers that contain themselves

ENDLESS_ARGUMENT = {
    "grad": lambda nest: pb.grad(pb.sum)(nest),
    "value_and_grad": lambda nest: pb.value_and_grad(pb.sum)(nest),
    "gradients": lambda nest: pb.gradients(nest, pb.Variable(1.0)),
    "jvp": lambda nest: pb.jvp(pb.sum, (nest,), (nest,)),
    "vjp": lambda nest: pb.vjp(pb.sum, nest),
    "vmap": lambda nest: pb.vmap(pb.sum)(nest),
    "jacobian": lambda nest: pb.jacobian(pb.sum)(nest),
    "hessian": lambda nest: pb.hessian(pb.sum)(nest),
    "custom_gradient": lambda nest: pb.custom_gradient(lambda x: (x, lambda g: g))(nest),
    "gradient": lambda nest: pb.GradientTape().__enter__().gradient(pb.constant(1.0), nest),
    "watch": lambda nest: pb.GradientTape().__enter__().watch(nest),
    "scan": lambda nest: pb.scan(lambda c, e: (c, e), nest, pb.ones(3)),
    "map": lambda nest: pb.map(lambda x: x, nest),
    "cond": lambda nest: pb.cond(pb.constant(True), lambda x: x, lambda x: x, nest),
    "while_loop": lambda nest: pb.while_loop(lambda x: True, lambda x: x, nest),
    "fori_loop": lambda nest: pb.fori_loop(0, 2, lambda i, x: x, nest),
    "odeint": lambda nest: pb.integrate.odeint(lambda y, t: y, nest, [0.0, 1.0]),
    "root": lambda nest: pb.implicit.root(lambda z, t: z, lambda f, z, t: z)(nest, 1.0),
    "global_norm": lambda nest: pb.global_norm(nest),
    "explain": lambda nest: pb.explain(pb.constant(1.0), nest),
    "evaluate": lambda nest: pb.evaluate(nest),
    "pb_sum": lambda nest: pb.function(pb_sum)(nest),
    "of_itself": lambda nest: pb.function(of_itself)(nest[:0]),
}


def pb_sum(x):
    return x


def of_itself(x):
    return endless("list")


def endless(kind):
    nest = [] if kind == "list" else {}
    nest.append(nest) if kind == "list" else nest.update(a=nest)
    return nest


@each("name", ENDLESS_ARGUMENT)
def test_nests_that_contain_themselves(name):
    with pytest.raises(RecursionError) as caught:
        ENDLESS_ARGUMENT[name](endless("list"))
    text = str(caught.value)
    assert text.startswith(f"{name}: expected a finite pytree, got a "), text
    assert text.endswith("; pass containers that do not contain themselves")


def test_dicts_that_contain_themselves():
    with pytest.raises(RecursionError, match="got a dict that contains itself"):
        pb.vjp(pb.sum, endless("dict"))
    deep = 1.0
    for _ in range(400):  # finite
        deep = [deep]
    assert len(pb._core.flatten(deep)[0]) == 1
