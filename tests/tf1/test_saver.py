"""Saving, restoring and reporting variables; moving averages."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def names(values):
    return [value.decode() for value in values]


# --- Saver


def test_saved_and_restored_in_another_graph(tmp_path):
    w = tf.get_variable("layer/w", initializer=np.arange(6.0).reshape(2, 3))
    n = tf.Variable(7, name="file")  # a name that np.savez would not take
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([w.assign_add(tf.ones([2, 3], tf.float64)), n.assign_add(1)])
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert path == str(tmp_path / "model")
    with tf.Graph().as_default():
        w = tf.get_variable("layer/w", [2, 3], tf.float64)
        n = tf.Variable(0, name="file")
        other = tf.Variable(1.0, name="other")
        saver = tf.train.Saver([w, n])
        with tf.Session() as session:
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(w), np.arange(1.0, 7.0).reshape(2, 3))
            assert session.run(n) == 8
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(other)
    with zipfile.ZipFile(f"{path}.npz") as archive:
        assert sorted(archive.namelist()) == ["file.npy", "layer/w.npy"]


def test_a_training_goes_on_where_it_was(tmp_path):
    def program():
        v = tf.Variable([1.0, -2.0], name="v")
        step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(v**4))
        return v, step, tf.train.Saver()

    v, step, saver = program()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        path = saver.save(session, str(tmp_path / "run"), global_step=3)
        for _ in range(3):
            session.run(step)
        expected = session.run(v)
    assert path.endswith("run-3")
    with tf.Graph().as_default(), tf.Session() as session:
        v, step, saver = program()
        saver.restore(session, path)  # the slots of Adam, too
        for _ in range(3):
            session.run(step)
        np.testing.assert_array_equal(session.run(v), expected)


def test_variables_that_began_with_one_tensor(tmp_path):
    start = tf.random_normal([2])
    a, b = tf.Variable(start, name="a"), tf.Variable(start, name="b")
    averages = tf.train.ExponentialMovingAverage(0.5)
    update = averages.apply([a])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([a.assign([1.0, 2.0]), b.assign([3.0, 4.0])])
        session.run(update)
        everything = tf.global_variables()
        expected = session.run(everything)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        for got, wanted in zip(session.run(everything), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_names_of_a_dict(tmp_path):
    v = tf.Variable(3.0, name="mine")
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver({"theirs": v}).save(session, str(tmp_path / "m"))
        assert tf.train.list_variables(path) == [("theirs", [])]
        assert tf.train.load_variable(path, "theirs") == 3.0
        with pytest.raises(tf.errors.NotFoundError, match=r"Key mine not found"):
            tf.train.Saver().restore(session, path)


def test_the_last_checkpoints_stay(tmp_path):
    v = tf.Variable(0, name="v")
    step = v.assign_add(1)
    saver = tf.train.Saver(max_to_keep=2)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(4):
            session.run(step)
            saver.save(session, str(tmp_path / "model"), global_step=v)
    prefixes = [str(tmp_path / f"model-{k}") for k in (3, 4)]
    assert saver.last_checkpoints == prefixes
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint", "model-3.meta", "model-3.npz", "model-4.meta", "model-4.npz"
    ]  # fmt: skip
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == prefixes[1] == tf.train.latest_checkpoint(str(tmp_path))
    assert state.all_model_checkpoint_paths == prefixes
    assert (tmp_path / "checkpoint").read_text().splitlines()[0] == (
        'model_checkpoint_path: "model-4"'
    )
    assert tf.train.load_variable(str(tmp_path), "v:0") == 4
    again = tf.train.Saver(max_to_keep=2)
    again.recover_last_checkpoints([*prefixes, str(tmp_path / "gone")])
    assert again.last_checkpoints == prefixes


def test_what_does_not_fit_changes_nothing(tmp_path):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([3.0], name="b")
    path = str(tmp_path / "m")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.Variable([0.0, 0.0], name="a"), tf.Variable([[0.0]], name="b")
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(1, 1\) for 'b', got .*\(1,\)"):
            tf.train.Saver().restore(session, path)
        assert listed(session.run([a, b])) == [[0.0, 0.0], [[0.0]]]
        tf.train.Saver(reshape=True).restore(session, path)
        assert listed(session.run([a, b])) == [[1.0, 2.0], [[3.0]]]
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.Variable([0, 0], name="a")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected int32 .* got float32"):
            tf.train.Saver().restore(session, path)


def test_the_last_folder_of_a_path_is_made(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(v.initializer)
        path = saver.save(session, str(tmp_path / "models" / "digits"), global_step=3)
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path / "models")))
        assert session.run(v).tolist() == [1.0, 2.0] and path.endswith("models/digits-3")
        (tmp_path / "file").write_text("")
        with pytest.raises(ValueError, match="expected a folder"):
            saver.save(session, str(tmp_path / "file" / "m"))


def test_errors_of_saving(tmp_path):
    with pytest.raises(ValueError, match="no variables to save"):
        tf.train.Saver()
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            saver.save(session, str(tmp_path / "m"))
        session.run(v.initializer)
        with pytest.raises(ValueError, match=r"folder that exists, got '.*no/other'"):
            saver.save(session, str(tmp_path / "no" / "other" / "m"))
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(session, str(tmp_path / "none"))
        with pytest.raises(ValueError, match="None"):
            saver.restore(session, None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="expected variables"):
        tf.train.Saver([tf.constant(1.0)])
    with tf.Graph().as_default():
        other = tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match="same name"):
        tf.train.Saver([v, other])


@pytest.mark.usefixtures("eager")
def test_saver_in_eager_mode(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver([v])
    path = saver.save(None, str(tmp_path / "m"), global_step=tf.Variable(4))
    v.assign([0.0, 0.0])
    saver.restore(None, path)
    assert listed(v.numpy()) == [1.0, 2.0] and path.endswith("m-4")
    with pytest.raises(RuntimeError, match="var_list"):
        tf.train.Saver()


# --- which variables have values


def test_report_uninitialized_variables():
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    local = tf.Variable(3, trainable=False, collections=["local_variables"], name="c")
    report = tf.report_uninitialized_variables()
    only = tf.report_uninitialized_variables([b])
    is_there = tf.is_variable_initialized(b)
    with tf.control_dependencies([b.initializer]):
        after = tf.report_uninitialized_variables([a, b])
    with tf.Session() as session:
        assert names(session.run(report)) == ["a", "b", "c"]
        session.run([a.initializer, local.initializer])
        assert names(session.run(report)) == names(session.run(only)) == ["b"]
        assert not session.run(is_there)
        assert names(session.run(after)) == []
        assert session.run(is_there)
        assert session.run(report).tolist() == []


# --- moving averages


def test_moving_averages_follow_the_formula():
    v = tf.Variable([1.0, 2.0], name="v")
    averages = tf.train.ExponentialMovingAverage(0.9)
    update = averages.apply()
    average = averages.average(v)
    assert average.name == "v/ExponentialMovingAverage:0" and not average.trainable
    assert averages.average_name(v) == "v/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [v] and tf.trainable_variables() == [v]
    assert averages.average(tf.Variable(1.0)) is None
    expected = np.array([1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(4):
            session.run(v.assign_add([1.0, -1.0]))
            session.run(update)
            expected = 0.9 * expected + 0.1 * np.array([2.0 + k, 1.0 - k])
        np.testing.assert_allclose(session.run(average), expected, rtol=1e-6)


def test_averages_move_faster_at_first():
    step = tf.Variable(0, trainable=False)
    v = tf.Variable(0.0)
    averages = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([v.assign_add(1.0), step.assign_add(1)]):
        value = v.read_value()
    update = averages.apply([v])
    expected = 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(30):
            session.run(update)  # of the values before
            decay = min(0.9, (1 + k) / (10 + k))
            expected = decay * expected + (1 - decay) * k
            assert session.run(value) == k + 1
        assert session.run(averages.average(v)) == pytest.approx(expected, rel=1e-5)


def test_averages_of_tensors_and_debiasing():
    x = tf.placeholder(tf.float32, [])
    averages = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    y = tf.multiply(x, 1.0, name="y")
    update = averages.apply([y])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        total = weight = 0.0
        for number in (4.0, 8.0, 1.0):
            session.run(update, {x: number})
            total = 0.9 * total + 0.1 * number
            weight = 0.9 * weight + 0.1
            assert session.run(averages.average(y)) == pytest.approx(total / weight, rel=1e-5)
    with pytest.raises(TypeError, match="floats"):
        averages.apply([tf.Variable(1)])


def test_assign_moving_average():
    v = tf.Variable([10.0], name="v")
    plain = tf.assign_moving_average(v, [20.0], 0.75, zero_debias=False)
    assert listed(run(plain)) == [12.5]
    m = tf.Variable([0.0], trainable=False, name="m")
    debiased = tf.assign_moving_average(m, tf.constant([6.0]), 0.9)
    assert {"m/biased:0", "m/local_step:0"} < {x.name for x in tf.global_variables()}
    assert listed(run(debiased)) == pytest.approx([6.0])


def test_restoring_averages_in_the_place_of_variables(tmp_path):
    v, step = tf.Variable(1.0, name="v"), tf.Variable(5, trainable=False, name="n")
    averages = tf.train.ExponentialMovingAverage(0.5)
    update = averages.apply([v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(v.assign(3.0))
        session.run(update)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        v, step = tf.Variable(0.0, name="v"), tf.Variable(0, trainable=False, name="n")
        restored = tf.train.ExponentialMovingAverage(0.5).variables_to_restore()
        assert restored == {"v/ExponentialMovingAverage": v, "n": step}
        tf.train.Saver(restored).restore(session, path)
        assert session.run([v, step]) == [2.0, 5]


@pytest.mark.usefixtures("eager")
def test_averages_in_eager_mode():
    v = tf.Variable(1.0, name="v")
    averages = tf.train.ExponentialMovingAverage(0.5)
    averages.apply([v])
    v.assign(3.0)
    averages.apply([v])
    assert float(averages.average(v).numpy()) == 2.0
    m = tf.Variable(0.0)
    tf.assign_moving_average(m, 8.0, 0.9)
    assert float(m.numpy()) == pytest.approx(8.0)


def test_readers_of_checkpoints(tmp_path):
    tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    for reader in (tf.train.NewCheckpointReader(path), tf.train.load_checkpoint(str(tmp_path))):
        assert reader.get_variable_to_shape_map() == {"v": [2]}
        assert reader.has_tensor("v") and not reader.has_tensor("w")
        assert reader.get_tensor("v").tolist() == [1.0, 2.0]


def test_files_and_folders(tmp_path):
    folder, text = str(tmp_path / "a" / "b"), str(tmp_path / "a" / "t")
    tf.gfile.MakeDirs(folder)
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(text, "w") as file:
        file.write("x")
    assert tf.gfile.ListDirectory(tf.gfile.Glob(str(tmp_path / "*"))[0]) == ["b", "t"]
    with pytest.raises(FileExistsError, match="Copy: expected a path that does not exist"):
        tf.gfile.Copy(text, text)
    tf.gfile.Copy(text, text + "2")
    tf.gfile.Rename(text + "2", text, overwrite=True)
    tf.gfile.DeleteRecursively(folder)
    assert not tf.gfile.Exists(folder)
    with tf.gfile.FastGFile(text) as file:
        assert file.read() == "x"


def test_files_have_the_arguments_and_errors_of_tensorflow(tmp_path):
    folder, text = str(tmp_path / "a"), str(tmp_path / "t.txt")
    tf.gfile.MkDir(dirname=folder)
    tf.gfile.MkDir(folder)  # as in TensorFlow, an existing folder is accepted
    with tf.gfile.GFile(name=text, mode="w") as file:
        file.write("xyz")
    found = tf.gfile.Glob([f"{tmp_path}/*.txt", folder])
    assert found == [*tf.gfile.Glob(filename=f"{tmp_path}/t*"), folder] == [text, folder]
    assert tf.gfile.IsDirectory(dirname=folder) and tf.gfile.Exists(filename=text)
    stat = tf.gfile.Stat(filename=text)
    assert (stat.length, stat.is_directory) == (3, False)
    tf.gfile.Rename(oldname=text, newname=text + "2")
    tf.gfile.Copy(oldpath=text + "2", newpath=text)
    down, up = (
        [top for top, _, _ in tf.gfile.Walk(top=str(tmp_path), in_order=order)]
        for order in (True, False)
    )
    assert down == up[::-1] == [str(tmp_path), folder]
    none = str(tmp_path / "none")
    for call in (
        lambda: tf.gfile.GFile(none), lambda: tf.gfile.Remove(filename=none),
        lambda: tf.gfile.ListDirectory(none), lambda: tf.gfile.DeleteRecursively(dirname=none),
        lambda: tf.gfile.Copy(none, text + "3"), lambda: tf.gfile.Rename(none, text + "3"),
        lambda: tf.gfile.MkDir(none + "/b"), lambda: tf.gfile.Stat(none),
    ):  # fmt: skip
        with pytest.raises(FileNotFoundError) as error:
            call()
        assert isinstance(error.value, tf.errors.NotFoundError)
    with pytest.raises(tf.errors.AlreadyExistsError, match="give overwrite=True"):
        tf.gfile.Copy(text, text + "2")
    with pytest.raises(tf.errors.FailedPreconditionError, match="got a file"):
        tf.gfile.MakeDirs(text)


def test_texts_are_saved(tmp_path):
    values = {"a": b"one", "b": [[b"x", b"zero\0"], [b"", b"\xff"]], "n": [1.0, 2.0]}
    made = [tf.Variable(value, name=name) for name, value in values.items()]
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        tf.saved_model.simple_save(session, str(tmp_path / "s"), {"n": made[2]}, {"a": made[0]})
    with tf.Session() as session:
        saver.restore(session, path)
        assert listed(session.run(made)) == [*values.values()]
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "s"))
        assert listed(session.run(["a:0", "b:0", "n:0"])) == [*values.values()]
    assert tf.train.load_variable(path, "b").tolist() == values["b"]
    with tf.Graph().as_default(), tf.Session() as session:
        number = tf.Variable([1.0, 2.0], name="a")
        with pytest.raises(tf.errors.InvalidArgumentError, match="for 'a', got string of shape"):
            tf.train.Saver([number]).restore(session, path)


def test_a_stored_graph_draws_the_same_numbers(tmp_path):
    x = tf.random_normal([3], seed=1, name="x") + tf.random_uniform([3], seed=2)
    tf.identity(x, name="y")
    tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    with tf.Session() as session:
        drawn = session.run(["y:0"] * 2)[0].tolist()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(tmp_path / "g.meta"))
        assert session.run("y:0").tolist() == drawn


def test_an_iterator_of_a_handle_is_stored_with_it(tmp_path):
    handle = tf.placeholder(tf.string, [], name="handle")
    iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    tf.multiply(iterator.get_next(), 2, name="y")
    tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(tmp_path / "g.meta"))
        rows = tf.data.Dataset.range(3, 6).make_one_shot_iterator()
        text = session.run(rows.string_handle())
        assert [int(session.run("y:0", {"handle:0": text})) for _ in range(3)] == [6, 8, 10]
