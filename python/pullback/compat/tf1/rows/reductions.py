"""Rows of products, reductions and normalised exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _core
from ..opdef import Attrs, define, ints, like

# --- products


def _matmul(attrs: Attrs, a: Any, b: Any) -> Any:
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError(
            f"MatMul: expected tensors of rank 2 or more, got shapes {a.shape} and {b.shape}"
        )
    return _core.matmul(
        _swapped(a) if attrs["transpose_a"] else a, _swapped(b) if attrs["transpose_b"] else b
    )


def _swapped(x: Any) -> Any:
    order = list(range(len(x.shape)))
    return _core.transpose(x, [*order[:-2], order[-1], order[-2]])


for _type in ("MatMul", "BatchMatMulV2"):
    define(
        _type,
        _matmul,
        domain="number",
        same=True,
        ring=True,
        needs={0: (1,), 1: (0,)},
        names=("MatMul", "MatMul_1"),
    )


def _bias_add(attrs: Attrs, x: Any, bias: Any) -> Any:
    if len(bias.shape) != 1 or not x.shape or x.shape[-1] != bias.shape[0]:
        raise ValueError(
            f"BiasAdd: expected a bias of rank 1 as long as the last axis, got {bias.shape} for "
            f"{x.shape}"
        )
    return x + bias


define(
    "BiasAdd",
    _bias_add,
    domain="number",
    same=True,
    ring=True,
    needs={},
    names=("Reshape", "BiasAddGrad"),
)

# --- reductions: the axes are the second input


def _reduction(type: str, function: Any, **fields: Any) -> None:
    def build(attrs: Attrs, x: Any, axes: Any) -> Any:
        return function(x, ints(axes), attrs["keep_dims"])

    define(type, build, static=(1,), **({"flows": (0,)} | fields))


def _sum(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return _core.cast(_core.sum(x, axes, keep), x.dtype)  # the core widens integers


def _mean(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    if x.dtype.kind == "f":
        return _core.mean(x, axes, keep)
    return _core.cast(_core.mean(_core.cast(x, np.dtype("float64")), axes, keep), x.dtype)


def _prod(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return _core.cast(_core.prod(x, axes, keep), x.dtype)


_reduction("Sum", _sum, domain="number", needs={0: ()}, ring=True, names=("Tile",))
_reduction("Mean", _mean, domain="number", needs={0: ()}, names=("truediv",))
_reduction("Max", _core.max, domain="number", names=("truediv",))
_reduction("Min", _core.min, domain="number", names=("truediv",))
_reduction("Prod", _prod, domain="number", names=("Reshape_2",))
_reduction("All", _core.all, domain="bool", flows=())
_reduction("Any", _core.any, domain="bool", flows=())
_reduction("LogSumExp", _core.logsumexp, domain="float", names=("Reshape",))


def _arg(function: Any) -> Any:
    def build(attrs: Attrs, x: Any, axis: Any) -> Any:
        return _core.cast(function(x, ints(axis)[0]), attrs["output_type"])

    return build


for _type, _function in (("ArgMax", _core.argmax), ("ArgMin", _core.argmin)):
    define(
        _type,
        _arg(_function),
        domain="number",
        static=(1,),
        flows=(),
        dtypes=lambda attrs, inputs: (attrs["output_type"],),
    )

# --- normalised exponentials


def _softmax_slope(g: Any, y: Any) -> Any:
    return (g - _core.sum(g * y, -1, True)) * y


define(
    "Softmax",
    lambda attrs, x: _core.softmax(x),
    domain="float",
    names=("mul_1",),
    from_output=_softmax_slope,
)
define("LogSoftmax", lambda attrs, x: _core.log_softmax(x), domain="float", names=("sub",))
define(
    "SoftmaxCrossEntropyWithLogits",
    lambda attrs, logits, labels: _core.softmax_cross_entropy(logits, labels),
    domain="float",
    same=True,
    names=("mul", "mul_1"),
    formulas={1: lambda g, ins, y: -_core.expand_dims(g, -1) * _core.log_softmax(ins[0])},
)
define("L2Loss", lambda attrs, x: _core.sum(_core.square(x)) * like(x, 0.5), domain="float")
