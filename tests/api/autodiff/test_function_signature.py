"""What tells the calls of a traced function apart: nests with dataclasses, static arguments; and
what the decorator shows: cache_info, plan, graph, and the function it wraps."""

from __future__ import annotations

import collections
import copy
import dataclasses
import gc
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.traced import Counted

import pullback as pb

# --- dataclasses


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"


@dataclasses.dataclass(frozen=True)
class Frozen:
    layer: Layer
    scale: Any = dataclasses.field(default=1.0, kw_only=True)
    checked: bool = dataclasses.field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.scale < 0:  # would look at a traced value
            raise ValueError
        object.__setattr__(self, "checked", True)


@dataclasses.dataclass(slots=True)
class Slotted:
    x: Any


def test_dataclasses_as_arguments_and_results():
    seen = []

    def body(p, x):
        seen.append((type(p), p.layer.name, p.checked))
        return Frozen(Layer(p.layer.w * x, p.layer.b + 1.0, "new")).layer, Slotted(p.scale * x)

    f = Counted(body)
    for k in (1.0, 3.0):
        layer, slotted = f(Frozen(Layer(np.array([k, 2 * k]), k), scale=k), 2.0)
        assert type(layer) is Layer and layer.name == "new"
        np.testing.assert_array_equal(layer.w.numpy(), [2 * k, 4 * k])
        assert float(layer.b) == k + 1 and float(slotted.x) == 2 * k
    assert f.runs == 1 and seen == [(Frozen, "layer", True)]
    f(Frozen(Layer(np.ones(2), 1.0, "other")), 2.0)  # a string counts by value
    f(Frozen(Layer(np.ones(3), 1.0)), 2.0)
    assert f.runs == 3


def test_equal_fields_of_other_classes_are_other_signatures():
    @dataclasses.dataclass
    class Other:
        x: Any

    f = Counted(lambda p: type(p).__name__)
    assert [f(Slotted(1.0)), f(Other(1.0)), f((1.0,)), f([1.0])] == [
        "Slotted",
        "Other",
        "tuple",
        "list",
    ]
    assert f.runs == 4


def test_dataclasses_elsewhere():
    v, w = pb.Variable([1.0, 2.0]), pb.Variable(3.0)
    params = Layer(v, w)
    loss = pb.sum(v * v) * w
    g = pb.gradients(loss, params_of(params))
    assert type(g) is Layer and g.name is None
    assert g.w.numpy().tolist() == [6.0, 12.0] and float(g.b) == 5.0
    values = pb.evaluate({"p": Layer(loss, 1)}, loss)
    assert values[0]["p"].w == values[1] == 15.0 and values[0]["p"].b == 1
    with pb.GradientTape() as tape:
        tape.watch(params_of(params))
        loss = pb.sum(v * v) * w
    g = tape.gradient(Slotted(loss), params_of(params), output_gradients=Slotted(2.0))
    assert g.w.numpy().tolist() == [12.0, 24.0] and float(g.b) == 10.0


def params_of(layer: Layer) -> Layer:
    """With tensors only: a third that nothing depends on."""
    return dataclasses.replace(layer, name=pb.Variable(0.0) * 1.0)


# --- nests


def test_flatten_and_unflatten():
    Pair = collections.namedtuple("Pair", "left right")
    ordered = collections.OrderedDict([("z", 1), ("a", 2)])
    nest = {"b": [1, (2, None)], "a": Pair({}, ordered), 3: Layer([], "x")}
    leaves, structure = pb._core.flatten({"k": nest["b"], "a": nest["a"]})
    assert leaves == [1, 2, 1, 2]
    again = pb._core.unflatten(structure, iter(leaves))
    assert again == {"k": nest["b"], "a": nest["a"]} and type(again["a"]) is Pair
    assert type(again["a"].right) is collections.OrderedDict
    leaves, structure = pb._core.flatten(nest)  # keys of two types keep their order
    assert leaves == [1, 2, 1, 2, "x", "layer"]
    assert pb._core.unflatten(structure, leaves) == nest
    with pytest.raises(ValueError, match="expected 6 leaves, got 1"):
        pb._core.unflatten(structure, [1])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        pb._core.flatten(endless)


def test_the_order_of_keys_and_keywords_does_not_matter():
    f = Counted(lambda d, **more: d["a"] - d["b"] + more["x"] - more["y"])
    assert float(f({"a": 5.0, "b": 2.0}, x=1.0, y=3.0)) == 1.0
    assert float(f({"b": 2.0, "a": 5.0}, y=3.0, x=1.0)) == 1.0
    assert f.runs == 1
    f({"a": 5.0, "b": 2.0, "c": 0.0}, x=1.0, y=3.0)
    assert f.runs == 2


def test_gradients_of_nests():
    a, b = pb.Variable(2.0), pb.Variable(3.0)
    y = {"p": a * b, "q": [a * a]}
    assert pb.evaluate(pb.gradients(y, {"a": a, "b": (b,)})) == {"a": 7.0, "b": (2.0,)}
    c = pb.Variable([1.0])
    zero = pb.gradients(y, [[a], c], unconnected_gradients="zero")
    assert float(zero[0][0]) == 7.0 and zero[1].numpy().tolist() == [0.0]
    assert float(pb.gradients(y, {"a": a}, {"p": 10.0, "q": [1.0]})["a"]) == 34.0
    with pytest.raises(TypeError, match=r"for xs\[1\], got"):
        pb.gradients(y, {"a": a, "b": "text"})


# --- static arguments


def test_static_positions():
    @pb.function(static_argnums=(1, -1))
    def f(x, k, y, mode):
        runs.append((k, mode))
        return x**k + y if mode == "sum" else x**k

    runs: list[Any] = []
    assert float(f(3.0, 2.0, 1.0, "sum")) == float(f(3.0, 2.0, 1.0, mode="sum")) == 10.0
    assert runs == [(2.0, "sum")] * 2  # by keyword is another call
    assert float(f(3.0, 2.0, 5.0, "sum")) == 14.0 and len(runs) == 2
    assert float(f(3.0, 3.0, 5.0, "no")) == 27.0 and runs[-1] == (3.0, "no")
    assert f.cache_info() == (1, 3, 3)


def test_static_names():
    runs = []

    @pb.function(static_argnames="rate")
    def f(x, rate=0.5, **more):
        runs.append(rate)
        return x * rate

    assert [float(f(2.0, rate=r)) for r in (0.5, 0.25, 0.5)] == [1.0, 0.5, 1.0]
    assert [float(f(2.0, r)) for r in (0.5, 0.25)] == [1.0, 0.5]
    assert runs == [0.5, 0.25, 0.5, 0.25] and all(type(r) is float for r in runs)


def test_static_values_are_told_apart():
    f = pb.function(static_argnums=0)(lambda k: repr(k))
    values = [1, True, 1.0, np.float64(1), 0.0, -0.0, (1,), (True,), (1.0, (0.0,)), (1.0, (-0.0,))]
    nan = float("nan")
    for _ in range(2):
        assert [f(k) for k in [*values, nan, "1", None]] == [
            repr(k) for k in [*values, nan, "1", None]
        ]
    assert f.cache_info() == (13, 13, 13)
    assert f(1000) == f(int("1000")) and f("ab" * 40) == f("".join(["ab"] * 40))
    assert f.cache_info().misses == 15


def test_equal_static_objects_share_a_trace():
    @dataclasses.dataclass(frozen=True)
    class Config:
        width: int

    f = Counted(lambda x: x)
    g = pb.function(static_argnames=("config",))(lambda x, config: f.f(x) * config.width)
    assert float(g(1.0, Config(3))) == float(g(1.0, config=Config(3))) == 3.0
    assert float(g(1.0, Config(3))) == 3.0 and g.cache_info() == (1, 2, 2)


@each(
    ("make", "error", "words"),
    [
        (
            lambda f: pb.function(f, static_argnums=2),
            ValueError,
            "has 2 positional arguments, got 2",
        ),
        (lambda f: pb.function(f, static_argnums=-3), ValueError, "expected -2 to 1"),
        (lambda f: pb.function(f, static_argnums="k"), TypeError, "static_argnums"),
        (lambda f: pb.function(f, static_argnums=(True,)), TypeError, "got True"),
        (lambda f: pb.function(f, static_argnames=1.5), TypeError, "static_argnames, got 1.5"),
        (lambda f: pb.function(f, static_argnums=None), TypeError, "static_argnums, got None"),
        (lambda f: pb.function(f, cache_size=None), TypeError, "cache_size, got None"),
        (lambda f: pb.function(f, static_argnames=[1]), TypeError, "expected str"),
        (lambda f: pb.function(f, static_argnames="z"), ValueError, "got 'z'"),
        (lambda f: pb.function(3), TypeError, "expected a function"),
        (lambda f: pb.function(f, static_argnums=1)(1.0, [1]), TypeError, "argument 1, got a list"),
        (lambda f: pb.function(f, static_argnums=1)(1.0, k=[1]), TypeError, "'k', got a list"),
        (lambda f: pb.function(f, static_argnums=1)(1.0, ([1],)), TypeError, "hashable"),
        (lambda f: pb.function(f, static_argnums=1)(1.0, pb.ones(2)), TypeError, "a Tensor"),
        (
            lambda f: pb.function(f)(1.0, {1}),
            TypeError,
            "a tensor or a hashable argument, got a set",
        ),
    ],
)
def test_refused(make, error, words):
    with pytest.raises(error, match=words):
        make(lambda x, k: x)


# --- what the decorator shows


def test_it_looks_like_the_function():
    def f(x: float, *, y: int = 2) -> Any:
        "Doc."
        return x * y

    f.mark = 7  # type: ignore[attr-defined]
    g = pb.function(f)
    assert (g.__name__, g.__doc__, g.__wrapped__, g.mark) == ("f", "Doc.", f, 7)
    assert inspect.signature(g) == inspect.signature(f)
    assert g.__module__ == __name__ and "f (" in repr(g)
    g.mine = 1  # type: ignore[attr-defined]
    assert g.mine == 1 and weakref.ref(g)() is g  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        g()
    with pytest.raises(TypeError):
        pb._core.Function()


@pb.function
def doubled(x):
    return 2 * x


def test_copies_are_the_function_itself():
    local = pb.function(lambda x: x)
    assert copy.copy(local) is local and copy.deepcopy({"f": local})["f"] is local
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_methods_static_and_class():
    class Model:
        def __init__(self, k):
            self.w = pb.Variable(k)

        @pb.function(static_argnums=2)
        def power(self, x, k):
            return self.w * x**k

        @staticmethod
        @pb.function
        def double(x):
            return 2 * x

        @classmethod
        @pb.function
        def name(cls, x):
            return x, cls.__name__

    one, two = Model(2.0), Model(3.0)
    assert [float(m.power(2.0, 3.0)) for m in (one, two, one)] == [16.0, 24.0, 16.0]
    assert Model.power.cache_info() == (1, 2, 2)
    assert float(one.double(2.0)) == 4.0 and one.name(1.0)[1] == "Model"
    bound = one.power
    assert bound.__self__ is one and float(bound(1.0, k=1.0)) == 2.0
    assert "multiply" in Model.power.plan(one, 2.0, 3.0)


def test_cache_info_and_clear_cache():
    f = Counted(lambda x: x * 2)
    info = f.call.cache_info()
    assert (info.hits, info.misses, info.currsize) == (0, 0, 0)
    f(1.0), f(2.0), f(np.ones(2))
    assert f.call.cache_info() == (1, 2, 2)
    f.call.clear_cache()
    assert f.call.cache_info() == (1, 2, 0)
    f(1.0)
    assert f.call.cache_info() == (1, 3, 1) and f.runs == 3


def test_plan_and_graph_run_nothing():
    v = pb.Variable([1.0, 2.0], name="v", dtype="float64")

    def body(x, rate):
        v.assign_sub(rate * x)
        return pb.sum(pb.tanh(x) * pb.random.uniform(2))

    f = Counted(body)
    plan, graph = f.call.plan(np.ones(2), 0.5), f.call.graph(np.ones(2), 0.5)
    # plan() traces for itself, to find the lines of the program.
    assert f.runs == 2 and v.numpy().tolist() == [1.0, 2.0]
    assert f.call.cache_info() == (0, 0, 1)
    assert "tanh" in plan and "random_uniform" in plan
    lines = graph.splitlines()
    assert "%0   argument 0 " in lines[0] and "float64 (2,)" in lines[0]
    for text in ("argument 1 ", "variable 'v' ", "random counter", "tanh(%0) ", "return %"):
        assert any(text in line for line in lines), text
    assert lines[-1].startswith("variable 'v' = %")
    f(np.ones(2), 0.5)
    assert f.call.cache_info() == (1, 0, 1)


def test_a_function_that_holds_itself_is_collected():
    class Thing:
        pass

    thing = Thing()

    def make():
        @pb.function
        def f(x, other=thing):
            return x * 2, f

        f(1.0)
        return weakref.ref(f)

    ref = make()
    gc.collect()
    assert ref() is None


def test_argument_containers_may_be_changed():
    def body(d):
        d["new"] = d.pop("old") * 2
        return d["new"]

    f = Counted(body)
    for k in (1.0, 2.0):
        given = {"old": k}
        assert float(f(given)) == 2 * k and given == {"old": k}
    assert f.runs == 1


def test_many_named_arguments() -> None:
    f = pb.function(lambda **named: sum(float(k[1:]) * x for k, x in named.items()))
    for count in (3, 31, 32, 33, 40):
        named = {f"x{k}": pb.constant(float(k)) for k in range(count)}
        expected = float(sum(k * k for k in range(count)))
        assert float(f(**named)) == expected
        assert float(f(**dict(reversed(named.items())))) == expected
