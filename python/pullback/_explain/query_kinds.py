"""Which kind of question it is, by what it is about: tensors of the main namespace have one, those
of a graph of compat.tf1 another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Rule, Tensor, Variable
from .query import Question

_kinds: list[tuple[tuple[type, ...], Callable[..., Question]]] = []


def register(types: tuple[type, ...], kind: Callable[..., Question]) -> None:
    """Says that questions about tensors of these types are made by `kind(who, y, x)`, with `seed`,
    `tape`, `stops`, `session` and `feed_dict` by name."""
    _kinds.append((types, kind))


def is_askable(x: Any) -> bool:
    """Whether a question can be about it."""
    return isinstance(x, (Tensor, Variable)) or any(isinstance(x, types) for types, _ in _kinds)


def question_of(
    who: str,
    y: Any,
    x: Any,
    *,
    seed: Any = None,
    tape: Any = None,
    stops: list[Any] | None = None,
    overrides: dict[str, Rule] | None = None,
    session: Any = None,
    feed_dict: Any = None,
) -> Question:
    """The question that `who` is asked; TypeError where y or x are no tensors. The tape is what a
    GradientTape keeps."""
    for types, kind in _kinds:
        if isinstance(y, types) or isinstance(x, types):
            if overrides is not None:
                raise TypeError(
                    f"{who}: overrides are for tensors of the main namespace; an operation of a "
                    "graph has the rule that gradient_override_map gave it when it was made"
                )
            return kind(
                who, y, x, seed=seed, tape=tape, stops=stops, session=session, feed_dict=feed_dict
            )
    for name, value in (("session", session), ("feed_dict", feed_dict)):
        if value is not None:
            raise TypeError(
                f"{who}: {name} is for tensors of a graph of compat.tf1, which y, "
                f"{_core.shown(y)}, is not; leave it out"
            )
    if not isinstance(y, (Tensor, Variable)):
        raise TypeError(f"{who}: y is {_core.shown(y)}; expected a Tensor")
    if not isinstance(x, (Tensor, Variable)):
        raise TypeError(f"{who}: x is {_core.shown(x)}; expected a Tensor or a Variable")
    y, x = _plain(y), _plain(x)
    return Question(y, x, seed=seed, tape=tape, stops=stops or [], overrides=overrides)


def _plain(x: Any) -> Any:
    """A tensor that speaks as another library's do as one of the core's."""
    derived = isinstance(x, Tensor) and type(x) is not Tensor
    return _core.view_as(Tensor, x) if derived else x
