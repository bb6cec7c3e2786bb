"""Reconstruct cameras and points from pictures, with a sparse Jacobian.

Each observation depends on one camera and one point, so most entries of the Jacobian of the
residuals are zero. `pb.sparse_jacobian` finds the pattern and computes the others at the cost of
a few products. The steps are those of Levenberg and Marquardt.

python examples/bundle_adjustment.py   (needs scipy)
"""

import numpy as np
from scipy.sparse import diags
from scipy.sparse.linalg import spsolve

import pullback as pb


def rotate(vectors, points):
    """Rotate each point about the axis of a rotation vector by its length (Rodrigues' formula)."""
    angle = pb.sqrt(pb.sum(pb.square(vectors), axis=1, keepdims=True) + 1e-12)
    axis = vectors / angle
    along = pb.sum(axis * points, axis=1, keepdims=True)
    cosine = pb.cos(angle)
    return (
        cosine * points
        + pb.sin(angle) * pb.linalg.cross(axis, points)
        + (1 - cosine) * along * axis
    )


def project(parameters, cameras, which_camera, which_point):
    """Return the pictures of points; a camera has a rotation vector and a translation."""
    views = pb.reshape(parameters[: 6 * cameras], (-1, 6))[which_camera]
    points = pb.reshape(parameters[6 * cameras :], (-1, 3))[which_point]
    seen = rotate(views[:, :3], points) + views[:, 3:]
    return seen[:, :2] / seen[:, 2:]


def problem(cameras, points, noise):
    random = np.random.default_rng(0)
    views = np.concatenate([random.normal(0, 0.2, (cameras, 3)), np.zeros((cameras, 3))], axis=1)
    views[:, 3:] = random.normal((0, 0, 6), 0.5, (cameras, 3))
    scene = random.uniform(-1, 1, (points, 3))
    true = np.concatenate([views.ravel(), scene.ravel()])
    # Each point is in the pictures of five cameras.
    which = np.nonzero(random.uniform(size=(cameras, points)).argsort(axis=0) < 5)
    pictures = project(pb.constant(true), cameras, *which).numpy()
    pictures = pictures + random.normal(0, noise, pictures.shape)
    return which, pictures, true + random.normal(0, 0.05, true.shape)


def main(cameras=12, points=150, noise=1e-3, steps=8):
    which, pictures, x = problem(cameras, points, noise)

    @pb.function
    def residuals(x):
        return pb.ravel(project(x, cameras, *which) - pictures) / noise

    def cost(x):
        return float(pb.sum(pb.square(residuals(x)))) / (2 * pictures.size)

    damping, costs = 1e-2, [cost(x)]
    for _ in range(steps):
        jacobian = pb.sparse_jacobian(residuals, x).tocsr()
        normal = (jacobian.T @ jacobian).tocsc()
        gradient = jacobian.T @ residuals(x).numpy()
        while True:
            new = x - spsolve(normal + damping * diags(normal.diagonal()), gradient)
            if cost(new) < costs[-1] or damping > 1e6:
                break
            damping *= 10
        x, damping = new, damping / 10
        costs.append(cost(x))
    print(f"Jacobian {jacobian.shape}, {jacobian.nnz / np.prod(jacobian.shape):.1%} nonzero")
    print(f"squared error over that of the noise: {costs[0]:.1f} -> {costs[-1]:.2f}")
    return costs, jacobian


def plot(figure, result):
    costs, jacobian = result
    left, right = figure.subplots(1, 2)
    left.spy(jacobian[:400], markersize=0.5, aspect="auto")
    left.set(title="the first 400 rows of the Jacobian")
    right.semilogy(costs, ".-")
    right.axhline(0.5, color="gray", linestyle="--", label="noise")
    right.set(xlabel="step", title="cost, in units of the noise")
    right.legend()


if __name__ == "__main__":
    main()
