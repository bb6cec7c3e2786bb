"""Gradient rules written in Python, on their way to the core.

The core calls a rule as f(op name, inputs, outputs, cotangents) and takes one tensor or None for
each input; it checks their number, dtypes and shapes. `op_rule` wraps a user's f(op, *cotangents)
for that, `rule_map` does so for a whole map of overrides, after checking all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy

from .. import _core
from .._core import Rule, Tensor

# Names of public functions that the core knows under another name.
ALIASES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "around": "round",
    "astype": "cast",
    "bitwise_not": "bitwise_invert",
    "concatenate": "concat",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "mod": "remainder",
    "permute_dims": "transpose",
    "positive": "identity",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}

# Public functions that are made of operations, and have no gradient of their own.
PARTS = {
    "angle": ("atan2", "imag", "real"),
    "append": ("concat", "reshape"),
    "array_split": ("slice",),
    "atleast_1d": ("reshape",),
    "atleast_2d": ("reshape",),
    "atleast_3d": ("reshape",),
    "average": ("divide", "multiply", "sum"),
    "batch_norm": ("add", "mean", "multiply", "reshape", "rsqrt", "square", "subtract"),
    "bincount": ("scatter_add",),
    "broadcast_arrays": ("broadcast_to",),
    "celu": ("divide", "expm1", "minimum", "multiply", "where"),
    "choose": ("concat", "pick"),
    "clip_by_global_norm": ("multiply", "sum", "sqrt", "divide", "where"),
    "clip_by_norm": ("multiply", "sum", "sqrt", "divide", "where"),
    "clip_by_value": ("clip",),
    "column_stack": ("concat", "reshape"),
    "compress": ("take",),
    "corrcoef": (
        "add",
        "divide",
        "matmul",
        "mean",
        "reshape",
        "slice",
        "sqrt",
        "subtract",
        "transpose",
    ),
    "cosine_similarity": ("divide", "multiply", "sqrt", "square", "sum", "where"),
    "cov": ("divide", "matmul", "mean", "subtract", "transpose"),
    "cumprod": ("cumulative_prod", "reshape"),
    "cumsum": ("cumulative_sum", "reshape"),
    "cumulative_logsumexp": ("add", "difference", "exp", "linear_recurrence", "log", "where"),
    "deg2rad": ("multiply",),
    "degrees": ("multiply",),
    "diag": ("at_window", "reshape", "slice"),
    "diagflat": ("at_window", "reshape"),
    "diagonal": ("slice", "reshape"),
    "diff": ("slice", "subtract"),
    "divmod": ("floor_divide", "remainder"),
    "dot": ("matmul", "multiply", "sum"),
    "dropout": ("divide", "where"),
    "dsplit": ("slice",),
    "dstack": ("concat", "reshape"),
    "ediff1d": ("concat", "reshape", "slice", "subtract"),
    "einsum": ("matmul", "multiply", "sum", "transpose", "reshape", "slice"),
    "elu": ("minimum", "expm1", "multiply", "where"),
    "embedding": ("take",),
    "expand_dims": ("reshape",),
    "expit": ("sigmoid",),
    "extract": ("reshape", "take"),
    "fill_diagonal": ("at_window", "reshape"),
    "flip": ("slice",),
    "fliplr": ("slice",),
    "flipud": ("slice",),
    "float_power": ("divide", "pow"),
    "fma": ("multiply", "add"),
    "geomspace": ("divide", "multiply", "pow", "where"),
    "gelu": ("multiply", "ndtr"),
    "global_norm": ("multiply", "sum", "add", "sqrt", "where"),
    "glu": ("multiply", "sigmoid", "slice"),
    "group_norm": ("add", "mean", "multiply", "reshape", "rsqrt", "square", "subtract"),
    "hard_sigmoid": ("add", "clip", "divide"),
    "hard_silu": ("add", "clip", "divide", "multiply"),
    "hard_tanh": ("clip",),
    "hinge": ("mean", "multiply", "relu", "subtract"),
    "histogram": ("divide", "reshape", "scatter_add", "sum"),
    "hsplit": ("slice",),
    "hstack": ("concat", "reshape"),
    "huber_loss": ("abs", "divide", "mean", "multiply", "square", "subtract", "where"),
    "inner": ("matmul", "multiply", "sum", "transpose"),
    "interp": ("add", "divide", "multiply", "subtract", "take", "where"),
    "intersect1d": ("concat", "reshape", "take"),
    "kl_divergence": ("log", "mean", "multiply", "subtract", "sum", "where"),
    "kron": ("multiply", "reshape"),
    "l1_loss": ("abs", "mean", "subtract"),
    "l2_loss": ("divide", "mean", "square", "subtract"),
    "layer_norm": ("add", "mean", "multiply", "rsqrt", "square", "subtract"),
    "leaky_relu": ("multiply", "where"),
    "lerp": ("subtract", "multiply", "add"),
    "linspace": ("subtract", "multiply", "add", "where"),
    "log_expit": ("softplus", "negative"),
    "log_sigmoid": ("negative", "softplus"),
    "logspace": ("add", "multiply", "pow", "subtract", "where"),
    "matrix_transpose": ("transpose",),
    "median": ("add", "multiply", "reshape", "sort", "where"),
    "meshgrid": ("reshape", "broadcast_to"),
    "mish": ("softplus", "tanh", "multiply"),
    "moveaxis": ("transpose",),
    "multigammaln": ("add", "gammaln", "subtract", "sum", "where"),
    "nan_to_num": ("where",),
    "nanmax": ("max", "where"),
    "nanmean": ("divide", "sum", "where"),
    "nanmedian": (
        "add",
        "difference",
        "multiply_no_nan",
        "reshape",
        "sort",
        "subtract",
        "take",
        "transpose",
        "where",
    ),
    "nanmin": ("min", "where"),
    "nanpercentile": (
        "add",
        "difference",
        "multiply_no_nan",
        "reshape",
        "sort",
        "subtract",
        "take",
        "transpose",
        "where",
    ),
    "nanquantile": (
        "add",
        "difference",
        "multiply_no_nan",
        "reshape",
        "sort",
        "subtract",
        "take",
        "transpose",
        "where",
    ),
    "nanstd": ("divide", "sqrt", "square", "subtract", "sum", "where"),
    "nansum": ("sum", "where"),
    "nanvar": ("divide", "square", "subtract", "sum", "where"),
    "outer": ("multiply", "reshape"),
    "pad": (
        "add",
        "broadcast_to",
        "concat",
        "max",
        "mean",
        "min",
        "multiply",
        "reshape",
        "slice",
        "subtract",
        "take",
    ),
    "partition": ("sort",),
    "percentile": (
        "add",
        "difference",
        "multiply_no_nan",
        "reshape",
        "sort",
        "subtract",
        "take",
        "transpose",
        "where",
    ),
    "piecewise": ("where",),
    "psi": ("digamma",),
    "ptp": ("max", "min", "subtract"),
    "quantile": (
        "add",
        "difference",
        "multiply_no_nan",
        "reshape",
        "sort",
        "subtract",
        "take",
        "transpose",
        "where",
    ),
    "rad2deg": ("multiply",),
    "radians": ("multiply",),
    "ravel": ("reshape",),
    "real_if_close": ("real",),
    "reciprocal": ("divide",),
    "relu6": ("clip",),
    "repeat": ("take", "broadcast_to", "reshape"),
    "rms_norm": ("add", "mean", "multiply", "rsqrt", "square"),
    "roll": ("slice", "concat", "reshape"),
    "rollaxis": ("transpose",),
    "rot90": ("slice", "transpose"),
    "select": ("where",),
    "selu": ("minimum", "expm1", "multiply", "where"),
    "shuffle": ("take",),
    "sigmoid_cross_entropy": (
        "add",
        "mean",
        "multiply",
        "negative",
        "softplus",
        "subtract",
        "where",
    ),
    "silu": ("sigmoid", "multiply"),
    "smooth_l1": ("abs", "divide", "mean", "square", "subtract", "where"),
    "split": ("slice",),
    "squeeze": ("reshape",),
    "stack": ("concat", "reshape"),
    "std": ("divide", "mean", "sqrt", "square", "subtract", "sum", "where"),
    "swapaxes": ("transpose",),
    "take_along_axis": ("take", "reshape"),
    "tensordot": ("matmul", "multiply", "sum", "transpose", "reshape"),
    "tile": ("broadcast_to", "reshape"),
    "topk": ("reshape", "take"),
    "trace": ("slice", "reshape", "sum"),
    "trapezoid": ("add", "divide", "multiply", "slice", "subtract", "sum"),
    "tril": ("where",),
    "triu": ("where",),
    "union1d": ("concat", "reshape", "take"),
    "unique": ("reshape", "take"),
    "unique_all": ("reshape", "take"),
    "unique_counts": ("reshape", "take"),
    "unique_inverse": ("reshape", "take"),
    "unique_values": ("reshape", "take"),
    "unstack": ("slice",),
    "var": ("divide", "mean", "square", "subtract", "sum"),
    "vdot": ("multiply", "reshape", "sum"),
    "vecdot": ("multiply", "sum"),
    "vsplit": ("slice",),
    "vstack": ("concat", "reshape"),
}

# Public functions that say themselves what their gradient is.
SHAPED = {
    "clip_gradient",
    "grad_pass_through",
    "prevent_gradient",
    "reverse_gradient",
    "scale_gradient",
    "straight_through",
    "with_gradient",
    "zero_gradient_where",
}

registered: set[str] = set()  # for messages; the rules are in the core's registry


class Op:
    """What a gradient rule is told about the operation.

    `type` (also `name`) is its name in the library, `inputs` and `outputs` are lists of tensors.
    """

    __slots__ = ("inputs", "outputs", "type")

    def __init__(self, type: str, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        self.type = type
        self.inputs = inputs
        self.outputs = outputs

    @property
    def name(self) -> str:
        return self.type

    def get_attr(self, name: str) -> Any:
        """What the operation was told besides its inputs, under the public function's name for it.

        `axis` (a tuple of integers from 0, and `keepdims`) of reductions, `axis` (an integer) of
        softmax, log_softmax, concat and take, `axes` of transpose; ValueError for other names.
        """
        known = _core.attributes_of(self.outputs[0]) if len(self.outputs) == 1 else {}
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(
                f"{self.type}: no attribute {name!r}; {has}: a rule sees inputs and outputs"
            )
        return known[name]

    def __repr__(self) -> str:
        return f"<op {self.type}: {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def place(fn: Any) -> str:
    """The name of a function and where it stands: `clip (train.py:12)`. What is around it, such as
    a decorator of ours, does not count."""
    for _ in range(64):  # nothing is wrapped deeper, but in itself
        inner = fn.func if isinstance(fn, partial) else getattr(fn, "__wrapped__", None)
        if not callable(inner):
            break
        fn = inner
    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    code = getattr(fn, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def as_cotangents(answers: Sequence[Any], inputs: Sequence[Tensor]) -> list[Any]:
    """The answers of a rule with numbers made tensors of their input's dtype and shape."""
    out = list(answers)
    for i, (answer, x) in enumerate(zip(answers, inputs, strict=False)):
        if isinstance(answer, (int, float, complex, numpy.number)):
            out[i] = _core.full(x.shape, answer, x.dtype)
    return out


def op_rule(fn: Callable[..., Any], who: str) -> Rule:
    """The rule of f(op, *cotangents)."""
    if not callable(fn):
        raise TypeError(f"{who}: expected a function f(op, *cotangents), got {fn!r}")

    def apply(type: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        answer = fn(Op(type, inputs, outputs), *cotangents)
        answers = answer if isinstance(answer, (list, tuple)) else [answer]
        return as_cotangents(answers, inputs)

    return Rule(apply, place(fn))


def operation(name: str) -> str | None:
    """The core's name of an operation by that of its public function; None for other names."""
    name = ALIASES.get(name, name)
    return name if name in _core.op_names() else None


def rule_map(overrides: Any, who: str) -> dict[str, Rule]:
    """Checks a map from operation names to functions or registered names."""
    if not isinstance(overrides, Mapping):
        raise TypeError(f"{who}: expected a dict {{operation: rule}}, got {_core.shown(overrides)}")
    rules = {}
    for key, value in overrides.items():
        key = _name_of(key, who)
        name = operation(key)
        if name is None:
            raise LookupError(f"{who}: {without_gradient(key) or _unknown(key)}")
        if isinstance(value, str):
            rule = _core.registered_rule(operation(value) or value)
            if rule is None:
                raise LookupError(
                    f"{who}: no rule is registered as {value!r}{_near(value, registered)}; "
                    "register it with register_gradient, or give the function itself"
                )
            rules[name] = rule
        else:
            rules[name] = op_rule(value, f"{who}: the rule of {key!r}")
    return rules


def _name_of(key: Any, who: str) -> str:
    """The name of an operation, which may be given by its public function."""
    if isinstance(key, str):
        return key
    import pullback

    for space in (pullback, pullback.special, pullback.random):
        for name in space.__all__:
            if getattr(space, name) is key and callable(key):
                return str(name)
    raise TypeError(
        f"{who}: operations are given by name or by their public function, got {_core.shown(key)}"
    )


def without_gradient(name: str) -> str | None:
    """Why the name of a public function is not that of an operation with a gradient."""
    import pullback

    if name in PARTS:
        parts = ", ".join(map(repr, PARTS[name]))
        return f"{name!r} has no gradient of its own; override what it consists of: {parts}"
    if name in SHAPED:
        return f"{name!r} says itself what its gradient is"
    if any(name in space.__all__ for space in (pullback, pullback.random)):
        return f"{name!r} is no operation with a gradient"
    return None


def _unknown(name: str) -> str:
    return f"there is no operation {name!r}{_near(name, set(_core.op_names()))}"


def _near(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    by_letters = {entry.lower().replace("_", ""): entry for entry in known}
    wish = name.lower().replace("_", "")
    near = [repr(by_letters[m]) for m in get_close_matches(wish, by_letters, 3, 0.7)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
