"""`pb.tree`: leaves, structures, registered classes, static fields, None as an empty subtree."""

import gc
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pullback as pb

Pair = namedtuple("Pair", "w b")


@dataclass(frozen=True)
class Layer:
    w: Any
    b: Any
    activation: str = field(default="tanh", metadata={"static": True})


class WithMethods:
    def __init__(self, x, y, name):
        self.x, self.y, self.name = x, y, name

    def tree_flatten(self):
        return [self.x, self.y], self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


class Registered:
    def __init__(self, x, y):
        self.x, self.y = x, y


pb.tree.register(Registered, lambda r: ((r.x, r.y), None), lambda _, xy: Registered(*xy))


class AttrsAttribute:
    def __init__(self, name, metadata):
        self.name, self.metadata = name, metadata


class LikeAttrs:
    """What a class of attrs has; the package itself is tested if it is installed."""

    __slots__ = ("size", "w")
    __attrs_attrs__ = (AttrsAttribute("w", {}), AttrsAttribute("size", {"static": True}))

    def __init__(self, w, size):
        self.w, self.size = w, size


def test_leaves_and_structures():
    tree = {"b": [1, (None, 2)], "a": Pair(3, OrderedDict(z=4, y=Layer(5, None)))}
    leaves, structure = pb.tree.flatten(tree)
    assert leaves == [3, 4, 5, 1, 2] == pb.tree.leaves(tree) and len(structure) == 5
    again = pb.tree.unflatten(structure, leaves)
    assert again == tree and type(again["a"].b["y"]) is Layer
    assert structure == pb.tree.structure(tree) and hash(structure) == hash(pb.tree.structure(tree))
    assert repr(structure) == (
        "Structure({'a': Pair(w=*, b=OrderedDict({'z': *, 'y': "
        "Layer(w=*, b=None, activation='tanh')})), 'b': [*, (None, *)]})"
    )
    for other in (
        {"b": [1, (2, None)], "a": tree["a"]},
        {"b": [1, [None, 2]], "a": tree["a"]},
        {"c": tree["b"], "a": tree["a"]},
        {"b": tree["b"], "a": Pair(3, OrderedDict(z=4, y=Layer(5, None, "relu")))},
        {"b": tree["b"], "a": (3, OrderedDict(z=4, y=Layer(5, None)))},
    ):
        assert structure != pb.tree.structure(other)
    a, b = defaultdict(list, x=1), defaultdict(list, x=2)
    assert pb.tree.structure(a) == pb.tree.structure(b)
    assert pb.tree.structure(a) != pb.tree.structure(defaultdict(int, x=1))
    for wrong in (leaves[:-1], [*leaves, 0]):
        with pytest.raises(ValueError, match="unflatten: expected 5 leaves, got"):
            pb.tree.unflatten(structure, wrong)
    with pytest.raises(TypeError, match="expected a Structure"):
        pb.tree.unflatten(leaves, structure)


def test_map():
    tree = {"w": 1, "b": [2, None]}
    assert pb.tree.map(lambda x: x + 1, tree) == {"w": 2, "b": [3, None]}
    more = {"w": (5, 6), "b": [7, None]}
    assert pb.tree.map(lambda x, y: (x, y), tree, more) == {"w": (1, (5, 6)), "b": [(2, 7), None]}
    assert pb.tree.map(lambda x, y: y, tree, {"w": None, "b": None})["b"] == [None, None]
    is_list = lambda x: isinstance(x, list)  # noqa: E731
    assert pb.tree.map(lambda x, y: y, tree, more, is_leaf=is_list) == more
    with pytest.raises(ValueError, match=r"map: rest\[0\]\['b'\]: expected 2 entries, got 1"):
        pb.tree.map(lambda x, y: y, tree, {"w": 1, "b": [2]})
    with pytest.raises(ValueError, match=r"map: rest\[0\]\['b'\]\[1\]: expected None, got 3"):
        pb.tree.map(lambda x, y: y, tree, {"w": 1, "b": [2, 3]})
    with pytest.raises(TypeError, match="map: expected a function for f"):
        pb.tree.map(tree, len)


def test_ravel():
    tree = {"b": 1.0, "w": pb.constant([[2.0, 3.0]], "float64"), "n": None}
    vector, unravel = pb.tree.ravel(tree)
    assert vector.dtype == "float64" and vector.numpy().tolist() == [1.0, 2.0, 3.0]
    again = unravel(np.arange(3.0))
    assert again["n"] is None and again["w"].numpy().tolist() == [[1.0, 2.0]]
    assert (again["w"].dtype, again["b"].dtype) == ("float64", "float32")

    def loss(flat):
        p = unravel(flat)
        return pb.sum(p["w"] ** 3) * p["b"]

    expected = [8.0 + 27.0, 12.0, 27.0]
    np.testing.assert_allclose(pb.grad(loss)(vector).numpy(), expected, rtol=1e-6)
    slopes = pb.grad(lambda t: pb.sum(pb.tree.ravel(t)[0] ** 2))(tree)
    assert slopes["n"] is None and slopes["w"].numpy().tolist() == [[4.0, 6.0]]
    with pytest.raises(ValueError, match=r"unravel: expected shape \(3,\), got \(4,\)"):
        unravel(np.ones(4))
    with pytest.raises(TypeError, match=r"ravel: tree\['a'\]"):
        pb.tree.ravel({"a": "text"})
    assert pb.tree.ravel(None)[0].shape == (0,)


CONTAINERS = {
    "methods": lambda x, y: WithMethods(x, y, "name"),
    "registered": Registered,
    "static field": lambda x, y: Layer(x, y, "relu"),
    "attrs": lambda x, y: LikeAttrs([x, y], 3),
}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_classes_in_transforms(make):
    def loss(tree):
        x, y = pb.tree.leaves(tree)
        return pb.sum(x * x * y)

    def leaves(tree):
        assert type(tree) is type(make(0, 0))
        return [np.asarray(leaf).tolist() for leaf in pb.evaluate(pb.tree.leaves(tree))]

    tree = make(pb.constant([1.0, 2.0]), pb.constant([3.0, 5.0]))
    expected = [[6.0, 20.0], [1.0, 4.0]]
    assert leaves(pb.grad(loss)(tree)) == expected
    f = pb.function(pb.grad(loss))
    assert leaves(f(tree)) == expected == leaves(f(tree)) and f.cache_info().currsize == 1
    assert leaves(pb.vjp(loss, tree)[1](1.0)[0]) == expected
    assert leaves(pb.vmap(lambda t: pb.tree.map(lambda x: 2 * x, t))(tree)) == [[2, 4], [6, 10]]
    assert leaves(pb.grad(pb.checkpoint(loss))(tree)) == expected
    stepped = pb.scan(lambda c, _: (pb.tree.map(lambda x: x + 1, c), None), tree, length=3)[0]
    assert leaves(stepped) == [[4.0, 5.0], [6.0, 8.0]]
    tangent = pb.jvp(loss, (tree,), (make(pb.ones(2), pb.zeros(2)),))[1]
    assert tangent.item() == 26.0
    paths = pb.tree.map(lambda x, g: g, tree, pb.grad(loss)(tree))
    assert leaves(paths) == expected


def test_static_fields_are_compared_by_value():
    traced = []

    @pb.function
    def f(layer):
        traced.append(layer.activation)
        return layer.w if layer.activation == "tanh" else -layer.w

    assert [float(f(Layer(2.0, None, a))) for a in ("tanh", "relu", "tanh")] == [2.0, -2.0, 2.0]
    assert traced == ["tanh", "relu"]
    with pytest.raises(TypeError):
        f(Layer(2.0, None, [1]))


def test_subclasses_and_what_cannot_be_registered():
    class Child(WithMethods):
        pass

    assert type(pb.tree.map(lambda x: x, Child(1, 2, "a"))) is Child

    class Derived(Registered):
        pass

    assert len(pb.tree.leaves(Derived(1, 2))) == 1  # a leaf: only its base is registered

    class Row(list):
        pass

    assert pb.tree.leaves(Row([1, 2])) == [1, 2]
    pb.tree.register(Row, lambda r: (r[:1], tuple(r[1:])), lambda rest, first: Row([*first, *rest]))
    assert pb.tree.leaves(Row([1, 2])) == [1]
    kinds = (dict, list, tuple, float, complex, np.float32, np.ndarray, pb.Tensor, pb.Variable)
    for cls in (*kinds, type(None)):
        with pytest.raises(ValueError, match="register: expected a class without a treatment"):
            pb.tree.register(cls, len, len)
    with pytest.raises(TypeError, match="expected a class for class_"):
        pb.tree.register(3, len, len)
    pb.tree.register(Row, lambda r: 3, lambda *_: None)
    with pytest.raises(TypeError, match=r"expected a pair \(children, extra\).*Row"):
        pb.tree.leaves(Row([1]))


class Table(dict):
    """A dict whose children are in the order of insertion; the keys belong to the structure."""


pb.tree.register(
    Table, lambda t: (t.values(), tuple(t)), lambda keys, xs: Table(zip(keys, xs, strict=True))
)


def test_children_of_registered_containers_are_paired_as_they_are_flattened():
    table = Table(b=1, a=2)
    assert pb.tree.map(lambda x, y: (x, y), table, Table(b=3, a=4)) == {"b": (1, 3), "a": (2, 4)}
    for other in (Table(a=3, b=4), {"b": 3, "a": 4}):
        with pytest.raises(ValueError, match=r"map: rest\[0\]: expected"):
            pb.tree.map(lambda x, y: (x, y), table, other)
    with pytest.raises(ValueError, match=r"expected .*tanh.*, got .*relu"):
        pb.tree.map(lambda x, y: x, Layer(1, 2), Layer(1, 2, "relu"))


def test_axes_of_vmap_for_classes():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    for tree, axes in (
        (Layer(x, y), Layer(1, None)),
        (Table(w=x, b=y), Table(w=1, b=None)),
        (WithMethods(x, y, "a"), WithMethods(1, None, "a")),
    ):

        def f(t):
            first, second = pb.tree.leaves(t)
            return pb.sum(first) * second

        assert np.array_equal(pb.vmap(f, in_axes=(axes,))(tree), x.sum(0)[:, None] * y)
        out = pb.vmap(lambda t: t, in_axes=(axes,), out_axes=axes)(tree)
        assert [leaf.shape for leaf in pb.tree.leaves(out)] == [(2, 3), (3,)]
    with pytest.raises(ValueError, match="in_axes of argument 0"):
        pb.vmap(f, in_axes=(Table(b=None, w=1),))(Table(w=x, b=y))


def test_branches_and_loops_keep_static_data():
    x = pb.asarray([1.0, 2.0])
    for one, other in ((Table(a=x, b=2 * x), Table(b=x, a=2 * x)), (Layer(x, x), Layer(x, x, "r"))):
        with pytest.raises(ValueError, match="cond: expected results of one structure"):
            pb.function(lambda t, one=one, other=other: pb.cond(t > 0, lambda: one, lambda: other))(
                1.0
            )
        with pytest.raises(ValueError, match="scan: expected the structure"):
            pb.scan(lambda c, _, other=other: (other, None), one, None, length=2)
        carry, _ = pb.scan(lambda c, _: (pb.tree.map(lambda y: 2 * y, c), None), one, length=2)
        assert pb.tree.structure(carry) == pb.tree.structure(one)


def test_a_list_that_changes_while_it_is_flattened():
    for change in (lambda xs: xs.pop(), lambda xs: xs.append(4)):
        entries = [1, 2, 3]

        def test(subtree, entries=entries, change=change):
            if subtree == 2:
                change(entries)
            return False

        with pytest.raises(RuntimeError, match="flatten: expected a list that keeps its size"):
            pb.tree.flatten((entries, 0), is_leaf=test)


def test_arguments_of_functions_that_are_flattened_differently_each_time():
    class Unstable:
        def __init__(self, *counts):
            self.counts = list(counts)  # the last one remains

    def flattened(u):
        return [np.ones(2)] * (u.counts.pop(0) if u.counts[1:] else u.counts[0]), None

    pb.tree.register(Unstable, flattened, lambda _, xs: len(xs))
    for counts in ((1, 500), (0, 1), (3, 0)):
        with pytest.raises(RuntimeError, match=r"function: .*flattened alike each time"):
            pb.function(lambda n: n)(Unstable(*counts))
    assert pb.function(lambda n: n)(Unstable(1)) == 1


def test_structures_outlive_the_registration_of_their_class():
    @dataclass
    class Point:
        x: Any
        y: Any

    leaves, structure = pb.tree.flatten(Point(1, 2))
    pb.tree.register(Point, lambda p: ((p.x,), p.y), lambda y, x: Point(*x, y))
    assert repr(structure) == "Structure(Point(x=*, y=*))"
    assert pb.tree.unflatten(structure, leaves) == Point(1, 2)
    assert pb.tree.leaves(Point(1, 2)) == [1]


def test_classes_with_methods_can_be_deleted():
    def used_class():
        class Local(WithMethods):
            pass

        pb.tree.map(abs, Local(1, 2, "a"))
        return weakref.ref(Local)

    reference = used_class()
    gc.collect()
    assert reference() is None


def test_none_is_an_empty_subtree():
    params = {"w": pb.constant([1.0, 2.0]), "b": None}

    def loss(p):
        assert p["b"] is None
        return pb.sum(p["w"] ** 2)

    def check(result, expected):
        assert result["b"] is None
        np.testing.assert_allclose(result["w"].numpy(), expected, rtol=1e-6)

    check(pb.grad(loss)(params), [2.0, 4.0])
    check(pb.function(pb.grad(loss))(params), [2.0, 4.0])
    check(pb.value_and_grad(pb.checkpoint(loss))(params)[1], [2.0, 4.0])
    check(pb.jacobian(lambda p: p["w"] * 3)(params), 3 * np.eye(2))
    check(pb.hessian(loss)(params)["w"], 2 * np.eye(2))
    check(pb.vmap(lambda p: {"w": -p["w"], "b": p["b"]})(params), [-1.0, -2.0])
    check(pb.scan(lambda c, _: ({"w": c["w"] * 2, "b": None}, None), params, length=2)[0], [4, 8])
    check(pb.cond(pb.constant(True), lambda p: p, lambda p: p, params), [1.0, 2.0])
    check(pb.jvp(lambda p: p, (params,), ({"w": pb.ones(2), "b": None},))[1], [1.0, 1.0])
    check(pb.clip_by_global_norm(params, 1e9)[0], [1.0, 2.0])

    variables = {"w": pb.Variable([1.0, 2.0]), "b": None}
    slopes = pb.gradients(loss(variables), variables)
    check(slopes, [2.0, 4.0])
    with pb.GradientTape() as tape:
        y = loss(variables)
    check(tape.gradient(y, variables), [2.0, 4.0])
    pb.optimizers.GradientDescent(0.5).apply_gradients(slopes, variables)
    check(variables, [0.0, 0.0])
    pb.optimizers.Adam(0.5).minimize(lambda: pb.sum(variables["w"] + 1), variables)
    check(variables, [-0.5, -0.5])


def test_a_missing_result_is_an_error():
    for transform in (pb.grad, pb.jacobian, pb.hessian):
        with pytest.raises(TypeError, match="got None"):
            transform(lambda x: None)(1.0)


def test_classes_of_attrs():
    attrs = pytest.importorskip("attrs", reason="attrs is not installed")

    @attrs.frozen
    class Point:
        x: Any
        y: Any
        name: str = attrs.field(default="p", metadata={"static": True})

    slopes = pb.grad(lambda p: p.x * p.y)(Point(2.0, 3.0))
    assert (float(slopes.x), float(slopes.y), slopes.name) == (3.0, 2.0, "p")


def test_names_of_other_libraries():
    for name, instead in (
        ("tree_map", r"pb\.tree\.map"),
        ("ravel_pytree", r"pb\.tree\.ravel"),
        ("register_tree", r"pb\.tree\.register"),
        ("elementwise_grad", r"pb\.grad\(lambda x: pb\.sum\(f\(x\)\)\)"),
        ("make_vjp", r"pb\.vjp\(f, x\)"),
    ):
        with pytest.raises(AttributeError, match=f"{name}'; use {instead}"):
            getattr(pb, name)
