"""Train a small convolutional network on handwritten digits: two convolutions with pooling, and a
hidden layer with dropout.

python examples/digits_by_convolution.py [FOLDER]   (the four MNIST files; default: a sample)
"""

import sys

import numpy as np

import pullback as pb
from pullback.datasets import load_mnist


def parameters():
    shapes = {
        "first": (5, 5, 1, 16),
        "second": (5, 5, 16, 32),
        "hidden": (7 * 7 * 32, 128),
        "output": (128, 10),
    }
    return {
        name: (
            pb.Variable(pb.initializers.he_normal(shape), name=name),
            pb.Variable(pb.zeros(shape[-1]), name=f"{name}_bias"),
        )
        for name, shape in shapes.items()
    }


def logits_of(p, images, rate=0.0):
    x = pb.reshape(images, (-1, 28, 28, 1))
    for name in ("first", "second"):
        weights, bias = p[name]
        x = pb.nn.max_pool(pb.relu(pb.nn.conv2d(x, weights, bias, padding="SAME")), 2)
    x = pb.reshape(x, (len(images), -1))
    x = pb.relu(x @ p["hidden"][0] + p["hidden"][1])
    if rate:
        x = pb.nn.dropout(x, rate)
    return x @ p["output"][0] + p["output"][1]


def main(folder=None, epochs=3, batch=100):
    pb.random.seed(0)
    random = np.random.default_rng(0)
    digits = load_mnist(folder)
    p = parameters()
    flat = [variable for pair in p.values() for variable in pair]
    optimizer = pb.optimizers.Adam(1e-3)

    @pb.function
    def step(images, labels):
        with pb.GradientTape() as tape:
            logits = logits_of(p, images, rate=0.4)
            loss = pb.nn.sparse_softmax_cross_entropy(logits, labels)
        optimizer.apply_gradients(zip(tape.gradient(loss, flat), flat, strict=True))
        return loss

    @pb.function
    def classes(images):
        return pb.argmax(logits_of(p, images), axis=1)

    images, labels = digits.train_images, digits.train_labels
    for _ in range(epochs):
        order = random.permutation(len(images))
        for some in np.split(order, range(batch, len(order), batch)):
            step(images[some], labels[some])
    right = np.concatenate([classes(some).numpy() for some in np.split(digits.test_images, 10)])
    accuracy = float(np.mean(right == digits.test_labels))
    print(f"{accuracy:.2%} of the test images")
    return accuracy, digits.test_images, digits.test_labels, right


def plot(figure, result):
    _, images, labels, found = result
    wrong = np.flatnonzero(labels != found)[:8]
    for axis, k in zip(figure.subplots(2, 8).flat, [*range(8), *wrong], strict=False):
        axis.imshow(images[k].reshape(28, 28), cmap="gray")
        axis.set_title(str(found[k]), color="green" if found[k] == labels[k] else "red")
        axis.axis("off")
    figure.suptitle("predictions: the first test images, and the first errors")


if __name__ == "__main__":
    main(*sys.argv[1:])
