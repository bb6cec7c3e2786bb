"""The main namespace's examples end where they say; those of compat.tf1 are in tests/tf1."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pullback as pb

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_straight_through(capsys):
    module = example("straight_through")
    losses, weights = module.train(module.round_through)
    assert losses[-1] < 1e-10 < losses[0]
    np.testing.assert_array_equal(weights, [[3, -1], [0, 2], [-2, 1]])
    module.main()
    assert "[0.0, 0.0]" in capsys.readouterr().out


def test_gumbel_softmax(capsys):
    losses, best, _ = example("gumbel_softmax").main()
    np.testing.assert_array_equal(best, [1, 3, 4, 6])
    assert losses[-1] < 0.2 * losses[0]
    assert "squared error" in capsys.readouterr().out


def test_gradient_reversal():
    module = example("gradient_reversal")
    digits, sources = module.train(reversal=False)
    assert digits > 0.95 and sources > 0.9
    digits, sources = module.train(reversal=True)
    assert digits > 0.95 and abs(sources - 0.5) < 0.1


def test_scipy_minimize():
    scipy = pytest.importorskip("scipy.optimize")
    module = example("scipy_minimize")
    quasi, newton, losses = module.main()
    x, labels, _ = module.problem()

    def by_numpy(w):
        return np.sum(np.logaddexp(0, x @ w) - labels * (x @ w)) + 0.05 * np.sum(w * w)

    known = scipy.minimize(by_numpy, np.zeros(5), options={"gtol": 1e-4})
    for result in (quasi, newton):
        np.testing.assert_allclose(result.x, known.x, atol=1e-3)
    np.testing.assert_allclose(quasi.x, newton.x, atol=1e-6)
    assert losses["trust-ncg"][-1] == pytest.approx(newton.fun)


def test_dqn_target():
    losses, learned = example("dqn_target").main()
    assert losses[-1] < 0.3 * losses[0]
    np.testing.assert_allclose(learned, np.eye(4, 3), atol=0.1)


def test_physics_informed():
    assert example("physics_informed").main(steps=600)[0] < 5e-3


def test_gaussian_process():
    pytest.importorskip("scipy.optimize")
    found, error, _ = example("gaussian_process").main(n=100)
    assert found.success and error < 0.25
    np.testing.assert_allclose(np.exp(found.x[2]), 0.2, rtol=0.2)


def test_hamiltonian_monte_carlo():
    module = example("hamiltonian_monte_carlo")
    mean, covariance, _ = module.main(chains=300, transitions=80)
    np.testing.assert_allclose(mean, module.MEAN, atol=0.1)
    np.testing.assert_allclose(covariance, module.COVARIANCE, atol=0.2)


def test_variational_autoencoder():
    losses, _ = example("variational_autoencoder").main(steps=150)
    assert np.mean(losses[-50:]) < 0.4 * losses[0]


@pytest.mark.slow
def test_digits_by_convolution():
    assert example("digits_by_convolution").main(epochs=1)[0] > 0.9


@pytest.mark.slow
def test_digits_by_convolution_in_full(full_mnist):
    assert example("digits_by_convolution").main(full_mnist, epochs=6)[0] >= 0.985


def test_gradient_clipping():
    results = example("gradient_clipping").main()
    losses, path, norms = results["clipped"]
    assert np.mean(losses[-50:]) < 0.3 * losses[0] and norms.max() > 10
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.051  # rate times limit
    assert np.linalg.norm(np.diff(results["plain"][1], axis=0), axis=1).max() > 1


def test_guided_backpropagation():
    module = example("guided_backpropagation")
    shares, maps, _ = module.main(steps=200)
    assert shares["gradient"] < shares["deconvolution"] < shares["guided"]
    assert not np.array_equal(maps["gradient"], maps["guided"])


def test_gan():
    near, shares, _ = example("gan").main(steps=1000)
    assert near > 0.4 and shares.min() > 0.05  # all clusters; 6 % of N(0, 1) are near a centre


def test_diffusion():
    module = example("diffusion")
    apart, points, curve = module.main(steps=1500)
    noise = np.random.default_rng(0).normal(size=(500, 2))
    before = np.median(np.linalg.norm(noise[:, None] - curve, axis=2).min(axis=1))
    assert apart < 0.4 * before and np.ptp(points, axis=0).min() > 2


def test_no_u_turn_sampler():
    mean, variance, found = example("no_u_turn_sampler").main(samples=1500)
    assert abs(mean[0]) < 0.25 and abs(mean[1] - 1) < 0.5
    np.testing.assert_allclose(variance[0], 1, atol=0.25)
    np.testing.assert_allclose(np.mean((found[:, 1] - found[:, 0] ** 2) ** 2), 0.25, atol=0.05)


def test_neural_ode():
    losses, error, data, _ = example("neural_ode").main(steps=1000)
    assert losses[-1] < 3e-3 * losses[0] and error < 0.15 * np.ptp(data)


def test_bundle_adjustment():
    pytest.importorskip("scipy.sparse")
    costs, jacobian = example("bundle_adjustment").main(cameras=6, points=60, steps=5)
    rows, columns = jacobian.shape
    expected = 0.5 * (rows - columns + 7) / rows  # 7: the motions and the scale of the whole scene
    assert costs[0] > 10 and costs[-1] == pytest.approx(expected, rel=0.3)
    assert np.diff(jacobian.tocsr().indptr).max() == 8  # rotation, 2 of 3 shifts, point


def test_optimal_control():
    pytest.importorskip("scipy.optimize")
    found, torques, _, height = example("optimal_control").main(iterations=150)
    assert height[-1] > 0.99 and np.abs(torques).max() <= 4 and found.fun < 0.1


def test_implicit_layer():
    losses, difference, found, y = example("implicit_layer").main(steps=150)
    assert losses[-1] < 1e-3 and difference < 1e-7
    np.testing.assert_array_equal(np.sign(found), y)


def test_image_registration():
    module = example("image_registration")
    np.testing.assert_allclose(module.main()[0], module.TRUE, atol=0.05)


def test_molecular_dynamics():
    module = example("molecular_dynamics")
    drift, momentum, (_, potentials, _, path) = module.main(steps=500)
    assert drift < 0.05 and momentum < 1e-10
    # The energy and the forces by NumPy.
    apart = path[-1][:, None] - path[-1]
    squares = np.sum(apart**2, axis=2) + np.eye(len(apart))
    inverse = squares**-3 - np.eye(len(apart))
    np.testing.assert_allclose(potentials[-1], np.sum(2 * (inverse**2 - inverse)), rtol=1e-10)
    slopes = (48 * inverse**2 - 24 * inverse) / squares
    force = module.force(path[-1]).numpy()
    np.testing.assert_allclose(force, np.sum(slopes[:, :, None] * apart, axis=1), atol=1e-8)


def test_private_sgd():
    module = example("private_sgd")
    results = module.main(steps=150)
    assert results[0.0][0] > 0.7 and results[16.0][0] < results[0.0][0]
    random = np.random.default_rng(0)
    p = {
        name: random.normal(0, 0.1, size).astype(np.float32)
        for name, size in {"w1": (784, 32), "b1": (32,), "w2": (32, 10), "b2": (10,)}.items()
    }
    images, labels = random.uniform(size=(5, 784)).astype(np.float32), np.arange(5)
    total, norms = module.clipped_sum(p, (images, labels))
    known = dict.fromkeys(p, 0.0)
    for k, example_of in enumerate(zip(images, labels, strict=True)):
        gradient = pb.grad(module.loss)(p, example_of)
        norm = np.sqrt(sum(float(pb.sum(g**2)) for g in gradient.values()))
        assert float(norms[k]) == pytest.approx(norm, rel=1e-5)
        known = {n: known[n] + gradient[n].numpy() * min(1, module.CLIP / norm) for n in p}
    for name, value in known.items():
        np.testing.assert_allclose(total[name], value, rtol=1e-4, atol=1e-5)


def test_uncertainty_propagation():
    found, covariance, simulated, _ = example("uncertainty_propagation").main(simulations=400)
    np.testing.assert_allclose(np.diag(covariance), np.diag(simulated), rtol=0.3)
    # For least squares: σ² (Jᵀ J)⁻¹ of the model, up to the curvature times the residuals.
    module = example("uncertainty_propagation")
    model = pb.jacobian(lambda p: module.model(p, module.TIMES))(found).numpy()
    known = module.NOISE**2 * np.linalg.inv(model.T @ model)
    np.testing.assert_allclose(covariance, known, rtol=0.2)


def test_each_is_short_and_in_the_gallery():
    page = (EXAMPLES.parent / "docs" / "gallery.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, path.name
        assert f" <gallery/{path.stem}>\n" in page, path.name


def test_each_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("tf1_")}
    assert {f"test_{name}" for name in names} <= globals().keys()
