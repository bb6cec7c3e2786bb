"""Losses, normalisation, dropout and embedding: what no case table says. Ends of the range, kinks,
what costs nothing, errors."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import _core, nn


def slopes(f: Callable[..., Any], *xs: Any) -> list[Any]:
    variables = [pb.Variable(np.asarray(x, np.float64)) for x in xs]
    return [g.numpy().tolist() for g in pb.gradients(f(*variables), variables)]


S = 4.248354255291589e-18  # sigmoid(-40)
POINTS = [
    # loss, prediction, target, value, slope by the prediction
    (nn.sigmoid_cross_entropy, 40.0, 1.0, S, -S),
    (nn.sigmoid_cross_entropy, -40.0, 0.0, S, S),
    (nn.sigmoid_cross_entropy, 1e3, 0.0, 1e3, 1.0),
    (nn.sigmoid_cross_entropy, inf, 1.0, 0.0, 0.0),
    (nn.sigmoid_cross_entropy, -inf, 0.0, 0.0, 0.0),
    (nn.sigmoid_cross_entropy, -inf, 1.0, inf, -1.0),
    (nn.l1_loss, 2.0, 2.0, 0.0, 0.0),
    (nn.huber_loss, 1e300, 0.0, 1e300, 1.0),
    (nn.huber_loss, -inf, 0.0, inf, -1.0),
    (nn.huber_loss, 1.0, 0.0, 0.5, 1.0),
    (nn.huber_loss, 0.0, 0.0, 0.0, 0.0),
    (nn.smooth_l1, inf, 0.0, inf, 1.0),
    (nn.smooth_l1, -1.0, 0.0, 0.5, -1.0),
    (nn.hinge, 1.0, 1.0, 0.0, 0.0),
    (nn.hinge, -3.0, 1.0, 4.0, -1.0),
    (nn.hinge, nan, 1.0, nan, nan),
]


@each("loss, x, y, value, slope", POINTS)
def test_points(loss: Any, x: float, y: float, value: float, slope: float) -> None:
    np.testing.assert_allclose(float(loss(np.float64(x), y)), value, rtol=4e-16)
    np.testing.assert_allclose(slopes(lambda v: loss(v, y), x)[0], slope, rtol=4e-16)


LOSSES = [nn.l1_loss, nn.l2_loss, nn.huber_loss, nn.smooth_l1, nn.hinge, nn.sigmoid_cross_entropy]


@pytest.mark.parametrize("loss", LOSSES)
def test_reductions(loss: Any) -> None:
    x, y = np.array([[0.3, -2.0], [0.7, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    every = loss(x, y, reduction="none").numpy()
    assert every.shape == (2, 2)
    np.testing.assert_allclose(float(loss(x, y)), every.mean())
    np.testing.assert_allclose(float(loss(x, y, reduction="sum")), every.sum())
    np.testing.assert_allclose(loss(x, y > 0.5, reduction="none").numpy(), every)
    assert loss(x.astype("f"), y.astype(int)).dtype == "float32"
    assert loss(np.array([1, 2]), 0).dtype == "float32"
    assert np.isnan(float(loss(np.zeros((0, 2)), np.zeros((0, 2)))))


def test_divergence() -> None:
    q, p = np.array([0.0, -inf, -inf]), np.array([1.0, 0.0, 0.0])
    assert float(nn.kl_divergence(q, p)) == 0.0
    assert slopes(lambda v: nn.kl_divergence(v, p), q) == [[-1.0, 0.0, 0.0]]
    assert float(nn.kl_divergence(np.array([-inf, 0.0]), np.array([0.5, 0.5]))) == inf


def test_cosines_of_any_size() -> None:
    for size in (1e-320, 1e-200, 1.0, 1e200, 1e308):
        x, y = np.array([1.0, 1.0]) * size, np.array([1.0, 0.0]) / 3
        np.testing.assert_allclose(float(nn.cosine_similarity(x, y)), 0.5**0.5, rtol=1e-15)
    (dx, _) = slopes(nn.cosine_similarity, [1e200, 1e200], [3.0, 0.0])
    np.testing.assert_allclose(dx, np.array([1, -1]) * 0.5**1.5 * 1e-200)
    assert slopes(nn.cosine_similarity, [0.0, 0.0], [3.0, 1.0]) == [[0.0, 0.0], [0.0, 0.0]]
    assert np.isnan(float(nn.cosine_similarity([inf, 1.0], [1.0, 1.0])))
    assert nn.cosine_similarity(pb.zeros((2, 0)), pb.zeros((2, 0))).numpy().tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_mean_costs_no_digit(dtype: str) -> None:
    steps = np.array([[0.0, 8.0, 8.0, 24.0]], dtype)
    cotangent = np.array([[1.0, 2.0, 3.0, 5.0]], dtype)
    answers = []
    for x in (steps, steps + np.asarray(1e8, dtype)):
        v = pb.Variable(x)
        y = nn.layer_norm(v)
        (g,) = pb.gradients(y, v, grad_ys=cotangent)
        answers.append((y.numpy(), g.numpy()))
    for a, b in zip(*answers, strict=True):
        np.testing.assert_array_equal(a, b)


def test_equal_entries_are_exact_zeros() -> None:
    for n in range(1, 70):
        assert not nn.layer_norm(np.full((3, n), 0.1)).numpy().any()


def test_a_norm_and_its_gradient_are_one_group() -> None:
    x = pb.Variable(np.ones((32, 64), np.float32))
    w = pb.Variable(np.ones(64, np.float32))
    for norm in (nn.layer_norm, nn.rms_norm):
        assert _core.describe_plan([norm(x, w)]).count(" tiles ") == 1
        assert _core.describe_plan(pb.gradients(norm(x, w), x)).count(" tiles ") == 1


def test_norms_of_the_batch_and_kept_ones() -> None:
    x = np.random.default_rng(0).normal(3.0, 2.0, (5, 4))
    mean, variance = x.mean(0), x.var(0)
    trained = nn.batch_norm(x).numpy()
    np.testing.assert_allclose(trained, nn.batch_norm(x, mean, variance).numpy(), rtol=1e-12)
    images = np.random.default_rng(1).normal(size=(2, 6, 3, 3))
    first = nn.group_norm(images, 3, axis=1).numpy()
    last = nn.group_norm(np.moveaxis(images, 1, -1), 3).numpy()
    np.testing.assert_allclose(first, np.moveaxis(last, -1, 1), rtol=1e-12)
    assert abs(first.reshape(2, 3, -1).mean(-1)).max() < 1e-12


def test_dropout() -> None:
    pb.random.seed(3)
    x = pb.Variable(np.full(10_000, inf, np.float32))
    y = nn.dropout(x, 0.25)
    kept = y.numpy() != 0
    assert abs(kept.mean() - 0.75) < 0.02 and np.all(y.numpy()[kept] == inf)
    (g,) = pb.gradients(y, x)
    np.testing.assert_array_equal(g.numpy(), np.where(kept, np.float32(1 / 0.75), 0))
    assert nn.dropout(x, training=False).numpy()[0] == inf
    assert not nn.dropout(x, 1).numpy().any() and nn.dropout(x, 0).numpy()[0] == inf
    assert nn.dropout([1, 2]).dtype == "float32"


def test_embedding_rows() -> None:
    table = pb.Variable(np.arange(6.0).reshape(3, 2))
    y = nn.embedding(table, [[0, 2], [2, -1]])
    assert y.shape == (2, 2, 2)
    (g,) = pb.gradients(y, table)
    assert g.numpy().tolist() == [[1, 1], [0, 0], [3, 3]]
    with pytest.raises(IndexError, match=r"embedding|take"):
        nn.embedding(table, [3]).numpy()


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: nn.l1_loss([1.0], [[1.0]]), ValueError, r"^l1_loss: .*one shape.*\(1,\) and \(1, 1\)"),
    (lambda: nn.l2_loss([1.0], reduction="avg"), ValueError, "^l2_loss: reduction must be .*'avg'"),
    (lambda: nn.hinge([1.0], [1.0], reduction=None), ValueError, "^hinge: reduction"),  # type: ignore[arg-type]
    (
        lambda: nn.huber_loss([1.0], delta=-1),
        ValueError,
        "^huber_loss: expected a number >= 0 for delta",
    ),
    (lambda: nn.smooth_l1([1.0], beta="x"), TypeError, "^smooth_l1: expected a number for beta"),  # type: ignore[arg-type]
    (lambda: nn.kl_divergence([1.0], [1.0], axis=1), ValueError, "^kl_divergence: axis 1"),
    (lambda: nn.cosine_similarity([1.0], [1.0], axis=2), ValueError, "^cosine_similarity: axis 2"),
    (
        lambda: nn.glu([1.0, 2.0, 3.0]),
        ValueError,
        r"^glu: .*an even size for axis 0, got shape \(3,\)",
    ),
    (
        lambda: nn.layer_norm([[1.0]], axis=(0, 0)),
        ValueError,
        "^layer_norm: expected distinct axes",
    ),
    (lambda: nn.layer_norm([1.0], epsilon="x"), TypeError, "^layer_norm: expected a number"),  # type: ignore[arg-type]
    (lambda: nn.batch_norm([[1.0]], mean=[0.0]), TypeError, "^batch_norm: .*mean and variance"),
    (
        lambda: nn.batch_norm([[1.0]], weight=[1.0, 2.0]),
        ValueError,
        "^batch_norm: expected shape .1,., one entry for each channel",
    ),
    (
        lambda: nn.group_norm([[1.0, 2.0, 3.0]], 2),
        ValueError,
        "^group_norm: expected a divisor of 3 channels for groups, got 2",
    ),
    (
        lambda: nn.group_norm([1.0], 1),
        ValueError,
        "^group_norm: expected channels along an axis other than 0",
    ),
    (
        lambda: nn.dropout([1.0], 1.5),
        ValueError,
        "^dropout: expected a number in .0, 1. for rate, got 1.5",
    ),
    (lambda: nn.embedding(1.0, [0]), ValueError, "^embedding: expected a table"),
]


@each("call, kind, text", ERRORS, ids=[text for _, _, text in ERRORS])
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_gradient_of_cross_entropy_by_labels_of_zero() -> None:
    """It is -log_softmax of the logits at every label, also where a label is 0."""
    logits, labels = pb.constant([[0.0, 1.0, 2.0]], dtype="float64"), np.array([[0.0, 1.0, 0.0]])
    weights = np.array([[1.0, 2.0, 3.0]])

    def loss(z: Any, p: Any) -> Any:
        return pb.sum(pb.softmax_cross_entropy(z, p))

    softmax = np.exp([[0.0, 1.0, 2.0]]) / np.exp([0.0, 1.0, 2.0]).sum()
    slope = pb.grad(lambda p: loss(logits, p))
    np.testing.assert_allclose(slope(pb.constant(labels)), -np.log(softmax), rtol=1e-14)
    mixed = pb.grad(lambda p: pb.sum(pb.grad(loss)(logits, p) * weights))
    want = np.sum(weights * softmax) - weights
    np.testing.assert_allclose(mixed(pb.constant(labels)), want, rtol=1e-14)
    # A logit of -inf has no part in the loss if its label is 0.
    hidden = pb.constant([[-np.inf, 1.0, 2.0]], dtype="float64")
    assert float(slope(pb.constant(labels))[0, 0]) > 0
    assert np.isfinite(pb.grad(loss)(hidden, pb.constant(labels)).numpy()).all()
