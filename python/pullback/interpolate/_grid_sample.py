"""`grid_sample`: images at normalised coordinates, with the semantics of PyTorch."""

from __future__ import annotations

from .. import _core
from .._base.checks import choice, flag
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._arrays import beside
from ._grids import Corner, at_corners


@composite
def grid_sample(
    input: TensorLike,
    grid: TensorLike,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Sample images at normalised coordinates.

    It is ``torch.nn.functional.grid_sample``. Differentiable in `input` and, with "bilinear", in
    `grid`.

    Parameters
    ----------
    input : array_like
        Images of shape (N, C, H, W), or volumes of shape (N, C, D, H, W).
    grid : array_like, real
        Coordinates of shape (N, …, 2) or (N, …, 3) with two or three axes in between, as many as
        the images have. The last axis is (x, y) or (x, y, z), where x belongs to W; -1 and 1 are
        the ends of an image.
    mode : {"bilinear", "nearest"}, optional
        Rule between the pixels; "bilinear" is trilinear in volumes. Default: "bilinear".
    padding_mode : {"zeros", "border", "reflection"}, optional
        Values outside: 0, the nearest pixel, or the reflected image. Default: "zeros".
    align_corners : bool, optional
        If True, -1 and 1 are the centres of the outermost pixels, otherwise their outer edges.
        Default: False.

    Returns
    -------
    Tensor
        Samples of shape (N, C, …).

    Raises
    ------
    ValueError
        If a shape does not match or an option is unknown.
    TypeError
        If the grid is complex.

    See Also
    --------
    map_coordinates

    Examples
    --------
    >>> image = [[[[0.0, 1.0], [2.0, 3.0]]]]
    >>> pb.interpolate.grid_sample(image, [[[[0.0, 0.0], [1.0, -1.0]]]], align_corners=True)
    Tensor([[[[1.5, 1. ]]]], dtype=float32)
    """
    who = "grid_sample"
    rule = choice(mode, ("bilinear", "nearest"), who, "mode")
    padding = choice(padding_mode, ("zeros", "border", "reflection"), who, "padding_mode")
    corners = flag(align_corners, who, "align_corners")
    images, at = beside(who, input, grid)
    rank = len(images.shape) - 2
    if rank not in (2, 3) or 0 in images.shape[2:]:
        raise ValueError(
            f"{who}: expected images of shape (N, C, H, W) or (N, C, D, H, W), got {images.shape}"
        )
    n = images.shape[0]
    if len(at.shape) != rank + 2 or at.shape[0] != n or at.shape[-1] != rank:
        raise ValueError(
            f"{who}: expected coordinates of shape ({n}, {'..., ' * rank}{rank}) for grid, got "
            f"{at.shape}"
        )

    places = at.shape[:-1]
    number = _core.reshape(_core.arange(0, n, 1, "int64"), (n, *(1,) * rank))
    axes: list[list[Corner]] = [[(_core.broadcast_to(number, places), None, None)]]
    for k, size in enumerate(images.shape[2:]):
        x = at[..., rank - 1 - k]
        x = 0.5 * (x + 1) * (size - 1) if corners else 0.5 * ((x + 1) * size - 1)
        if padding == "reflection":
            x = _reflected(x, size, corners)
        if padding != "zeros":
            x = _core.minimum(_core.maximum(x, 0), size - 1)
        axes.append(_pixels(x, size, rule))
    pixels = _core.transpose(images, [0, *range(2, rank + 2), 1])
    return _core.transpose(at_corners(pixels, axes, 0), [0, rank + 1, *range(1, rank + 1)])


def _reflected(x: Tensor, size: int, corners: bool) -> Tensor:
    """Reflect coordinates at the centres or at the edges of the outermost pixels."""
    first, span = (0.0, size - 1) if corners else (-0.5, size)
    if not span:
        return 0 * x
    x = _core.remainder(x - first, 2 * span)
    return _core.where(_core.greater(x, span), 2 * span - x, x) + first


def _pixels(x: Tensor, size: int, rule: str) -> list[Corner]:
    below = _core.stop_gradient(_core.round(x) if rule == "nearest" else _core.floor(x))
    part = x - below
    made: list[Corner] = []
    for step, weight in ((0, None),) if rule == "nearest" else ((0, 1 - part), (1, part)):
        # Numbers far outside do not fit in an integer; NaN is outside.
        at = below + step
        inside = _core.logical_and(_core.greater_equal(at, 0), _core.less(at, size))
        number = _core.cast(_core.where(inside, at, 0), "int64")
        made.append((number, weight, inside))
    return made
