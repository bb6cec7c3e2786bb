"""The main namespace's examples end where they say; those of compat.tf1 are in tests/tf1."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

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
    first, last, best = example("gumbel_softmax").main()
    np.testing.assert_array_equal(best, [1, 3, 4, 6])
    assert last < 0.2 * first
    assert "squared error" in capsys.readouterr().out


def test_gradient_reversal():
    module = example("gradient_reversal")
    digits, sources = module.main(reversal=False)
    assert digits > 0.95 and sources > 0.9
    digits, sources = module.main(reversal=True)
    assert digits > 0.95 and abs(sources - 0.5) < 0.1


def test_scipy_minimize():
    scipy = pytest.importorskip("scipy.optimize")
    module = example("scipy_minimize")
    quasi, newton = module.main()
    x, labels, _ = module.problem()

    def by_numpy(w):
        return np.sum(np.logaddexp(0, x @ w) - labels * (x @ w)) + 0.05 * np.sum(w * w)

    known = scipy.minimize(by_numpy, np.zeros(5), options={"gtol": 1e-4})
    for result in (quasi, newton):
        np.testing.assert_allclose(result.x, known.x, atol=1e-3)
    np.testing.assert_allclose(quasi.x, newton.x, atol=1e-6)


def test_dqn_target():
    first, last, learned = example("dqn_target").main()
    assert last < 0.3 * first
    np.testing.assert_allclose(learned, np.eye(4, 3), atol=0.1)


def test_physics_informed():
    assert example("physics_informed").main(steps=600) < 5e-3


def test_gaussian_process():
    pytest.importorskip("scipy.optimize")
    found, error = example("gaussian_process").main(n=100)
    assert found.success and error < 0.25
    np.testing.assert_allclose(np.exp(found.x[2]), 0.2, rtol=0.2)


def test_hamiltonian_monte_carlo():
    module = example("hamiltonian_monte_carlo")
    mean, covariance = module.main(chains=300, transitions=80)
    np.testing.assert_allclose(mean, module.MEAN, atol=0.1)
    np.testing.assert_allclose(covariance, module.COVARIANCE, atol=0.2)


def test_variational_autoencoder():
    first, last = example("variational_autoencoder").main(steps=150)
    assert last < 0.4 * first


@pytest.mark.slow
def test_digits_by_convolution():
    assert example("digits_by_convolution").main(epochs=1) > 0.9


@pytest.mark.slow
def test_digits_by_convolution_in_full(full_mnist):
    assert example("digits_by_convolution").main(full_mnist) >= 0.985


def test_each_is_short_and_in_the_gallery():
    page = (EXAMPLES.parent / "docs" / "gallery.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, path.name
        assert f" <gallery/{path.stem}>\n" in page, path.name


def test_each_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("tf1_")}
    assert {f"test_{name}" for name in names} <= globals().keys()
