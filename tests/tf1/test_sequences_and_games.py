"""Words, characters, rewards and adversaries: programs of that time, trained and compared."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# --- skip-gram with a sampled softmax

WORDS, SIZE, SAMPLES, RATE = 40, 8, 12, 0.5


def pairs_of_words(random, count):
    """Words and neighbours: an even word goes with even ones, an odd one with odd ones."""
    words = random.integers(0, WORDS, count)
    return words, (words + 2 * random.integers(1, 6, count)) % WORDS


def skip_gram_by_numpy(e, w, b, words, labels, sampled):
    """Loss, and the parameters after a step, with the sample that was drawn."""
    classes, true_count, count = sampled
    x = e[words]
    true = np.sum(x * w[labels], 1) + b[labels] - np.log(true_count[:, 0])
    other = x @ w[classes].T + b[classes] - np.log(count)
    other = np.where(labels[:, None] == classes, -1e300, other)
    logits = np.concatenate([true[:, None], other], 1)
    p = softmax(logits)
    loss = -np.mean(np.log(p[:, 0]))
    p[:, 0] -= 1
    p /= len(words)
    by_x = p[:, :1] * w[labels] + p[:, 1:] @ w[classes]
    new_e, new_w, new_b = e.copy(), w.copy(), b.copy()
    np.subtract.at(new_e, words, RATE * by_x)
    np.subtract.at(new_w, labels, RATE * p[:, :1] * x)
    np.subtract.at(new_w, classes, RATE * p[:, 1:].T @ x)
    np.subtract.at(new_b, labels, RATE * p[:, 0])
    np.subtract.at(new_b, classes, RATE * p[:, 1:].sum(0))
    return loss, (new_e, new_w, new_b)


def test_skip_gram():
    tf.set_random_seed(1)
    words, labels = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None, 1])
    embeddings = tf.Variable(tf.random_uniform([WORDS, SIZE], -1.0, 1.0))
    weights = tf.Variable(tf.truncated_normal([WORDS, SIZE], stddev=1 / np.sqrt(SIZE)))
    biases = tf.Variable(tf.zeros([WORDS]))
    sampled = tf.nn.log_uniform_candidate_sampler(
        tf.cast(labels, tf.int64), 1, SAMPLES, True, WORDS
    )
    loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
        weights, biases, labels, tf.nn.embedding_lookup(embeddings, words), SAMPLES, WORDS,
        sampled_values=sampled,
    ))  # fmt: skip
    step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    length = tf.norm(embeddings, axis=1, keepdims=True)
    alike = tf.matmul(embeddings / length, embeddings / length, transpose_b=True)
    random = np.random.default_rng(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state = [v.astype(float) for v in session.run([embeddings, weights, biases])]
        losses = []
        for k in range(400):
            a, b = pairs_of_words(random, 64)
            value, drawn, _ = session.run([loss, sampled, step], {words: a, labels: b[:, None]})
            losses.append(value)
            if k < 15:
                expected, state = skip_gram_by_numpy(*state, a, b, drawn)
                assert value == pytest.approx(expected, rel=1e-4)
        assert np.mean(losses[-50:]) < 0.8 * np.mean(losses[:50])
        near = session.run(alike)
    same = (np.arange(WORDS)[:, None] - np.arange(WORDS)) % 2 == 0
    assert near[same].mean() > near[~same].mean() + 0.2


def test_skip_gram_with_noise_contrast():
    tf.set_random_seed(3)
    words, labels = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None, 1])
    embeddings = tf.get_variable("e", [WORDS, SIZE])
    weights, biases = tf.get_variable("w", [WORDS, SIZE]), tf.Variable(tf.zeros([WORDS]))
    inner = tf.nn.embedding_lookup(embeddings, words)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, inner, SAMPLES, WORDS))
    step = tf.train.AdagradOptimizer(0.5).minimize(loss)
    random = np.random.default_rng(4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = []
        for _ in range(150):
            a, b = pairs_of_words(random, 64)
            losses.append(session.run([loss, step], {words: a, labels: b[:, None]})[0])
    assert np.mean(losses[-20:]) < 0.8 * np.mean(losses[:20])


# --- a character network, unrolled by hand

TEXT = "the quick brown fox jumps over the lazy dog and runs back to the quiet old house again "


def characters_by_numpy(p, rows, targets):
    """Mean cross entropy of a tanh network, and its gradients back through time."""
    xh, hh, hy, bh, by = p
    batch, steps = rows.shape
    hidden, shares, loss = [np.zeros((batch, hh.shape[0]))], [], 0.0
    for t in range(steps):
        hidden.append(np.tanh(xh[rows[:, t]] + hidden[-1] @ hh + bh))
        shares.append(softmax(hidden[-1] @ hy + by))
        loss -= np.mean(np.log(shares[-1][np.arange(batch), targets[:, t]])) / steps
    slopes, later = [np.zeros_like(v) for v in p], 0.0
    for t in reversed(range(steps)):
        d = shares[t].copy()
        d[np.arange(batch), targets[:, t]] -= 1
        d /= batch * steps
        slopes[2] += hidden[t + 1].T @ d
        slopes[4] += d.sum(0)
        back = (d @ hy.T + later) * (1 - hidden[t + 1] ** 2)
        np.add.at(slopes[0], rows[:, t], back)
        slopes[1] += hidden[t].T @ back
        slopes[3] += back.sum(0)
        later = back @ hh.T
    return loss, slopes


def test_character_network():
    letters = sorted(set(TEXT))
    codes = np.array([letters.index(c) for c in TEXT])
    size, steps, batch = 24, 10, 16
    rows = tf.placeholder(tf.int32, [batch, steps])
    targets = tf.placeholder(tf.int32, [batch, steps])
    tf.set_random_seed(4)
    with tf.variable_scope("cell", initializer=tf.random_normal_initializer(stddev=0.2)):
        xh = tf.get_variable("xh", [len(letters), size])
        hh = tf.get_variable("hh", [size, size])
        hy = tf.get_variable("hy", [size, len(letters)])
    bh, by = tf.Variable(tf.zeros([size])), tf.Variable(tf.zeros([len(letters)]))
    variables = [xh, hh, hy, bh, by]
    h, losses = tf.zeros([batch, size]), []
    for x, y in zip(tf.unstack(rows, axis=1), tf.unstack(targets, axis=1), strict=True):
        h = tf.tanh(tf.matmul(tf.one_hot(x, len(letters)), xh) + tf.matmul(h, hh) + bh)
        losses.append(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(h, hy) + by)
        )
    loss = tf.reduce_mean(tf.stack(losses))
    slopes = tf.gradients(loss, variables)
    clipped, norm = tf.clip_by_global_norm(slopes, 0.25)
    optimizer = tf.train.AdamOptimizer(0.02)
    step = optimizer.apply_gradients(zip(clipped, variables, strict=True))
    random = np.random.default_rng(5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for k in range(150):
            starts = random.integers(0, len(TEXT) - steps - 1, batch)
            window = codes[starts[:, None] + np.arange(steps + 1)]
            feed = {rows: window[:, :-1], targets: window[:, 1:]}
            if k < 3:
                p = [v.astype(float) for v in session.run(variables)]
                expected, wanted = characters_by_numpy(p, window[:, :-1], window[:, 1:])
                got, cut, length = session.run([slopes, clipped, norm], feed)
                total = np.sqrt(sum(np.sum(g**2) for g in wanted))
                assert length == pytest.approx(total, rel=1e-4)
                for g, c, w in zip(got, cut, wanted, strict=True):
                    np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-6)
                    np.testing.assert_allclose(c, w * min(1, 0.25 / total), rtol=1e-3, atol=1e-6)
                assert session.run(loss, feed) == pytest.approx(expected, rel=1e-5)
            seen.append(session.run([loss, step], feed)[0])
    assert np.mean(seen[-10:]) < 0.4 * np.mean(seen[:10])


# --- policy gradient


def test_policy_gradient():
    """Four states, three actions; the right one pays 1. Only what was drawn is learnt from."""
    tf.set_random_seed(6)
    states, chosen = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    advantage = tf.placeholder(tf.float32, [None])
    w = tf.get_variable("policy", [4, 3], initializer=tf.zeros_initializer())
    logits = tf.matmul(states, w)
    action = tf.squeeze(tf.multinomial(logits, 1), [1])
    likely = tf.reduce_sum(tf.one_hot(chosen, 3) * tf.nn.log_softmax(logits), axis=1)
    loss = -tf.reduce_mean(likely * advantage)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    best, random = np.array([2, 0, 1, 2]), np.random.default_rng(7)
    returns, expected = [], np.zeros((4, 3))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(80):
            where = random.integers(0, 4, 50)
            x = np.eye(4)[where]
            a = session.run(action, {states: x})
            assert a.dtype == np.int64
            reward = (a == best[where]).astype(float)
            returns.append(reward.mean())
            gain = reward - np.mean(returns[-10:])
            session.run(step, {states: x, chosen: a, advantage: gain})
            score = np.eye(3)[a] - softmax(x @ expected)
            expected = expected + x.T @ (score * gain[:, None]) / 50
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-3, atol=1e-4)
    assert np.mean(returns[:5]) < 0.5 and np.mean(returns[-5:]) > 0.8
    assert np.argmax(expected, 1).tolist() == best.tolist()


# --- two adversaries


def test_generative_adversarial_network():
    """One makes numbers of noise, the other tells them from numbers around 4; each optimizer moves
    its own variables only."""
    tf.set_random_seed(8)
    real, noise = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])

    def generator(z):
        with tf.variable_scope("generator"):
            scale = tf.get_variable("scale", initializer=1.0)
            return z * scale + tf.get_variable("shift", initializer=0.0)

    def discriminator(x):
        with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
            h = tf.layers.dense(x, 8, tf.nn.tanh, name="hidden")
            return tf.layers.dense(h, 1, name="out")

    fake = generator(noise)
    on_real, on_fake = discriminator(real), discriminator(fake)
    cross = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(cross(labels=tf.ones_like(on_real), logits=on_real)) + tf.reduce_mean(
        cross(labels=tf.zeros_like(on_fake), logits=on_fake)
    )
    g_loss = tf.reduce_mean(cross(labels=tf.ones_like(on_fake), logits=on_fake))
    d_vars = tf.trainable_variables("discriminator/")
    g_vars = tf.trainable_variables("generator/")
    assert len(d_vars) == 4 and len(g_vars) == 2
    d_step = tf.train.AdamOptimizer(0.02, name="AdamD").minimize(d_loss, var_list=d_vars)
    g_step = tf.train.RMSPropOptimizer(0.01).minimize(g_loss, var_list=g_vars)
    slopes = tf.gradients(d_loss, d_vars), tf.gradients(g_loss, g_vars)
    random = np.random.default_rng(9)

    def feed(count=64):
        return {real: random.normal(4.0, 0.5, (count, 1)), noise: random.normal(size=(count, 1))}

    def by_numpy(d, g, data, sign=0):
        """Both losses in float64."""
        w1, b1, w2, b2 = d
        made = data[noise] * g[0] + g[1]

        def judged(x):
            return np.tanh(x @ w1 + b1) @ w2 + b2

        on_real, on_fake = judged(data[real]), judged(made)
        d_loss = np.mean(np.logaddexp(0, -on_real)) + np.mean(np.logaddexp(0, on_fake))
        return d_loss, np.mean(np.logaddexp(0, -on_fake))

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        data = feed()
        d, g = ([v.astype(float) for v in session.run(vs)] for vs in (d_vars, g_vars))
        np.testing.assert_allclose(
            session.run([d_loss, g_loss], data), by_numpy(d, g, data), rtol=1e-5
        )
        got = session.run(slopes, data)
        for which, parameters in ((0, d), (1, g)):
            line = [random.normal(size=np.shape(v)) for v in parameters]
            ends = []
            for size in (1e-6, -1e-6):
                moved = [v + size * s for v, s in zip(parameters, line, strict=True)]
                both = (moved, g) if which == 0 else (d, moved)
                ends.append(by_numpy(*both, data)[which])
            exact = sum(np.sum(a * s) for a, s in zip(got[which], line, strict=True))
            assert exact == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4)

        before = session.run(g_vars)
        session.run(d_step, feed())
        assert session.run(g_vars) == before
        middle = [v.tolist() for v in session.run(d_vars)]
        session.run(g_step, feed())
        assert [v.tolist() for v in session.run(d_vars)] == middle
        assert session.run(g_vars) != before
        first = session.run(fake, feed(1000)).mean()
        for _ in range(600):
            session.run(d_step, feed())
            session.run(g_step, feed())
        assert abs(first) < 0.2
        assert session.run(fake, feed(1000)).mean() == pytest.approx(4.0, abs=0.7)


# --- sequences of several lengths, from the end

REWARDS = np.arange(1.0, 13.0, dtype=np.float32).reshape(4, 3)  # time, batch
LENGTHS = np.array([4, 2, 0], np.int32)


def reversed_by_numpy(x, lengths):
    """The first entries of each column, as many as its length, in reverse order."""
    made = x.copy()
    for i, n in enumerate(lengths):
        made[:n, i] = x[:n, i][::-1]
    return made


@pytest.mark.parametrize("known", [(4, 3), (None, None), None])
def test_sequences_are_reversed_by_their_lengths(known):
    x = tf.placeholder(tf.float32, known)
    lengths = tf.placeholder(tf.int32, known and [known[1]])
    y = tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
    assert known is None or y.shape.as_list() == list(known)
    older = tf.reverse_sequence(tf.transpose(x), lengths, seq_dim=1, batch_dim=0)
    (slope,) = tf.gradients(y * REWARDS, x)
    feed = {x: REWARDS, lengths: LENGTHS}
    expected = reversed_by_numpy(REWARDS, LENGTHS)
    found, turned, by_x = run([y, older, slope], feed)
    assert listed([found, turned.T, by_x]) == [expected.tolist()] * 3


def test_discounted_returns_of_episodes_that_end_early():
    lengths = tf.constant(LENGTHS)
    back = tf.reverse_sequence(tf.constant(REWARDS), lengths, 0, 1)
    sums = tf.scan(lambda total, r: r + 0.5 * total, back)
    made = run(tf.reverse_sequence(sums, lengths, 0, 1))
    for i, n in enumerate(LENGTHS):
        expected = [sum(0.5 ** (k - t) * REWARDS[k, i] for k in range(t, n)) for t in range(n)]
        assert made[:n, i] == pytest.approx(expected)


def test_sequences_to_reverse_are_checked():
    x = tf.constant(REWARDS)
    for lengths, axes, text in (
        ([1, 1], (0, 1), "3 seq_lengths"), ([1, 1, 1], (0, 2), "two different axes"),
        ([1, 1, 1], (1, 1), "two different axes"), ([1, 1, 1], (None, 1), "two different axes"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"reverse_sequence: .*{text}"):
            tf.reverse_sequence(x, lengths, *axes)
    given = tf.placeholder(tf.int32, [3])
    for wrong in ([5, 1, 1], [-1, 1, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            run(tf.reverse_sequence(x, given, 0, 1), {given: wrong})
