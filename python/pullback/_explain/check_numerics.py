"""`check_numerics`: find the first number that is not finite, and the line that computed it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .. import _core

__all__ = ["check_numerics"]


@contextmanager
def check_numerics() -> Iterator[None]:
    """Return a context manager that raises an error for the first value that is NaN or infinite.

    Inside the block every operation is evaluated when it is called, and traced functions run as
    plain Python. So the error is raised at the line whose operation computed a number that is not
    finite from finite ones. In a reverse pass the error names the operation whose slope is not
    finite, and the line that created it. Constants may be infinite; computed values may not.
    Tensors without values are not checked: those of a function that is being traced, and of a graph
    of `compat.tf1`. It is a tool for debugging: everything is slower.

    The block belongs to the context (`contextvars`), as that of a tape does. Other asyncio tasks
    and threads are not affected, but the caller of a generator that is suspended inside the block
    is.

    Returns
    -------
    context manager
        Context manager without a value.

    Raises
    ------
    FloatingPointError
        If a value or a cotangent inside the block is NaN or infinite.

    See Also
    --------
    explain

    Examples
    --------
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
