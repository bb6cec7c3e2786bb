"""What jax calls our functions: most have the names of NumPy's."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import nn
from jax import numpy as jnp
from jax.scipy import special as js

from ..modes import Answer
from ..oracle import Expected
from ..program import Array
from .both import SAME, Function, Peer

jax.config.update("jax_enable_x64", True)

NAMES = [
    *SAME, "tril", "triu", "pow", "outer", "where", "nanquantile", "nanmedian", "percentile",
    "nanpercentile", "nanmax", "nanmin", "nanstd", "transpose", "permute_dims",
    "matrix_transpose", "expand_dims", "diagonal", "trace",
    "moveaxis", "swapaxes", "concat", "take_along_axis", "take", "dot", "inner", "vdot",
    "vecdot", "clip", "roll", "flip", "cumulative_sum", "cumulative_prod", "sum", "mean", "max",
    "min", "prod", "any", "all", "argmax", "argmin", "sort", "argsort", "std", "median",
    "quantile", "remainder", "floor_divide", "atan2", "cbrt", "diff", "ediff1d", "trapezoid",
    "tile", "repeat", "rot90", "pad", "atleast_1d", "atleast_2d", "atleast_3d", "dstack",
    "column_stack", "append", "diagflat", "nansum", "nanmean", "nanvar", "cov", "real", "imag",
    "conj", "angle", "copysign", "heaviside", "ptp", "average", "select", "bincount",
    "searchsorted", "digitize", "isin", "compress", "extract",
]  # fmt: skip
ACTIVATIONS = {
    "relu6": nn.relu6, "leaky_relu": nn.leaky_relu, "elu": nn.elu, "selu": nn.selu,
    "celu": nn.celu, "silu": nn.silu, "mish": nn.mish, "softsign": nn.soft_sign,
    "log_sigmoid": nn.log_sigmoid, "hard_tanh": nn.hard_tanh, "hard_sigmoid": nn.hard_sigmoid,
    "hard_silu": nn.hard_silu, "glu": nn.glu, "sigmoid": nn.sigmoid, "softplus": nn.softplus,
    "relu": nn.relu, "softmax": nn.softmax, "log_softmax": nn.log_softmax,
    "logsumexp": js.logsumexp, "expit": nn.sigmoid,
    "gelu": lambda x, approximate="none": nn.gelu(x, approximate=approximate == "tanh"),
}  # fmt: skip
SPECIAL = """
    erf erfc erfinv ndtr log_ndtr ndtri gammaln digamma polygamma gammainc gammaincc betainc
    i0 i0e i1 i1e logit entr rel_entr kl_div xlogy xlog1py zeta betaln multigammaln"""
PEER = Peer("jax", {
    **{name: getattr(jnp, name) for name in NAMES},
    **ACTIVATIONS,
    **{name: getattr(js, name) for name in SPECIAL.split()},
    "identity": lambda x: x,
    "embedding": lambda x, i: x[i],
    "at": lambda x, key, update, value: getattr(x.at[key], update)(value),
    "astype": lambda x, dtype: jnp.asarray(x).astype(dtype),
    "cast": lambda x, dtype: jnp.asarray(x).astype(dtype),
    "split": jnp.split,
    "cumulative_max": lambda x, axis: jax.lax.cummax(x, axis % x.ndim),
    "cumulative_min": lambda x, axis: jax.lax.cummin(x, axis % x.ndim),
    "cumulative_logsumexp": lambda x, axis: jax.lax.cumlogsumexp(x, axis % x.ndim),
    "topk": lambda x, k, axis=-1: jax.lax.top_k(x, k, axis=axis % x.ndim),
    "isposinf": jnp.isposinf,
    "isneginf": jnp.isneginf,
    "bitwise_invert": jnp.bitwise_invert,
    "bitwise_left_shift": jnp.left_shift,
    "bitwise_right_shift": jnp.right_shift,
    "stop_gradient": jax.lax.stop_gradient,
    "rsqrt": jax.lax.rsqrt,
    "complex": jax.lax.complex,
    "var": lambda x, axis=None, keepdims=False, correction=0: jnp.var(
        x, axis, keepdims=keepdims, correction=correction),
    "fma": lambda x, y, z: x * y + z,
    "lerp": lambda x, y, w: x + w * (y - x),
})  # fmt: skip


def answer(
    run: Function, leaves: list[Array], floats: list[int], weighed: list[int], expected: Expected
) -> Answer:
    def split(own: Any) -> list[Any]:
        given = iter(own)
        return [next(given) if k in floats else jnp.asarray(x) for k, x in enumerate(leaves)]

    def total(own: Any) -> Any:
        values = run(*split(own))
        return sum(jnp.sum(values[k] * expected.cotangents[k]) for k in weighed), values

    slopes = jax.grad(total, has_aux=True)
    own = [jnp.asarray(leaves[k]) for k in floats]
    (first, values), (second, _) = jax.jvp(slopes, (own,), ([jnp.asarray(p) for p in expected.p],))
    return Answer(*([np.asarray(x) for x in part] for part in (values, first, second)))
