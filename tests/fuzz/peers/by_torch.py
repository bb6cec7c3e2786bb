"""What torch calls our functions: `dim` is our `axis`, and tensors stand for our numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..modes import Answer
from ..oracle import Expected
from ..program import Array
from .both import SAME, Function, Peer

torch.set_num_threads(1)


def tensor(x: Any) -> Any:
    return x if isinstance(x, torch.Tensor) else torch.as_tensor(x)


def of_tensors(f: Function) -> Function:
    """Numbers beside a tensor take its dtype, arrays become tensors."""

    def given(x: Any, own: Any) -> Any:
        if isinstance(x, (int, float)) and own is not None and f not in SHAPED:
            return torch.as_tensor(x, dtype=torch.float64 if isinstance(x, float) else own.dtype)
        return torch.as_tensor(x) if isinstance(x, np.ndarray) else x

    def call(*xs: Any, **more: Any) -> Any:
        if isinstance(xs[0], (list, tuple)):
            return f([tensor(x) for x in xs[0]], *xs[1:], **more)
        own = next((x for x in xs if isinstance(x, torch.Tensor)), None)
        return f(*(given(x, own) for x in xs), **more)

    return call


NEUTRAL = {torch.sum: 0.0, torch.mean: np.nan, torch.amax: -np.inf, torch.amin: np.inf}
START = {torch.sum: torch.add, torch.amax: torch.maximum, torch.amin: torch.minimum}


def over(f: Function) -> Function:
    """A reduction over any axes."""

    def call(
        x: Any, axis: Any = None, keepdims: bool = False, where: Any = None, initial: Any = None
    ) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else axis
        if axes == () and (x.ndim or f not in NEUTRAL):
            raise NotImplementedError("no axes")
        if where is not None:
            x = torch.where(tensor(where), x, NEUTRAL[f])
            f_of = torch.nanmean if f is torch.mean else f
        else:
            f_of = f
        y = f_of(x, dim=axes, keepdim=keepdims) if x.ndim else x
        return y if initial is None else START[f](y, torch.tensor(initial, dtype=x.dtype))

    return call


def product(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    for a in sorted((a % x.ndim for a in axes), reverse=True):
        x = torch.prod(x, dim=a, keepdim=keepdims)
    return x


def place(f: Function) -> Function:
    return lambda x, axis=None, keepdims=False: f(x, dim=axis, keepdim=keepdims)


def cast(x: Any, dtype: str) -> Any:
    return tensor(x).to(getattr(torch, dtype))


def split(x: Any, parts: Any, axis: int = 0) -> Any:
    return torch.tensor_split(x, parts, axis)


def along(f: Function, **fixed: Any) -> Function:
    return lambda x, axis=-1: f(x, dim=axis, **fixed)


def remainder(x: Any, y: Any) -> Any:
    return x - y * torch.floor(x / y).detach() if x.is_floating_point() else torch.remainder(x, y)


def power(x: Any, y: Any) -> Any:
    """Its own forgets a second derivative where an exponent is 0."""
    if all(isinstance(z, torch.Tensor) for z in (x, y)):
        return torch.exp(y * torch.log(x))
    return torch.pow(x, y)


def take(x: Any, i: Any, axis: int | None) -> Any:
    if axis is None:
        x, axis = x.reshape(-1), 0
    found = torch.index_select(x, axis, i.reshape(-1) % x.shape[axis])
    axis %= x.ndim
    return found.reshape(*x.shape[:axis], *i.shape, *x.shape[axis + 1 :])


SHAPED = {torch.reshape, torch.diag, torch.tril, torch.triu, torch.tensordot, torch.einsum,
          torch.broadcast_to, torch.squeeze}  # fmt: skip
own = {name: getattr(torch, name) for name in SAME}
FUNCTIONS = {name: of_tensors(f) for name, f in own.items()} | {
    "identity": lambda x: x,
    "pow": power,
    "equal": of_tensors(torch.eq),
    "outer": lambda x, y: torch.outer(x.reshape(-1), y.reshape(-1)),
    "where": of_tensors(lambda mask, x, y: torch.where(mask != 0, x, y)),
    "tril": lambda x, k=0: torch.tril(x, k),
    "triu": lambda x, k=0: torch.triu(x, k),
    "embedding": lambda x, i: x[tensor(i)],
    "diff": lambda x, n=1, axis=-1: torch.diff(x, n, axis),
    "ediff1d": lambda x: torch.diff(x.reshape(-1)),
    "trapezoid": lambda y, dx, axis: torch.trapezoid(y, dx=dx, dim=axis),
    "tile": lambda x, times: torch.tile(x, (times,) if isinstance(times, int) else times),
    "repeat": lambda x, times, axis: torch.repeat_interleave(x, times, axis),
    "argsort": lambda x, axis: torch.argsort(x, axis, stable=True),
    "append": lambda x, y: torch.concat([x.reshape(-1), y.reshape(-1)]),
    "atleast_1d": torch.atleast_1d,
    "atleast_2d": torch.atleast_2d,
    "atleast_3d": torch.atleast_3d,
    "nansum": over(torch.nansum),
    "nanmean": over(torch.nanmean),
    "unstack": lambda x, axis: torch.unbind(x, axis),
    "array_split": torch.tensor_split,
    "cbrt": lambda x: torch.pow(x, 1 / 3),
    "stop_gradient": lambda x: x.detach(),
    "sigmoid": torch.sigmoid,
    "expit": torch.sigmoid,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),  # its own has a threshold
    "all": over(torch.all),
    "any": over(torch.any),
    "argmax": place(torch.argmax),
    "argmin": place(torch.argmin),
    "astype": cast,
    "cast": cast,
    "split": split,
    "remainder": of_tensors(remainder),
    "floor_divide": of_tensors(torch.floor_divide),
    "inner": torch.inner,
    "vdot": lambda x, y: torch.dot(x.reshape(-1), y.reshape(-1)),
    "trace": lambda x, *a: torch.diagonal(x, *a).sum(-1),
    "cumulative_max": lambda x, axis: torch.cummax(x, axis)[0],
    "cumulative_min": lambda x, axis: torch.cummin(x, axis)[0],
    "topk": lambda x, k, axis=-1: torch.topk(x, k, axis),
    "isposinf": torch.isposinf,
    "isneginf": torch.isneginf,
    "quantile": lambda x, q, axis=None, keepdims=False, method="linear": torch.nanquantile(
        x, torch.as_tensor(q, dtype=x.dtype), axis, keepdim=keepdims, interpolation=method),
    "relu": torch.relu,
    "erf": torch.special.erf,
    "rsqrt": torch.rsqrt,
    "atan2": torch.atan2,
    "xlogy": torch.special.xlogy,
    "xlog1py": torch.special.xlog1py,
    "lerp": torch.lerp,
    "fma": lambda x, y, z: x * y + z,
    "sum": over(torch.sum),
    "mean": over(torch.mean),
    "logsumexp": over(torch.logsumexp),
    "max": over(torch.amax),
    "min": over(torch.amin),
    "prod": product,
    "softmax": along(torch.softmax),
    "log_softmax": along(torch.log_softmax),
    "transpose": lambda x, order: torch.permute(x, order),
    "permute_dims": lambda x, order: torch.permute(x, order),
    "matrix_transpose": lambda x: x.mT,
    "expand_dims": torch.unsqueeze,
    "diagonal": torch.diagonal,
    "moveaxis": torch.moveaxis,
    "swapaxes": torch.swapaxes,
    "concat": lambda xs, axis=0: torch.concat(xs, dim=axis),
    "stack": lambda xs, axis=0: torch.stack(xs, dim=axis),
    "take_along_axis": lambda x, i, axis: torch.take_along_dim(x, tensor(i) % x.shape[axis],
                                                               axis),
    "take": lambda x, i, axis=None: take(x, tensor(i), axis),
    "dot": torch.matmul,
    "vecdot": torch.linalg.vecdot,
    "clip": lambda x, min=None, max=None: torch.clip(x, min, max),
    "roll": lambda x, shift, axis=None: torch.roll(x, shift, axis),
    "flip": lambda x, axis=None: torch.flip(
        x, tuple(range(x.ndim)) if axis is None else (axis,)),
    "cumulative_sum": along(torch.cumsum),
    "cumulative_prod": along(torch.cumprod),
    "cumulative_logsumexp": along(torch.logcumsumexp),
    "sort": lambda x, axis=-1, descending=False: torch.sort(x, axis, descending)[0],
    "var": lambda x, axis=None, keepdims=False, correction=0: over(
        partial(torch.var, correction=correction))(x, axis, keepdims),
    "std": over(partial(torch.std, correction=0)),
    "silu": functional.silu,
    "mish": functional.mish,
    "gelu": functional.gelu,
    "elu": functional.elu,
    "selu": functional.selu,
    "celu": lambda x, alpha: functional.celu(x, alpha),
    "relu6": functional.relu6,
    "leaky_relu": functional.leaky_relu,
    "softsign": functional.softsign,
    "log_sigmoid": functional.logsigmoid,
    "hard_tanh": functional.hardtanh,
    "hard_sigmoid": functional.hardsigmoid,
    "hard_silu": functional.hardswish,
    "glu": lambda x, axis: functional.glu(x, axis),
    "layer_norm": lambda x, w, b: functional.layer_norm(x, x.shape[-1:]) * w + b,
    "cov": torch.cov,
    "complex": torch.complex,
    "real": torch.real,
    "imag": torch.imag,
    "conj": torch.conj,
    "angle": torch.angle,
    "erfc": torch.special.erfc,
    "erfinv": torch.special.erfinv,
    "ndtr": torch.special.ndtr,
    "log_ndtr": torch.special.log_ndtr,
    "gammaln": torch.special.gammaln,  # its trigamma has eight digits: no digamma, no polygamma
    "i0": torch.special.i0,
    "i0e": torch.special.i0e,
    "i1": torch.special.i1,
    "i1e": torch.special.i1e,
    "logit": torch.special.logit,
    "entr": torch.special.entr,
}  # fmt: skip
PEER = Peer("torch", FUNCTIONS)


def answer(
    run: Function, leaves: list[Array], floats: list[int], weighed: list[int], expected: Expected
) -> Answer:
    xs = [torch.tensor(x) for x in leaves]
    own = [xs[k].requires_grad_() for k in floats]
    values = run(*xs)
    total = sum(torch.sum(values[k] * torch.tensor(expected.cotangents[k])) for k in weighed)
    first = torch.autograd.grad(total, own, create_graph=True, allow_unused=True)
    along = [torch.sum(g * torch.tensor(v)) for g, v in zip(first, expected.p, strict=True)
             if g is not None and g.requires_grad]  # fmt: skip
    second: Any = [None] * len(own)
    if along:
        second = torch.autograd.grad(sum(along), own, allow_unused=True)

    def array(x: Any) -> Any:
        return None if x is None else x.detach().numpy()

    return Answer(*([array(x) for x in part] for part in (values, first, second)))
