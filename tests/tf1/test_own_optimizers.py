"""Optimizers that a program defines, by the methods of TensorFlow's base class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.tf1 import eager  # noqa: F401

from pullback.compat import tf1 as tf


class Heavy(tf.train.Optimizer):
    """Momentum: m = 0.5 m + g, v = v - rate m; counts its steps."""

    def __init__(self, rate: float, use_locking: bool = False, name: str = "Heavy") -> None:
        super().__init__(use_locking, name)
        self._rate = rate

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=0.0, name="steps", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self) -> None:
        self._rate_t = tf.convert_to_tensor(self._call_if_callable(self._rate), name="rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m = self.get_slot(var, "m")
        new = tf.assign(m, 0.5 * m + grad)
        return tf.group(tf.assign_sub(var, self._rate_t * new), new)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return tf.scatter_sub(var, grad.indices, self._rate_t * grad.values)

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        steps = self._get_non_slot_variable("steps", tf.get_default_graph())
        with tf.control_dependencies(update_ops):
            return tf.group(*update_ops, steps.assign_add(1.0), name=name_scope)


def run(make: Any, steps: int, fetch: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        op, *tensors = make()
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(op)
        return session.run(fetch(tensors))


def test_slots_and_other_variables() -> None:
    optimizer = Heavy(lambda: 0.1)

    def make() -> Any:
        v, step = tf.Variable([1.0, 2.0], name="v"), tf.train.get_or_create_global_step()
        op = optimizer.minimize(tf.reduce_sum(v * v) / 2, step)
        assert [x.name for x in optimizer.variables()] == ["steps:0", "v/Heavy:0"]
        assert optimizer.get_slot_names() == ["m"]
        return op, v, step, *optimizer.variables()

    v, step, steps, m = run(make, 3, lambda all: all)
    x, slope = np.array([1.0, 2.0]), np.zeros(2)
    for _ in range(3):
        slope = 0.5 * slope + x
        x = x - 0.1 * slope
    np.testing.assert_allclose(v, x, rtol=1e-6)
    np.testing.assert_allclose(m, slope, rtol=1e-6)
    assert (step, steps) == (3, 3.0)


def test_rows_come_once() -> None:
    """The program's update of rows writes each row once, whatever the batch."""

    class Setting(Heavy):
        def _apply_sparse(self, grad: Any, var: Any) -> Any:
            return tf.scatter_update(var, grad.indices, -grad.values)

    def make() -> Any:
        v = tf.Variable(np.ones((4, 2), np.float32))
        loss = tf.reduce_sum(tf.gather(v, [2, 0, 2]) * [[1.0], [2.0], [3.0]])
        return Setting(0.1).minimize(loss), v

    (v,) = run(make, 1, lambda all: all)
    np.testing.assert_array_equal(v, [[-2.0, -2.0], [1.0, 1.0], [-4.0, -4.0], [1.0, 1.0]])


def test_the_names_of_resource_variables() -> None:
    class Plain(tf.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "Plain")

        def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
            return handle.assign_sub(0.5 * grad)

        def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
            return tf.scatter_sub(handle, indices, 0.5 * grad)

    def make() -> Any:
        v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
        return Plain().minimize(tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(w, [1, 1]))), v, w

    v, w = run(make, 1, lambda all: all)
    np.testing.assert_array_equal(v, [0.0, 0.0])
    np.testing.assert_array_equal(w, [1.0, 1.0])


def test_a_rule_of_the_library_with_a_step_of_the_program() -> None:
    """What a subclass of Adam overrides is called; the rest is Adam's."""

    class Decaying(tf.train.AdamOptimizer):
        def _apply_dense(self, grad: Any, var: Any) -> Any:
            with tf.control_dependencies([var.assign(var * 0.5)]):
                return super()._apply_dense(grad, var)

    def make(kind: Any, start: float) -> Any:
        v = tf.Variable(start)
        return kind(0.1).apply_gradients([(tf.constant(3.0), v)]), v

    (decayed,) = run(lambda: make(Decaying, 2.0), 1, lambda all: all)
    (plain,) = run(lambda: make(tf.train.AdamOptimizer, 1.0), 1, lambda all: all)
    assert decayed == plain


def test_minimize_calls_what_a_subclass_defines_by_keywords() -> None:
    class Scaled(tf.train.GradientDescentOptimizer):
        def compute_gradients(self, loss: Any, var_list: Any, **keywords: Any) -> Any:
            assert set(keywords) == {
                "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "grad_loss"
            }  # fmt: skip
            pairs = super().compute_gradients(loss, var_list=var_list, **keywords)
            return [(g * 2.0, v) for g, v in pairs]

        def apply_gradients(self, pairs: Any, name: Any = None, global_step: Any = None) -> Any:
            return super().apply_gradients(pairs, global_step, name)

    def make() -> Any:
        v, step = tf.Variable(1.0), tf.Variable(0, trainable=False)
        return Scaled(0.25).minimize(v * 1.0, step, name="go"), v, step

    assert run(make, 1, lambda all: all) == [0.5, 1]


@pytest.mark.usefixtures("eager")
def test_in_eager_mode() -> None:
    v = tf.Variable([1.0, 2.0])
    Heavy(0.1).minimize(lambda: tf.reduce_sum(v * v) / 2)
    np.testing.assert_allclose(v.numpy(), [0.9, 1.8], rtol=1e-6)


@pytest.mark.usefixtures("eager")
def test_subclasses_of_the_library_in_eager_mode() -> None:
    class Doubled(tf.train.AdamOptimizer):
        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return super()._apply_dense(grad * 2.0, var)

    class Plain(tf.train.AdamOptimizer):
        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return var.assign_sub(grad)

    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    doubled, adam = Doubled(0.1), tf.train.AdamOptimizer(0.1)
    for _ in range(3):
        doubled.minimize(lambda: tf.reduce_sum(v * v))
        adam.minimize(lambda: 2.0 * tf.reduce_sum(w * w))
    np.testing.assert_array_equal(v.numpy(), w.numpy())
    Plain(0.1).minimize(lambda: tf.reduce_sum(w * w), var_list=[w])
    np.testing.assert_allclose(w.numpy(), -v.numpy(), rtol=1e-6)


@pytest.mark.usefixtures("eager")
def test_constraints_in_eager_mode() -> None:
    v = tf.Variable([1.0, 2.0], constraint=lambda x: tf.maximum(x, 0.5))
    Heavy(0.7).minimize(lambda: tf.reduce_sum(v * v) / 2)
    np.testing.assert_allclose(v.numpy(), [0.5, 0.6], rtol=1e-6)


def test_no_rule_at_all() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(
        NotImplementedError, match="Optimizer: expected an update rule, got none; define _apply"
    ):
        tf.train.Optimizer(False, "name").minimize(v * 1.0)
