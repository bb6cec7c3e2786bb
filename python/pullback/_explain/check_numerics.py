"""`check_numerics`: the first number that is not finite, at the line that made it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .. import _core

__all__ = ["check_numerics"]


@contextmanager
def check_numerics() -> Iterator[None]:
    """Context manager: the first value or cotangent that is NaN or infinite is an error.

    In its block every operation is computed when it is called, traced functions run as they are
    written, and so the FloatingPointError comes from the line whose operation made a
    number that is not finite of finite ones. In a reverse pass it names the operation whose slope
    did, and the line that this was made at. Constants may be infinite; what is computed may not.
    What has no values is not looked into: a function that is being traced, and a graph of
    compat.tf1. It is for finding faults: everything is slower.

    The block belongs to the context (`contextvars`), as a tape's does: other asyncio tasks and
    threads do not see it, but the caller of a generator that is suspended inside the block does.

    >>> x = pb.Variable([4.0, 0.0], name="x")
    >>> with pb.check_numerics():
    ...     y = pb.sum(pb.sqrt(x))
    ...     g = pb.gradients(y, x)
    Traceback (most recent call last):
    FloatingPointError: check_numerics: backward: the slope of sqrt, ... [1])
    """
    _core.set_recording(True)
    check = _core.NumberCheck()
    try:
        yield
    finally:
        check.leave()
        _core.set_recording(False)
