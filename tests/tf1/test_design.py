"""The layer as a whole: one row for both modes, one record for a gradient, modules without cycles,
what is absent, streams of random numbers, and dimensions of which nothing wrong is known."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback as pb
import pullback.compat.tf1 as tf
from pullback import _core
from pullback.compat.tf1._graph.create import operation
from pullback.compat.tf1._graph.opdef import OPS

FOLDER = Path(tf.__file__).parent

# --- modules


def imports(path):
    """The files of the folder that a file imports, inside functions too."""
    package = path.relative_to(FOLDER).parent.parts
    found = set()
    tree = ast.parse(path.read_text())
    tree.body = [n for n in tree.body if not (isinstance(n, ast.If) and "TYPE" in ast.dump(n.test))]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = FOLDER.joinpath(*package[: len(package) - node.level + 1])
        if node.level > len(package) + 1:
            continue
        if node.module:
            base = base.joinpath(*node.module.split("."))
            found.add(base.with_suffix(".py") if not base.is_dir() else base / "__init__.py")
        for alias in node.names:
            inner = base / alias.name
            found.update(p for p in (inner.with_suffix(".py"), inner / "__init__.py") if p.exists())
    return {p for p in found if p.exists() and p != path}


def without_free(imported):
    """What remains of a graph of imports after removing, again and again, what imports nothing."""
    while free := [p for p, needs in imported.items() if not needs & imported.keys()]:
        for p in free:
            del imported[p]
    return sorted(imported)


def test_no_module_imports_itself_through_others():
    files = {p: imports(p) for p in FOLDER.rglob("*.py") if p.name != "__init__.py"}
    assert without_free(files) == []


def test_no_folder_imports_itself_through_others():
    folders = defaultdict(set)
    for path in FOLDER.rglob("*.py"):
        if path != FOLDER / "__init__.py":
            first, *needs = (p.relative_to(FOLDER).parts[0] for p in (path, *imports(path)))
            folders[first].update({*needs} - {first, "__init__.py"})
    assert without_free(folders) == []


@pytest.mark.parametrize("where", ["tf", "tf.nn", "tf.train", "tf.math", "tf.keras.backend"])
def test_absent_names_say_so(where):
    with pytest.raises(AttributeError, match="has no conv99d: it is not part of pullback"):
        eval(f"{where}.conv99d", {"tf": tf})
    with pytest.raises(ImportError, match="conv99d"):
        from pullback.compat.tf1 import conv99d  # noqa: F401


# --- rows


@pytest.fixture
def norm(monkeypatch):
    """A row of a composite, as somebody would add one."""
    monkeypatch.setattr("pullback.compat.tf1._graph.opdef.OPS", OPS)
    yield operation("TestNorm", lambda t, axis: pb.sqrt(pb.sum(t * t, axis)), "t axis=None", "‖t‖.")
    del OPS["TestNorm"]


def test_a_composite_is_one_operation(norm):
    x = tf.placeholder(tf.float32, [None, 2])
    y = norm(x, axis=1, name="length")
    assert (y.op.type, y.op.name, list(y.op.inputs)) == ("TestNorm", "length", [x])
    feed = {x: [[3.0, 4.0], [6.0, 8.0]]}
    assert listed(run([y, tf.gradients(y, x)[0]], feed)) == [
        [5.0, 10.0], [pytest.approx([0.6, 0.8])] * 2,
    ]  # fmt: skip

    @tf.RegisterGradient("OfTestNorm")
    def rule(op, g):
        return 7 * tf.ones_like(op.inputs[0])

    with tf.get_default_graph().gradient_override_map({"TestNorm": "OfTestNorm"}):
        z = norm([3.0, 4.0])
    assert run(tf.gradients(z, z.op.inputs[0]))[0].tolist() == [7.0, 7.0]


@pytest.mark.usefixtures("eager")
def test_eager_mode_shares_the_row(norm):
    assert float(norm([3.0, 4.0])) == 5.0


def test_composites_take_names():
    x, y = tf.constant([1.0, 2.0]), tf.constant([0.0, 1.0])
    for call, name in (
        (lambda n: tf.clip_by_norm(x, 1.0, name=n), "a"),
        (lambda n: tf.clip_by_value(x, 0.0, 1.0, name=n), "b"),
        (lambda n: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x, name=n), "c"),
        (lambda n: tf.nn.leaky_relu(x, name=n), "d"),
        (lambda n: tf.global_norm([x, y], name=n), "e"),
        (lambda n: tf.where(x > 0, x, y, name=n), "f"),
    ):
        assert call(name).op.name == name


# --- records


def types():
    return [op.type for op in tf.get_default_graph().get_operations()]


def test_a_gradient_is_one_record():
    x, w = tf.placeholder(tf.float32, [None, 3]), tf.Variable(tf.ones([3, 2]))
    y = tf.reduce_mean(tf.square(tf.nn.softmax(tf.matmul(x, w)) - 1))
    before = len(types())
    first = tf.gradients(y, [x, w])
    assert types()[before:] == ["SymbolicGradient", "GradientOutput", "GradientOutput"]
    tf.gradients(tf.reduce_sum(first[0]), w)
    assert types().count("SymbolicGradient") == 2


def test_many_rules_in_a_chain():
    @tf.RegisterGradient("Twice")
    def twice(op, g):
        return 2 * g

    x = y = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "Twice"}):
        for _ in range(20):
            y = tf.identity(y) * 0.5
    z = y + 3 * x
    assert run(tf.gradients([z, y], x))[0] == pytest.approx(2.0 + 3.0)
    assert run(tf.gradients(z, x))[0] == 4.0


def test_a_gradient_needs_only_what_it_depends_on():
    x, w = tf.placeholder(tf.float32, [2], name="x"), tf.Variable([1.0, 2.0], name="w")
    with tf.Session() as session:  # neither a feed nor an initial value
        assert session.run(tf.gradients(3 * x + w, [x, w]))[0].tolist() == [3.0, 3.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must feed a value.*'x'"):
            session.run(tf.gradients(tf.exp(x), x))
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
            session.run(tf.gradients(w * w, w))


def test_a_read_after_an_assignment_is_still_the_variables():
    v = tf.Variable(2.0)
    with tf.control_dependencies([v.assign(5.0)]):
        later = v.read_value()
    y = later * later + v
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([y, tf.gradients(y, v)[0]]) == [27.0, 11.0]


def test_a_fed_output_of_any_operation_keeps_its_path():
    x = tf.constant([1.0, 2.0])
    for f, fed, slope in (
        (lambda x: tf.nn.softmax(x), [0.25, 0.75], [-0.1875, 0.1875]),
        (lambda x: tf.reduce_sum(x * x, keepdims=True), [10.0], [2.0, 4.0]),
        (lambda x: tf.reshape(x, [2]), [7.0, 8.0], [0.0, 1.0]),
    ):
        y = f(x)
        g = tf.gradients(y[-1], x)[0]
        assert run(g, {y: fed}) == pytest.approx(slope)


# --- random numbers


def test_a_seeded_session_has_a_stream_of_its_own():
    x = tf.random_normal([3], seed=5)
    pb.random.seed(1)
    plain = pb.random.uniform(8).numpy()
    pb.random.seed(1)
    first = pb.random.uniform(4).numpy()
    with tf.Session() as one, tf.Session() as two:
        a, b = one.run(x), one.run(x)
        assert np.array_equal(two.run(x), a) and np.array_equal(two.run(x), b)
        assert np.array_equal(one.run(x), two.run(x))
    assert not np.array_equal(a, b)
    pb.random.seed(1)
    pb.random.uniform(4).numpy()
    with tf.Session() as session:
        before = session.run(x)
        after = pb.random.uniform(4).numpy()
    pb.random.seed(1)
    pb.random.uniform(4).numpy()
    assert np.array_equal(before, a) and np.array_equal(after, pb.random.uniform(4).numpy())
    assert np.array_equal(first, plain[:4])


def test_seeds_differ():
    draws = []
    for seed in (1, 2, 1):
        with tf.Graph().as_default():
            tf.set_random_seed(seed)
            draws.append(run(tf.random_uniform([4])))
    assert np.array_equal(draws[0], draws[2]) and not np.array_equal(draws[0], draws[1])


def test_random_integers():
    x = run(tf.random_uniform([2000], -2, 3, tf.int64))
    assert x.dtype == np.int64 and sorted(set(x)) == [-2, -1, 0, 1, 2]
    with pytest.raises(ValueError, match="maxval"):
        tf.random_uniform([2], dtype=tf.int32)


# --- eager mode and the main namespace


@pytest.mark.usefixtures("eager")
def test_eager_tensors_leave_the_main_namespace_alone():
    x = tf.constant(1.5)
    assert isinstance(x, tf.Tensor) and isinstance(x, pb.Tensor)
    assert str(x) == "tf.Tensor(1.5, shape=(), dtype=float32)"
    assert repr(pb.constant(1.5)) == "Tensor(1.5, dtype=float32)"
    for y in (x + 1, 2 * x, -x, x[None], tf.exp(x), tf.Variable(1.0) + x, tf.Variable(1.0).value()):
        assert isinstance(y, tf.Tensor)
    assert isinstance(pb.exp(x), pb.Tensor)
    with pytest.raises(TypeError):
        hash(x)


def test_only_subclasses_without_fields_are_views():
    class Plain(pb.Tensor):
        __slots__ = ()

    class Wide(pb.Tensor):
        __slots__ = ("more",)

    x = pb.Variable(3.0) * 2
    y = _core.view_as(Plain, x)
    assert type(y) is Plain and float(y) == 6.0 and type(y + 1) is pb.Tensor
    assert type(_core.view_as(pb.Tensor, y)) is pb.Tensor
    for bad in (int, Wide, 3):
        with pytest.raises(TypeError, match="subclass of Tensor"):
            _core.view_as(bad, x)
    with pytest.raises(TypeError):
        Plain()


# --- dimensions


def test_differences_of_unknown_dimensions_are_unknown():
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    rows = tf.shape(a)[0] - tf.shape(b)[0]
    assert tf.zeros([rows, 2]).shape.as_list() == [None, 2]
    assert a[: tf.shape(b)[0]].shape.as_list() == [None, 3]
    assert tf.concat([a, b], 0).shape.as_list() == [None, 3]
    assert tf.zeros([tf.shape(a)[0] // tf.shape(b)[0]]).shape.as_list() == [None]
    assert tf.reshape(a, [-1, 784]).shape.as_list() == [None, 784]
    assert tf.reshape(tf.placeholder(tf.float32), [-1, 784]).shape.as_list() == [None, 784]


MAKES = [
    lambda x, y: x + y[:1],
    lambda x, y: x[:2],
    lambda x, y: x[-3:],
    lambda x, y: x[::2],
    lambda x, y: x[:, : tf.shape(y)[0]],
    lambda x, y: tf.concat([x, y, x], 0),
    lambda x, y: tf.zeros([tf.shape(x)[0] + 3, tf.size(y)]),
    lambda x, y: tf.fill([tf.shape(x)[0] - 1, tf.shape(x)[1] * 2], 1.0),
    lambda x, y: tf.reshape(x, [tf.shape(x)[1], -1]),
    lambda x, y: tf.reshape(x, tf.stack([tf.shape(x)[0] * 2, 2])),
    lambda x, y: tf.tile(x, [tf.shape(y)[0], 2]),
    lambda x, y: tf.pad(x, [[tf.shape(y)[0], 0], [1, 1]]),
    lambda x, y: tf.matmul(x, tf.transpose(y)),
    lambda x, y: tf.reduce_sum(x, tf.rank(x) - 1),
    lambda x, y: tf.reduce_max(x, 0, keepdims=True) + y,
    lambda x, y: tf.gather(x, tf.range(tf.shape(x)[0] // 2)),
    lambda x, y: tf.where(x[:, 0] > 0, x, 2 * x),
    lambda x, y: tf.one_hot(tf.argmax(x, 1), tf.shape(y)[0]),
    lambda x, y: tf.expand_dims(tf.transpose(x), -1) * tf.ones([1, 1, tf.shape(y)[0]]),
    lambda x, y: tf.squeeze(tf.reshape(x, [1, -1, 1]), [0]),
    lambda x, y: tf.broadcast_to(x[:1], [tf.shape(y)[0], 4]),
    lambda x, y: tf.split(x, 2, 1)[1],
    lambda x, y: tf.stack(tf.unstack(x, axis=1)),
    lambda x, y: tf.zeros_like(tf.shape(x)),
    lambda x, y: tf.random_uniform([tf.minimum(tf.shape(x)[0], 3)]),
    lambda x, y: tf.zeros(tf.concat([tf.shape(x)[:1], [2], tf.shape(y)[1:]], 0)),
]


@each("make", MAKES, ids=range(len(MAKES)), around=graph_of_its_own)
@pytest.mark.parametrize("known", [[None, 4], [None, None], None])
def test_nothing_wrong_is_known_of_a_dimension(make, known):
    x, y = tf.placeholder(tf.float32, known), tf.placeholder(tf.float32, known)
    try:
        z = make(x, y)
    except (ValueError, IndexError):
        assert known != [None, 4]  # the operation needs to know more
        return
    with tf.Session() as session:
        for rows in ((5, 2), (2, 6), (1, 1), (4, 3)):
            feed = {p: np.ones((n, 4), np.float32) for p, n in zip((x, y), rows, strict=True)}
            try:
                value = session.run(z, feed)
            except tf.errors.InvalidArgumentError:
                continue
            assert z.shape.is_compatible_with(value.shape), (z.shape, value.shape)


def test_shapes_are_as_known_as_they_can_be():
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
    expected = {
        0: [None, 4], 1: [None, 4], 5: [None, 4], 6: [None, None], 7: [None, 8], 8: [4, None],
        9: [None, 2], 10: [None, 8], 11: [None, 6], 12: [None, None], 13: [None], 14: [None, 4],
        16: [None, 4], 18: [4, None, None], 20: [None, 4], 21: [None, 2], 22: [4, None], 23: [2],
        25: [None, 2, 4],
    }  # fmt: skip
    assert {i: MAKES[i](x, y).shape.as_list() for i in expected} == expected


# --- arguments that are easy to forget


def test_rows_are_chosen_by_a_vector():
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    z = tf.where([True, False], x, y)
    assert run(z).tolist() == [[1.0, 2.0], [7.0, 8.0]]
    assert listed(run(tf.gradients(z, [x, y]))) == [
        [[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]],
    ]  # fmt: skip
    log = tf.where([True, False], tf.log(x - tf.constant([[0.0], [9.0]])), y)
    assert run(tf.gradients(log, x))[0].tolist() == [[1.0, 0.5], [0.0, 0.0]]
    with pytest.raises(ValueError, match="rows"):
        tf.where([True, False, True], x, y)


def test_bad_labels_are_told():
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=tf.zeros([2, 3]), name="loss"
    )
    assert run(loss, {labels: [0, 2]}) == pytest.approx([np.log(3)] * 2)
    for bad in ([0, 3], [-1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=str(bad[0] or bad[1])):
            run(loss, {labels: bad})


def test_losses_do_not_broadcast():
    with pytest.raises(ValueError, match=r"\(2, 1\).*\(2,\)|\(2,\).*\(2, 1\)"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0], [0.0]], logits=[2.0, -3.0])


def test_bounds_of_slices_may_be_tensors():
    x, n = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.placeholder(tf.int32, [])
    y = x[n:]
    assert run(y, {n: 1}).tolist() == [2.0, 3.0, 4.0] and y.shape.as_list() == [None]
    with tf.Session() as session:
        for k in (1, 2, 3):
            assert session.run(tf.gradients(y, x)[0], {n: k}).sum() == 4 - k
    assert run(x[n : n + 2], {n: 1}).tolist() == [2.0, 3.0]
    assert run(tf.constant([[1.0, 2.0]])[..., n], {n: 1}).tolist() == [2.0]


def test_axis_and_padding_values():
    x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    e = np.exp(x)
    assert run(tf.nn.softmax(x, axis=0)) == pytest.approx(e / e.sum(0))
    assert run(tf.nn.log_softmax(x, dim=0)) == pytest.approx(x - np.log(e.sum(0)), abs=1e-6)
    t = tf.constant([1.0, 2.0, 3.0])
    for keywords, expected in (
        ({"constant_values": 9}, [9, 1, 2, 3, 9, 9]),
        ({"mode": "REFLECT"}, [2, 1, 2, 3, 2, 1]),
        ({"mode": "symmetric"}, [1, 1, 2, 3, 3, 2]),
    ):
        assert run(tf.pad(t, [[1, 2]], **keywords)).tolist() == expected
    mirrored = tf.pad(t, [[1, 2]], "REFLECT")
    assert run(tf.gradients(mirrored, t))[0].tolist() == [2.0, 3.0, 1.0]
    assert tf.placeholder("float").dtype == tf.float32
