"""Train a generative adversarial network on a ring of eight clusters.

The critic is trained with a penalty on the norm of its gradient by the samples (Gulrajani et al.,
"Improved training of Wasserstein GANs", 2017). The penalty contains a gradient, so its own gradient
is a second derivative.

python examples/gan.py
"""

import numpy as np

import pullback as pb

WIDTH = 64
ANGLES = np.arange(8) * np.pi / 4
CENTRES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1).astype(np.float32)


def network(seed, inputs, outputs):
    random = np.random.default_rng(seed)
    sizes = [(inputs, WIDTH), (WIDTH, WIDTH), (WIDTH, outputs)]
    return [
        (
            pb.Variable(random.normal(0, np.sqrt(2 / size[0]), size).astype(np.float32)),
            pb.Variable(np.zeros(size[1], np.float32)),
        )
        for size in sizes
    ]


def apply(layers, x):
    for weights, bias in layers[:-1]:
        x = pb.nn.leaky_relu(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def real(batch):
    chosen = pb.take(pb.constant(CENTRES), pb.random.integers(0, 8, batch), axis=0)
    return chosen + 0.05 * pb.random.normal((batch, 2))


def main(steps=2500, batch=128, critic_steps=3):
    pb.random.seed(0)
    generator, critic = network(0, 4, 2), network(1, 2, 1)
    flat = {id(net): [v for pair in net for v in pair] for net in (generator, critic)}
    optimizers = {
        id(net): pb.optimizers.Adam(1e-3, beta1=0.5, beta2=0.9) for net in (generator, critic)
    }

    def update(net, loss):
        variables = flat[id(net)]
        gradients = pb.gradients(loss, variables)
        optimizers[id(net)].apply_gradients(zip(gradients, variables, strict=True))
        return loss

    def slopes(points):
        return pb.grad(lambda x: pb.sum(apply(critic, x)))(points)

    @pb.function
    def train_critic():
        true = real(batch)
        false = pb.stop_gradient(apply(generator, pb.random.normal((batch, 4))))
        mixed = false + pb.random.uniform((batch, 1)) * (true - false)
        norms = pb.sqrt(pb.sum(pb.square(slopes(mixed)), axis=1) + 1e-12)
        distance = pb.mean(apply(critic, true)) - pb.mean(apply(critic, false))
        update(critic, 0.3 * pb.mean(pb.square(norms - 1)) - distance)
        return distance

    @pb.function
    def train_generator():
        return update(
            generator, -pb.mean(apply(critic, apply(generator, pb.random.normal((batch, 4)))))
        )

    distances = []
    for _ in range(steps):
        for _ in range(critic_steps):
            distance = train_critic()
        train_generator()
        distances.append(float(distance))
    samples = apply(generator, pb.random.normal((2000, 4))).numpy()
    to_centres = np.linalg.norm(samples[:, None] - CENTRES, axis=2)
    near = np.mean(to_centres.min(axis=1) < 0.25)
    shares = np.bincount(to_centres.argmin(axis=1), minlength=8) / len(samples)
    print(
        f"distance of the critic {np.mean(distances[:20]):.3f} -> {np.mean(distances[-200:]):.3f}"
    )
    print(f"{near:.0%} of the samples are near a centre; share of each: {np.round(shares, 2)}")
    return near, shares, samples


def plot(figure, result):
    _, shares, samples = result
    left, right = figure.subplots(1, 2)
    left.plot(*samples.T, ".", markersize=2, alpha=0.5, label="generated")
    left.plot(*CENTRES.T, "x", label="centres")
    left.set(aspect="equal")
    left.legend(loc="center", markerscale=3)
    right.bar(range(8), shares)
    right.axhline(1 / 8, color="gray", linestyle="--")
    right.set(xlabel="cluster", title="share of the samples")


if __name__ == "__main__":
    main()
