"""Rows that make values: shapes, constants and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _core
from ..dtypes import int32
from ..opdef import Attrs, define, ints, like

# --- shapes as values


def _shape(attrs: Attrs, x: Any) -> Any:
    return _core.constant(np.array(x.shape, dtype=np.int64), attrs["out_type"])


define("Shape", _shape, flows=(), dtypes=lambda attrs, inputs: (attrs["out_type"],))
define(
    "Size",
    lambda attrs, x: _core.constant(int(np.prod(x.shape)), attrs["out_type"]),
    flows=(),
    dtypes=lambda attrs, inputs: (attrs["out_type"],),
)
define(
    "Rank",
    lambda attrs, x: _core.constant(len(x.shape), int32),
    flows=(),
    dtypes=lambda attrs, inputs: (int32,),
)
# All axes of a tensor, for a reduction of one whose rank is not known.
define(
    "AllAxes",
    lambda attrs, x: _core.constant(np.arange(len(x.shape), dtype=np.int64), int32),
    flows=(),
    dtypes=lambda attrs, inputs: (int32,),
)

# --- constants


def _filled(number: float) -> Any:
    return lambda attrs, x: _core.full(x.shape, like(x, number))


define("ZerosLike", _filled(0), flows=())
define("OnesLike", _filled(1), flows=())
define(
    "Fill",
    lambda attrs, shape, value: _core.full(ints(shape), value),
    static=(0,),
    flows=(1,),
    needs={1: ()},
    ring=True,
    names=("", "Sum"),
    dtypes=lambda attrs, inputs: (inputs[1].dtype,),
)
define("Const", lambda attrs: attrs["core"], flows=())
define(
    "Range",
    lambda attrs, start, limit, delta: _core.constant(
        np.arange(start.numpy(), limit.numpy(), delta.numpy()), start.dtype
    ),
    static=(0, 1, 2),
    flows=(),
)
define(
    "OneHot",
    lambda attrs, indices, depth, on, off: _one_hot(attrs, indices, ints(depth)[0], on, off),
    domain="integer",
    static=(1,),
    flows=(2, 3),
    dtypes=lambda attrs, inputs: (inputs[2].dtype,),
)


def _one_hot(attrs: Attrs, indices: Any, depth: int, on: Any, off: Any) -> Any:
    hot = _core.one_hot(indices, depth, np.dtype("bool"), attrs["axis"])
    return _core.where(hot, on, off)


# --- random numbers


def _normal(attrs: Attrs, shape: Any) -> Any:
    return _core.random_normal(ints(shape), attrs["dtype"])


def _uniform(attrs: Attrs, shape: Any) -> Any:
    return _core.random_uniform(ints(shape), attrs["dtype"])


def _truncated(attrs: Attrs, shape: Any) -> Any:
    # A normal number is redrawn while it is further than two deviations out; three redraws leave
    # one in 230 000 of those, which is clipped.
    x = _normal(attrs, shape)
    for _ in range(3):
        x = _core.where(_core.abs(x) <= like(x, 2), x, _normal(attrs, shape))
    return _core.clip(x, like(x, -2), like(x, 2))


def _shuffle(attrs: Attrs, x: Any) -> Any:
    if not x.shape:
        raise ValueError("RandomShuffle: expected a tensor of rank 1 or more, got a scalar")
    return _core.take(x, _core.permutation(x.shape[0]), 0)


for _type, _build in (
    ("RandomStandardNormal", _normal),
    ("RandomUniform", _uniform),
    ("TruncatedNormal", _truncated),
):
    define(_type, _build, static=(0,), flows=(), dtypes=lambda attrs, inputs: (attrs["dtype"],))
define("RandomShuffle", _shuffle, registered=False)
