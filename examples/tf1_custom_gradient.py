"""custom_gradient: a stable derivative, two inputs, a variable, and a custom second derivative.

python examples/tf1_custom_gradient.py
"""

import pullback.compat.tf1 as tf


def plain_log1pexp(x):
    return tf.math.log(1 + tf.exp(x))


@tf.custom_gradient
def log1pexp(x):
    """Return the same value; the gradient stays finite if exp(x) is infinite."""
    e = tf.exp(x)

    def slope(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), slope


@tf.custom_gradient
def product(x, y):
    """Return x y, with a rule for both inputs."""
    return x * y, lambda upstream: (upstream * y, upstream * x)


weights = tf.Variable([1.0, 1.0], name="weights")


@tf.custom_gradient
def line(x):
    """Return weights[1] x + weights[0]; the rule also returns the gradient of the variable."""

    def slope(upstream, variables=None):
        assert variables == [weights]
        by_weights = tf.stack([tf.reduce_sum(upstream), tf.reduce_sum(upstream * x)])
        return upstream * weights[1], [by_weights]

    return weights[1] * x + weights[0], slope


@tf.custom_gradient
def cube(x):
    """Return x³. Its first derivative has a custom derivative, too: 6x, scaled."""

    def first(upstream):
        @tf.custom_gradient
        def slope(x):
            return 3 * x * x, lambda above: above * 1000 * x

        return upstream * slope(x)

    return x * x * x, first


if __name__ == "__main__":
    large = tf.constant(100.0)
    plain, own = (tf.gradients(f(large), large) for f in (plain_log1pexp, log1pexp))
    x, y = tf.constant(2.0), tf.constant(3.0)
    both = tf.gradients(product(x, y), [x, y])
    three = tf.constant([1.0, 2.0, 3.0])
    of_line = tf.gradients(line(three), [three, weights])
    once = tf.gradients(cube(x), x)
    twice = tf.gradients(once, x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print("log(1 + exp(100)): plain", session.run(plain), "own", session.run(own))
        print("product:", session.run(both))
        print("line:", session.run(of_line))
        print("cube:", session.run([once, twice]))
