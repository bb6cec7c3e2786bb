"""`tf.raw_ops`: the part that gradient programs use."""

from __future__ import annotations

from typing import Any, NoReturn

from ... import _core
from ._graph import mode
from ._graph.create import convert_to_tensor, scope_of
from ._graph.opdef import define
from ._graph.registry import Rule
from ._graph.tensor import argument, as_core, as_eager

__all__ = ["PreventGradient"]

define("PreventGradient", lambda x, message: _core.identity(x), fresh=True, registered=False,
       public="PreventGradient")  # fmt: skip


def PreventGradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """Return the tensor; a gradient that reaches it is a LookupError with the message.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(2.0)
    ...     y = tf.raw_ops.PreventGradient(input=x, message="sampled") * 2
    ...     tf.gradients(y, x)
    Traceback (most recent call last):
    ...
    LookupError: gradients: Gradient explicitly disabled at 'PreventGradient'. Reason: sampled
    """

    def refuse(op: Any, *upstream: Any) -> NoReturn:
        at = getattr(op, "name", "PreventGradient")
        raise LookupError(f"gradients: Gradient explicitly disabled at '{at}'. Reason: {message}")

    with scope_of(name or "PreventGradient", input) as scope:
        x = convert_to_tensor(input)
        if mode.executing_eagerly():
            core = as_core(x)
            rule = _core.Rule(lambda *_: refuse(None), "PreventGradient")
            return as_eager(_core.custom([_core.identity(core)], [core], rule)[0])
        output = (x.dtype, x.dims, argument(x.dtype, x.abstract.shape))
        op = x.graph.record("PreventGradient", [x], {"message": message}, scope, output)
        op.rule = Rule(refuse, "PreventGradient") if op.override is None else None
        return op.outputs[0]
