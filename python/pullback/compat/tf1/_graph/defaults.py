"""The sessions that are the default on this thread; apart, because tensors and operations ask."""

from __future__ import annotations

import threading
from typing import Any


class _Stack(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Any] = []


stack = _Stack()


def get_default_session() -> Any:
    """The session of the innermost `with`, or None."""
    return stack.sessions[-1] if stack.sessions else None


def session_for(graph: Any, session: Any, what: str) -> Any:
    """The session that `.eval()` and `.run()` use."""
    chosen = session or get_default_session()
    if chosen is None:
        raise ValueError(
            f"{what}: there is no default session; use `with tf.Session() as sess:`, or session="
        )
    if chosen.graph is not graph:
        raise ValueError(f"{what}: the default session's graph is different from the tensor's")
    return chosen
