"""Small broken programs of TensorFlow 1's names, in graphs, as those of broken.py: the line that
loses the gradient ends in `# culprit`, and `operation` is the name that the culprit has in the
graph.

A program returns what `explain` is asked: y and x, and options. One whose values matter returns
feeds among them; a session with initialized variables is added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback.compat.tf1 as tf


class Broken(NamedTuple):
    program: Callable[[], tuple[Any, ...]]
    status: str
    reason: str
    operation: str | None


PROGRAMS: list[Broken] = []


def broken(status: str, reason: str, operation: str | None = None) -> Callable[[Any], Any]:
    def add(program: Callable[[], tuple[Any, ...]]) -> Any:
        PROGRAMS.append(Broken(program, status, reason, operation))
        return program

    return add


def weights(*values: float, name: str = "w") -> Any:
    return tf.Variable(np.array(values, np.float32), name=name)


def overridden(type: str, rule: str) -> Any:
    return tf.get_default_graph().gradient_override_map({type: rule})


# --- None: somebody stops it


@broken("none", "stop_gradient", "target/StopGradient")
def a_target_network_that_shall_learn() -> tuple[Any, ...]:
    state = tf.placeholder(tf.float32, [None, 2], name="state")
    w = tf.get_variable("w", [2, 3])
    with tf.name_scope("target"):
        best = tf.reduce_max(tf.matmul(state, w), axis=1)
        goal = tf.stop_gradient(1.0 + 0.9 * best)  # culprit
    return tf.reduce_mean(tf.square(goal)), w


@broken("none", "stop_gradients", "hidden")
def a_constant_of_the_question() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = tf.tanh(w, name="hidden")  # culprit
    return tf.reduce_sum(hidden), w, {"stop_gradients": [hidden]}


@broken("none", "integer", "level")
def a_cast_to_integers_and_back() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    level = tf.cast(w * 4, tf.int32, name="level")  # culprit
    return tf.reduce_sum(tf.cast(level, tf.float32)), w


@broken("none", "integer")
def a_placeholder_of_integers() -> tuple[Any, ...]:
    ids = tf.placeholder(tf.int32, [None], name="ids")  # culprit
    return tf.reduce_sum(tf.cast(ids, tf.float32) * 0.5), ids


@broken("none", "not_differentiable", "ArgMax")
def an_argmax_in_the_loss() -> tuple[Any, ...]:
    logits = weights(1, 2)
    chosen = tf.argmax(logits)  # culprit
    return tf.square(tf.cast(chosen, tf.float32) - 1), logits


@broken("none", "not_differentiable", "Greater")
def an_accuracy_as_a_loss() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None])
    w = tf.Variable(1.0)
    right = x * w > 0  # culprit
    return 1 - tf.reduce_mean(tf.cast(right, tf.float32)), w


@broken("none", "not_differentiable", "quantized")
def a_rounding_that_has_no_gradient_here() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    quantized = tf.round(w * 4, name="quantized")  # culprit
    return tf.reduce_sum(quantized / 4), w


@broken("none", "not_differentiable", "PyFunc")
def a_function_of_numpy() -> tuple[Any, ...]:
    w = weights(1, 2)
    sorted_ = tf.py_func(np.sort, [w], tf.float32)  # culprit
    return tf.reduce_sum(sorted_), w


@broken("error", "not_registered", "Flip")
def an_operation_without_a_gradient() -> tuple[Any, ...]:
    flip = tf.raw_op("Flip", lambda image: image[::-1])
    w = weights(1, 2)
    flipped = flip(w)  # culprit
    return tf.reduce_sum(flipped * w), w


@broken("error", "not_registered", "Tanh")
def an_override_that_nobody_registered() -> tuple[Any, ...]:
    w = weights(1, 2)
    with overridden("Tanh", "TanhOfBrokenPrograms"):
        y = tf.tanh(w)  # culprit
    return tf.reduce_sum(y), w


@broken("error", "not_registered", "PreventGradient")
def a_gradient_that_is_prevented() -> tuple[Any, ...]:
    w = weights(1, 2)
    y = tf.raw_ops.PreventGradient(input=w, message="it was sampled")  # culprit
    return tf.reduce_sum(y), w


# --- None: rules


@tf.RegisterGradient("BrokenProgramsNone")
def _none(op: Any, upstream: Any) -> Any:
    return None


@tf.RegisterGradient("BrokenProgramsFails")
def _fails(op: Any, upstream: Any) -> Any:
    return upstream * op.get_attr("slope")


tf.NotDifferentiable("BrokenProgramsConstant")


@broken("none", "rule_returned_none", "Tanh")
def an_override_that_returns_none() -> tuple[Any, ...]:
    w = weights(1, 2)
    with overridden("Tanh", "BrokenProgramsNone"):
        y = tf.tanh(w)  # culprit
    return tf.reduce_sum(y), w


@broken("none", "not_differentiable", "Exp")
def an_override_by_a_name_that_is_not_differentiable() -> tuple[Any, ...]:
    w = weights(1, 2)
    with overridden("Exp", "BrokenProgramsConstant"):
        y = tf.exp(w)  # culprit
    return tf.reduce_sum(y), w


@broken("none", "rule_returned_none", "quantize/IdentityN")
def a_custom_gradient_that_returns_none() -> tuple[Any, ...]:
    @tf.custom_gradient
    def quantize(x: Any) -> Any:
        return tf.round(x), lambda upstream: None

    w = weights(1, 2)
    y = quantize(w * 2)  # culprit
    return tf.reduce_sum(y), w


@broken("none", "not_an_argument", "scaled/IdentityN")
def a_custom_gradient_that_closes_over_x() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = tf.tanh(w)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return x * hidden, lambda upstream: upstream

    y = scaled(tf.constant([3.0, 4.0]))  # culprit
    return tf.reduce_sum(y), hidden


@broken("error", "error")
def a_rule_that_fails() -> tuple[Any, ...]:
    w = weights(1, 2)
    with overridden("Tanh", "BrokenProgramsFails"):
        y = tf.tanh(w)
    return tf.reduce_sum(y), w


@broken("none", "linear", "gradients/SymbolicGradient")
def a_second_derivative_of_what_is_linear() -> tuple[Any, ...]:
    w = weights(1, 2)
    slope = tf.gradients(tf.reduce_sum(3 * w), w)[0]  # culprit
    return tf.reduce_sum(slope), w


@broken("none", "linear", "gradient_tape/SymbolicGradient")
def a_jacobian_of_what_is_linear() -> tuple[Any, ...]:
    w = weights(1, 2)
    with tf.GradientTape() as tape:
        y = 3 * w
    slopes = tape.jacobian(y, w)  # culprit
    return tf.reduce_sum(slopes), w


# --- None: y was not made from x


@broken("none", "unused")
def a_variable_that_the_loss_forgets() -> tuple[Any, ...]:
    w = weights(1, 2)
    bias = tf.Variable([0.0, 0.0], name="bias")  # culprit
    return tf.reduce_sum(tf.square(w)), bias


@broken("none", "assignment", "v/read")
def a_path_through_an_assignment() -> tuple[Any, ...]:
    w, v = weights(1, 2), weights(0, 0, name="v")
    tf.assign(v, w * 2)  # culprit
    return tf.reduce_sum(tf.square(v)), w


@broken("none", "assignment", "Assign")
def a_path_through_the_result_of_an_assignment() -> tuple[Any, ...]:
    w, v = weights(1, 2), weights(0, 0, name="v")
    new = tf.assign(v, w * 2)  # culprit
    return tf.reduce_sum(tf.square(new)), w


@broken("none", "assignment", "v/read")
def an_initial_value() -> tuple[Any, ...]:
    w = weights(1, 2)
    v = tf.Variable(w.initialized_value() * 2, name="v")  # culprit
    return tf.reduce_sum(tf.square(v)), w.initialized_value()


@broken("none", "unused")
def a_placeholder_that_is_not_used() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [2], name="x")  # culprit
    return tf.reduce_sum(tf.square(weights(1, 2))), x


@broken("none", "rebound", "sub_1")
def a_name_that_is_bound_again() -> tuple[Any, ...]:
    w = weights(1, 2)
    loss = tf.reduce_sum(tf.square(w - 1))
    w = w - 0.1 * tf.gradients(loss, w)[0]  # culprit
    return loss, w


@broken("none", "made_after", "strided_slice")
def a_slice_that_was_made_for_the_question() -> tuple[Any, ...]:
    w = weights(1, 2)
    loss = tf.reduce_sum(tf.square(w))
    return loss, w[0]  # culprit


@broken("none", "made_after", "Sum_1")
def the_wrong_way_round() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = tf.reduce_sum(tf.tanh(w))
    loss = tf.reduce_sum(hidden * w)  # culprit
    return hidden, loss


@broken("none", "another_variable", "dense/kernel/read")
def layers_that_share_only_the_idea_of_a_name() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2])
    first = tf.layers.dense(x, 2)
    tf.layers.dense(x, 2)  # culprit
    other = next(v for v in tf.trainable_variables() if v.op.name == "dense_1/kernel")
    return tf.reduce_sum(first), other


@broken("none", "another_graph")
def two_graphs() -> tuple[Any, ...]:
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0])  # culprit
    return tf.reduce_sum(weights(1, 2)), x


@broken("none", "control_dependency", "Identity")
def an_order_that_is_taken_for_a_path() -> tuple[Any, ...]:
    x = tf.constant([1.0, 2.0], name="x")
    hidden = tf.tanh(weights(1, 2))
    with tf.control_dependencies([x]):
        y = tf.identity(hidden)  # culprit
    return tf.reduce_sum(y), x


# --- None: tapes


@broken("none", "not_watched")
def a_tensor_that_the_tape_does_not_watch() -> tuple[Any, ...]:
    x = tf.constant([1.0, 2.0])  # culprit
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    return y, x, {"tape": tape}


@broken("none", "not_recorded", "Square")
def what_was_made_outside_of_the_tape() -> tuple[Any, ...]:
    w = weights(1, 2)
    squared = tf.square(w)  # culprit
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(squared)
    return y, w, {"tape": tape}


# --- values: zero, tiny, NaN, infinite


@broken("zero", "dead_relu", "hidden")
def units_that_are_off() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2])
    w = weights(1, 2)
    hidden = tf.nn.relu(x * w - 100, name="hidden")  # culprit
    return tf.reduce_sum(hidden), w, {"feed_dict": {x: [[1, 2], [3, 4]]}}


@broken("zero", "saturated", "Sigmoid")
def a_sigmoid_far_out() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [2])
    w = weights(1, 2)
    y = tf.sigmoid(x * w)  # culprit
    return tf.reduce_mean(y), w, {"feed_dict": {x: [1000, 2000]}}


@broken("zero", "times_zero", "MatMul")
def a_layer_of_zeros() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2])
    first, second = tf.Variable(tf.ones([2, 3])), tf.Variable(tf.zeros([3, 1]))
    hidden = tf.tanh(tf.matmul(x, first, name="below"))
    y = tf.matmul(hidden, second)  # culprit
    return tf.reduce_sum(y), first, {"feed_dict": {x: [[1, 2]]}}


@broken("zero", "clip_bound", "clip_by_value/Minimum")
def an_action_at_its_bound() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [2])
    w = weights(1, 2)
    action = tf.clip_by_value(x * w, -1.0, 1.0)  # culprit
    return tf.reduce_sum(action), w, {"feed_dict": {x: [10, 20]}}


@broken("zero", "masked", "Select")
def a_choice_that_takes_the_other_branch() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [2])
    w = weights(1, 2)
    y = tf.where(x > 0, x * w, x)  # culprit
    return tf.reduce_sum(y), w, {"feed_dict": {x: [-1, -2]}}


@broken("infinite", "bad_value", "Log")
def a_logarithm_of_a_probability_of_zero() -> tuple[Any, ...]:
    label = tf.placeholder(tf.float32, [2])
    w = weights(0, 1)
    entropy = -tf.reduce_sum(label * tf.log(w))  # culprit
    return entropy, w, {"feed_dict": {label: [1, 1]}}


@broken("infinite", "bad_value", "Exp")
def an_exponential_that_overflows() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [])
    w = tf.Variable(1.0)
    y = tf.exp(x * w)  # culprit
    return y, w, {"feed_dict": {x: 1000}}


@broken("nan", "bad_slope", "Sqrt")
def the_length_of_a_vector_of_zeros() -> tuple[Any, ...]:
    w = weights(0, 0)
    length = tf.sqrt(tf.reduce_sum(w * w))  # culprit
    return length, w, {"feed_dict": {}}


@broken("zero", "rule_returned_zeros", "Identity")
def a_rule_of_zeros() -> tuple[Any, ...]:
    w = weights(1, 2)
    with overridden("Identity", "BrokenProgramsZeros"):
        y = tf.identity(w)  # culprit
    return tf.reduce_sum(y), w, {"feed_dict": {}}


@tf.RegisterGradient("BrokenProgramsZeros")
def _zeros(op: Any, upstream: Any) -> Any:
    return tf.zeros_like(upstream)


@broken("tiny", "vanishing", "Tanh")
def a_chain_that_vanishes() -> tuple[Any, ...]:
    w = weights(6, 6)
    y = w
    for _ in range(3):
        y = tf.tanh(y) * 5  # culprit
    return tf.reduce_sum(y), w, {"feed_dict": {}}


@broken("zero", "dead_relu", "hidden")
def a_dropout_that_draws_the_same_numbers_for_all_that_is_looked_at() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = tf.nn.relu(tf.nn.dropout(w, 0.5) - 100, name="hidden")  # culprit
    return tf.reduce_sum(hidden), w, {"feed_dict": {}}


@broken("flows", "")
def one_that_is_right() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2])
    w = weights(1, 2)
    return tf.reduce_sum(tf.square(x * w)), w, {"feed_dict": {x: [[1, 2]]}}
