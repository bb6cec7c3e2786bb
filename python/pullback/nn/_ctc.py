"""`ctc_loss`: the loss of label sequences that are not aligned with the input.

The forward algorithm over all alignments, as one `scan` along time.
"""

from __future__ import annotations

from math import inf
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import flag, integer, integer_tensor, lengths_of, made_floating
from .._base.composite import composite
from .._control.loops import scan
from .._core import Tensor
from .._numpy.ranges import arange
from .._typing import TensorLike

__all__ = ["ctc_loss"]


@composite
def ctc_loss(
    log_probs: TensorLike,
    targets: TensorLike,
    input_lengths: TensorLike | None = None,
    target_lengths: TensorLike | None = None,
    *,
    blank: SupportsIndex = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Compute the connectionist temporal classification (CTC) loss [1]_.

    The loss is the negative logarithm of the probability of the labels, summed over all their
    alignments with the time steps. In an alignment equal adjacent labels are merged, then blanks
    are removed. The gradient with respect to `log_probs` is exact; it is 0 if the loss is infinite.

    Parameters
    ----------
    log_probs : array_like, real
        Logarithms of probabilities of shape (time, batch, classes), such as the result of
        `log_softmax` along the last axis.
    targets : array_like, int
        Labels of shape (batch, labels). Labels after the length of a target are ignored.
    input_lengths, target_lengths : array_like, int, optional
        Numbers of time steps and of labels for each entry of the batch, of shape (batch,). Default:
        all of them.
    blank : int, optional
        Class of the blank. Default: 0.
    zero_infinity : bool, optional
        Replace infinite losses by 0. A loss is infinite if the labels do not fit into the time
        steps. Default: False.

    Returns
    -------
    Tensor
        Losses of shape (batch,); the floating dtype of `log_probs`.

    Raises
    ------
    ValueError
        If the shapes do not match, a length is out of range, or `blank` is not a class.
    TypeError
        If `log_probs` is complex, `targets` is not made of integers, or `zero_infinity` is not a
        bool.
    IndexError
        If a label is not a class: at the call, or at the evaluation if the labels are traced.

    References
    ----------
    .. [1] A. Graves, S. Fernández, F. Gomez, J. Schmidhuber, "Connectionist temporal
       classification", ICML 2006.

    Examples
    --------
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
        raise ValueError(
            f"{who}: expected shape (time, batch, classes) for log_probs, got {x.shape}"
        )
    time, batch, classes = x.shape
    if len(labels.shape) != 2 or labels.shape[0] != batch:
        raise ValueError(f"{who}: expected shape ({batch}, labels) for targets, got {labels.shape}")
    empty = integer(blank, who, "blank")
    if not 0 <= empty < classes:
        raise ValueError(
            f"{who}: expected an integer from 0 to {classes - 1} for blank, got {empty}"
        )
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
            raise IndexError(
                f"{who}: expected labels from 0 to {classes - 1} for targets, got {wrong[0]}"
            )
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
    """Shift the columns to the right by `n`, and fill with `fill`."""
    batch, width = x.shape
    n = min(n, width)
    return _core.concat([_core.full((batch, n), fill, x.dtype), x[:, : width - n]], 1)
