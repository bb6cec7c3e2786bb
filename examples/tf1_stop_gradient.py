"""The results of `tf.gradients` with and without `stop_gradient`.

python examples/tf1_stop_gradient.py
"""

import pullback.compat.tf1 as tf


def total_and_partial():
    """b depends on a. Return the total derivative by a, and the partial one."""
    a = tf.constant(0.0)
    b = 2 * a
    return tf.gradients(a + b, [a, b]), tf.gradients(a + b, [a, b], stop_gradients=[a, b])


def no_path():
    """Return gradients of an input before stop_gradient (None, not zero) and of another input."""
    first, second = tf.Variable(2.0), tf.Variable(2.0)
    product = tf.multiply(tf.stop_gradient(tf.multiply(first, 3.0)), second)
    return tf.gradients(product, xs=[first, second])


def another_path():
    """Add the same sum twice, once stopped: the gradient flows through the other one."""
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    return tf.gradients(tf.stop_gradient(tf.add(a, b)) + tf.add(a, b), xs=[a, b])


def straight_through():
    """Return the value of round(x) and the gradient of x."""
    x = tf.constant([0.2, 0.7, 1.6, -2.4])
    y = x + tf.keras.backend.stop_gradient(tf.round(x) - x)
    return y, tf.gradients(y, x)[0]


if __name__ == "__main__":
    total, partial = total_and_partial()
    unconnected = no_path()
    print("no path:", unconnected)
    both = another_path()
    value, slope = straight_through()
    with tf.Session() as session:
        tf.global_variables_initializer().run()
        print("total:", session.run(total), "partial:", session.run(partial))
        print("by the second factor:", session.run(unconnected[1]))
        print("two paths, one stopped:", session.run(both))
        print("rounded:", session.run(value), "gradient:", session.run(slope))
