"""A recurrent network by while_loop and TensorArray: it learns the decayed sum of its inputs.

python examples/tf1_recurrent.py
"""

import numpy as np

import pullback.compat.tf1 as tf

UNITS, FADING = 8, 0.6


class Network:
    """The graph for sequences of any length; inputs and goals have the shape [steps, batch]."""

    def __init__(self):
        self.inputs = tf.placeholder(tf.float32, [None, None])
        self.goals = tf.placeholder(tf.float32, [None, None])
        start = tf.random_normal_initializer(0.0, 0.3)
        self.inner = tf.get_variable("inner", [UNITS, UNITS], initializer=start)
        self.given = tf.get_variable("given", [1, UNITS], initializer=start)
        self.out = tf.get_variable("out", [UNITS, 1], initializer=start)
        steps, batch = tf.shape(self.inputs)[0], tf.shape(self.inputs)[1]
        seen = tf.TensorArray(tf.float32, size=steps).unstack(self.inputs)
        said = tf.TensorArray(tf.float32, size=steps)

        def step(t, state, said):
            x = tf.expand_dims(seen.read(t), 1)
            state = tf.tanh(tf.matmul(state, self.inner) + tf.matmul(x, self.given))
            return t + 1, state, said.write(t, tf.squeeze(tf.matmul(state, self.out), 1))

        first = (tf.constant(0), tf.zeros([batch, UNITS]), said)
        said = tf.while_loop(lambda t, *_: t < steps, step, first)[2]
        self.answers = said.stack()
        self.loss = tf.reduce_mean(tf.squared_difference(self.answers, self.goals))
        optimizer = tf.train.AdamOptimizer(0.01)
        slopes, variables = zip(*optimizer.compute_gradients(self.loss), strict=True)
        clipped, self.length = tf.clip_by_global_norm(slopes, 1.0)
        self.train = optimizer.apply_gradients(zip(clipped, variables, strict=True))

    def feed(self, random, steps=12, batch=32):
        x = random.uniform(-0.5, 0.5, size=(steps, batch)).astype(np.float32)
        goals, total = np.zeros_like(x), 0.0
        for t in range(steps):
            total = goals[t] = FADING * total + x[t]
        return {self.inputs: x, self.goals: goals}


def main():
    tf.set_random_seed(1)
    network = Network()
    random = np.random.default_rng(0)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(401):
            loss, _ = session.run([network.loss, network.train], network.feed(random))
            losses.append(loss)
            if k % 100 == 0:
                print(f"step {k}: loss {loss:.6f}")
        longer = session.run(network.loss, network.feed(random, steps=40))
        print(f"sequences of 40 steps: loss {longer:.6f}")
    return losses, longer


if __name__ == "__main__":
    main()
