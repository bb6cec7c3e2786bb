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

    results, paths = {}, {}
    for method, options in [("L-BFGS-B", {"ftol": 0}), ("trust-ncg", {})]:
        paths[method] = [np.zeros(5)]
        results[method] = result = minimize(
            fun,
            paths[method][0],
            jac=True,
            hessp=hessp if method == "trust-ncg" else None,
            method=method,
            callback=lambda w, path=paths[method]: path.append(w.copy()),
            options={"gtol": 1e-9, **options},
        )
        weights = np.round(result.x, 4)
        print(f"{method}: {result.nit} iterations, loss {result.fun:.6f}, w {weights}")
    losses = {method: [fun(w)[0] for w in path] for method, path in paths.items()}
    return results["L-BFGS-B"], results["trust-ncg"], losses


def plot(figure, result):
    best = min(result[0].fun, result[1].fun)
    axis = figure.subplots()
    for method, losses in result[2].items():
        axis.semilogy(np.maximum(np.array(losses) - best, 1e-13), ".-", label=method)
    axis.set(xlabel="iteration", title="loss above the minimum")
    axis.legend()


if __name__ == "__main__":
    main()
