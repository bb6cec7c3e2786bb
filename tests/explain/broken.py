"""Small broken programs: each loses its gradient in one of the ways that people ask about. The line
that does it ends in `# culprit`; `explain` has to name it, and why.

A program returns what `explain` is asked: y and x, and a tape where one was used. They run while
debugging is on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback as pb


class Broken(NamedTuple):
    program: Callable[[], tuple[Any, ...]]
    status: str
    reason: str


PROGRAMS: list[Broken] = []


def broken(status: str, reason: str) -> Callable[[Any], Any]:
    def add(program: Callable[[], tuple[Any, ...]]) -> Any:
        PROGRAMS.append(Broken(program, status, reason))
        return program

    return add


def weights(*values: float, name: str = "w") -> pb.Variable:
    return pb.Variable(np.array(values, np.float32), name=name)


# --- None: somebody stops it


@broken("none", "stop_gradient")
def a_target_network_that_is_trained_by_mistake() -> tuple[Any, ...]:
    w = weights(1, 2)
    q = w * 3
    target = pb.stop_gradient(q) + 1  # culprit
    loss = pb.sum(pb.square(target - 5))
    float(loss)
    return loss, w


@broken("none", "stop_gradient")
def a_stop_that_was_computed_before() -> tuple[Any, ...]:
    w = weights(1, 2)
    frozen = pb.stop_gradient(w * w)  # culprit
    frozen.numpy()
    return pb.sum(frozen * 2), w


@broken("none", "stop_gradient")
def a_stop_inside_of_a_loop() -> tuple[Any, ...]:
    w = weights(1, 2)
    last, _ = pb.scan(lambda s, _: (pb.stop_gradient(s) * 2, None), w, length=3)  # culprit
    return pb.sum(last), w


@broken("none", "stop_gradients")
def a_constant_of_the_question() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = pb.tanh(w)  # culprit
    return pb.sum(hidden), w, {"stop_gradients": [hidden]}


@broken("none", "rule_returned_none")
def an_override_that_returns_none() -> tuple[Any, ...]:
    w = weights(1, 2)
    with pb.gradient_override_map({"tanh": lambda op, g: None}):
        y = pb.tanh(w)  # culprit
    return pb.sum(y), w


@broken("none", "rule_returned_none")
def a_custom_gradient_that_returns_none() -> tuple[Any, ...]:
    @pb.custom_gradient(intentional=True)
    def quantized(x: Any) -> Any:
        return pb.round(x), lambda upstream: None

    w = weights(1, 2)
    y = quantized(w * 2)  # culprit
    return pb.sum(y), w


@broken("none", "rule_returned_none")
def an_override_at_gradient_time() -> tuple[Any, ...]:
    w = weights(1, 2)
    y = pb.exp(w)  # culprit
    return pb.sum(y), w, {"overrides": {"exp": lambda op, g: None}}


# --- None: no derivative


@broken("none", "not_differentiable")
def an_argmax_in_the_loss() -> tuple[Any, ...]:
    w = weights(1, 2)
    best = pb.argmax(w)  # culprit
    loss = pb.cast(best, "float32") * 2.0
    float(loss)
    return loss, w


@broken("none", "not_differentiable")
def an_accuracy_as_a_loss() -> tuple[Any, ...]:
    w = weights(1, -2)
    right = w > 0  # culprit
    loss = 1 - pb.mean(pb.cast(right, "float32"))
    return loss, w


@broken("none", "integer")
def a_cast_to_integers() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    level = pb.cast(w * 4, "int32")  # culprit
    loss = pb.sum(pb.cast(level, "float32"))
    loss.numpy()
    return loss, w


@broken("none", "integer")
def integers_all_the_way() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    return pb.sum(pb.cast(w, "int64")), w  # culprit


@broken("none", "integer")
def an_integer_variable() -> tuple[Any, ...]:
    n = pb.Variable([1, 2], name="n")
    return pb.sum(pb.cast(n, "float32") * 2), n


@broken("none", "not_differentiable")
def a_comparison_that_chooses() -> tuple[Any, ...]:
    w = weights(3, 1)
    mask = pb.isfinite(w)  # culprit
    return pb.sum(pb.where(mask, 1.0, 0.0)), w


@broken("none", "not_differentiable")
def a_soft_choice_by_hard_comparison() -> tuple[Any, ...]:
    w = weights(0.3, 0.9)
    gate = pb.cast(w >= 0.5, "float32")  # culprit
    return pb.sum(gate * 3.0), w


# --- None: the value left the graph


@broken("none", "numpy")
def a_round_trip_through_numpy() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = w * 3
    flat = hidden.numpy().reshape(-1)  # culprit
    return pb.sum(pb.constant(flat) ** 2), w


@broken("none", "numpy")
def a_function_of_numpy() -> tuple[Any, ...]:
    w = weights(1, 2)
    angles = np.asarray(w * 3)  # culprit
    return pb.sum(pb.constant(np.sin(angles))), w


@broken("none", "numpy")
def a_float_on_the_way() -> tuple[Any, ...]:
    w = weights(1, 2)
    scale = float(pb.sum(w))  # culprit
    loss = pb.ones(3) * scale
    return pb.sum(loss), w


@broken("none", "numpy")
def an_item_on_the_way() -> tuple[Any, ...]:
    w = weights(1, 2)
    rate = pb.max(w).item()  # culprit
    return pb.sum(pb.ones(2) * rate), w


@broken("none", "numpy")
def evaluated_and_made_a_tensor_again() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = pb.evaluate(pb.exp(w))  # culprit
    return pb.mean(pb.constant(hidden)), w


@broken("none", "numpy")
def a_list_of_floats() -> tuple[Any, ...]:
    w = weights(1, 2)
    losses = [float(w[i] * 2) for i in range(2)]  # culprit
    return pb.mean(pb.constant(losses)), w


# --- None: another tensor


@broken("none", "rebound")
def a_name_bound_again() -> tuple[Any, ...]:
    w = weights(1, 2)
    loss = pb.sum(w * w)
    w = w - 0.1 * pb.gradients(loss, w)[0]  # culprit
    return loss, w


@broken("none", "rebound")
def a_step_that_makes_a_new_tensor() -> tuple[Any, ...]:
    x = weights(1, 2).read()
    y = pb.sum(pb.exp(x))
    x = x * 2  # culprit
    return y, x


@broken("none", "made_after")
def asked_about_what_came_later() -> tuple[Any, ...]:
    w = weights(1, 2)
    loss = pb.sum(w)
    later = pb.Variable([3.0, 4.0], name="other") * 2  # culprit
    return loss, later


@broken("none", "made_after")
def a_slice_made_after_the_loss() -> tuple[Any, ...]:
    rows = pb.Variable(np.eye(3, dtype=np.float32), name="rows")
    other = weights(1, 2)
    loss = pb.sum(other * other)
    row = rows[1]  # culprit
    return loss, row


@broken("none", "made_after")
def a_row_of_the_variable_taken_after_the_loss() -> tuple[Any, ...]:
    rows = pb.Variable(np.eye(3, dtype=np.float32), name="rows")
    loss = pb.sum(rows * rows)
    row = rows[1]  # culprit
    return loss, row


@broken("none", "another_variable")
def a_second_variable_of_the_same_name() -> tuple[Any, ...]:
    def layer(x: Any) -> tuple[Any, Any]:
        kernel = pb.Variable([[1.0], [2.0]], name="kernel")
        return x @ kernel, kernel  # culprit

    _, first = layer(np.ones((3, 2), np.float32))
    out, _ = layer(np.ones((3, 2), np.float32))
    return pb.sum(out), first


@broken("none", "unused")
def a_value_that_is_only_printed() -> tuple[Any, ...]:
    w, other = weights(1, 2), weights(3, name="other")
    str(float(pb.sum(w * w)))
    return pb.sum(other * 2.0), w


@broken("none", "assignment")
def a_value_that_is_printed_and_assigned() -> tuple[Any, ...]:
    x = weights(1, 2.5, name="x")
    v = weights(0, 0, name="v")
    str(float(pb.sum(x)))
    v.assign(x * x)  # culprit
    return pb.sum(3 * v), x


@broken("none", "made_after")
def arguments_in_the_wrong_order() -> tuple[Any, ...]:
    w = weights(1, 2).read()
    loss = pb.sum(w * w)  # culprit
    return w, loss


@broken("none", "rule_returned_none")
def a_custom_gradient_of_two_that_returns_none() -> tuple[Any, ...]:
    @pb.custom_gradient(intentional=True)
    def both(x: Any) -> Any:
        return (x * 2, x * 3), lambda g, h: None

    w = weights(1, 2)
    a, b = both(w)  # culprit
    return pb.sum(a * b), w


@broken("none", "unused")
def a_weight_that_nobody_uses() -> tuple[Any, ...]:
    w, bias = weights(1, 2), weights(0, name="bias")
    return pb.sum(w * w), bias


@broken("none", "assignment")
def an_assignment_in_between() -> tuple[Any, ...]:
    x = weights(1, 2, name="x")
    v = weights(0, 0, name="v")
    v.assign(x * x)  # culprit
    return pb.sum(3 * v), x


@broken("none", "assignment")
def a_moving_average_of_the_weights() -> tuple[Any, ...]:
    w = weights(1, 2)
    average = weights(0, 0, name="average")
    average.assign(0.9 * average + 0.1 * w)  # culprit
    return pb.sum(average * average), w


# --- None: nobody watched


@broken("none", "not_watched")
def a_plain_tensor() -> tuple[Any, ...]:
    x = pb.constant([1.0, 2.0])  # culprit
    y = pb.sum(x * x)
    float(y)
    return y, x


@broken("none", "not_watched")
def a_tape_without_watch() -> tuple[Any, ...]:
    x = pb.constant([1.0, 2.0])  # culprit
    with pb.GradientTape() as tape:
        y = pb.sum(x * x)
    return y, x, {"tape": tape}


@broken("none", "watched_late")
def a_watch_that_comes_too_late() -> tuple[Any, ...]:
    x = pb.constant([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = pb.exp(x)  # culprit
        tape.watch(x)
        z = pb.sum(y)
    return z, x, {"tape": tape}


@broken("none", "not_recorded")
def made_before_the_tape() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = pb.tanh(w)  # culprit
    with pb.GradientTape() as tape:
        loss = pb.sum(hidden * hidden) + 0.0 * pb.sum(w) * 0.0
        loss = pb.sum(hidden * hidden)
    return loss, w, {"tape": tape}


@broken("none", "not_recorded")
def made_while_recording_was_stopped() -> tuple[Any, ...]:
    w = weights(1, 2)
    with pb.GradientTape() as tape:
        tape.watch(w)
        with tape.stop_recording():
            hidden = w * w  # culprit
        loss = pb.sum(hidden)
    return loss, w, {"tape": tape}


@broken("none", "not_watched")
def a_variable_that_is_not_trainable() -> tuple[Any, ...]:
    scale = pb.Variable([1.0, 2.0], trainable=False, name="scale")
    with pb.GradientTape() as tape:
        loss = pb.sum(scale * 2)
    return loss, scale, {"tape": tape}


@broken("none", "not_watched")
def a_step_in_a_loop_with_a_tape() -> tuple[Any, ...]:
    w: Any = weights(1, 2)
    for _ in range(2):
        with pb.GradientTape() as tape:
            loss = pb.sum(w * w)
        slope = tape.gradient(loss, w)
        if slope is not None:
            w = w - 0.1 * slope  # culprit
    return loss, w, {"tape": tape}


@broken("none", "not_watched")
def the_result_of_a_function_of_plain_tensors() -> tuple[Any, ...]:
    double = pb.function(lambda x: x * 2)
    x = pb.constant([1.0, 2.0])  # culprit
    y = pb.sum(double(x))
    float(y)
    return y, x


# --- zero


@broken("zero", "dead_relu")
def a_relu_that_is_off() -> tuple[Any, ...]:
    w = weights(1, 2)
    hidden = pb.relu(w * 3 - 100)  # culprit
    return pb.sum(hidden), w


@broken("zero", "clip_bound")
def a_clip_at_its_bound() -> tuple[Any, ...]:
    w = weights(3, -4)
    action = pb.clip(w * 10, -1.0, 1.0)  # culprit
    return pb.sum(action * action), w


@broken("zero", "clip_bound")
def a_hinge_that_is_satisfied() -> tuple[Any, ...]:
    w = weights(3, 4)
    loss = pb.maximum(0.0, 1 - w)  # culprit
    return pb.sum(loss), w


@broken("zero", "steps")
def a_rounding() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    level = pb.round(w * 4)  # culprit
    return pb.sum(pb.square(level)), w


@broken("zero", "steps")
def a_sign() -> tuple[Any, ...]:
    w = weights(1.2, -2.7)
    return pb.sum(pb.sign(w) * 3), w  # culprit


@broken("zero", "masked")
def a_mask_that_takes_nothing() -> tuple[Any, ...]:
    w = weights(1, 2)
    kept = pb.where(np.array([False, False]), w * w, 0.0)  # culprit
    return pb.sum(kept), w


@broken("zero", "times_zero")
def weights_that_start_at_zero() -> tuple[Any, ...]:
    first = pb.Variable(np.ones((2, 3), np.float32), name="first")
    second = pb.Variable(np.zeros((3, 1), np.float32), name="second")
    hidden = pb.tanh(np.ones((4, 2), np.float32) @ first)
    out = hidden @ second  # culprit
    return pb.sum(out), first


@broken("zero", "times_zero")
def a_factor_of_zero() -> tuple[Any, ...]:
    w = weights(1, 2)
    auxiliary = pb.sum(w * w) * pb.constant(0.0)  # culprit
    return auxiliary, w


@broken("zero", "not_selected")
def an_embedding_row_that_is_not_looked_up() -> tuple[Any, ...]:
    table = pb.Variable(np.ones((4, 2), np.float32), name="table")
    unused = table[3] * 2
    rows = pb.stack([table[0], table[1], unused])
    found = pb.take(rows, [0, 1], axis=0)  # culprit
    return pb.sum(found), unused


@broken("zero", "not_selected")
def a_maximum_that_another_entry_has() -> tuple[Any, ...]:
    w = weights(1, 2)
    scores = pb.concat([w, pb.constant([100.0])])
    best = pb.max(scores)  # culprit
    return best * 2, w


@broken("zero", "empty")
def a_slice_of_nothing() -> tuple[Any, ...]:
    w = weights(1, 2)
    tail = w[2:]  # culprit
    return pb.sum(tail * 2), w


@broken("zero", "cancels")
def a_difference_of_the_same() -> tuple[Any, ...]:
    w = weights(1, 2)
    loss = pb.sum(w) - pb.sum(w)  # culprit
    return loss, w


@broken("zero", "rule_returned_zeros")
def a_straight_through_rule_that_returns_zeros() -> tuple[Any, ...]:
    w = weights(1.2, 2.7)
    with pb.gradient_override_map({"round": lambda op, g: g * 0}):
        y = pb.round(w)  # culprit
    return pb.sum(y), w


@broken("zero", "saturated")
def a_sigmoid_that_is_full() -> tuple[Any, ...]:
    w = weights(400, 500)
    p = pb.sigmoid(w)  # culprit
    return pb.sum(p), w


@broken("zero", "confident")
def a_prediction_that_is_right_already() -> tuple[Any, ...]:
    logits = weights(0, 0, 800, name="logits")
    return pb.sparse_softmax_cross_entropy(logits, 2), logits  # culprit


@broken("zero", "zero_slope")
def a_softmax_over_one_entry() -> tuple[Any, ...]:
    w = pb.Variable(np.ones((3, 1), np.float32), name="w")
    p = pb.softmax(np.ones((4, 3), np.float32) @ w)  # culprit
    return pb.sum(p * [[1.0], [2.0], [3.0], [4.0]]), w


@broken("zero", "dead_relu")
def a_mask_and_a_relu() -> tuple[Any, ...]:
    w = weights(2, 2, 2, -1)
    on = pb.relu(w)  # culprit
    return pb.sum(on * [0.0, 0.0, 0.0, 1.0]), w


@broken("zero", "vanishing")
def a_chain_that_underflows() -> tuple[Any, ...]:
    w = weights(1, 2)
    h = w * 1.0
    for _ in range(60):
        h = h * 0.1  # culprit
    return pb.sum(h), w


# --- tiny


@broken("tiny", "vanishing")
def a_tanh_that_is_nearly_full() -> tuple[Any, ...]:
    w = weights(12, 15)
    hidden = pb.tanh(w)  # culprit
    return pb.sum(hidden), w


@broken("tiny", "vanishing")
def a_loss_scaled_away() -> tuple[Any, ...]:
    w = weights(1, 2)
    return pb.sum(w * w) * 1e-12, w  # culprit


# --- NaN and infinite


@broken("nan", "bad_slope")
def the_length_of_a_zero_vector() -> tuple[Any, ...]:
    w = weights(0, 0)
    length = pb.sqrt(pb.sum(w * w))  # culprit
    return length * 2, w


@broken("infinite", "bad_slope")
def a_root_beside_a_guarded_log() -> tuple[Any, ...]:
    w = weights(0, 4)
    safe = pb.sum(pb.where(w > 0, pb.log(w), 0.0))
    root = pb.sqrt(w)  # culprit
    return safe + pb.sum(root), w


@broken("infinite", "bad_slope")
def a_root_beside_another_user() -> tuple[Any, ...]:
    w = weights(0, 4)
    h = w * 1.0
    root = pb.sqrt(h)  # culprit
    return pb.sum(root) + pb.sum(pb.tanh(h)), w


@broken("infinite", "bad_slope")
def a_root_at_zero() -> tuple[Any, ...]:
    w = weights(0, 4)
    return pb.sum(pb.sqrt(w)), w  # culprit


@broken("nan", "bad_value")
def a_log_of_a_negative() -> tuple[Any, ...]:
    w = weights(1, -2)
    entropy = pb.log(w)  # culprit
    return pb.sum(entropy * w), w


@broken("nan", "bad_value")
def a_log_of_zero() -> tuple[Any, ...]:
    p = weights(0, 1, name="p")
    logs = pb.log(p)  # culprit
    return -pb.sum(p * logs), p


@broken("nan", "bad_value")
def zero_divided_by_zero() -> tuple[Any, ...]:
    w = weights(0, 0)
    normal = w / pb.sum(w)  # culprit
    return pb.sum(normal * normal), w


@broken("nan", "bad_value")
def an_exponential_that_overflows() -> tuple[Any, ...]:
    w = weights(100, 1)
    e = pb.exp(w)  # culprit
    p = e / pb.sum(e)
    return pb.sum(p * p), w


@broken("nan", "bad_data")
def nan_in_the_data() -> tuple[Any, ...]:
    w = weights(1, 2)
    data = pb.constant([1.0, float("nan")])  # culprit
    return pb.sum(w * data), w


@broken("nan", "bad_slope")
def a_rule_that_makes_nan() -> tuple[Any, ...]:
    w = weights(1, 2)
    with pb.gradient_override_map({"tanh": lambda op, g: (g - g) / (g - g)}):
        y = pb.tanh(w)  # culprit
    return pb.sum(y), w


@broken("infinite", "bad_value")
def a_product_that_overflows() -> tuple[Any, ...]:
    w = weights(0.5, 0.9)
    big = w * pb.constant(3e38)
    square = big * big  # culprit
    return pb.sum(square), w
