"""Saved models and `.meta` files: a graph that another process loads and runs by names."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, listed  # noqa: F401

import pullback.compat.tf1 as tf

XS = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)


def policy():
    """An agent with a training step, in the style of the time."""
    x = tf.placeholder(tf.float32, [None, 2], name="observations")
    with tf.variable_scope("pi"):
        h = tf.layers.dense(x, 8, tf.tanh)
        mu = tf.layers.dense(h, 1)
        log_std = tf.get_variable("log_std", initializer=-0.5 * np.ones(1, np.float32))
    action = mu + tf.exp(log_std) * tf.random_normal(tf.shape(mu))
    loss = tf.reduce_mean(mu**2)
    step = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    tf.summary.scalar("loss", loss)
    return x, mu, action, step


@pytest.mark.filterwarnings("ignore:pullback writes no summaries")
def test_another_process_runs_what_was_saved(tmp_path):
    x, mu, action, step = policy()
    folder = tmp_path / "tf1_save"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: XS})
        expected = session.run(mu, {x: XS})
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"mu": mu, "pi": action})
    program = f"""
import numpy as np
import pullback.compat.tf1 as tf
sess = tf.Session()
tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], {str(folder)!r})
graph = tf.get_default_graph()
x = graph.get_tensor_by_name({x.name!r})
outs = [graph.get_tensor_by_name(n) for n in ({mu.name!r}, {action.name!r})]
mu, pi = sess.run(outs, feed_dict={{x: {XS.tolist()}}})
assert pi.shape == (2, 1)
slope = sess.run(tf.gradients(outs[0], x)[0], {{x: {XS.tolist()}}})
assert slope.shape == (2, 2) and np.abs(slope).min() > 0
print(mu.tolist(), len(tf.trainable_variables()), sess.run("global_step:0"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"{expected.tolist()} 5 1\n", done.stderr


def small():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.get_variable("v", initializer=np.array([[1.0], [2.0]], np.float32))
    return x, v, tf.matmul(x, v, name="y")


def saved(folder, outputs, inputs):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), inputs, outputs)


def through(tmp_path, make):
    """The values of make(x, y) and its gradient, before saving and after loading."""
    x, _, y = small()
    y = make(x, y)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run([y, tf.gradients(y, x)[0]], {x: XS})
        tf.saved_model.simple_save(session, str(tmp_path), {"x": x}, {"y": y})
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path))
        x, y = (session.graph.get_tensor_by_name(t.name) for t in (x, y))
        after = session.run([y, tf.gradients(y, x)[0]], {x: XS})
    return listed(before), listed(after)


@each(
    "make",
    [
        lambda x, y: tf.cond(tf.reduce_sum(x) > 0, lambda: y * y, lambda: y),
        lambda x, y: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * y), [0, y])[1],
        lambda x, y: tf.map_fn(lambda r: r * tf.reduce_sum(y), x),
        lambda x, y: tf.scan(lambda a, r: a + r * y[0], x, tf.zeros([2])),
        lambda x, y: tf.layers.batch_normalization(tf.layers.dense(x, 3), training=True),
        lambda x, y: x[:, tf.newaxis, ..., ::-1] * tf.one_hot([1], 2) + tf.reduce_max(y),
        lambda x, y: tf.where(x > tf.constant([np.inf, -np.inf]), x, tf.zeros_like(x) + y),
        lambda x, y: tf.reshape(x, [tf.shape(x)[1], -1]) + tf.cast(tf.size(x), tf.float32),
        lambda x, y: tf.nn.conv2d(tf.reshape(x, [1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1] * 4, "SAME"),  # noqa: E501
        lambda x, y: x[tf.size(y) - 2 :, : tf.shape(x)[0]] + tf.unique([3.0, 1.0, 3.0])[0][1],
        lambda x, y: tf.concat([tf.stop_gradient(x), x], 0) + 0 * tf.nn.embedding_lookup(y, [0]),
    ],
    around=graph_of_its_own,
)  # fmt: skip
def test_operations_of_every_kind_come_back(tmp_path_factory, make):
    before, after = through(tmp_path_factory.mktemp("model"), make)
    assert before == after


def test_shapes_that_a_program_has_said_and_collections_come_back(tmp_path):
    x, v, y = small()
    known = tf.reshape(y, tf.placeholder_with_default([-1], [1]))
    known.set_shape([2])
    tf.add_to_collection("outputs", known)
    tf.add_to_collection("outputs", "a text")
    hidden = tf.Variable(1.0, name="hidden", collections=[], trainable=False)
    tf.add_to_collection("outputs", hidden + 1.0)
    saved(tmp_path / "m", {"y": known}, {"x": x})
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "m"))
        z, text, more = tf.get_collection("outputs")
        assert session.run(more, {"hidden:0": 2.0}) == 3.0
        assert z.shape.as_list() == [2] and text == "a text"
        assert [w.name for w in tf.trainable_variables()] == [v.name]
        session.run(tf.global_variables()[0].assign([[0.0], [1.0]]))
        assert session.run(z, {"x:0": XS}).tolist() == [-1.0, 0.25]
        assert tf.matmul(z[None], z[:, None]).op.name == "MatMul"
        assert tf.multiply(2.0, 3.0, name="y").op.name == "y_1"


def test_signatures_tags_and_main_op(tmp_path):
    x, v, y = small()
    double = v.assign(2 * v)
    utils = tf.saved_model.utils
    signature = tf.saved_model.signature_def_utils.build_signature_def(
        {"in": utils.build_tensor_info(x)}, {"out": utils.build_tensor_info(y)}, "predict"
    )
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
    with tf.Session() as session:
        session.run(v.initializer)
        builder.add_meta_graph_and_variables(
            session, ["serve", "cpu"], {"s": signature}, main_op=double
        )
    assert builder.save() == str(tmp_path / "m" / "saved_model.json").encode()
    assert (
        "pullback saved model"
        in json.loads((tmp_path / "m/saved_model.json").read_text())["format"]
    )
    with tf.Session(graph=tf.Graph()) as session:
        model = tf.saved_model.loader.load(session, ["cpu", "serve"], str(tmp_path / "m"), "in")
        found = model.signature_def["s"]
        assert found.method_name == "predict" and found.inputs["in"].name == "in/x:0"
        assert found.inputs["in"].dtype == tf.float32
        assert found.outputs["out"].tensor_shape.as_list() == [None, 1]
        out, given = found.outputs["out"].name, found.inputs["in"].name
        assert session.run(out, {given: XS}).tolist() == [[-3.0], [5.0]]
        with pytest.raises(RuntimeError, match=r"\['serve'\].*\['serve', 'cpu'\]"):
            tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        with pytest.raises(ValueError, match="one that has 'x'"):
            tf.saved_model.load(session, ["serve", "cpu"], str(tmp_path / "m"), "in")
    with pytest.raises(AssertionError, match="new or empty folder"):
        tf.saved_model.Builder(str(tmp_path / "m"))


def test_what_cannot_be_stored_is_named(tmp_path):
    x, _, y = small()
    called = tf.py_func(lambda a: a, [y], tf.float32, name="mine")
    called.set_shape([None, 1])
    bad = tf.identity(2 * called, name="bad")
    with pytest.raises(
        ValueError, match=r"simple_save: .*output 'y'.*'bad:0'.*'mine' \(PyFunc\).*<lambda>"
    ):
        saved(tmp_path / "m", {"y": bad}, {"x": x})
    with pytest.raises(ValueError, match="expected tensors for outputs"):
        saved(tmp_path / "m", {}, {"x": x})
    with pytest.raises(TypeError, match="build_tensor_info: expected a tensor"):
        saved(tmp_path / "m", {"y": 3}, {"x": x})
    raw = tf.raw_op("SavedNowhere", lambda a: a, shape=[2, 1])(y)
    with pytest.raises(ValueError, match="raw_op"):
        saved(tmp_path / "m", {"y": raw}, {"x": x})
    saved(tmp_path / "m", {"y": y}, {"x": x})  # y does not depend on them
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        with pytest.raises(KeyError, match="mine"):
            session.graph.get_tensor_by_name("mine:0")


@each(
    "optimizer",
    [
        lambda: tf.train.GradientDescentOptimizer(0.1),
        lambda: tf.train.AdamOptimizer(0.1, epsilon=1e-3),
        lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: tf.train.AdadeltaOptimizer(1.0),
        lambda: tf.train.AdagradOptimizer(
            tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 2, 0.5)
        ),
    ],
    around=graph_of_its_own,
)
def test_a_training_goes_on_after_loading(tmp_path_factory, optimizer):
    x, v, y = small()
    rows = tf.nn.embedding_lookup(v, [1])
    loss = tf.reduce_sum(y**2) + tf.reduce_sum(rows)
    steps = tf.train.get_or_create_global_step()
    step = optimizer().minimize(loss, global_step=steps)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step, {x: XS})
        path = tf.train.Saver().save(session, str(tmp_path_factory.mktemp("run") / "model"))
        for _ in range(3):
            session.run(step, {x: XS})
        expected = session.run(v)
    with tf.Session(graph=tf.Graph()) as session:
        tf.train.import_meta_graph(path + ".meta").restore(session, path)
        (step,) = tf.get_collection(tf.GraphKeys.TRAIN_OP)
        for _ in range(3):
            session.run(step, {"x:0": XS})
        np.testing.assert_array_equal(session.run(v.name), expected)


def test_a_graph_that_read_a_dataset_is_fed(tmp_path):
    x = tf.data.Dataset.from_tensor_slices(XS).batch(2).make_one_shot_iterator().get_next()
    y = tf.reduce_sum(tf.identity(x, name="x"), 1, name="y")
    saved(tmp_path / "m", {"y": y}, {"x": x})
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert session.run(y.name, {x.name: XS}).tolist() == [-0.5, 2.25]
        assert session.run(y.name, {"x:0": XS}).tolist() == [-0.5, 2.25]
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            session.run(y.name)


def test_a_rule_of_the_program_is_not_forgotten_in_silence(tmp_path):
    @tf.custom_gradient
    def flipped(x):
        return tf.identity(x), lambda g: -g

    x, _, y = small()
    y = flipped(y)
    saved(tmp_path / "m", {"y": y}, {"x": x})
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        x, y = (session.graph.get_tensor_by_name(t.name) for t in (x, y))
        assert session.run(y, {x: XS}).tolist() == [[-1.5], [2.5]]
        with pytest.raises(LookupError, match="was not stored"):
            tf.gradients(y, x)


def test_folders_without_a_model(tmp_path):
    with tf.Session() as session:
        with pytest.raises(OSError, match="does not exist"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))
        (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
        with pytest.raises(ValueError, match=r"SavedModel of TensorFlow.*Variable\.load"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))
        (tmp_path / "saved_model.json").write_text('{"format": "another"}')
        with pytest.raises(ValueError, match="'another'"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))


def test_a_graph_comes_from_its_meta_file(tmp_path):
    x, _, y = small()
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(y))
    tf.add_to_collection("predict", y)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: XS})
        path = tf.train.Saver().save(session, str(tmp_path / "model"), global_step=4)
        expected = session.run(y, {x: XS}).tolist()
    with tf.Session(graph=tf.Graph()) as session:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        (y,) = tf.get_collection("predict")
        assert session.run(y, {"x:0": XS}).tolist() == expected
    (tmp_path / "other.meta").write_bytes(b"\n\x00\x12\xff")
    with pytest.raises(ValueError, match="pullback has written"):
        tf.train.import_meta_graph(str(tmp_path / "other.meta"))
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none.meta"))
    with tf.Graph().as_default():
        tf.constant(1.0, name="c")
        data = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        assert tf.train.import_meta_graph(data) is None
        assert graph.get_operation_by_name("c").type == "Const"
