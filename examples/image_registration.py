"""Align two images by the gradient of interpolation.

An image is rotated, scaled and shifted. `pb.interpolate.map_coordinates` reads it at moved
positions and is differentiable in them, so the six numbers of the motion are found by L-BFGS.

python examples/image_registration.py
"""

import numpy as np

import pullback as pb

SIZE = 64
TRUE = np.array([0.25, 0.08, 4.0, -3.0])  # angle, log of the scale, shift of rows and of columns


def scene(size=SIZE):
    """Return a smooth image: some blobs and a bar."""
    random = np.random.default_rng(0)
    row, column = np.mgrid[:size, :size] / size
    image = 0.6 * np.exp(-((row - column) ** 2) / 0.01 - (row - 0.5) ** 2 / 0.03)
    for y, x, width in random.uniform([0.3, 0.3, 0.03], [0.7, 0.7, 0.08], (8, 3)):
        image += np.exp(-((row - y) ** 2 + (column - x) ** 2) / (2 * width**2))
    return image


def moved(image, p):
    """Return the image after a motion, read by linear interpolation."""
    middle = (SIZE - 1) / 2
    row, column = np.mgrid[:SIZE, :SIZE] - middle
    cosine, sine = pb.exp(p[1]) * pb.cos(p[0]), pb.exp(p[1]) * pb.sin(p[0])
    rows = cosine * row - sine * column + p[2] + middle
    columns = sine * row + cosine * column + p[3] + middle
    return pb.interpolate.map_coordinates(image, pb.stack([rows, columns]), order=1, mode="nearest")


def main(noise=0.02):
    image = scene()
    random = np.random.default_rng(1)
    target = moved(image, pb.constant(TRUE)).numpy() + random.normal(0, noise, image.shape)

    def difference(p, image, target):
        return pb.mean(pb.square(moved(image, p) - target))

    start = np.zeros(4)
    before = float(difference(pb.constant(start), image, target))
    found = pb.optimize.minimize(difference, start, (image, target))
    p = found.x.numpy()
    print(
        f"mean squared difference {before:.4f} -> {float(found.fun):.5f} in {int(found.nit)} steps"
    )
    print(f"found {np.round(p, 3).tolist()}, true {TRUE.tolist()}")
    return p, image, target, moved(image, found.x).numpy()


def plot(figure, result):
    _, image, target, aligned = result
    axes = figure.subplots(1, 4)
    pictures = {
        "image": image,
        "target": target,
        "difference before": image - target,
        "difference after": aligned - target,
    }
    for axis, (name, values) in zip(axes, pictures.items(), strict=True):
        apart = name.startswith("difference")
        limits = {"cmap": "RdBu", "vmin": -1, "vmax": 1} if apart else {"cmap": "gray"}
        axis.imshow(values, **limits)
        axis.set_title(name)
        axis.axis("off")


if __name__ == "__main__":
    main()
