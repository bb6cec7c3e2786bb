"""Softmax regression on the MNIST digits, with an optimizer or with updates written by hand.

    python examples/tf1_mnist_softmax.py FOLDER [--by-hand] [--epochs 10]

FOLDER contains the four IDX gzip files of the full set.
"""

import argparse

import pullback.compat.tf1 as tf
from pullback.compat.tf1.examples.tutorials.mnist import input_data

RATE = 0.01
BATCH = 100


def train(folder, by_hand=False, epochs=10, seed=None):
    """Return the mean cost of each epoch, and the accuracy on the first 3000 test images."""
    mnist = input_data.read_data_sets(folder, one_hot=True, seed=seed)
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.float32, [None, 10])
    weights = tf.Variable(tf.zeros([784, 10]))
    bias = tf.Variable(tf.zeros([10]))
    guess = tf.nn.softmax(tf.matmul(x, weights) + bias)
    cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(guess), reduction_indices=1))
    if by_hand:
        d_weights, d_bias = tf.gradients(xs=[weights, bias], ys=cost)
        steps = [weights.assign(weights - RATE * d_weights), bias.assign(bias - RATE * d_bias)]
    else:
        steps = [tf.train.GradientDescentOptimizer(RATE).minimize(cost)]
    right = tf.equal(tf.argmax(guess, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))

    costs = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        batches = mnist.train.num_examples // BATCH
        for epoch in range(epochs):
            mean = 0.0
            for _ in range(batches):
                images, labels = mnist.train.next_batch(BATCH)
                mean += session.run([*steps, cost], {x: images, y: labels})[-1] / batches
            costs.append(mean)
            print(f"epoch {epoch + 1:2}  cost {mean:.6f}")
        test = {x: mnist.test.images[:3000], y: mnist.test.labels[:3000]}
        share = accuracy.eval(test)
    print(f"accuracy {share:.4f}")
    return costs, share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    train(options.folder, options.by_hand, options.epochs)
