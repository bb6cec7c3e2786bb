"""`explain`, `draw` and `gradient_paths` of symbolic tensors, and the optimizers' messages."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own  # noqa: F401

import pullback as pb
import pullback.compat.tf1 as tf
from explain.broken_tf1 import PROGRAMS, Broken
from explain.test_broken import culprit_line


@pytest.fixture
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


def answered(program: Any) -> Any:
    y, x, *more = program()
    options = more[0] if more else {}
    before = state(y.graph)
    with tf.Session(graph=y.graph) as session:
        if "feed_dict" in options:
            session.run([v.initializer for v in y.graph.get_collection("variables")])
            options = {**options, "session": session}
        why = pb.explain(y, x, **options)
    assert state(y.graph) == before  # nothing is left in the graph
    return why


def state(graph: Any) -> Any:
    return [op.name for op in graph.get_operations()], dict(graph._names), graph._overrides


@pytest.mark.usefixtures("debugging")
@pytest.mark.parametrize("broken", PROGRAMS, ids=lambda broken: broken.program.__name__)
def test_the_culprit_is_named(broken: Broken) -> None:
    why = answered(broken.program)
    assert (why.status, why.reason or "") == (broken.status, broken.reason), why
    if broken.status == "flows":
        return
    first = why.as_dict()["findings"][0]
    assert first["operation"] == broken.operation, why
    line = culprit_line(broken.program)
    if line is not None:
        assert first["line"] == line, why
        assert first["file"] == inspect.getsourcefile(broken.program)
    assert first["advice"] and str(why).count("\n") < 40
    json.dumps(why.as_dict())
    assert why.as_html().startswith("<!DOCTYPE html>")


@each(
    "broken",
    PROGRAMS,
    ids=lambda broken: broken.program.__name__,
    around=graph_of_its_own,
)
def test_the_operation_is_named_without_debugging(broken: Broken) -> None:
    why = answered(broken.program)
    assert (why.status, why.reason or "") == (broken.status, broken.reason), why
    if broken.operation:
        assert why.as_dict()["findings"][0]["operation"] == broken.operation
        assert f"where operation '{broken.operation}'" in str(why)


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 40
    assert len({broken.reason for broken in PROGRAMS}) >= 20


# --- what is asked, and how


def test_a_nest_of_sources_gives_a_list() -> None:
    w, b = tf.Variable([1.0, 2.0], name="w"), tf.Variable(0.0, name="b")
    found = pb.explain(tf.reduce_sum(tf.stop_gradient(w) + b), {"w": w, "b": b})
    assert sorted(why.status for why in found) == ["none", "unknown"]
    [only] = pb.explain(tf.reduce_sum(w), [w])
    assert only.status == "unknown" and "session=" in only.notes[0]


def test_the_path_has_names_and_shapes() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("dense"):
        w = tf.get_variable("w", [3, 2])
        h = tf.nn.relu(tf.matmul(x, w), name="out")
    why = pb.explain(tf.reduce_sum(h, axis=1), w)
    assert [(e["operation"], e["shape"]) for e in why.as_dict()["path"]] == [
        ("Sum", (None,)),
        ("dense/out", (None, 2)),
        ("dense/MatMul", (None, 2)),
        ("dense/w/read", (3, 2)),
    ]
    lines = [line.strip() for line in str(why).splitlines()]
    assert "dense/MatMul: MatMul float32[?, 2]" in lines
    assert "variable 'dense/w' float32[3, 2]" in lines


def test_what_blocks_have_set_does_not_matter() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    y = tf.reduce_sum(tf.tanh(w))
    graph = tf.get_default_graph()
    with tf.name_scope("a"), tf.control_dependencies([y]), overriding("Mul"):
        assert pb.explain(y, w).status == "unknown"
        assert tf.identity(y).op.name == "a/Identity"
    graph.finalize()
    assert pb.explain(y, w).status == "unknown" and graph.finalized


def overriding(type: str) -> Any:
    return tf.get_default_graph().gradient_override_map({type: "BrokenProgramsNone"})


def test_a_variable_may_be_y_and_anything_its_own_x() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    assert pb.explain(w, w).status == "unknown"
    h = tf.tanh(w)
    assert pb.explain(h, h).status == "unknown"
    n = tf.Variable(3, name="n")
    assert pb.explain(n * n, n).status == "unknown"  # integers have gradients here
    assert pb.explain(tf.cast(w, tf.int32), w).reason == "integer"
    assert pb.explain(w > 0, w).reason == "not_differentiable"


def test_values_are_those_of_a_session() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.Variable(2.0)
    y = tf.reduce_sum(w * x)
    with tf.Session() as session:
        session.run(w.initializer)
        why = pb.explain(y, w, session=session, feed_dict={x: [3.0, 4.0]})
        assert why.status == "flows" and why.figures["largest"] == 7.0
        assert pb.explain(y, w, feed_dict={x: [0.0]}).status == "zero"  # the default session
        why = pb.explain(y, w, session=session)
        assert why.status == "error" and "must feed a value" in why.findings[0].what
    with tf.Session() as session:
        why = pb.explain(tf.square(w), w, session=session)
        assert why.status == "error" and "uninitialized" in why.findings[0].what


def test_rows_of_a_table_are_looked_at_as_a_whole() -> None:
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    y = tf.reduce_sum(tf.square(tf.gather(table, [2, 2])))
    with tf.Session() as session:
        session.run(table.initializer)
        why = pb.explain(y, table, session=session)
    assert why.status == "flows" and why.figures == {"largest": 20.0, "zeros": "4 of 6"}


def test_a_question_leaves_the_session_as_it_was() -> None:
    v = tf.Variable(1.0, name="v")
    w = tf.Variable([1.0, 2.0], name="w")
    noise = tf.random_normal([2])
    with tf.control_dependencies([v.assign_add(1.0)]):
        y = tf.reduce_sum(tf.nn.relu(w * noise - 100))
    for seed in (None, 3):
        if seed is not None:
            tf.set_random_seed(seed)
        draws = []
        for asked in (False, True):
            pb.random.seed(5)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(noise)
                if asked:
                    assert pb.explain(y, w, session=session).reason == "dead_relu"
                    pb.draw(y, w, session=session)
                assert session.run(v) == 1.0
                draws.append(session.run(noise))
        assert np.array_equal(*draws)


def test_all_that_is_looked_at_sees_the_same_numbers() -> None:
    w = tf.Variable(np.ones(1000, np.float32))
    kept = tf.nn.dropout(w, 0.5)
    y = tf.reduce_sum(kept) + tf.reduce_sum(kept * kept)
    with tf.Session() as session:
        session.run(w.initializer)
        one, two = pb.gradient_paths(y, w, session=session)
    # A part is 2 where an entry was kept, the other 8 there: the same entries.
    np.testing.assert_array_equal(np.sort([one.gradient, two.gradient], 0)[0] * 4, one.gradient)
    assert one.share == pytest.approx(0.8) and two.share == pytest.approx(0.2)


@pytest.mark.usefixtures("debugging")
def test_the_last_question_is_known_by_who_asked() -> None:
    w, b = tf.Variable([1.0, 2.0], name="w"), tf.Variable(0.0, name="b")
    loss = tf.reduce_sum(tf.square(w))
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(loss)
    assert [why.reason for why in pb.explain(optimizer)] == [None, "unused"]
    answers = tf.gradients([loss, loss * 2], [b])
    assert [why.reason for why in pb.explain(answers)] == ["unused", "unused"]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.stop_gradient(w * 2))
    found = tape.gradient(y, [w])
    assert [why.reason for why in pb.explain(tape)] == ["stop_gradient"]
    assert [why.reason for why in pb.explain(found)] == ["stop_gradient"]
    pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(w)))
    with tf.Session() as session:
        session.run(w.initializer)
        first = pb.explain(optimizer, session=session)[0]
    assert first.figures["largest"] == 4.0 and len(pairs) == 2


def test_optimizers_say_why_there_are_no_gradients() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.Variable([1.0], name="w")
    tf.Variable(0.0, name="idle")
    level = tf.cast(w * x, tf.int32, name="level")
    loss = tf.reduce_sum(tf.stop_gradient(w, name="held") * tf.cast(level, tf.float32))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients provided") as caught:
        optimizer.minimize(loss)
    lines = {s.split(":")[0].strip(): s for s in str(caught.value).splitlines()}
    assert "every path from the loss to it is cut" in lines["w"]
    assert "operation 'held'" in lines["w"] and "operation 'level'" in lines["w"]
    assert "it depends on 'w', 'x'" in lines["idle"]


@pytest.mark.parametrize("debug", [False, True])
def test_apply_gradients_knows_the_loss_while_debugging(debug: bool) -> None:
    pb.set_debug(debug)
    try:
        w = tf.Variable([1.0], name="w")
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        pairs = optimizer.compute_gradients(tf.reduce_sum(tf.round(w)))
        wanted = "Round has no derivative.*test_tf1.py" if debug else r"pb.explain\(loss, variable"
        with pytest.raises(ValueError, match=wanted):
            optimizer.apply_gradients(pairs)
    finally:
        pb.set_debug(False)


def test_numbers_in_names_that_a_program_gave_are_no_mistake() -> None:
    for i in (1, 2):
        with tf.variable_scope(f"layer_{i}"):
            tf.get_variable("w", [2])
    first, second = tf.trainable_variables()
    assert pb.explain(tf.reduce_sum(first), second).reason == "unused"


# --- agreement with gradients

UNARY: list[Any] = [
    tf.tanh, tf.nn.relu, tf.round, tf.stop_gradient, tf.square, tf.sign, tf.zeros_like,
    tf.nn.softmax,
    lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32), lambda x: tf.cast(x > 0, tf.float32),
    lambda x: tf.reshape(x, [-1]), lambda x: tf.gather(x, [1, 0]), lambda x: x[::-1],
    lambda x: tf.py_func(np.negative, [x], tf.float32), lambda x: tf.clip_by_value(x, -1.0, 1.0),
    lambda x: tf.nn.dropout(x, 0.5), lambda x: tf.cast(tf.argmax(x), tf.float32) * tf.ones([2]),
]  # fmt: skip
BINARY: list[Any] = [
    tf.add, tf.multiply, tf.maximum, lambda a, b: tf.where(a > b, a, b),
    lambda a, b: tf.concat([a, b], 0)[1:3], lambda a, b: tf.stack([a, b])[0],
]  # fmt: skip


@each("seed", range(60), around=graph_of_its_own)
def test_it_is_none_where_gradients_says_so(seed: int) -> None:
    random = np.random.default_rng(seed)

    def one_of(things: list[Any]) -> Any:
        return things[random.integers(len(things))]

    p, v = tf.placeholder(tf.float32, [2], name="p"), tf.Variable([1.0, 2.0], name="v")
    pool = [p, v.value(), tf.constant([1.0, 2.0])]
    for _ in range(random.integers(2, 10)):
        kind = random.random()
        if kind < 0.06:
            made = v.assign(one_of(pool))
        elif kind < 0.15:
            made = tf.gradients(one_of(pool), one_of(pool))[0]
        elif kind < 0.6:
            made = one_of(UNARY)(one_of(pool[-4:]))
        else:
            made = one_of(BINARY)(one_of(pool[-4:]), one_of(pool))
        if made is not None:
            pool.append(tf.convert_to_tensor(made))
            pool[-1].set_shape([2])
    with tf.Session() as session:
        session.run(v.initializer)
        for x in (p, v, one_of(pool)):
            [g] = tf.gradients(pool[-1], x)
            why = pb.explain(pool[-1], x, session=session, feed_dict={p: random.normal(size=2)})
            assert (why.status == "none") == (g is None), why
            assert why.status != "error" and why.reason != "unknown", why
            assert ("none" in str(why).split("\n")[0].lower()) == (g is None)


# --- numbers that were tensors


@pytest.mark.usefixtures("debugging")
@pytest.mark.parametrize("way", ["constant", "feed", "eval"])
def test_a_value_that_left_by_a_run_is_found(way: str) -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    hidden = tf.tanh(w, name="hidden")
    again = tf.placeholder(tf.float32, [2], name="again")
    with tf.Session() as session:
        session.run(w.initializer)
        value = hidden.eval() if way == "eval" else session.run(hidden)
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
        y = tf.reduce_sum(tf.square(again if way == "feed" else tf.constant(value, name="again")))
        session.run(y, {again: value} if way == "feed" else None)
        why = pb.explain(y, w)
    assert (why.status, why.reason) == ("none", "numpy"), why
    assert why.findings[0].place == (__file__, line, "test_a_value_that_left_by_a_run_is_found")
    assert "hidden: Tanh" in why.findings[0].what and "again" in why.findings[0].what
    other = tf.Variable([1.0, 2.0], name="other")
    assert pb.explain(y, other).reason == "unused"


@pytest.mark.usefixtures("debugging")
def test_a_value_of_chance_is_no_look() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    size, before = tf.reduce_sum(w) - 2.0, tf.constant([1.0, 2.0])
    feed = tf.placeholder(tf.float32, [2])
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run([size, w])[0] == 1.0
        y = tf.reduce_sum(before) * 1.0 + tf.reduce_sum(feed)
        session.run(y, {feed: session.run(w)})
        session.run(y, {feed: [3.0, 4.0]})  # what it was fed last counts
    assert pb.explain(y, w).reason == "unused"


# --- lines


def test_lines_are_kept_while_debugging_only() -> None:
    a = tf.constant(1.0)
    pb.set_debug(True)
    b = tf.constant(2.0)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    pb.set_debug(False)
    c = a + b
    assert a.op.place is None and c.op.place is None
    assert b.op.place == (__file__, line, "test_lines_are_kept_while_debugging_only")


@pytest.mark.usefixtures("debugging")
def test_what_a_rule_makes_has_the_line_of_the_rule() -> None:
    w = tf.Variable([1.0, 2.0])
    y = tf.reduce_sum(doubled(w))
    slope = tf.gradients(y, w)[0]
    made = [op for op in tf.get_default_graph().get_operations() if op.name.endswith("twice")]
    assert [op.place[2] for op in made] == ["rule"]
    assert pb.explain(slope, w).reason == "linear"


@tf.custom_gradient
def doubled(x: Any) -> Any:
    def rule(upstream: Any) -> Any:
        return tf.multiply(upstream, 2.0, name="twice")

    return x * 2, rule


# --- eager mode


@pytest.mark.usefixtures("eager")
def test_eager_tensors_are_asked_about_as_those_of_the_main_namespace() -> None:
    w = tf.Variable([-1.0, -2.0], name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(w))
    assert pb.explain(y, w, tape=tape).reason == "dead_relu"
    assert pb.explain(tf.reduce_sum(tf.stop_gradient(w)), w).reason == "stop_gradient"
    with pytest.raises(
        TypeError, match=r"expected a tensor of a graph of compat\.tf1 for y with session"
    ):
        pb.explain(y, w, session=3)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients"):
        optimizer.minimize(lambda: tf.reduce_sum(tf.stop_gradient(w)))


# --- drawings and paths


def test_a_drawing_shows_where_a_gradient_is_stopped() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable(tf.ones([2, 3]), name="w")
    y = tf.reduce_sum(tf.stop_gradient(tf.matmul(x, w)) * tf.nn.relu(tf.matmul(x, w) - 100))
    plain = pb.draw(y)
    assert plain.svg.startswith("<svg") and "gradient" not in plain.svg
    drawn = pb.draw(y, w).svg
    assert "gradient is stopped" in drawn and "gradient is zero" not in drawn
    assert "float32[?, 3]" in drawn and "StopGradient" in drawn
    with tf.Session() as session:
        session.run(w.initializer)
        drawn = pb.draw(y, [w], session=session, feed_dict={x: [[1.0, 2.0]]}).svg
    assert "gradient is stopped" in drawn and "gradient is zero" in drawn


def test_a_graph_without_a_gradient_is_drawn_all_the_same() -> None:
    w = tf.Variable([1.0, 2.0])
    y = tf.reduce_sum(tf.raw_op("Flip", lambda x: x[::-1])(w))
    assert "gradient is stopped" in pb.draw(y, w).svg


def test_the_path_of_what_flows_avoids_what_is_stopped() -> None:
    w = tf.Variable([1.0, 2.0])
    y = tf.stop_gradient(w) + tf.tanh(tf.tanh(w))
    kinds = [step.kind for step in pb.explain(y, w).path]
    assert kinds == ["add", "tanh", "tanh", "read"]


def test_a_gradient_is_divided_at_additions() -> None:
    w = tf.Variable([3.0, 4.0], name="w")
    main, auxiliary = tf.reduce_sum(w * w, name="main"), tf.reduce_mean(w, name="auxiliary")
    y = tf.add_n([main, auxiliary])
    with tf.Session() as session:
        session.run(w.initializer)
        parts = pb.gradient_paths(y, w, session=session)
    whole = np.array([6.5, 8.5])
    shares = [np.dot(part, whole) / np.dot(whole, whole) for part in ([6, 8], [0.5, 0.5])]
    assert [part.share for part in parts] == pytest.approx(shares)
    assert [part.through[0].name for part in parts] == ["main", "auxiliary"]
    with pytest.raises(
        ValueError, match=r"gradient_paths: expected session=.*a graph has no values"
    ):
        pb.gradient_paths(y, w)


# --- errors


def graph_and_session() -> tuple[Any, Any, Any]:
    w = tf.Variable([1.0, 2.0], name="w")
    return tf.reduce_sum(w), w, tf.Session()


@each(
    ("call", "kind", "text"),
    [
        (
            lambda y, w, s: pb.explain(y, 3.0),
            TypeError,
            "explain: expected a tensor or .* for x, got 3.0",
        ),
        (
            lambda y, w, s: pb.explain(y.op, w),
            TypeError,
            "for y, got <tf.Operation 'Sum'.*the loss",
        ),
        (
            lambda y, w, s: pb.explain(y, pb.Variable(1.0)),
            TypeError,
            "for x, got .*only uses the value",
        ),
        (
            lambda y, w, s: pb.explain(pb.Variable(1.0), w),
            TypeError,
            "for y, got .*only uses the value",
        ),
        (
            lambda y, w, s: pb.explain(y, w, session=3),
            TypeError,
            "expected a tf.Session for session, got 3",
        ),
        (
            lambda y, w, s: pb.explain(y, w, session=other()),
            ValueError,
            "expected a session of the graph of y",
        ),
        (
            lambda y, w, s: pb.explain(y, w, session=closed(s)),
            ValueError,
            "expected an open session, got a closed one",
        ),
        (lambda y, w, s: pb.explain(y, w, feed_dict={}), ValueError, "no default session; pass se"),
        (
            lambda y, w, s: pb.explain(y, w, session=s, feed_dict=[1]),
            TypeError,
            "expected a dict of tensor to value for feed_dict",
        ),
        (
            lambda y, w, s: pb.explain(y, w, session=s, feed_dict={"nobody:0": 1}),
            TypeError,
            "cannot interpret feed_dict key 'nobody:0'",
        ),
        (
            lambda y, w, s: pb.explain(y, w, overrides={"tanh": lambda op, g: g}),
            TypeError,
            "overrides are for tensors of the main namespace.*gradient_override_map",
        ),
        (
            lambda y, w, s: pb.explain(y, w, tape=pb.GradientTape()),
            TypeError,
            "expected a tape of a graph",
        ),
        (
            lambda y, w, s: pb.explain(y, slices(w)),
            TypeError,
            "for x, got IndexedSlices.*its values",
        ),
        (lambda y, w, s: pb.explain(y), ValueError, "expected y and x, or the source of the last"),
        (lambda y, w, s: pb.draw(y, "w"), TypeError, "draw: expected .* in xs, got 'w'"),
    ],
    around=graph_of_its_own,
)
def test_errors_say_what_to_do(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=f"(?s){text}"):
        call(*graph_and_session())


def other() -> Any:
    with tf.Graph().as_default():
        return tf.Session()


def closed(session: Any) -> Any:
    session.close()
    return session


def slices(w: Any) -> Any:
    return tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))


def test_a_tensor_of_eager_mode(eager: None) -> None:  # noqa: F811
    x = tf.constant([0.7, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.stop_gradient(x) * 2)
    assert pb.explain(y, x).reason == "not_watched"  # without the tape it is a constant
    v = tf.Variable([0.7, 2.0])
    assert pb.explain(tf.reduce_sum(tf.floor(v.value())), v.value()).status == "none"
