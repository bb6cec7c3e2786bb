"""tf.report: the names of TensorFlow in programs, and which of them are here."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pullback.compat.tf1 as tf
from pullback.compat.tf1.names import advice_of

PROGRAM = """\
import tensorflow as tf
import tensorflow.contrib.keras as thin
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.python.framework import ops
from tensorflow.keras.layers import Dense as D
from .tensorflow import nothing
slim, K = tf.contrib.keras, 3
nets = tf.contrib.keras
FLAGS = tf.app.flags.FLAGS
def model(x):
    with tf.variable_scope("a"):
        y = tf.nn.relu(nets.conv2d(x, 3)) + D(3)(x) + tf.nn.relu(x)
    z = tf.compat.v1.placeholder(tf.float32.name)
    return FLAGS.rate, tf.app.flags.FLAGS.rate, ops.RegisterGradient, tf.softmax(y), other.tf.zeros
"""


def test_aliases_are_followed(tmp_path):
    program = tmp_path / "model.py"
    program.write_text(PROGRAM)
    found = tf.report(program)
    assert found.here == {
        "tf.examples.tutorials.mnist.input_data": ["model.py:3"],
        "tf.app.flags.FLAGS": ["model.py:9", "model.py:14"],
        "tf.variable_scope": ["model.py:11"], "tf.nn.relu": ["model.py:12"],
        "tf.placeholder": ["model.py:13"], "tf.float32": ["model.py:13"],
    }  # fmt: skip
    assert found.absent == {
        "tf.contrib.keras": ["model.py:2", "model.py:7", "model.py:8"],
        "tf.python.framework.ops": ["model.py:4"],
        "tf.keras.layers.Dense": ["model.py:5", "model.py:12"],
        "tf.contrib.keras.conv2d": ["model.py:12"],
        "tf.python.framework.ops.RegisterGradient": ["model.py:14"], "tf.softmax": ["model.py:14"],
    }  # fmt: skip
    assert found.advice["tf.contrib.keras.conv2d"] == advice_of("contrib.keras")
    assert found.advice["tf.softmax"] == "it is compat.tf1.nn.softmax"
    assert str(found).startswith("12 names of TensorFlow, 6 of them here\n\nabsent:\n")
    assert "  tf.nn.relu  model.py:12\n" in str(found)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import tensorflow\ntensorflow.nn.relu", ["tf.nn.relu"]),
        ("import tensorflow.compat.v1 as t\nt.zeros", ["tf.zeros"]),
        ("import tensorflow.compat.v1\ntensorflow.zeros", ["tf.zeros"]),
        ("import pullback.compat.tf1 as tf\ntf.zeros([1]).dtype", ["tf.zeros"]),
        ("from tensorflow import nn\nnn.relu", ["tf.nn", "tf.nn.relu"]),
        ("from tensorflow import zeros as z\nz(3)", ["tf.zeros"]),
        ("import tensorflow as tf\nt = tf\nt.zeros", ["tf.zeros"]),
        ("import tensorflow as t\nt.train.Saver(0.1).save", ["tf.train.Saver"]),
        ("import torch as tf\ntf.zeros", []),
    ],
)  # fmt: skip
def test_what_counts_as_a_use(tmp_path, line, names):
    program = tmp_path / "p.py"
    program.write_text(line)
    assert [*tf.report(program).here] == names


def test_folders_and_what_cannot_be_read(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.zeros\n")
    (tmp_path / "inner" / "b.py").write_text("import tensorflow as t\nt.zeros\nt.ones\n")
    (tmp_path / "inner" / "old.py").write_text("print 'Python 2'\n")
    found = tf.report(tmp_path)
    assert found.here == {"tf.zeros": ["a.py:2", "inner/b.py:2"], "tf.ones": ["inner/b.py:3"]}
    assert found.unread["inner/old.py"].startswith("SyntaxError")
    assert "not read:\n  inner/old.py" in str(found)
    with pytest.raises(FileNotFoundError, match="report: expected a program or a folder"):
        tf.report(tmp_path / "nothing")


@pytest.mark.parametrize(("text", "code"), [("tf.zeros", 0), ("tf.strings.length", 1)])
def test_the_command(tmp_path, text, code):
    (tmp_path / "a.py").write_text(f"import tensorflow as tf\n{text}\n")
    command = [sys.executable, "-m", "pullback", "report", str(tmp_path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code and f"  {text}  a.py:2" in done.stdout
