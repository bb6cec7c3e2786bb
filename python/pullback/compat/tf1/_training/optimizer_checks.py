"""What optimizers refuse, and why a variable has no gradient."""

from __future__ import annotations

from typing import Any

from .... import _core
from ...._explain.explain import why_none_of
from ...._runtime import questions
from .._gradients.backprop import as_list
from .._graph.create import convert_to_tensor, is_tensor
from .._graph.shapes import TensorShape, as_dims
from .._ops.indexed_slices import IndexedSlices
from .._variables.variables import Variable
from ..dtypes import as_dtype


def checked_variables(var_list: Any) -> list[Any]:
    variables = as_list(var_list)
    for i, v in enumerate(variables):
        if not is_tensor(v):
            raise TypeError(
                f"var_list[{i}] is a {type(v).__name__}, {v!r:.60}; expected a variable"
            )
    return variables


def checked_loss(loss: Any) -> Any:
    if not is_tensor(loss):
        raise TypeError(f"the loss is a {type(loss).__name__}, {loss!r:.60}; expected a tensor")
    if not as_dtype(loss.dtype).is_floating:
        raise ValueError(
            f"invalid type {as_dtype(loss.dtype).name} for the loss {loss!r}: floats only"
        )
    return loss


def checked_pair(pair: Any) -> tuple[Any, Any]:
    who = "apply_gradients"
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs of gradient and variable, got {pair!r:.60}")
    g, v = pair
    if not isinstance(v, (Variable, _core.Variable)):
        kind = NotImplementedError if is_tensor(v) else TypeError
        raise kind(f"{who}: expected a variable to update, got {v!r:.60}")
    if g is None:
        return None, v
    if isinstance(g, IndexedSlices):
        return checked_slices(g, v), v
    try:
        g = convert_to_tensor(g, None if is_tensor(g) else as_dtype(v.dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{who}: the gradient of '{v.name}' is not convertible: {error}") from None
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(f"{who}: '{v.name}' is {v.dtype}, its gradient {g.dtype}; use tf.cast")
    if not TensorShape(g.shape).is_compatible_with(v.shape):
        raise ValueError(f"{who}: '{v.name}' has shape {v.shape}, its gradient {g.shape}")
    return g, v


def checked_slices(g: IndexedSlices, v: Any) -> IndexedSlices:
    who = f"apply_gradients: '{v.name}'"
    if v.constraint is not None:
        raise RuntimeError(f"{who}: a constraint cannot be used where the gradient is sparse, {g}")
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(f"{who} is {v.dtype}, its gradient {g.dtype}; use tf.cast")
    rows, dims = as_dims(g.values.shape), as_dims(v.shape)
    wanted = None if dims is None else (None, *dims[1:])
    if not TensorShape(rows).is_compatible_with(wanted):
        raise ValueError(f"{who} has shape {v.shape}, its gradient rows of shape {g.values.shape}")
    return g


def no_gradients(variables: list[Any], loss: Any) -> str:
    about = "" if loss is None else f" by the loss {loss!r:.100}"
    lines = [f"  {v.name}: {_reason(v, loss)}" for v in variables]
    return "No gradients provided for any variable" + about + ":\n" + "\n".join(lines)


def _reason(v: Any, loss: Any) -> str:
    if not as_dtype(v.dtype).is_floating:
        return f"{as_dtype(v.dtype).name} is not differentiable"
    ys = [loss] if is_tensor(loss) else questions.last_about(v)
    if not ys:
        return "its gradient is None; pb.explain(loss, variable) says why"
    [(_, why)] = why_none_of(ys[0], [v])
    return why


def check_rows(v: Any, values: Any, indices: Any) -> None:
    """ValueError for a gradient of rows that are none of v's."""
    if values.shape != (*indices.shape, *tuple(v.shape)[1:]) or len(indices.shape) != 1:
        raise ValueError(
            f"the gradient has rows of shape {values.shape} at indices of shape {indices.shape}, "
            f"for a variable of shape {tuple(v.shape)}"
        )
