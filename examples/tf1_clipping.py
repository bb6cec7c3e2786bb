"""Gradients clipped between `compute_gradients` and `apply_gradients`, by global norm and by value.

python examples/tf1_clipping.py
"""

import numpy as np

import pullback.compat.tf1 as tf

RATE = 0.5
LARGEST = 0.25


def step_by_global_norm():
    """Return the norms of the gradient and of the update after clipping by the global norm."""
    with tf.Graph().as_default():
        v, w = tf.Variable([3.0, -4.0]), tf.Variable(2.0)
        loss = tf.reduce_sum(tf.square(v)) * w
        variables = tf.trainable_variables()
        clipped, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), LARGEST)
        step = tf.train.GradientDescentOptimizer(RATE).apply_gradients(
            zip(clipped, variables, strict=True)
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(variables)
            length, _ = session.run([norm, step])
            after = session.run(variables)
    moved = [np.sum((a - b) ** 2) for a, b in zip(before, after, strict=True)]
    return float(length), float(np.sqrt(np.sum(moved)))


def step_by_value():
    """Return the update after clipping each element of the gradient to two bounds."""
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 0.1, -2.0])
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        pairs = optimizer.compute_gradients(tf.reduce_sum(v**2))
        held = [(tf.clip_by_value(gradient, -LARGEST, LARGEST), v) for gradient, v in pairs]
        step = optimizer.apply_gradients(held)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(v)
            session.run(step)
            return before - session.run(v)


if __name__ == "__main__":
    length, moved = step_by_global_norm()
    print(f"gradient {length:.4f}, update {moved:.4f} = rate {RATE} x norm {LARGEST}")
    print("update, clipped by value:", step_by_value())
