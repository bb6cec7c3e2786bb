"""Generate points on a spiral by a diffusion model.

A network learns the noise that was added to a point. Sampling starts from noise and removes it
step by step (Ho, Jain and Abbeel, "Denoising diffusion probabilistic models", 2020). The steps are
one `scan`, which is traced once and evaluated without Python in between.

python examples/diffusion.py
"""

import numpy as np

import pullback as pb

STEPS = 100
BETA = np.linspace(1e-3, 0.1, STEPS).astype(np.float32)
KEPT = np.cumprod(1 - BETA).astype(np.float32)  # the share of the signal's variance after each step
WIDTH = 96


def spiral(angle):
    return pb.stack([angle * pb.cos(angle), angle * pb.sin(angle)], axis=-1) / 5


def draw(n):
    return spiral(pb.sqrt(pb.random.uniform(n)) * 3 * np.pi + 1.0)


def parameters():
    random = np.random.default_rng(0)
    sizes = {"w1": (2 + 8, WIDTH), "w2": (WIDTH, WIDTH), "w3": (WIDTH, WIDTH), "w4": (WIDTH, 2)}
    p = {n: random.normal(0, np.sqrt(2 / s[0]), s) for n, s in sizes.items()}
    p |= {f"b{k}": np.zeros(WIDTH) for k in (1, 2, 3)}
    return {name: pb.Variable(value.astype(np.float32)) for name, value in p.items()}


def noise_in(p, x, step):
    """Return an estimate of the noise in the points `x` after `step` steps."""
    phase = step[:, None] / STEPS * np.array([1, 2, 4, 8], np.float32) * np.pi / 2
    h = pb.concat([x, pb.sin(phase), pb.cos(phase)], axis=1)
    for k in (1, 2, 3):
        h = pb.nn.silu(h @ p[f"w{k}"] + p[f"b{k}"])
    return h @ p["w4"]


def sample(p, n):
    def remove(x, k):
        step = pb.ones(n) * k
        beta, kept = pb.take(BETA, k), pb.take(KEPT, k)
        mean = (x - beta / pb.sqrt(1 - kept) * noise_in(p, x, step)) / pb.sqrt(1 - beta)
        fresh = pb.where(k > 0, pb.sqrt(beta), 0.0) * pb.random.normal((n, 2))
        return mean + fresh, None

    x, _ = pb.scan(remove, pb.random.normal((n, 2)), np.arange(STEPS), reverse=True)
    return x


def main(steps=4000, batch=256):
    pb.random.seed(0)
    p = parameters()
    optimizer = pb.optimizers.Adam(pb.optimizers.Cosine(2e-3, steps))

    @pb.function
    def train():
        step = pb.random.integers(0, STEPS, batch)
        kept = pb.take(KEPT, step)[:, None]
        noise = pb.random.normal((batch, 2))
        noisy = pb.sqrt(kept) * draw(batch) + pb.sqrt(1 - kept) * noise
        loss = pb.mean(pb.square(noise_in(p, noisy, pb.astype(step, "float32")) - noise))
        variables = list(p.values())
        optimizer.apply_gradients(zip(pb.gradients(loss, variables), variables, strict=True))
        return loss

    losses = [float(train()) for _ in range(steps)]
    points = pb.function(sample, static_argnums=1)(p, 1000).numpy()
    curve = spiral(pb.constant(np.linspace(1.0, 3 * np.pi + 1, 2000))).numpy()
    apart = np.linalg.norm(points[:, None] - curve, axis=2).min(axis=1)
    print(f"loss {np.mean(losses[:20]):.3f} -> {np.mean(losses[-200:]):.3f}")
    print(f"median distance of a sample to the spiral {np.median(apart):.3f}")
    return float(np.median(apart)), points, curve


def plot(figure, result):
    _, points, curve = result
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    left.plot(*np.random.default_rng(0).normal(size=(2, 1000)), ".", markersize=3)
    left.set(title="noise")
    right.plot(*curve.T, color="lightgray")
    right.plot(*points.T, ".", markersize=3)
    right.set(title=f"after {STEPS} steps", xlim=(-3, 3), ylim=(-3, 3))


if __name__ == "__main__":
    main()
