"""Q-learning with a target network, which has no gradient and is copied from time to time.

python examples/tf1_dqn_target.py
"""

import numpy as np

import pullback.compat.tf1 as tf

STATES, ACTIONS, DISCOUNT = 4, 3, 0.5


def network(observation):
    w = tf.get_variable("w", [STATES, ACTIONS], initializer=tf.random_normal_initializer(0.0, 0.3))
    b = tf.get_variable("b", [ACTIONS], initializer=tf.zeros_initializer())
    return tf.matmul(observation, w) + b


class Learner:
    """The graph: inputs, both networks, the loss, one training step, and the copy."""

    def __init__(self):
        self.now = tf.placeholder(tf.float32, (None, STATES))
        self.action = tf.placeholder(tf.int32, (None,))
        self.reward = tf.placeholder(tf.float32, (None,))
        self.next = tf.placeholder(tf.float32, (None, STATES))
        with tf.variable_scope("main"):
            q = network(self.now)
        with tf.variable_scope("target"):
            q_next = network(self.next)
        self.main = tf.trainable_variables("main/")
        self.target = tf.trainable_variables("target/")
        chosen = tf.reduce_sum(q * tf.one_hot(self.action, ACTIONS), 1)
        goal = tf.stop_gradient(self.reward + DISCOUNT * tf.reduce_max(q_next, 1))
        self.loss = tf.reduce_mean(tf.squared_difference(goal, chosen))
        self.step = tf.train.RMSPropOptimizer(0.02).minimize(self.loss)
        self.copy = [t.assign(m) for t, m in zip(self.target, self.main, strict=True)]

    def feed(self, random, size=32):
        """Return a batch of transitions; action k has entry k of the state as its reward."""
        now = random.normal(size=(size, STATES))
        action = random.integers(0, ACTIONS, size)
        return {
            self.now: now,
            self.action: action,
            self.reward: now[np.arange(size), action],
            self.next: random.normal(size=(size, STATES)),
        }


def main():
    tf.set_random_seed(3)
    learner = Learner()
    print("gradient of the target network:", tf.gradients(learner.loss, learner.target))
    random = np.random.default_rng(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for round_ in range(5):
            session.run(learner.copy)
            frozen = session.run(learner.target)
            for _ in range(100):
                loss, _ = session.run([learner.loss, learner.step], learner.feed(random))
            pairs = zip(frozen, session.run(learner.target), strict=True)
            unmoved = all(np.array_equal(a, b) for a, b in pairs)
            print(f"round {round_}  loss {loss:.4f}  target network unmoved: {unmoved}")


if __name__ == "__main__":
    main()
