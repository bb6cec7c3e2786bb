"""`explain`: the reason why a gradient is None, zero, tiny, infinite or NaN.

`explain` makes a `Question` (query.py), `analyse` evaluates the gradient and finds the causes
(analysis.py), and these are `Finding`s (finding.py). A program that explains nothing imports only
this file and explanation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from .. import _core
from .._autodiff.rules import rule_map
from .._autodiff.tape import GradientTape
from .._base.last_query import last_question
from .._base.pytree import flatten
from .._core import Tensor, Variable
from .explanation import Explanation, Explanations

__all__ = ["Explanation", "explain"]


@overload
def explain(
    y: Any,
    x: Tensor | Variable,
    *,
    tape: GradientTape | None = None,
    stop_gradients: Any = None,
    overrides: Mapping[Any, Any] | None = None,
    session: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
) -> Explanation: ...
@overload
def explain(
    y: Any,
    x: Any = None,
    *,
    tape: GradientTape | None = None,
    stop_gradients: Any = None,
    overrides: Mapping[Any, Any] | None = None,
    session: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
) -> Any: ...
def explain(
    y: Any,
    x: Any = None,
    *,
    tape: GradientTape | None = None,
    stop_gradients: Any = None,
    overrides: Mapping[Any, Any] | None = None,
    session: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
) -> Any:
    """Explain why the gradient of `y` by `x` is None, zero, tiny, infinite or NaN.

    A gradient that is none of these flows. The values and cotangents of the operations between `y`
    and `x` are evaluated. The graph keeps them like all evaluated tensors. Tensors that are
    evaluated and not tracked release their history, as after any evaluation.

    While `set_debug(True)` or PULLBACK_DEBUG=1 is set, operations store the line of the program
    that created them. Then the explanation names the line of the cause, also if a value left the
    graph by `numpy()` or `float()`. Otherwise it names operations and shapes, as far as their
    history exists.

    Parameters
    ----------
    y : Tensor, Variable or object
        Target. Without `x`: an optimizer, a tape, or a result of `gradients` or `tape.gradient`.
        Then its last request is explained, for each source and each target. This requires
        `set_debug(True)` before the request; the last request and its tensors are stored while
        debugging is on.
    x : Tensor, Variable or pytree of them, optional
        Source.
    tape : GradientTape, optional
        Tape that computed the gradient. Operations that it did not record do not count.
    stop_gradients : Tensor, Variable or pytree of them, optional
        As passed to `gradients`.
    overrides : mapping, optional
        As passed to `gradients`.
    session, feed_dict : optional
        Session and feeds that give values to a graph of `compat.tf1`; the default session if only
        feeds are given. The values are computed on a copy of the session, whose variables remain
        unchanged. Without both, only the operations are analysed.

    Returns
    -------
    Explanation or list of Explanation
        A list if `x` is a pytree or is omitted. It prints as text.

    Raises
    ------
    TypeError
        If `y` or `x` is not a tensor, if `tape` is not a GradientTape, or if a session is given for
        tensors that do not belong to a graph.
    ValueError
        If `x` is omitted and `y` does not identify the last request.
    LookupError
        If `overrides` contains an unknown name.

    See Also
    --------
    gradient_paths, draw, check_numerics

    Examples
    --------
    >>> x = pb.Variable([1.0, -2.0], name="x")
    >>> why = pb.explain(pb.sum(pb.relu(x - 5)), x)
    >>> why.status, why.reason
    ('zero', 'dead_relu')
    >>> print(pb.explain(pb.sum(pb.round(x)), x))
    The gradient of y (sum float32[]) by x (Variable 'x') is zero (largest 0, ...)
      why   round is flat between its jumps: its derivative is zero everywhere
    ...
    """
    if x is None:
        return _explain_last(y, session, feed_dict)
    from .analysis import analyse
    from .query_kinds import question_of

    stops = flatten([] if stop_gradients is None else stop_gradients)[0]
    rules = None if overrides is None else rule_map(overrides, "explain: overrides")
    if not isinstance(tape, (GradientTape, type(None))):
        raise TypeError(f"explain: expected a GradientTape for tape, got {_core.shown(tape)}")
    inner = None if tape is None else tape._tape
    leaves = flatten(x)[0]
    questions = [
        question_of(
            "explain", y, leaf, tape=inner, stops=stops, overrides=rules, session=session,
            feed_dict=feed_dict,
        )
        for leaf in leaves
    ]  # fmt: skip
    found = Explanations(map(analyse, questions))
    return found[0] if len(leaves) == 1 and leaves[0] is x else found


def _explain_last(subject: Any, session: Any, feed_dict: Any) -> Explanations:
    """Explain the last request for gradients, which the subject identifies."""
    from .analysis import analyse
    from .query_kinds import question_of

    request = last_question(subject)
    if request is None:
        raise ValueError(
            "explain: expected y and x, or the source of the last gradient while set_debug(True) "
            "is on: an optimizer that has minimized, a tape, or a result of gradients() or "
            f"tape.gradient(); got {_core.shown(subject)}"
        )
    ys, xs, seeds, tape, stops, overrides = request
    given = {"tape": tape, "stops": stops, "overrides": overrides}
    given |= {"session": session, "feed_dict": feed_dict}
    return Explanations(
        analyse(question_of("explain", y, x, seed=seed, **given))
        for x in xs
        for y, seed in zip(ys, seeds, strict=True)
    )


def why_none_of(y: Any, xs: list[Any]) -> list[tuple[Any, str]]:
    """Return why each gradient is None, as a sentence for the message of an optimizer."""
    from .analysis import sentence_for_none
    from .query_kinds import question_of

    return [(x, sentence_for_none(question_of("explain", y, x))) for x in xs]
