"""einops, opt_einsum and optree with tensors; each test is skipped without its library."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb

X = np.arange(24.0).reshape(2, 3, 4)


def test_einops():
    einops = pytest.importorskip("einops", reason="einops is not installed")
    pb.interop.register_einops()
    pb.interop.register_einops()  # a second call has no effect
    calls = [
        lambda x: einops.rearrange(x, "a b c -> c (b a)"),
        lambda x: einops.rearrange(x, "a b (c d) -> a c (b d)", d=2),
        lambda x: einops.repeat(x, "a b c -> a (b 2) k c", k=3),
        lambda x: einops.einsum(x, x, "a b c, a d c -> b d"),
        lambda x: einops.rearrange([x, 2 * x], "n a b c -> a n b c"),
        lambda x: einops.pack([x, x[:, 0]], "a * c")[0],
        *(
            lambda x, name=name: einops.reduce(x, "a b c -> c a", name)
            for name in ("sum", "mean", "max", "min", "prod")
        ),
    ]
    for kind in (pb.asarray, pb.Variable):
        for call in calls:
            got, want = call(kind(X + 1)), call(X + 1)
            assert isinstance(got, pb.Tensor)
            assert_allclose(got.numpy(), want)
    weights = np.random.default_rng(0).normal(size=(4, 6))
    slope = pb.grad(lambda x: pb.sum(einops.rearrange(x, "a b c -> c (b a)") * weights))(X)
    assert_allclose(slope.numpy(), einops.rearrange(weights, "c (b a) -> a b c", a=2))
    assert einops.parse_shape(pb.asarray(X), "a b _") == {"a": 2, "b": 3}
    assert isinstance(einops.asnumpy(pb.ones(2)), np.ndarray)
    with pytest.raises(einops.EinopsError):
        einops.rearrange(pb.asarray(X), "a b -> b a")


def test_opt_einsum():
    opt_einsum = pytest.importorskip("opt_einsum", reason="opt_einsum is not installed")
    a, b = X[0], X[1].T

    def product(a, b):
        return opt_einsum.contract("ij,jk,kl->il", a, b, a)

    assert_allclose(product(pb.asarray(a), pb.asarray(b)).numpy(), a @ b @ a)
    slope = pb.grad(lambda a: pb.sum(product(a, b)))(a)
    ones = np.ones((3, 4))
    assert_allclose(slope.numpy(), ones @ (b @ a).T + (a @ b).T @ ones)


def test_optree():
    optree = pytest.importorskip("optree", reason="optree is not installed")

    class Pair:
        def __init__(self, first, second, name):
            self.first, self.second, self.name = first, second, name

    @dataclass
    class Other:
        x: Any

    optree.register_pytree_node(
        Pair,
        lambda pair: ((pair.first, pair.second), pair.name, ("first", "second")),
        lambda name, children: Pair(*children, name),
        namespace="pullback test",
    )
    assert len(pb.tree.leaves(Pair(1.0, 2.0, "a"))) == 1
    pb.interop.register_optree("pullback test")
    assert pb.tree.leaves([Pair(1.0, Other(2.0), "a")]) == [1.0, 2.0]
    slope = pb.grad(lambda pair: pair.first * pair.second)(Pair(2.0, 5.0, "a"))
    assert (slope.first.item(), slope.second.item(), slope.name) == (5.0, 2.0, "a")
    with pytest.raises(TypeError, match=r"^register_optree: expected a string"):
        pb.interop.register_optree(3)
