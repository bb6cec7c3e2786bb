"""Typical mistakes in programs of TensorFlow 1 and the messages that they get."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.each import each
from support.mistakes import check, read

import pullback.compat.tf1 as tf

MISTAKES = read(Path(__file__).parent / "typical_mistakes.txt")


@each("call, kind, fragments", MISTAKES, ids=[call for call, _, _ in MISTAKES])
def test_mistake(call: str, kind: str, fragments: list[str]) -> None:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        graph_names = {"p": tf.placeholder(tf.float32, [None, 3], name="p"), "m": tf.ones([2, 3])}
        graph_names["v"] = tf.Variable([1.0], name="v")
        check(call, kind, fragments, {"tf": tf, "np": np, "sess": sess, **graph_names})
