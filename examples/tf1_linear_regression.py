"""Fit a line to noisy points, one point at a time, with an optimizer and by hand.

Both graphs are written as for TensorFlow 1. The second one calls `tf.gradients` and assigns the
new weights itself. Both assignments use the weights from before the run.

    python examples/tf1_linear_regression.py
"""

import numpy as np

import pullback.compat.tf1 as tf

RATE = 0.01
STEPS = 20


def points(seed=1):
    random = np.random.default_rng(seed)
    x = random.uniform(-4.0, 6.0, STEPS)
    return x, 1.5 * x - 0.5 + random.normal(0.0, 0.05, STEPS)


def model():
    """Return the placeholders, the weights and the loss of one point."""
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    slope = tf.Variable(3.0, name="slope")
    offset = tf.Variable(1.0, name="offset")
    guess = tf.add(tf.multiply(x, slope), offset)
    return x, y, slope, offset, tf.reduce_sum(tf.pow(y - guess, 2)) / 2


def train(by_hand):
    """Return the losses of all steps, and the final weights."""
    with tf.Graph().as_default():
        x, y, slope, offset, loss = model()
        if by_hand:
            d_slope, d_offset = tf.gradients(loss, [slope, offset])
            steps = [slope.assign(slope - RATE * d_slope), offset.assign(offset - RATE * d_offset)]
        else:
            steps = [tf.train.GradientDescentOptimizer(RATE).minimize(loss)]
        gradient = tf.gradients(loss, slope)

        session = tf.Session()
        session.run(tf.global_variables_initializer())
        losses = []
        for number, target in zip(*points(), strict=True):
            *_, value, slopes = session.run(
                [*steps, loss, gradient], feed_dict={x: number, y: target}
            )
            losses.append(value)
            if number == points()[0][-1]:
                print(f"loss {value:.6f}  slope of the loss {slopes[0]:.6f}")
        weights = session.run([slope, offset])
        session.close()
    return losses, weights


if __name__ == "__main__":
    for by_hand in (False, True):
        losses, (slope, offset) = train(by_hand)
        print("by hand:  " if by_hand else "optimizer:", f"y = {slope:.4f} x + {offset:.4f}")
