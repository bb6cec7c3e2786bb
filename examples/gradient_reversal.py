"""Gradient reversal: one backward pass trains a critic to distinguish two sources, and trains the
features to prevent that (Ganin and Lempitsky, 2015).

python examples/gradient_reversal.py
"""

import numpy as np

import pullback as pb


def accuracy(logits, source):
    return float(pb.mean(pb.equal(logits > 0.0, source > 0.5)))


def train(reversal, steps=400):
    random = np.random.default_rng(0)
    n = 200
    source = np.repeat([0.0, 1.0], n // 2).astype(np.float32)
    digit = random.integers(0, 2, n).astype(np.float32)
    # The first entry depends on the digit, the second on the source, the third on both.
    signal = np.stack([digit, source, digit + source], axis=1) * 2 - 1
    x = (signal + random.normal(0, 0.3, (n, 3))).astype(np.float32)

    features = pb.Variable(random.normal(0, 0.5, (3, 3)).astype(np.float32), name="features")
    reader = pb.Variable(random.normal(0, 0.5, 3).astype(np.float32), name="reader")
    critic = pb.Variable(random.normal(0, 0.5, 3).astype(np.float32), name="critic")
    variables = [features, reader, critic]
    optimizer = pb.optimizers.GradientDescent(0.5)

    def losses():
        h = x @ features
        digits = h @ reader
        sources = (pb.reverse_gradient(h, 0.3) if reversal else pb.stop_gradient(h)) @ critic
        return digits, sources

    def cross_entropy(labels, logits):
        return pb.mean(pb.softplus(logits) - labels * logits)

    @pb.function
    def step():
        with pb.GradientTape() as tape:
            digits, sources = losses()
            loss = cross_entropy(digit, digits) + cross_entropy(source, sources)
            loss += 0.1 * pb.sum(critic**2)  # prevents an endless oscillation of the two players
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    for _ in range(steps):
        step()
    digits, sources = losses()
    result = accuracy(digits, digit), accuracy(sources, source)
    print(f"{'reversed' if reversal else 'plain'}: digits {result[0]:.2f}, sources {result[1]:.2f}")
    return result


def main():
    return {"plain": train(reversal=False), "reversed": train(reversal=True)}


def plot(figure, results):
    axis = figure.subplots()
    for k, (name, accuracies) in enumerate(results.items()):
        bars = axis.bar(np.arange(2) + 0.4 * k, accuracies, 0.4, label=name)
        axis.bar_label(bars, fmt="%.2f")
    axis.axhline(0.5, color="gray", linestyle="--")
    axis.set_xticks([0.2, 1.2], ["digits", "sources"])
    axis.set(title="accuracy of the reader and of the critic", ylim=(0, 1.15))
    axis.legend()


if __name__ == "__main__":
    main()
