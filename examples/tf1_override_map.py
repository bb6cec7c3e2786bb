"""RegisterGradient and gradient_override_map: replace the gradient of an existing operation.

python examples/tf1_override_map.py
"""

import pullback.compat.tf1 as tf


@tf.RegisterGradient("HardTanhWindow")
def hard_tanh_window(op, grad):
    """Pass the gradient of sign between -1 and 1, as for a hard tanh."""
    x = op.inputs[0]
    return tf.where((x >= -1) & (x <= 1), grad, tf.zeros_like(grad))


@tf.RegisterGradient("Reversed")
def reversed_gradient(op, grad):
    return -grad


@tf.RegisterGradient("ReturnsNumber")
def returns_number(op, grad):
    return 0


def binary(x):
    with tf.get_default_graph().gradient_override_map({"Sign": "HardTanhWindow"}):
        return tf.sign(x)


def reversed_by_rule(x):
    with tf.get_default_graph().gradient_override_map({"Identity": "Reversed"}):
        return tf.identity(x)


def reversed_by_stopping(x):
    """Return the value of x with the gradient of -x, without a rule."""
    t = -x
    return t + tf.stop_gradient(x - t)


if __name__ == "__main__":
    x = tf.constant([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    signs = tf.gradients(binary(x), x)[0]
    answers = []
    for kind in (float, int):
        u, v = tf.Variable(kind(1)), tf.Variable(kind(3))
        total = u * v + u
        answers += [
            tf.gradients(reversed_by_rule(total), total),
            tf.gradients(reversed_by_stopping(total), total),
            tf.gradients(total, v),
        ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print("sign:", session.run(signs))
        print("reversed, reversed, plain:", session.run(answers))
    with tf.get_default_graph().gradient_override_map({"Identity": "ReturnsNumber"}):
        y = tf.identity(x)
    try:
        tf.gradients(y, x)
    except AttributeError as error:
        print(f"{type(error).__name__}: {error}")
