"""Splines of order 2 and 3 through the entries of an image, for `map_coordinates`.

Along each axis the values are a band matrix times the coefficients of B-splines at the entries. Its
inverse is a constant; the image is multiplied by it along each axis. Boundaries are those of SciPy:
coefficients outside are reflected, periodic, or those of an image with a margin.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import _core
from .._core import Tensor

MARGIN = 12  # of an image in the modes "nearest" and "grid-constant", as in SciPy

_REFLECTED = {
    "constant": "mirror",
    "wrap": "mirror",
    "nearest": "reflect",
    "grid-constant": "mirror",
}
_AT_ENTRIES = {2: (1 / 8, 3 / 4, 1 / 8), 3: (1 / 6, 2 / 3, 1 / 6)}


def margin(rule: str) -> int:
    return MARGIN if rule in ("nearest", "grid-constant") else 0


def coefficients(image: Tensor, order: int, rule: str) -> Tensor:
    """Return the coefficients of the B-splines; entries beyond a margin are 0 or repeated."""
    for axis, size in enumerate(image.shape):
        matrix = _core.constant(_inverse(size, order, rule).astype(_real(image)))
        rest = [k for k in range(len(image.shape)) if k != axis]
        moved = _core.transpose(image, [axis, *rest])
        flat = _core.matmul(_core.cast(matrix, image.dtype.name),
                            _core.reshape(moved, (size, -1)))  # fmt: skip
        shaped = _core.reshape(flat, (matrix.shape[0], *(image.shape[k] for k in rest)))
        image = _core.transpose(shaped, [int(k) for k in np.argsort([axis, *rest])])
    return image


def _real(image: Tensor) -> Any:
    return np.finfo(image.dtype).dtype


@lru_cache(maxsize=4)
def _inverse(size: int, order: int, rule: str) -> Any:
    """Return the matrix from the values along an axis to the coefficients."""
    wide = size + 2 * margin(rule)
    band = np.zeros((wide, wide))
    numbers = np.arange(wide)
    for step, weight in zip((-1, 0, 1), _AT_ENTRIES[order], strict=True):
        np.add.at(band, (numbers, _folded(numbers + step, wide, rule, np)), weight)
    extended = np.eye(size)
    if rule == "nearest":
        extended = extended[np.clip(numbers - MARGIN, 0, size - 1)]
    elif rule == "grid-constant":
        extended = np.pad(extended, ((MARGIN, MARGIN), (0, 0)))
    return np.linalg.solve(band, extended)


def _folded(number: Any, size: int, rule: str, library: Any) -> Any:
    """Return numbers of coefficients inside; `library` has the operations for arrays or tensors."""
    if size == 1:
        return number * 0
    rule = _REFLECTED.get(rule, rule)
    if rule == "grid-wrap":
        return library.remainder(number, size)
    last = size - 1 if rule == "mirror" else size
    inside = library.remainder(number, 2 * last)
    beyond = inside > size - 1
    return library.where(beyond, (2 * last if rule == "mirror" else 2 * size - 1) - inside, inside)


def _weights(x: Tensor, order: int) -> tuple[Tensor, list[Tensor]]:
    """Return the number of the first coefficient, and the weights from there on."""
    if order == 3:
        first = _core.stop_gradient(_core.floor(x))
        t = x - first
        s = 1 - t
        middle = [(4 - 6 * u * u + 3 * u * u * u) / 6 for u in (t, s)]
        return first - 1, [s * s * s / 6, *middle, t * t * t / 6]
    first = _core.stop_gradient(_core.floor(x + 0.5))
    t = x - first
    return first - 1, [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]


def spline_corners(x: Tensor, size: int, order: int, rule: str) -> list[Any]:
    """Return the numbers of coefficients, their weights, and masks of those inside or None."""
    first, weights = _weights(x, order)
    made: list[Any] = []
    for step, weight in enumerate(weights):
        number, inside = _core.cast(first, "int64") + step, None
        if rule == "grid-constant":
            inside = _core.logical_and(_core.greater_equal(number, 0), _core.less(number, size))
            number = _core.minimum(_core.maximum(number, 0), size - 1)
        elif rule == "nearest":
            number = _core.minimum(_core.maximum(number, 0), size - 1)
        else:
            number = _folded(number, size, rule, _core)
        made.append((number, weight, inside))
    return made
