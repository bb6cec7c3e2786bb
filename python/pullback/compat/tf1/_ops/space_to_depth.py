"""Blocks of pictures as channels, and back, under TensorFlow's names."""

from __future__ import annotations

from typing import Any

import pullback as pb

from .... import _core
from .._graph.create import operation
from ..names import public_names

_ORDER = (0, 1, 3, 2, 4, 5)


def _rows(type: str, public: str, doc: str, sizes: Any, whole: Any) -> Any:
    """An operation that splits axes into `sizes`, exchanges some and joins them to `whole`."""

    def compute(x: Any, block_size: int, data_format: str) -> Any:
        if data_format != "NHWC" or len(x.shape) != 4:
            raise ValueError(f"expected pictures in 'NHWC', got {x.shape} in {data_format!r}")
        cut = _core.reshape(x, sizes(*x.shape, block_size))
        return _core.reshape(pb.permute_dims(cut, _ORDER), whole(*x.shape, block_size))

    def shape(x: Any, block_size: Any, **_: Any) -> Any:
        if x.dims is None or block_size is None:
            return None
        return tuple(d or None for d in whole(*(d or 0 for d in x.dims), block_size))

    return operation(
        type, compute, "input #block_size name=None data_format='NHWC'", doc, public, fresh=True,
        shape=shape,
    )  # fmt: skip


depth_to_space = _rows(
    "DepthToSpace", "depth_to_space", "Channels as blocks of pixels.",
    lambda b, h, w, c, s: (b, h, w, s, s, c // s**2),
    lambda b, h, w, c, s: (b, h * s, w * s, c // s**2),
)  # fmt: skip
space_to_depth = _rows(
    "SpaceToDepth", "space_to_depth", "Blocks of pixels as channels.",
    lambda b, h, w, c, s: (b, h // s, s, w // s, s, c),
    lambda b, h, w, c, s: (b, h // s, w // s, s * s * c),
)  # fmt: skip
__all__ = public_names(globals())
