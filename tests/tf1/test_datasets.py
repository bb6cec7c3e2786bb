"""Datasets in graphs and in eager mode: order, sessions, functions of elements, what fails."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph  # noqa: F401

import pullback as pb
import pullback.compat.tf1 as tf

D = tf.data.Dataset


def every(dataset, session=None):
    """All elements of a finite dataset."""
    n = dataset.make_one_shot_iterator().get_next()
    found = []
    with session or tf.Session() as session:
        try:
            while True:
                found.append(session.run(n))
        except tf.errors.OutOfRangeError:
            return found


# --- shuffling


def test_a_shuffle_permutes_within_its_buffer():
    order = every(D.range(100).shuffle(10))
    assert sorted(order) == [*range(100)] and order != sorted(order)
    assert all(n <= i + 9 for i, n in enumerate(order))
    assert every(D.range(5).shuffle(1)) == [*range(5)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected buffer_size >= 1, got 0"):
        every(D.range(5).shuffle(0))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shard: .* got 2 of 2"):
        every(D.range(5).shard(2, 2))


def test_seeds_repeat_the_order():
    def orders(seed, op_seed, **options):
        with tf.Graph().as_default():
            if seed is not None:
                tf.set_random_seed(seed)
            found = every(D.range(30).shuffle(30, op_seed, **options).repeat(2))
            return found[:30], found[30:]

    for seeds in ((1, None), (None, 2), (1, 2)):
        first, second = orders(*seeds)
        assert (first, second) == orders(*seeds) and first != second
    assert len({str(orders(*s)) for s in ((1, None), (None, 2), (1, 2), (2, None))}) == 4
    first, second = orders(None, None, reshuffle_each_iteration=False)
    assert first == second
    assert orders(None, None)[0] != orders(None, None)[0]


def test_epochs_are_counted_by_each_iterator():
    for seed, again in ((1, True), (1, False), (None, False)):
        iterator = (
            D.range(20)
            .shuffle(20, seed, reshuffle_each_iteration=again)
            .repeat(2)
            .batch(40)
            .make_initializable_iterator()
        )
        n, found = iterator.get_next(), []
        with tf.Session() as session:
            for _ in range(2):
                session.run(iterator.initializer)
                found.append(session.run(n).tolist())
        assert (found[0] == found[1]) is (seed is not None)
        assert all((order[:20] == order[20:]) is not again for order in found)


# --- sessions


def test_an_iterator_waits_for_no_other():
    one, other = (D.range(3).make_one_shot_iterator().get_next() for _ in "ab")
    session = tf.Session()

    def generate():
        found = []
        thread = threading.Thread(target=lambda: found.append(session.run(other)), daemon=True)
        thread.start()
        thread.join(30)
        yield from found

    n = D.from_generator(generate, tf.int64, []).make_one_shot_iterator().get_next()
    assert session.run([n, one]) == [0, 0]


def test_each_session_has_a_place_of_its_own():
    n = D.range(3).make_one_shot_iterator().get_next()
    with tf.Session() as one, tf.Session() as two:
        assert [one.run(n), one.run(n), two.run(n), one.run(n)] == [0, 1, 0, 2]
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError):
                one.run(n)
        assert two.run(n) == 1


def test_threads_share_an_iterator():
    n = D.range(300).map(lambda x: x + 1).make_one_shot_iterator().get_next()
    coord, found = tf.train.Coordinator(), []
    with tf.Session() as session:

        def work():
            with coord.stop_on_exception():
                while True:
                    found.append(int(session.run(n)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:  # each ends with the elements, which is no error
            thread.join()
        coord.join(threads)
    assert sorted(found) == [*range(1, 301)]


def test_training_and_test_sets_by_one_iterator():
    random = np.random.default_rng(0)
    xs = random.normal(size=(40, 2)).astype(np.float32)
    ys = xs @ np.array([[1.0], [-2.0]], np.float32) + 0.5
    train = D.from_tensor_slices((xs[:32], ys[:32])).shuffle(32, seed=1).batch(8)
    test = D.from_tensor_slices((xs[32:], ys[32:])).batch(8)
    iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    x, y = iterator.get_next()
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(x, 1))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    begin_training, begin_test = map(iterator.make_initializer, (train, test))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(begin_test)
        before = session.run(loss)
        for _ in range(40):
            session.run(begin_training)
            steps = 0
            while True:
                try:
                    session.run(step)
                    steps += 1
                except tf.errors.OutOfRangeError:
                    break
            assert steps == 4
        session.run(begin_test)
        assert session.run(loss) < 1e-3 * before


def test_one_program_serves_all_batches_of_a_size():
    x = D.range(8).batch(3).make_one_shot_iterator().get_next()
    y = tf.reduce_sum(x * x)
    with tf.Session() as session:
        assert [session.run(y) for _ in range(3)] == [5, 50, 85]
        assert len(session._programs) == 2


def test_a_question_about_a_gradient_takes_no_element():
    x = D.from_tensor_slices([1.0, 2.0]).make_one_shot_iterator().get_next()
    v = tf.Variable(2.0)
    y = tf.cast(tf.cast(v * x, tf.int32), tf.float32)
    assert pb.explain(y, v).reason == "integer"
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(y) == 2.0


# --- functions of elements


def test_files_are_read_by_functions_of_names(tmp_path):
    names = []
    for i in range(3):
        names.append(str(tmp_path / f"{i}.npy"))
        np.save(names[-1], np.full([2], i, np.float32))

    def load(name, label):
        (values,) = tf.py_func(lambda n: [np.load(n.decode())], [name], [tf.float32])
        values.set_shape([2])
        return {"values": values, "label": label}

    batches = D.from_tensor_slices((names, [5, 6, 7])).map(load, num_parallel_calls=4).batch(2)
    assert batches.output_shapes["values"].as_list() == [None, 2]
    first, second = every(batches)
    assert first["values"].tolist() == [[0, 0], [1, 1]] and second["label"].tolist() == [7]


def test_a_function_draws_anew_for_each_element():
    tf.set_random_seed(4)
    rows = D.range(3).map(lambda i: tf.random_uniform([2]))
    first = np.array(every(rows))
    assert len(np.unique(first)) == 6
    assert ((first >= 0) & (first < 1)).all()


def test_a_tensor_from_outside_is_an_error():
    scale = tf.constant(2)
    with pytest.raises(ValueError, match="same graph"):
        D.from_tensor_slices([1, 2]).map(lambda x: x * scale)


def test_augmented_generators():
    def windows(length):
        for i in range(3):
            yield np.arange(i, i + length), {"last": i + length - 1}

    rows = D.from_generator(
        windows, (tf.int32, {"last": tf.int64}), ([None], {"last": []}), args=(2,)
    )
    rows = rows.map(lambda w, e: (tf.reverse(w, [0]), e["last"])).filter(lambda w, n: n > 1)
    assert [(w.tolist(), n) for w, n in every(rows)] == [([2, 1], 2), ([3, 2], 3)]
    with pytest.raises(TypeError, match="from_generator: expected a function"):
        D.from_generator([1, 2], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected elements like"):
        every(D.from_generator(lambda: iter([(1, 2, 3)]), (tf.int32, tf.int32)))


def test_padding_with_values():
    rows = D.range(1, 4).map(lambda n: (tf.fill([n], n), n))
    (batch, _), *_ = every(rows.padded_batch(3, ([None], []), (tf.constant(-1, tf.int64), None)))
    assert batch.tolist() == [[1, -1, -1], [2, 2, -1], [3, 3, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"padded_batch: expected shapes up"):
        every(rows.padded_batch(3, ([2], [])))
    for shapes in (([-1], []), (np.array([-1]), ())):
        assert every(rows.padded_batch(2, shapes))[0][0].tolist() == [[1, 0], [2, 2]]


def test_a_cache_is_of_one_iterator():
    calls = []

    def generate():
        calls.append(1)
        yield from range(3)

    rows = D.from_generator(generate, tf.int32, []).cache().repeat(3)
    assert every(rows) == [0, 1, 2] * 3 and len(calls) == 1
    assert every(rows) == [0, 1, 2] * 3 and len(calls) == 2


def test_lengths_that_feeds_make_different():
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    iterator = D.from_tensor_slices((x, y)).make_initializable_iterator()
    with tf.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="expected one size of the first axis"
        ):
            session.run(iterator.initializer, {x: [1, 2], y: [1]})
        with pytest.raises(ValueError, match="does not have an initializer"):
            _ = D.range(3).make_one_shot_iterator().initializer


# --- eager


@pytest.mark.usefixtures("eager")
def test_eager_loops_over_a_dataset_shuffle_anew():
    def orders(again):
        rows = D.range(20).shuffle(20, 1, reshuffle_each_iteration=again)
        return [[int(n) for n in rows] for _ in range(3)]

    assert len(set(map(str, orders(True)))) == 3 and orders(True) == orders(True)
    assert len(set(map(str, orders(False)))) == 1


@pytest.mark.usefixtures("eager")
def test_eager_programs_iterate():
    rows = D.from_tensor_slices((np.arange(6, dtype=np.float32), [0, 1, 0, 1, 0, 1]))
    rows = rows.map(lambda x, n: (x * x, n)).batch(4)
    for _ in range(2):  # every loop begins anew
        found = [(x.numpy().tolist(), n.numpy().tolist()) for x, n in rows]
        assert found == [([0, 1, 4, 9], [0, 1, 0, 1]), ([16, 25], [0, 1])]
    v = tf.Variable(1.0)
    for x, _ in rows.take(1):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * x)
        assert tape.gradient(y, v).numpy() == 14.0
    iterator = D.range(1).make_one_shot_iterator()
    assert iterator.get_next().numpy() == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(RuntimeError, match="eager"):
        D.range(1).make_initializable_iterator()
    with pytest.raises(TypeError, match="strings"):
        next(iter(D.from_tensor_slices(["a"])))
    tf.set_random_seed(3)
    order = [int(x) for x in D.range(20).shuffle(20)]
    tf.set_random_seed(3)
    assert order == [int(x) for x in D.range(20).shuffle(20)]


# --- elements


def test_a_generator_may_fill_one_array_again_and_again():
    def rows():
        buffer = np.zeros(2, np.float32)
        for i in range(4):
            buffer[:] = i
            yield buffer

    first, second = every(D.from_generator(rows, tf.float32).batch(2))
    np.testing.assert_array_equal(np.concatenate([first, second])[:, 0], [0, 1, 2, 3])


def test_entries_of_dicts_are_paired_by_their_keys():
    both = D.from_tensors({"a": 1, "b": 2}).concatenate(D.from_tensors({"b": 20, "a": 10}))
    assert every(both) == [{"a": 1, "b": 2}, {"a": 10, "b": 20}]


def test_after_an_element_that_fails_comes_the_next_one():
    logs = D.from_tensor_slices([1.0, -1.0, 2.0]).map(lambda x: tf.check_numerics(tf.log(x), "log"))
    n = logs.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(n) == 0
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(n)
        assert session.run(n) == np.log(np.float32(2))


def test_an_error_ends_no_dataset():
    def fails(n):
        if n == 2:
            raise ValueError("2")
        return n

    rows = D.range(5).map(lambda n: tf.py_func(fails, [n], tf.int64))
    uneven = D.from_generator(lambda: iter(([1, 2], [3], [4, 5], [6, 7])), tf.int32)
    wrong = D.from_generator(lambda: iter((0, "a", 2)), tf.int64, [])
    for dataset, expected in (
        (rows.shuffle(1), [0, 1, None, 3, 4]),
        (rows.repeat(2), [0, 1, None, 3, 4] * 2),
        (rows.filter(lambda n: n > 0), [1, None, 3, 4]),
        (rows.skip(1), [1, None, 3, 4]),
        (rows.take(-5), [0, 1, None, 3, 4]),
        (rows.shard(2, 0), [0, None, 3]),
        (D.zip((rows, D.range(5))).map(lambda a, b: a), [0, 1, None, 3, 4]),
        (rows.cache().repeat(2), [0, 1, None, 3, 4, 0, 1, 3, 4]),
        (uneven.batch(2), [None, [[4, 5], [6, 7]]]),
        (wrong, [0, None, 2]),
        (D.range(0).repeat(), []),
        (D.range(2).repeat(-5).take(3), [0, 1, 0]),
    ):
        n, found = dataset.make_one_shot_iterator().get_next(), []
        with tf.Session() as session:
            while True:
                try:
                    found.append(session.run(n).tolist())
                except tf.errors.OutOfRangeError:
                    break
                except tf.errors.InvalidArgumentError:
                    found.append(None)
        assert found == expected


def test_two_shuffles_of_a_seeded_graph_have_orders_of_their_own():
    tf.set_random_seed(1)
    pairs = every(D.zip((D.range(50).shuffle(50), D.range(50).shuffle(50))))
    assert any(a != b for a, b in pairs)
