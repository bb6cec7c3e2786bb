"""Logistic regression by scipy.optimize, with exact gradients and Hessian-vector products.

python examples/scipy_minimize.py   (needs scipy)
"""

import numpy as np
from scipy.optimize import minimize

import pullback as pb


def problem(n=300, d=5):
    """Return points, labels, and their negative log-likelihood with a small penalty."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n, d))
    labels = (x @ np.arange(1.0, d + 1) + random.normal(size=n) > 0).astype(np.float64)

    def loss(w):
        logits = x @ w
        return pb.sum(pb.softplus(logits) - labels * logits) + 0.05 * pb.sum(w * w)

    return x, labels, loss


def main():
    _, _, loss = problem()
    value_and_gradient = pb.function(pb.value_and_grad(loss))
    hessian_product = pb.function(pb.grad(lambda w, v: pb.sum(pb.grad(loss)(w) * v)))

    def fun(w):
        value, gradient = value_and_gradient(w)
        return float(value), gradient.numpy()

    def hessp(w, v):
        return hessian_product(w, v).numpy()

    start = np.zeros(5)
    quasi = minimize(fun, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0})
    newton = minimize(fun, start, jac=True, hessp=hessp, method="trust-ncg", options={"gtol": 1e-9})
    for name, result in [("L-BFGS-B", quasi), ("trust-ncg", newton)]:
        print(f"{name}: {result.nit} iterations, loss {result.fun:.6f}, w {np.round(result.x, 4)}")
    return quasi, newton


if __name__ == "__main__":
    main()
