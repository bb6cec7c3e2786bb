"""IndexedSlices: gradients of which only some rows are there. Optimizers: test_slices_train.py."""

from __future__ import annotations

import numpy as np
import pytest
from support.memory import bytes_beside
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

X = np.arange(1.0, 13).reshape(4, 3).astype(np.float32)


def dense(value, length=4):
    """What fetched slices stand for, by NumPy."""
    out = np.zeros((length, *value.values.shape[1:]), value.values.dtype)
    np.add.at(out, value.indices, value.values)
    return out


# --- what gradients are


@pytest.mark.parametrize("make", [tf.Variable, tf.constant, lambda x: tf.identity(tf.constant(x))])
def test_what_is_only_gathered_has_rows_one_after_the_other(make):
    p = make(X)
    y = 2 * tf.reduce_sum(tf.gather(p, [3, 0, 3])) + tf.reduce_sum(tf.nn.embedding_lookup(p, [2]))
    (g,) = tf.gradients(y, p)
    assert isinstance(g, tf.IndexedSlices)
    assert not isinstance(g, tf.Tensor)
    assert (g.shape, g.get_shape(), g.dtype) == ([4, 3], [4, 3], tf.float32)
    assert (g.values.shape, g.indices.shape, g.graph) == ([4, 3], [4], tf.get_default_graph())
    assert g.name == g.values.name and g.op is g.values.op
    value = run(g)
    assert isinstance(value, tf.IndexedSlicesValue)
    assert listed([value.indices, value.dense_shape]) == [[3, 0, 3, 2], [4, 3]]
    assert value.values.tolist() == [[2, 2, 2]] * 3 + [[1, 1, 1]]
    assert value.dense_shape.dtype == np.int32
    assert run(tf.convert_to_tensor(g)).tolist() == dense(value).tolist()


def test_the_same_positions_twice_are_not_summed():
    p, ids = tf.Variable(X), tf.constant([1, 1])
    (g,) = tf.gradients(tf.reduce_sum(tf.gather(p, ids) * tf.gather(p, ids)), p)
    value = run(g)
    assert value.indices.tolist() == [1] * 4
    assert np.array_equal(value.values, X[[1] * 4])
    assert run(tf.global_norm([g])) == pytest.approx(np.sqrt(np.sum(value.values**2)))


@pytest.mark.parametrize(
    "also",
    [
        lambda p: tf.reduce_sum(p * p),
        lambda p: tf.reduce_sum(tf.reshape(p, [-1])),
        lambda p: tf.reduce_sum(p[1]),
        lambda p: tf.reduce_sum(tf.gather(p, [1], axis=1)),
    ],
)
def test_beside_what_is_dense_it_is_dense(also):
    p = tf.Variable(X)
    alone, mixed = tf.gradients(also(p), p)[0], None
    (mixed,) = tf.gradients(also(p) + tf.reduce_sum(tf.gather(p, [1, 1])), p)
    assert isinstance(alone, tf.Tensor)
    assert isinstance(mixed, tf.Tensor)
    values = run([alone, mixed])
    values[0][1] += 2
    assert np.array_equal(*values)


def test_what_computes_on_the_way_is_dense():
    p = tf.Variable(X)
    (g,) = tf.gradients(tf.reduce_sum(tf.gather(3 * p, [0])), p)
    assert isinstance(g, tf.Tensor)
    assert run(g).tolist() == [[3, 3, 3]] + [[0, 0, 0]] * 3


def test_positions_that_a_run_tells():
    p, ids = tf.Variable(X), tf.placeholder(tf.int64, [None, 2])
    e = tf.gather(p, ids)
    (g,) = tf.gradients(tf.reduce_sum(e * e), p)
    assert g.values.shape.as_list() == [None, 3]
    assert (g.indices.shape.as_list(), g.indices.dtype) == ([None], tf.int64)
    value = run(g, {ids: [[0, 2], [2, 3]]})
    assert np.array_equal(value.values, 2 * X[[0, 2, 2, 3]])
    assert value.indices.tolist() == [0, 2, 2, 3]


def test_a_run_may_need_more_rows_than_could_be_known():
    """Whether x is broadcast is only known when it is fed."""
    x, c = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    gs = tf.gradients(tf.reduce_sum(tf.gather(x + c, [1, 1])), [x, c])
    both = [g if isinstance(g, tf.Tensor) else tf.convert_to_tensor(g) for g in gs]
    for narrow, wide in ((x, c), (c, x)):
        values = dict(zip([x, c], run(both, {narrow: X[:1], wide: X}), strict=True))
        assert values[narrow].tolist() == [[2, 2, 2]]
        assert values[wide].tolist() == [[0] * 3, [2] * 3, [0] * 3, [0] * 3]


def test_higher_orders():
    p = tf.Variable(X)
    e = tf.gather(p, [1, 3, 1])
    (g,) = tf.gradients(tf.reduce_sum(e**3), p)
    for target in (tf.reduce_sum(g.values), g):
        (second,) = tf.gradients(target, p)
        expected = np.zeros_like(X)
        np.add.at(expected, [1, 3, 1], 6 * X[[1, 3, 1]])
        assert np.allclose(run(tf.convert_to_tensor(second)), expected)
    h = run(tf.hessians(tf.reduce_sum(tf.gather(p, [1]) ** 3), p)[0])
    assert np.allclose(h.reshape(12, 12), np.diag([0] * 3 + list(6 * X[1]) + [0] * 6))


def test_grad_ys():
    x = tf.constant(X)
    given = tf.IndexedSlices([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 2])
    (g,) = tf.gradients(tf.identity(x), x, grad_ys=given)
    assert listed(list(run(g))) == [[[1, 2, 3], [4, 5, 6]], [2, 2], [4, 3]]
    (g,) = tf.gradients(x * x, x, grad_ys=[given])
    assert run(g)[2].tolist() == [2 * 7 * 5, 2 * 8 * 7, 2 * 9 * 9]
    with pytest.raises(ValueError, match="shape"):
        tf.gradients(tf.constant([1.0]), x, grad_ys=[tf.IndexedSlices([1.0], [0], [2])])
    with pytest.raises(TypeError, match="float64"):
        tf.gradients(x, x, grad_ys=tf.IndexedSlices(np.ones((1, 3)), [0]))


def test_rules_of_programs_are_given_a_tensor():
    @tf.RegisterGradient("TimesFive")
    def times_five(op, g):
        assert isinstance(g, tf.Tensor)
        return 5 * g

    @tf.RegisterGradient("HandedOn")
    def handed_on(op, g):
        return g

    p = tf.Variable(X)
    for name, factor, kind in (("TimesFive", 5, tf.Tensor), ("HandedOn", 1, tf.IndexedSlices)):
        with tf.get_default_graph().gradient_override_map({"Identity": name}):
            q = tf.identity(p)
        (g,) = tf.gradients(tf.reduce_sum(tf.gather(q, [0, 0])), p)
        assert isinstance(g, kind)
        assert run(tf.convert_to_tensor(g)).tolist() == [[2 * factor] * 3] + [[0] * 3] * 3


def test_rows_of_two_records_keep_their_own_positions():
    """One comes through a rule, the other does not."""

    @tf.RegisterGradient("Passed")
    def passed(op, g):
        return g

    p = tf.Variable(X)
    with tf.get_default_graph().gradient_override_map({"Identity": "Passed"}):
        q = tf.identity(p)
    y = tf.reduce_sum(tf.gather(q, [0, 0])) + 3 * tf.reduce_sum(tf.gather(p, [2]))
    (g,) = tf.gradients(y, p)
    assert isinstance(g, tf.IndexedSlices)
    assert run(tf.convert_to_tensor(g)).tolist() == [[2] * 3, [0] * 3, [3] * 3, [0] * 3]


def test_custom_gradient_reads_a_table():
    p = tf.Variable(X)

    @tf.custom_gradient
    def looked_up(scale):
        def rule(g, variables=None):
            return tf.reduce_sum(g), tf.gradients(y, variables, g)

        y = tf.gather(p, [1, 1]) * scale
        return y, rule

    (g,) = tf.gradients(looked_up(tf.constant(2.0)), p)
    assert run(tf.convert_to_tensor(g)).tolist() == [[0] * 3, [4] * 3, [0] * 3, [0] * 3]


@pytest.mark.parametrize("persistent", [False, True])
def test_tapes_in_a_graph(persistent):
    p = tf.Variable(X)
    with tf.GradientTape(persistent=persistent) as tape:
        y = tf.reduce_sum(tf.gather(p, [2]))
    g = tape.gradient(y, {"p": p})["p"]
    assert isinstance(g, tf.IndexedSlices)
    assert run(g.indices).tolist() == [2]


@pytest.mark.usefixtures("eager")
def test_tapes_in_eager_mode():
    p = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        e = tf.gather(p, [2, 0, 2])
        y = e * e
        z = tf.identity(p)
    g, none = tape.gradient(y, [p, tf.Variable(1.0)])
    assert none is None
    assert isinstance(g, tf.IndexedSlices)
    assert np.array_equal(g.values.numpy(), 2 * X[[2, 0, 2]])
    assert listed([g.indices.numpy(), g.dense_shape.numpy()]) == [[2, 0, 2], [4, 3]]
    assert g.shape == [4, 3]
    assert np.array_equal(tf.convert_to_tensor(g).numpy()[2], 4 * X[2])
    ids = tf.constant([1, 1])
    with tf.GradientTape() as other:
        w = tf.gather(p, ids) * tf.gather(p, ids)
    assert other.gradient(w, p).indices.numpy().tolist() == [1] * 4
    again = tape.gradient(z, p, output_gradients=g)
    assert isinstance(again, tf.IndexedSlices)
    both = [tf.convert_to_tensor(x).numpy() for x in (again, g)]
    assert np.array_equal(*both)


# --- the object


def test_made_by_hand():
    s = tf.IndexedSlices(values=[[1.0, 2.0]], indices=np.array([1]), dense_shape=[3, 2])
    assert (s.indices.dtype, s.device, s.shape) == (tf.int64, "", [3, 2])
    assert repr(s).startswith("IndexedSlices(indices=<tf.Tensor")
    assert run(tf.convert_to_tensor(s)).tolist() == [[0, 0], [1, 2], [0, 0]]
    assert run(s + 1.0).tolist() == [[1, 1], [2, 3], [1, 1]]
    minus = -s
    assert isinstance(minus, tf.IndexedSlices)
    assert run(minus.values).tolist() == [[-1, -2]]
    bare = tf.IndexedSlices([1.0, 2.0], tf.placeholder(tf.int32))
    assert (bare.dense_shape, bare.shape) == (None, tf.TensorShape(None))
    assert run(bare, {bare.indices: [5, 5]}).dense_shape is None
    with pytest.raises(ValueError, match="with dense_shape, got one without"):
        tf.convert_to_tensor(bare)
    twice = tf.scalar_mul(2.0, s)
    assert listed(list(run(twice))) == [[[2, 4]], [1], [3, 2]]


def test_what_makes_no_slices():
    with pytest.raises(TypeError, match="expected integers for indices"):
        tf.IndexedSlices([1.0], [0.0])
    for values, indices in (([1.0], [0, 1]), (1.0, 0), ([1.0], 0)):
        with pytest.raises(ValueError, match="one row of values for each index"):
            tf.IndexedSlices(values, indices)
    wrong = tf.IndexedSlices([[1.0]], [0], [3, 2])
    with pytest.raises(ValueError, match="expected 1 rows of a tensor"):
        run(tf.convert_to_tensor(wrong))


def test_large_ones_warn_when_they_become_tensors():
    s = tf.IndexedSlices([[1.0, 2.0]], [7], [10**8, 2])
    with pytest.warns(UserWarning, match="200000000 elements"):
        tf.convert_to_tensor(s)


def test_fetched_and_fed():
    p = tf.Variable(X)
    (g,) = tf.gradients(tf.reduce_sum(tf.gather(p, [1, 2])), p)
    answer = run({"g": [g, p[0, 0]], "norm": tf.global_norm([g])})
    assert isinstance(answer["g"][0], tf.IndexedSlicesValue)
    assert answer["norm"] == pytest.approx(np.sqrt(6))
    other = tf.IndexedSlicesValue(np.full((2, 3), 5, np.float32), [0, 0], [4, 3])
    assert listed(run([g.values, g.indices], {g: other})) == [[[5] * 3] * 2, [0, 0]]
    assert run(tf.convert_to_tensor(g), {g: other})[0].tolist() == [10] * 3
    gated = tf.tuple([g, None, p[0]])
    assert isinstance(gated[0], tf.IndexedSlices) and gated[1] is None
    assert run(gated[0]).indices.tolist() == [1, 2]


# --- clipping


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_clipping_clips_the_values(mode, request):
    if mode == "eager":
        request.getfixturevalue("eager")
    values = np.array([[3.0, -1.0], [0.0, 4.0], [-2.0, 0.5]], np.float32)
    s = tf.IndexedSlices(values, [1, 0, 1], [4, 2])
    other = tf.constant([12.0])

    def numbers(x):
        return x.numpy() if mode == "eager" else run(x)

    def rows(g):
        assert isinstance(g, tf.IndexedSlices)
        assert numbers(g.indices).tolist() == [1, 0, 1]
        return numbers(g.values)

    assert np.array_equal(rows(tf.clip_by_value(s, -1.0, 2.0)), values.clip(-1, 2))
    norm = np.sqrt(np.sum(values**2))
    assert np.allclose(rows(tf.clip_by_norm(s, 1.0)), values / norm)
    total = np.sqrt(norm**2 + 144)
    assert float(numbers(tf.global_norm([s, None, other]))) == pytest.approx(total)
    clipped, found = tf.clip_by_global_norm([s, None, other], 2.0)
    assert np.allclose(rows(clipped[0]), values * 2 / total)
    assert clipped[1] is None
    assert numbers(clipped[2]) == pytest.approx([24 / total])
    assert float(numbers(found)) == pytest.approx(total)
    average = tf.clip_by_average_norm(s, 0.01)  # of the tensor that it stands for
    summed = np.zeros((4, 2))
    np.add.at(summed, [1, 0, 1], values)
    assert np.allclose(numbers(average), summed * 0.08 / np.sqrt(np.sum(summed**2)))


# --- never made dense


def test_nothing_of_the_size_of_the_table_is_made():
    table = tf.Variable(tf.zeros([200_000, 64]))
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1))
    optimizer = tf.train.AdagradOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss)
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 5.0)
    step = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs], strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {ids: np.arange(0, 200_000, 2000)}
        beside = bytes_beside(lambda: session.run([step, norm, loss], feed), 30)
        assert beside < 1_000_000  # the table has 51 MB
        assert session.run(loss, feed) < 6400


def test_scattering_changes_a_variable_in_place():
    v, at = tf.Variable(tf.zeros([200_000, 64])), tf.placeholder(tf.int64, [2])
    step = tf.scatter_add(v, at, tf.ones([2, 64])).op
    with tf.Session() as session:
        session.run(v.initializer)
        beside = bytes_beside(lambda: session.run(step, {at: [5, 7]}), 20)
        assert beside < 1_000_000
        assert session.run(v[5, 0]) == 20
        with pytest.raises(tf.errors.InvalidArgumentError, match="200000"):
            session.run(step, {at: [5, 200_000]})
        assert session.run(v[5, 0]) == 20
