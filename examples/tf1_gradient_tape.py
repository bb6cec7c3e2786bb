"""GradientTape in eager mode: derivatives of a parabola, and its minimum.

python examples/tf1_gradient_tape.py
"""

import pullback.compat.tf1 as tf

tf.enable_eager_execution()

a, b, c = tf.constant(1.0), tf.constant(-2.0), tf.constant(1.0)


def parabola(x):
    return a * tf.pow(x, 2) + b * x + c


def slopes(x):
    """Return derivatives by the variable and by watched constants, and the second derivative."""
    with tf.GradientTape() as outer:
        with tf.GradientTape(persistent=True) as inner:
            inner.watch([a, c])
            y = parabola(x)
        slope = inner.gradient(y, x)
    return slope, inner.gradient(y, [a, c]), outer.gradient(slope, x)


def descend_by_tape(x, steps=1000):
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            y = parabola(x)
        optimizer.apply_gradients(grads_and_vars=[(tape.gradient(y, x), x)])


def descend_by_function(x, steps=1000):
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)
    for _ in range(steps):
        optimizer.minimize(lambda: parabola(x))


if __name__ == "__main__":
    slope, (by_a, by_c), curvature = slopes(tf.Variable(0.0, name="x", dtype=tf.float32))
    print(slope, by_a, by_c, curvature, sep="\n")
    for descend in (descend_by_tape, descend_by_function):
        x = tf.Variable(0.0, name="x", dtype=tf.float32)
        descend(x)
        tf.print("y =", parabola(x), "; x =", x)
