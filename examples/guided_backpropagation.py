"""Show which pixels speak for a class, with rules that replace the gradient of `relu`.

The gradient of a class by the pixels is noisy. Guided backpropagation passes a cotangent through
`relu` only if both the cotangent and the input are positive (Springenberg et al., "Striving for
simplicity", 2015). The network and its forward pass stay unchanged: `overrides=` of
`pb.gradients` selects the rule afterwards.

python examples/guided_backpropagation.py
"""

import numpy as np

import pullback as pb
from pullback.datasets import load_mnist

RULES = {
    "gradient": None,
    "deconvolution": {pb.relu: lambda op, upstream: pb.relu(upstream)},
    "guided": {pb.relu: lambda op, upstream: pb.relu(upstream) * (op.inputs[0] > 0)},
}


def logits_of(p, images):
    hidden = pb.relu(images @ p["w1"] + p["b1"])
    hidden = pb.relu(hidden @ p["w2"] + p["b2"])
    return hidden @ p["w3"]


def train(images, labels, steps, batch=100):
    random = np.random.default_rng(0)
    sizes = {"w1": (784, 128), "b1": (128,), "w2": (128, 64), "b2": (64,), "w3": (64, 10)}
    p = {
        name: pb.Variable(
            (random.normal(0, 1, size) * (len(size) > 1) / np.sqrt(size[0] / 2)).astype(np.float32)
        )
        for name, size in sizes.items()
    }
    optimizer = pb.optimizers.Adam(2e-3)

    @pb.function
    def step(x, y):
        loss = pb.mean(pb.nn.sparse_softmax_cross_entropy(logits_of(p, x), y))
        variables = list(p.values())
        optimizer.apply_gradients(zip(pb.gradients(loss, variables), variables, strict=True))
        return loss

    for _ in range(steps):
        some = random.integers(0, len(images), batch)
        loss = step(images[some], labels[some])
    return p, float(loss)


def main(steps=600):
    digits = load_mnist()
    p, loss = train(digits.train_images, digits.train_labels, steps)
    images = pb.Variable(digits.test_images[:200])
    logits = logits_of(p, images)
    score = pb.sum(pb.max(logits, axis=1))
    found = {name: pb.gradients(score, images, overrides=r)[0] for name, r in RULES.items()}
    maps = {name: gradient.numpy() for name, gradient in found.items()}
    right = np.mean(pb.argmax(logits, axis=1).numpy() == digits.test_labels[:200])
    # The share of the positive part of a map that lies on the ink.
    ink = digits.test_images[:200] > 0
    shares = {}
    for name, values in maps.items():
        positive = np.maximum(values, 0)
        shares[name] = float(np.sum(positive * ink) / np.sum(positive))
    print(f"loss {loss:.3f}, {right:.0%} of the test images")
    print("on the ink:", ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))
    return shares, maps, digits.test_images[:200]


def plot(figure, result):
    _, maps, images = result
    axes = figure.subplots(2, 4)
    for row, k in zip(axes, (0, 3), strict=True):
        row[0].imshow(images[k].reshape(28, 28), cmap="gray")
        for axis, (name, values) in zip(row[1:], maps.items(), strict=True):
            limit = np.abs(values[k]).max()
            axis.imshow(values[k].reshape(28, 28), cmap="RdBu", vmin=-limit, vmax=limit)
            axis.set_title(name)
        for axis in row:
            axis.axis("off")


if __name__ == "__main__":
    main()
