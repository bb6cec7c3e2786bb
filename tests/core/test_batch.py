"""Subgraphs over a batch: what does not depend on the rows, gradients of a batch, overrides and
refusals. Each operation over a batch is in test_ops.py."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback import _core

ROWS = 3


def test_rows_of_what_does_not_depend_on_them():
    x = _core.Trace().argument("float32", (2,), False)
    rows = pb.constant(np.ones((ROWS, 2), np.float32))
    (y,) = _core.batched([pb.constant([1.0, 2.0])], [x], [rows], ROWS, 0)
    np.testing.assert_array_equal(y.numpy(), [[1, 2]] * ROWS)


TWICE = {
    "mean": lambda x: pb.mean(x * x, axis=0),
    "prod": lambda x: pb.prod(x, axis=(0, 2), keepdims=True),
    "max of ties": lambda x: pb.max(pb.round(x) + 0 * x, axis=(0, 2)),
    "min": lambda x: pb.min(x, axis=1),
    "softmax": lambda x: pb.softmax(x, axis=1),
    "log_softmax": lambda x: pb.log_softmax(x, axis=0),
    "logsumexp": lambda x: pb.logsumexp(x, axis=(0, 1), keepdims=True),
    "cross entropy": lambda x: pb.softmax_cross_entropy(x, pb.abs(x)),
    "labels": lambda x: pb.sparse_softmax_cross_entropy(x, np.array([[0, 2, 1], [1, 1, 0]])),
    "power": lambda x: x**3,
    "positions": lambda x: pb.take(x, pb.argmax(x[0, 0]), axis=2),
}


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_a_batch(name):
    """What is made for a batch is differentiated like what is made for one."""
    f, draws = TWICE[name], np.random.default_rng(1).normal(size=(ROWS, 2, 3, 4))
    x = _core.Trace().argument("float64", (2, 3, 4), False)
    batch = pb.Variable(draws)
    [y] = _core.batched([f(x)], [x], [batch.read()], ROWS, 0)
    weights = np.random.default_rng(2).normal(size=y.shape)
    [got] = pb.gradients(y, batch, grad_ys=weights)
    for i, draw in enumerate(draws):
        one = pb.Variable(draw)
        [expected] = pb.gradients(f(one), one, grad_ys=weights[i])
        np.testing.assert_allclose(got[i], expected, rtol=1e-12, atol=1e-12)


def test_overrides_of_where_it_is_made_do_not_matter():
    x = _core.Trace().argument("float32", (2,), False)
    y = pb.broadcast_to(pb.mean(x * x), (2, 2)) + x
    names = ("reshape", "broadcast_to", "sum", "multiply", "add", "mean", "divide")

    def broken(op, *cotangents):
        raise AssertionError(op.type)

    batch = pb.Variable(np.ones((ROWS, 2), np.float32))
    with pb.gradient_override_map(dict.fromkeys(names, broken)):
        [made] = _core.batched([y], [x], [batch.read()], ROWS, 0)
    assert pb.gradients(made, batch)[0].numpy().tolist() == [[6.0, 6.0]] * ROWS


def test_rows_of_another_shape_are_refused():
    x = _core.Trace().argument("float32", (2,), False)
    with pytest.raises(ValueError, match=r"expected a batch of .* got float32 \(3, 4\)"):
        _core.batched([x], [x], [pb.constant(np.ones((3, 4), np.float32))], 3, 0)
    for inputs, batches in (
        ([x], []),
        ([x], [pb.constant(np.ones((3, 2)))]),
        ([x], [pb.constant(np.float32(1))]),
        ([pb.constant([1.0, 2.0])], [pb.constant(np.ones((3, 2), np.float32))]),
    ):
        with pytest.raises(ValueError, match="batched: "):
            _core.batched([x], inputs, batches, 3, 0)
