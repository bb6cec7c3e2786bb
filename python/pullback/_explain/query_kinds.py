"""The kind of `Question` for a tensor: of the main namespace, or of a graph of compat.tf1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Rule, Tensor, Variable
from .query import Question

_kinds: list[tuple[tuple[type, ...], Callable[..., Question]]] = []


def register(types: tuple[type, ...], kind: Callable[..., Question]) -> None:
    """Register the constructor of questions about tensors of these types.

    It is called as `kind(who, y, x)` with `seed`, `tape`, `stops`, `session` and `feed_dict` by
    name.
    """
    _kinds.append((types, kind))


def is_askable(x: Any) -> bool:
    """Return whether a question can be about this object."""
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
    """Return the question about the gradient of y by x; TypeError unless both are tensors.

    `tape` is the core's tape of a GradientTape.
    """
    for types, kind in _kinds:
        if isinstance(y, types) or isinstance(x, types):
            if overrides is not None:
                raise TypeError(
                    f"{who}: overrides are for tensors of the main namespace; an operation of a "
                    "graph has the rule of the gradient_override_map in which it was created"
                )
            return kind(
                who, y, x, seed=seed, tape=tape, stops=stops, session=session, feed_dict=feed_dict
            )
    for name, value in (("session", session), ("feed_dict", feed_dict)):
        if value is not None:
            raise TypeError(
                f"{who}: expected a tensor of a graph of compat.tf1 for y with {name}, got "
                f"{_core.shown(y)}; omit {name}"
            )
    if not isinstance(y, (Tensor, Variable)):
        raise TypeError(f"{who}: expected a Tensor for y, got {_core.shown(y)}")
    if not isinstance(x, (Tensor, Variable)):
        raise TypeError(f"{who}: expected a Tensor or a Variable for x, got {_core.shown(x)}")
    y, x = _plain(y), _plain(x)
    return Question(y, x, seed=seed, tape=tape, stops=stops or [], overrides=overrides)


def _plain(x: Any) -> Any:
    """Return a tensor of a derived class as one of the core's class."""
    derived = isinstance(x, Tensor) and type(x) is not Tensor
    return _core.view_as(Tensor, x) if derived else x
