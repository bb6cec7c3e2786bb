"""Sparse derivatives equal dense ones, and those of elementwise operations are diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import pullback as pb

from ..cases import Case, same_numbers
from ..check import Check
from .calls import Calls


def dense(f: Any, x: Any) -> Any:
    """The jacobian of f at x, as a matrix."""
    v = pb.Variable(x)
    with pb.GradientTape() as tape:
        y = f(v)
    found = tape.jacobian(y, v, unconnected_gradients="zero")
    return found.numpy().reshape(int(np.prod(y.shape)), x.size)


def of_one_argument(case: Case, shapes: Any) -> Iterator[tuple[int, Any, Any]]:
    """(number, function of that argument alone, value) for each argument that has a gradient."""
    arrays = [pb.constant(a) for a in case.arrays(shapes, "d")]
    for k in case.wrt:
        yield k, lambda x, k=k: case.run(*arrays[:k], x, *arrays[k + 1 :]), arrays[k].numpy()


def sparse_jacobians_are_the_dense_ones(calls: Calls, check: Check) -> None:
    case = calls.case
    for shapes in case.shapes:
        for k, f, x in of_one_argument(case, shapes):
            got, want = pb.sparse_jacobian(f, x), dense(f, x)
            same = same_numbers(got.toarray(), want, 1e-12)
            check.that(same, f"argument {k} of {shapes}: {got.toarray()}, dense {want}")
            most = got.shape[0] if case.elementwise else np.inf
            check.that(got.nnz <= most, f"argument {k} of {shapes}: {got.nnz} entries")


def sparse_hessians_are_the_dense_ones(calls: Calls, check: Check) -> None:
    case = calls.case
    for k, f, x in of_one_argument(case, case.shapes[0]):
        weights = np.random.default_rng(1).normal(size=f(pb.constant(x)).shape)
        total = lambda x, f=f, weights=weights: pb.sum(f(x) * weights)  # noqa: E731
        got, want = pb.sparse_hessian(total, x), dense(pb.grad(total), x)
        same = same_numbers(got.toarray(), want, 1e-10)
        check.that(same, f"argument {k}: {got.toarray()}, dense {want}")
        most = x.size if case.elementwise else np.inf
        check.that(got.nnz <= most, f"argument {k}: {got.nnz} entries")


PROPERTIES = (sparse_jacobians_are_the_dense_ones, sparse_hessians_are_the_dense_ones)
