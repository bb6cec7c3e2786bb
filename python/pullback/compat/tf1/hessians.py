"""`hessians`: the second derivatives, one block for each x."""

from __future__ import annotations

from typing import Any

from ... import _core
from ..._autodiff.gradients import with_zeros
from .array_ops import constant, fill, reshape, shape
from .backprop import _rules_between, _source, ancestors, as_list, gradients
from .choice_ops import concat, one_hot, stack
from .create import apply, convert_to_tensor, graph_of
from .opdef import define
from .operation import Operation
from .tensor import SymbolicTensor as Tensor
from .tensor import opaque

__all__ = ["hessians"]


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: int | None = None,
) -> list[Any]:  # fmt: skip
    """The second derivatives of the sum of ys by each x, of shape x.shape + x.shape.

    There are no entries for pairs of different xs. A function that does not depend on an x, or is
    linear in it, has zeros.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0])
    ...     session.run(tf.hessians(x[0] ** 2 * x[1], x))
    [array([[4., 2.],
           [2., 0.]], dtype=float32)]
    """
    slopes = gradients(ys, xs, name=f"{name}_gradients", aggregation_method=aggregation_method)
    slopes = [None if g is None else convert_to_tensor(g) for g in slopes]
    sources = [_source(x, "xs", i) for i, x in enumerate(as_list(xs))]
    with graph_of(sources).as_default() as graph, graph.name_scope(name):
        return [_block(g, x) for g, x in zip(slopes, sources, strict=True)]


def _block(g: Tensor | None, x: Tensor) -> Any:
    dims = None if x.dims is None else (*x.dims, *x.dims)
    slope = None if g is None else gradients(g, x)[0]
    if g is None or slope is None:
        sizes = [*dims] if dims is not None and None not in dims else concat([shape(x)] * 2, 0)
        return fill(sizes, constant(0, x.dtype))
    if not _rules_between(ancestors([g]), [x], []):
        made = opaque([g.stand_in, x.stand_in], x.dtype, dims)
        op = x.graph.record("Hessian", [g, x], {}, "Hessian", (x.dtype, dims, made))
        return op.outputs[0]
    # Rules of programs are between, which `gradients` calls: one row after the other.
    size = x.shape.num_elements()
    if size is None:
        raise ValueError(f"hessians: the shape of {x!r} must be known behind rules of programs")
    rows = []
    for i in range(size):
        weight = reshape(one_hot(i, size, dtype=x.dtype), list(x.dims or ()))
        (row,) = gradients(g, x, weight)
        rows.append(apply("ZerosLike", x) if row is None else row)
    return reshape(stack(rows), list(dims or ()))


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    g, x = inputs
    flat = _core.reshape(g, (-1,))
    size = flat.shape[0]
    eye = _core.eye(size, size, 0, x.dtype)
    rows = []
    for i in range(size):
        answer = _core.gradients([flat], [x], [eye[i]], [], integers=False)
        rows.append(with_zeros(answer, [x])[0])
    if not rows:
        return [_core.full((*x.shape, *x.shape), _core.constant(0, x.dtype))]
    return [_core.reshape(_core.stack(rows, 0), (*x.shape, *x.shape))]


define("Hessian", execute=_execute)
