"""SciPy's optimizers with exact derivatives, over the family of Rosenbrock's function."""

import numpy as np
import pytest
from scipy import optimize

import pullback as pb

FIRST_ORDER = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"]
PRODUCTS = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"]
HESSIANS = ["dogleg", "trust-exact"]


def chained(x):
    return pb.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def extended(x):
    """The sum of Rosenbrock's function over disjoint pairs of coordinates."""
    return pb.sum(100 * (x[1::2] - x[::2] ** 2) ** 2 + (1 - x[::2]) ** 2)


# Stop later than by default.
OPTIONS = {"TNC": {"maxfun": 5000, "gtol": 1e-4}, "SLSQP": {"ftol": 1e-12, "maxiter": 500}}

FAMILY = [(chained, 2), (chained, 5), (chained, 10), (extended, 10)]


@pytest.mark.parametrize("f, n", FAMILY, ids=[f"{f.__name__}-{n}" for f, n in FAMILY])
def test_rosenbrock(f, n):
    both = pb.function(pb.value_and_grad(f))
    product = pb.function(lambda x, v: pb.hvp(f, (x,), (v,))[0])
    hessian = pb.function(pb.hessian(f))

    def fun(x):
        value, gradient = both(x)
        return float(value), gradient.numpy()

    if f is chained:
        x = np.linspace(-1, 2, n)
        v = np.arange(1.0, n + 1)
        np.testing.assert_allclose(fun(x)[0], optimize.rosen(x), rtol=1e-14)
        np.testing.assert_allclose(fun(x)[1], optimize.rosen_der(x), rtol=1e-13)
        np.testing.assert_allclose(hessian(x).numpy(), optimize.rosen_hess(x), rtol=1e-13)
        np.testing.assert_allclose(
            product(x, v).numpy(), optimize.rosen_hess_prod(x, v), rtol=1e-12
        )
    for method in FIRST_ORDER + PRODUCTS + HESSIANS:
        options = {"options": OPTIONS.get(method)}
        if method in PRODUCTS:
            # trust-constr passes vectors of integers too.
            options["hessp"] = lambda x, v: product(x, np.asarray(v, float)).numpy()
        elif method in HESSIANS:
            # dogleg requires Hessians that are positive definite, as near the minimum.
            options["hess"] = lambda x: hessian(x).numpy()
        start = np.full(n, 1.1) if method == "dogleg" else np.tile([-1.2, 1.0], n)[:n]
        found = optimize.minimize(fun, start, jac=True, method=method, **options)
        # Chained functions of four or more coordinates have a second, local minimum near x[0] = -1.
        flat = fun(found.x)[1]
        assert np.abs(flat).max() < 2e-3, (method, found.message)
        if f is extended or n < 4:
            np.testing.assert_allclose(found.x, 1, atol=2e-3, err_msg=method)
