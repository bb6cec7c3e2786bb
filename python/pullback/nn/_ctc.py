"""`ctc_loss`: the loss of label sequences that are not aligned with the input.

The forward algorithm over all alignments, as one `scan` along time.
"""

from __future__ import annotations

from math import inf
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import flag, integer, integer_tensor, lengths_of, made_floating
from .._control.loops import scan
from .._core import Tensor
from .._numpy.ranges import arange
from .._typing import TensorLike

__all__ = ["ctc_loss"]


def ctc_loss(
    log_probs: TensorLike,
    targets: TensorLike,
    input_lengths: TensorLike | None = None,
    target_lengths: TensorLike | None = None,
    *,
    blank: SupportsIndex = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability that labels come out of a sequence of distributions, summed over all
    places where they could stand: equal neighbours of such a path are one label, and blanks are
    left out (Graves et al., "Connectionist temporal classification", 2006).

    log_probs: shape (time, batch, classes): logarithms of probabilities, as of `log_softmax` along
        the last axis.
    targets: shape (batch, labels), integers; what stands behind the length of a target does not
        count.
    input_lengths, target_lengths: shape (batch,), integers: how many steps and labels belong to
        each entry of the batch. All of them unless given.
    blank: the class that says nothing.
    zero_infinity: a loss of infinity, where the labels do not fit into the steps, is 0 instead,
        with the gradient 0.

    Returns the losses, of shape (batch,). The gradient by log_probs is exact, those of an infinite
    loss 0. A label that is no class is an IndexError when the loss is computed.

    Raises ValueError for shapes that do not go together, TypeError for labels that are no integers.

    >>> even = pb.log(pb.full((2, 1, 3), 1 / 3))
    >>> loss = pb.nn.ctc_loss(even, [[1]])  # of nine paths: 1 1, 1 blank, blank 1
    >>> round(float(pb.exp(-loss[0])) * 9, 5)
    3.0
    """
    if zero_infinity is not False:
        zero_infinity = flag(zero_infinity, "ctc_loss", "zero_infinity")
    who = "ctc_loss"
    x = made_floating(log_probs, who)
    labels = integer_tensor(targets, who, "targets")
    if len(x.shape) != 3:
        raise ValueError(f"{who}: expected shape (time, batch, classes), got {x.shape}")
    time, batch, classes = x.shape
    if len(labels.shape) != 2 or labels.shape[0] != batch:
        raise ValueError(
            f"{who}: expected targets of shape ({batch}, labels), got shape {labels.shape}"
        )
    empty = integer(blank, who)
    if not 0 <= empty < classes:
        raise ValueError(f"{who}: blank must be one of {classes} classes, got {empty}")
    count = labels.shape[1]
    steps = lengths_of(input_lengths, batch, time, who, "input_lengths")
    lengths = lengths_of(target_lengths, batch, count, who, "target_lengths")

    # The states of a path: blank, label, blank, label, …, blank. A path may skip the blank between
    # two labels that differ.
    width = 2 * count + 1
    each = _core.less(arange(count), _column(lengths))
    labels = _core.where(each, labels, empty)
    if not _core.is_traced(labels):  # labels of a traced call are checked when it runs
        known = labels.numpy()
        wrong = known[(known < 0) | (known >= classes)]
        if wrong.size:
            raise IndexError(f"{who}: expected labels of {classes} classes, got {wrong[0]}")
        labels = _core.constant(known)
    blanks = _core.full((batch, count + 1), empty, labels.dtype)
    woven = _core.reshape(_core.stack([blanks[:, :count], labels], -1), (batch, 2 * count))
    places = _core.concat([woven, blanks[:, count:]], 1)
    differs = _core.not_equal(places, _before(places, 2, empty))
    may_leap = _core.logical_and(differs, _core.not_equal(places, empty))

    # One row for the whole batch. A label outside the classes must not address another example.
    rows = _core.add(_column(_core.multiply(arange(batch), classes)), places)
    inside = _core.logical_and(_core.greater_equal(places, 0), _core.less(places, classes))
    rows = _core.reshape(_core.where(inside, rows, batch * classes), (batch * width,))
    flat = _core.reshape(x, (time, batch * classes))
    emitted = _core.reshape(_core.take(flat, rows, 1, True), (time, batch, width))

    # Before the first step every path is at the first blank.
    start = _core.where(_core.equal(arange(width), 0), _core.full((batch, 1), 0, x.dtype), -inf)

    def step(paths: Tensor, at: Any) -> tuple[Tensor, None]:
        here, counts = at
        leaps = _core.where(may_leap, _before(paths, 2, -inf), -inf)
        ways = _core.logaddexp(_core.logaddexp(paths, _before(paths, 1, -inf)), leaps)
        return _core.where(counts, _core.add(ways, here), paths), None

    counts = _core.expand_dims(_core.less(_column(arange(time)), steps), -1)
    paths, _ = scan(step, start, (emitted, counts))
    last = _column(_core.multiply(lengths, 2))
    behind = _core.subtract(last, arange(width))
    ends = _core.logical_or(_core.equal(behind, 0), _core.equal(behind, 1))
    losses = _core.negative(_core.logsumexp(_core.where(ends, paths, -inf), -1))
    return _core.where(_core.equal(losses, inf), 0, losses) if zero_infinity else losses


def _column(x: Tensor) -> Tensor:
    return _core.expand_dims(x, -1)


def _before(x: Tensor, n: int, fill: float) -> Tensor:
    """What stands n places before, and `fill` where nothing does."""
    batch, width = x.shape
    n = min(n, width)
    return _core.concat([_core.full((batch, n), fill, x.dtype), x[:, : width - n]], 1)
