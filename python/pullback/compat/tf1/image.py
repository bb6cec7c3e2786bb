"""`tf.image`: resized and flipped images, and their total variation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ._graph.create import convert_to_tensor, is_tensor, operation, scope_of
from ._graph.opdef import RowError
from ._graph.shapes import TensorShape
from ._ops.math_ops import abs, add, reduce_sum
from .dtypes import as_dtype, float32
from .names import public_names


def _resized(x: Any, size: Any, align_corners: bool, between: bool) -> Any:
    """Resize with positions relative to the first pixel, as TensorFlow 1."""
    if len(x.shape) != 4 or np.ndim(size) != 1 or len(size) != 2 or min(size) < 1:
        raise RowError(
            f"expected images of rank 4 and a height and width of 1 or more for size, got shape "
            f"{x.shape} and {size}"
        )
    x = _core.cast(x, np.dtype("float32")) if between else x
    for axis, n in zip((1, 2), size, strict=True):
        old, n = x.shape[axis], int(n)
        step = (old - 1) / (n - 1) if align_corners and n > 1 else old / n
        at = (np.arange(n, dtype=np.float32) * np.float32(step)).astype(np.float32)
        if not between:
            near = np.floor(at + 0.5) if align_corners else np.floor(at)
            x = _core.take(x, _core.constant(np.minimum(near, old - 1).astype(np.int32)), axis)
            continue
        low = np.minimum(np.floor(at), old - 1).astype(np.int32)
        share = (at - low).reshape(-1, *(1 for _ in x.shape[axis + 1 :]))
        first = _core.take(x, _core.constant(low), axis)
        second = _core.take(x, _core.constant(np.minimum(low + 1, old - 1)), axis)
        x = first + (second - first) * _core.constant(share.astype(x.dtype))
    return x


def _resizing(type: str, public: str, between: bool, doc: str, **fields: Any) -> Any:
    return operation(
        type, lambda x, size, align_corners: _resized(x, size, align_corners, between),
        "images #size align_corners=False name=None", doc, public, domain="real", fresh=True,
        shape=lambda x, size, align_corners: x.dims and (
            x.dims[0], *(size or (None, None)), x.dims[3]
        ), **fields,
    )  # fmt: skip


resize_nearest_neighbor = _resizing(
    "ResizeNearestNeighbor", "resize_nearest_neighbor", False, "Return the nearest pixels."
)
resize_bilinear = _resizing(
    "ResizeBilinear",
    "resize_bilinear",
    True,
    "Compute means of the nearest pixels by their distance, as float32.",
    dtype=float32,
)


class ResizeMethod:
    """Numbers of the interpolation methods."""

    BILINEAR, NEAREST_NEIGHBOR = 0, 1


def resize_images(
    images: Any, size: Any, method: int = 0, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Resize one or several images by `resize_bilinear`, or by `resize_nearest_neighbor` (1).

    Images that have the size statically are returned unchanged.
    """
    if method not in (0, 1) or preserve_aspect_ratio:
        raise NotImplementedError(
            "resize_images: expected method 0 or 1 and preserve_aspect_ratio=False, got "
            f"{method!r} and {preserve_aspect_ratio!r}"
        )
    resize = (resize_bilinear, resize_nearest_neighbor)[method]
    x = convert_to_tensor(images)
    if not is_tensor(size) and x.shape[-3:-1] == TensorShape(size):
        return x
    if len(x.shape) == 3:
        return resize(x[None], size, align_corners, name=name)[0]
    return resize(x, size, align_corners, name=name)


def _picture(image: Any, who: str) -> Any:
    x = convert_to_tensor(image)
    if x.shape.ndims is not None and x.shape.ndims < 3:
        raise ValueError(f"{who}: expected a tensor of rank 3 or more for image, got {x!r:.80}")
    return x


def flip_left_right(image: Any) -> Any:
    """Reverse the columns."""
    return _picture(image, "flip_left_right")[..., ::-1, :]


def flip_up_down(image: Any) -> Any:
    """Reverse the rows."""
    return _picture(image, "flip_up_down")[..., ::-1, :, :]


def total_variation(images: Any, name: str | None = None) -> Any:
    """Sum the absolute differences between neighbours, for each image."""
    with scope_of(name or "total_variation", images) as scope:
        x = convert_to_tensor(images)
        if as_dtype(x.dtype).is_unsigned:
            raise TypeError(
                f"total_variation: expected floats or signed integers for images, got "
                f"{as_dtype(x.dtype).name}; use tf.cast"
            )
        rows = abs(x[..., 1:, :, :] - x[..., :-1, :, :])
        columns = abs(x[..., :, 1:, :] - x[..., :, :-1, :])
        axes = [-3, -2, -1]
        return add(reduce_sum(rows, axes), reduce_sum(columns, axes), name=scope)


__all__ = public_names(globals())
