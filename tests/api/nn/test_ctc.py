"""ctc_loss beside the sum over every path there is."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

RNG = np.random.default_rng(2)


def logits(time: int, batch: int, classes: int) -> Any:
    x = RNG.standard_normal((time, batch, classes))
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def brute(x: Any, target: Any, blank: int) -> float:
    """-log of the sum of all paths whose labels are the target's."""
    total = 0.0
    for path in product(range(x.shape[1]), repeat=len(x)):
        labels = [label for label, _ in groupby(path) if label != blank]
        if labels == list(target):
            total += np.exp(sum(x[t, c] for t, c in enumerate(path)))
    return float(-np.log(total)) if total else np.inf


CASES = [
    # steps, labels (of each entry of the batch), their lengths
    (4, [[1, 2], [1, 1], [2, 1]], None, None),
    (5, [[1, 2, 1], [1, 0, 0], [2, 2, 0]], [5, 3, 4], [3, 1, 2]),
    (3, [[1, 1], [2, 1], [1, 2]], [3, 0, 1], [2, 2, 0]),
    (2, [[1, 1, 2]], None, None),  # too long
    (4, [[], []], None, None),
    (0, [[1], [2]], None, None),
]


@each("example", CASES, ids=str)
@each("blank", [0, 2])
def test_every_path(example: Any, blank: int) -> None:
    time, targets, steps, lengths = example
    labels = np.array(targets, int).reshape(len(targets), -1)
    labels = np.where(labels >= blank, labels + 1, labels) if blank else labels
    x = logits(time, len(targets), 4)
    found = pb.nn.ctc_loss(x, labels, steps, lengths, blank=blank).numpy()
    for i, row in enumerate(labels):
        some = x[: steps[i] if steps else time, i]
        truth = brute(some, row[: lengths[i] if lengths else len(row)], blank)
        np.testing.assert_allclose(found[i], truth, rtol=1e-13, atol=1e-14)


@pytest.mark.usefixtures("along_directions")
def test_derivatives() -> None:
    x = logits(5, 3, 4)
    labels, steps, lengths = [[1, 2, 1], [3, 3, 0], [2, 0, 0]], [5, 4, 2], [3, 2, 1]

    def f(z: Any) -> Any:
        return pb.nn.ctc_loss(pb.log_softmax(z), labels, steps, lengths)

    pb.testing.check_gradients(f, x)
    (g,) = pb.gradients(f(z := pb.Variable(x)), z)
    np.testing.assert_allclose(g.numpy().sum(-1), 0, atol=1e-14)  # probabilities stay such
    assert not g.numpy()[4:, 1].any() and not g.numpy()[2:, 2].any()
    tangent = RNG.standard_normal(x.shape)
    _, found = pb.jvp(f, [x], [tangent])
    np.testing.assert_allclose(float(pb.sum(found)), (g.numpy() * tangent).sum(), rtol=1e-11)


def test_where_no_path_is() -> None:
    x = pb.Variable(logits(2, 2, 3))
    labels = [[1, 1], [1, 2]]
    y = pb.nn.ctc_loss(x, labels)
    assert y[0].numpy() == np.inf and np.isfinite(y[1].numpy())
    (g,) = pb.gradients(pb.sum(y), x)
    assert not g.numpy()[:, 0].any() and g.numpy()[:, 1].any()
    z = pb.nn.ctc_loss(x, labels, zero_infinity=True)
    assert z.numpy().tolist() == [0, y[1].numpy()]
    (h,) = pb.gradients(pb.sum(z), x)
    assert (h.numpy() == g.numpy()).all()


def test_long_ones_do_not_underflow() -> None:
    x = np.full((1000, 1, 2), np.log(0.5))
    loss = float(pb.nn.ctc_loss(x, [[1]])[0])
    np.testing.assert_allclose(loss, 1000 * np.log(2) - np.log(1000 * 1001 / 2), rtol=1e-12)
    assert np.isnan(pb.nn.ctc_loss(np.full((3, 1, 2), np.nan), [[1]]).numpy()).all()


def test_batches_and_traces() -> None:
    x, labels = logits(4, 2, 3), [[1, 2], [2, 2]]
    alone = pb.nn.ctc_loss(x, labels).numpy()
    traced = pb.function(lambda x, y: pb.nn.ctc_loss(x, y))
    np.testing.assert_allclose(traced(x, np.array(labels)).numpy(), alone)
    batched = pb.vmap(lambda x: pb.nn.ctc_loss(x, labels))(np.stack([x, x]))
    np.testing.assert_allclose(batched[1].numpy(), alone)
    with pytest.raises(IndexError):
        traced(x, np.array([[1, 3], [2, 2]])).numpy()
    assert pb.nn.ctc_loss(x.astype("f"), labels).dtype == "float32"
    assert pb.nn.ctc_loss(x[:, :0], np.zeros((0, 2), int)).shape == (0,)


def test_errors() -> None:
    x = logits(4, 2, 3)
    for kind, text, call in (
        (ValueError, "expected shape", lambda: pb.nn.ctc_loss(x[0], [[1]])),
        (ValueError, "shape .* for targets", lambda: pb.nn.ctc_loss(x, [1, 2])),
        (ValueError, "blank", lambda: pb.nn.ctc_loss(x, [[1], [2]], blank=3)),
        (TypeError, "expected integers for targets", lambda: pb.nn.ctc_loss(x, [[1.0], [2.0]])),
        (ValueError, "input_lengths", lambda: pb.nn.ctc_loss(x, [[1], [2]], [4, 5])),
        (ValueError, "target_lengths", lambda: pb.nn.ctc_loss(x, [[1], [2]], None, [1])),
        (
            IndexError,
            "labels from 0 to 2 for targets, got 3",
            lambda: pb.nn.ctc_loss(x, [[1], [3]]),
        ),
        (
            IndexError,
            "labels from 0 to 2 for targets, got -1",
            lambda: pb.nn.ctc_loss(x, [[1], [-1]]),
        ),
    ):
        with pytest.raises(kind, match=f"^ctc_loss: .*{text}"):
            call()


def test_numbers_that_a_run_tells() -> None:
    """Inside of a function labels and lengths are looked at when it runs."""
    x = logits(4, 2, 3)
    loss = pb.function(lambda labels, steps, lengths: pb.nn.ctc_loss(x, labels, steps, lengths))
    labels, steps, lengths = [[1, 2], [2, 0]], [4, 3], [2, 1]
    expected = pb.nn.ctc_loss(x, labels, steps, lengths).numpy()
    assert loss(np.array(labels), np.array(steps), np.array(lengths)).numpy().tolist() == (
        expected.tolist()
    )
    for wrong in (
        ([[1, -1], [2, 0]], steps, lengths),
        ([[1, 3], [2, 0]], steps, lengths),
        (labels, [5, 3], lengths),
        (labels, [4, -1], lengths),
        (labels, steps, [3, 1]),
        (labels, steps, [2, -1]),
    ):
        with pytest.raises(IndexError, match="out of range"):
            loss(*map(np.array, wrong)).numpy()
