"""Evaluation of several tensors at once."""

from __future__ import annotations

from typing import Any, overload

import numpy.typing as npt

from .. import _core
from .._typing import Source

__all__ = ["evaluate"]


@overload
def evaluate(nested: Source, /) -> npt.NDArray[Any]: ...
@overload
def evaluate(*nested: Any) -> Any: ...
def evaluate(*nested: Any) -> Any:
    """Evaluate all tensors in the arguments together and return their values as NumPy arrays.

    One call runs one plan, so subexpressions that the tensors share are computed once.

    Parameters
    ----------
    *nested
        Tensors and variables, or pytrees of them (dicts, lists, tuples, dataclasses).

    Returns
    -------
    object
        Structure of the argument, with a read-only array in place of each tensor and of the current
        value of each variable. Other leaves, such as a gradient that is None, are returned
        unchanged. Several arguments give a tuple.

    Raises
    ------
    RuntimeError
        If a tensor has no value because a function is being traced, or by the policy of
        `set_escapes`.

    See Also
    --------
    set_escapes

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> y = x * x
    >>> pb.evaluate({"y": y, "gradient": pb.gradients(y, [x])})
    {'y': array(9., dtype=float32), 'gradient': [array(6., dtype=float32)]}
    """
    return _core.evaluate(*nested)
