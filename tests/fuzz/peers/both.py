"""What stands in the place of `pb` for a peer, and what all call by the same names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..reference import Meaning

Function = Callable[..., Any]
CALL = re.compile(r"\bpb\.([\w.]+)")
# fmt: off
SAME = [
    "sin", "cos", "tan", "tanh", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt",
    "square", "negative", "abs", "atan", "asinh", "acosh", "asin", "acos", "atanh", "sinh",
    "cosh", "exp2", "reciprocal", "sign", "floor", "ceil", "round", "trunc", "deg2rad",
    "rad2deg", "add", "subtract", "multiply", "divide", "maximum", "minimum", "logaddexp",
    "logaddexp2", "hypot", "less", "less_equal", "greater", "greater_equal", "equal",
    "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf",
    "isfinite", "matmul", "tensordot", "einsum", "reshape", "squeeze", "broadcast_to", "stack",
    "ravel", "diag", "kron", "zeros_like", "ones_like", "flipud", "fliplr", "sinc", "positive",
    "bitwise_and", "bitwise_or", "bitwise_xor", "hstack", "vstack",
]
# fmt: on


class Peer(Meaning):
    """Stands in the place of `pb`."""

    def __init__(self, name: str, functions: dict[str, Function]) -> None:
        self.name = name
        self.functions = functions | {
            "clip_by_value": functions["clip"],
            "with_slope_of": self._with_slope_of,
            "global_norm": self._global_norm,
            "clip_by_norm": self._clip_by_norm,
            "clip_by_global_norm": self._clip_by_global_norm,
            "softmax_cross_entropy": self._cross_entropy,
        }
        self.special = self.nn = self

    def _with_slope_of(self, value: Any, other: Any) -> Any:
        value, fixed = self.stop_gradient(value), self.stop_gradient(other)
        return value + (other - fixed)

    def _global_norm(self, tensors: Any) -> Any:
        return self.sqrt(sum(self.sum(self.square(x)) for x in tensors))

    def _clip_by_norm(self, x: Any, norm: float, axis: Any = None) -> Any:
        own = self.sqrt(self.sum(self.square(x), axis=axis, keepdims=True))
        return self.where(own <= norm, x, x * (norm / own))

    def _clip_by_global_norm(self, tensors: Any, norm: float) -> Any:
        own = self.global_norm(tensors)
        return [self.where(own <= norm, x, x * (norm / own)) for x in tensors], own

    def _cross_entropy(self, logits: Any, labels: Any) -> Any:
        return -self.sum(labels * self.log_softmax(logits), axis=-1)

    def __getattr__(self, name: str) -> Function:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(name) from None

    def has(self, text: str) -> bool:
        names = [name.rpartition(".")[2] for name in CALL.findall(text)]
        return all(name in self.functions for name in names)
