"""Train a classifier so that no single example has much influence.

Differentially private descent clips the gradient of each example to a norm and adds noise to their
sum (Abadi et al., "Deep learning with differential privacy", 2016). `per_example_gradient_norms`
computes the norms without the gradients, and the clipped sum is a second reverse pass with weights.

python examples/private_sgd.py
"""

import numpy as np

import pullback as pb
from pullback.datasets import load_mnist

CLIP = 1.0


def loss(p, example):
    image, label = example
    hidden = pb.tanh(image @ p["w1"] + p["b1"])
    return pb.nn.sparse_softmax_cross_entropy(hidden @ p["w2"] + p["b2"], label)


def clipped_sum(p, batch):
    """Return the sum of the gradients, each clipped to the norm `CLIP`, and the norms before."""
    norms = pb.per_example_gradient_norms(loss, p, batch)
    weights = pb.stop_gradient(pb.minimum(1.0, CLIP / norms))
    losses = pb.vmap(loss, in_axes=(None, 0))
    return pb.grad(lambda p: pb.sum(weights * losses(p, batch)))(p), norms


def train(digits, noise, steps, batch=200, rate=0.5):
    pb.random.seed(0)
    random = np.random.default_rng(0)
    p = {
        "w1": pb.Variable(random.normal(0, 0.05, (784, 32)).astype(np.float32)),
        "b1": pb.Variable(np.zeros(32, np.float32)),
        "w2": pb.Variable(random.normal(0, 0.2, (32, 10)).astype(np.float32)),
        "b2": pb.Variable(np.zeros(10, np.float32)),
    }

    @pb.function
    def step(images, labels):
        total, norms = clipped_sum({k: v.read() for k, v in p.items()}, (images, labels))
        for name, variable in p.items():
            blurred = total[name] + noise * CLIP * pb.random.normal(variable.shape)
            variable.assign_sub(rate / batch * blurred)
        return norms

    for _ in range(steps):
        some = random.integers(0, len(digits.train_images), batch)
        norms = step(digits.train_images[some], digits.train_labels[some])
    hidden = pb.tanh(digits.test_images @ p["w1"] + p["b1"])
    found = pb.argmax(hidden @ p["w2"] + p["b2"], axis=1).numpy()
    return float(np.mean(found == digits.test_labels)), norms.numpy()


def main(steps=500):
    digits = load_mnist()
    results = {noise: train(digits, noise, steps) for noise in (0.0, 1.0, 4.0, 16.0)}
    for noise, (accuracy, norms) in results.items():
        print(
            f"noise {noise:4}: {accuracy:.1%} of the test images, "
            f"{np.mean(norms > CLIP):.0%} of the last gradients clipped"
        )
    return results


def plot(figure, results):
    left, right = figure.subplots(1, 2)
    left.plot([str(noise) for noise in results], [r[0] for r in results.values()], "o-")
    left.set(xlabel="noise, in units of the clipping norm", title="accuracy", ylim=(0, 1))
    right.hist([r[1] for r in results.values()], 20, label=[f"noise {n}" for n in results])
    right.axvline(CLIP, color="gray", linestyle="--")
    right.set(xlabel="norm", title="gradients of the examples")
    right.legend()


if __name__ == "__main__":
    main()
