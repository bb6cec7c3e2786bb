"""A variational autoencoder of handwritten digits (Kingma and Welling, "Auto-Encoding Variational
Bayes", 2014): the code of a digit is sampled, and the gradient flows through the sample.

python examples/variational_autoencoder.py
"""

import numpy as np

import pullback as pb
from pullback.datasets import load_mnist

CODE, HIDDEN = 8, 128


def parameters(random, pixels):
    sizes = {
        "encode": (pixels, HIDDEN),
        "mean": (HIDDEN, CODE),
        "spread": (HIDDEN, CODE),
        "decode": (CODE, HIDDEN),
        "pixels": (HIDDEN, pixels),
    }
    out = {}
    for name, (n, m) in sizes.items():
        weights = random.normal(0, n**-0.5, (n, m)).astype(np.float32)
        out[name] = pb.Variable(weights, name=name), pb.Variable(pb.zeros(m), name=f"{name}_bias")
    return out


def layer(p, name, x):
    weights, bias = p[name]
    return x @ weights + bias


def code_of(p, x):
    """Return the mean of a code and the logarithm of its standard deviation."""
    hidden = pb.relu(layer(p, "encode", x))
    return layer(p, "mean", hidden), layer(p, "spread", hidden)


def logits_of(p, code):
    return layer(p, "pixels", pb.relu(layer(p, "decode", code)))


def negative_bound(p, x):
    """Return the negative evidence lower bound (ELBO)."""
    mean, spread = code_of(p, x)
    code = mean + pb.exp(spread) * pb.random.normal(mean.shape)
    misfit = pb.nn.sigmoid_cross_entropy(logits_of(p, code), x, reduction="none")
    divergence = 0.5 * pb.sum(mean**2 + pb.exp(2 * spread) - 2 * spread - 1, axis=1)
    return pb.mean(pb.sum(misfit, axis=1) + divergence)


def main(steps=1500, batch=100):
    pb.random.seed(0)
    random = np.random.default_rng(0)
    images = load_mnist().train_images
    p = parameters(random, images.shape[1])
    flat = [variable for pair in p.values() for variable in pair]
    optimizer = pb.optimizers.Adam(2e-3)

    @pb.function
    def step(x):
        with pb.GradientTape() as tape:
            loss = negative_bound(p, x)
        optimizer.apply_gradients(zip(tape.gradient(loss, flat), flat, strict=True))
        return loss

    losses = []
    for _ in range(steps):
        losses.append(float(step(images[random.integers(0, len(images), batch)])))
    first, last = losses[0], np.mean(losses[-50:])
    print(f"negative bound: {first:.1f} at first, {last:.1f} at the end")
    code = pb.random.normal((24, CODE))
    return losses, pb.sigmoid(logits_of(p, code)).numpy()


def plot(figure, result):
    losses, images = result
    left, right = figure.subplots(1, 2)
    left.plot(losses)
    left.set(xlabel="step", title="negative bound", ylim=(80, 300))
    right.imshow(images.reshape(4, 6, 28, 28).swapaxes(1, 2).reshape(4 * 28, 6 * 28), cmap="gray")
    right.set(title="decoded samples of the prior")
    right.axis("off")


if __name__ == "__main__":
    main()
