"""Evaluation of several tensors in one plan."""

from __future__ import annotations

from typing import Any

from .. import _core

__all__ = ["evaluate"]


def evaluate(*nested: Any) -> Any:
    """Computes all tensors in the arguments together; gives their values as NumPy arrays.

    Each argument may be a nest of dicts, lists, tuples and dataclasses, and comes back in the same
    structure; several arguments come back as a tuple. Variables give their present values. What is
    not a tensor, such as a gradient that is None, comes back as it is. The arrays are read-only.

    One call makes one plan, so whatever the tensors share is computed once.

    >>> x = pb.Variable(3.0)
    >>> y = x * x
    >>> pb.evaluate({"y": y, "gradient": pb.gradients(y, [x])})
    {'y': array(9., dtype=float32), 'gradient': [array(6., dtype=float32)]}
    """
    return _core.evaluate(*nested)
