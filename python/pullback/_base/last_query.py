"""The last request for gradients while debugging is on.

It lets `explain` take the optimizer, the tape or the result in place of the targets and sources.
A listener receives every request with its gradients, whether debugging is on or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# targets, sources, cotangents of the targets, tape, stops, overrides
Asked = tuple[list[Any], list[Any], list[Any], Any, list[Any], Any]

_last: tuple[tuple[Any, ...], Asked] | None = None
_storing = False  # while debugging is on
_listener: Callable[[Asked, list[Any]], None] | None = None
noted = False  # whether `note` must be called


def note(
    subjects: tuple[Any, ...],
    ys: list[Any],
    xs: list[Any],
    seeds: list[Any] | None = None,
    tape: Any = None,
    stops: Any = None,
    overrides: Any = None,
    *,
    answers: list[Any] | None = None,
) -> None:
    """Store a request, and the objects that identify it: the requesting object and the result.

    `answers` are the gradients, one for each source, as the listener receives them.
    """
    global _last
    request = ys, xs, seeds or [None] * len(ys), tape, stops or [], overrides
    if _storing:
        _last = subjects, request
    tell(request, answers)


def tell(request: Asked, answers: list[Any] | None) -> None:
    """Pass a request and its gradients to the listener, if there is one."""
    receiver = _listener  # another thread may remove it
    if receiver is not None and answers is not None:
        receiver(request, answers)


def also_asked_by(subject: Any) -> None:
    """Let this object identify the last request too."""
    global _last
    if _last is not None:
        _last = (*_last[0], subject), _last[1]


def last_about(x: Any) -> list[Any]:
    """Return the targets of the last request if `x` was among its sources."""
    return _last[1][0] if _last is not None and any(x is known for known in _last[1][1]) else []


def store(on: bool) -> None:
    """Begin or end to store requests; the last one is forgotten."""
    global _last, _storing, noted
    _last, _storing = None, on
    noted = on or _listener is not None


def listen(listener: Callable[[Asked, list[Any]], None] | None) -> None:
    """Set the listener, or remove it."""
    global _listener, noted
    _listener = listener
    noted = _storing or listener is not None


def last_question(subject: Any) -> Asked | None:
    if _last is None or not any(subject is known for known in _last[0]):
        return None
    return _last[1]
