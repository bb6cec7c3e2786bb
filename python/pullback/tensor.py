"""Making tensors from values, and looking at several at once. `Tensor` itself is in the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._core import Tensor

if TYPE_CHECKING:
    from ._typing import DType, TensorLike


def constant(value: TensorLike, dtype: DType = None) -> Tensor:
    """A tensor with this value: a number, a NumPy array or scalar, a nested list, or a tensor.

    Python floats become the default dtype (float32 unless `set_default_dtype` says otherwise),
    Python integers int64; an array keeps its dtype, widened where it is not one of bool, int32,
    int64, float32 and float64. The value is copied: later changes of an array are not seen. With
    `dtype` the value is cast. Ragged lists are a ValueError, other dtypes a TypeError.

    >>> pb.constant([[1, 2], [3, 4]], dtype="float64")
    Tensor([[1., 2.],
            [3., 4.]], dtype=float64)
    """
    return _core.constant(value, dtype)


def evaluate(*nested: Any) -> Any:
    """Computes all tensors in the arguments together; gives their values as NumPy arrays.

    Each argument may be a nest of dicts, lists, tuples and dataclasses, and comes back in the same
    structure; several arguments come back as a tuple. Variables give their present values. What is
    not a tensor, such as a gradient that is None, comes back as it is. The arrays are read-only.

    One call makes one plan, so whatever the tensors share is computed once.

    >>> x = pb.Variable(3.0)
    >>> y = x * x
    >>> pb.evaluate({"y": y, "gradient": pb.gradients(y, [x])})
    {'gradient': [array(6., dtype=float32)], 'y': array(9., dtype=float32)}
    """
    return _core.evaluate(*nested)
