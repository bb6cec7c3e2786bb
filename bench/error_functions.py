"""The error functions and GELU, of 10⁶ float32 and float64: values, and the gradient of the sum of
their cubes. Rows are made as those of vocabulary.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .vocabulary import MILLION, Operation, rows_of, special_function


def _arguments(dtype: str, low: float, high: float, random: Any, small: bool) -> list[Any]:
    return [random.uniform(low, high, 64 if small else MILLION).astype(dtype)]


def _gelu(xp: Any, x: Any) -> Any:
    if xp.__name__ == "pullback":
        return xp.nn.gelu(x)
    if xp is np:
        return x * special_function("ndtr")(np, x)
    from jax import nn

    return nn.gelu(x, approximate=False)


def _torch_gelu(torch: Any, x: Any) -> Any:
    return torch.nn.functional.gelu(x)


def _torch(name: str, torch: Any, x: Any) -> Any:
    return getattr(torch.special, name)(x)


RANGES = {
    "erfc": (-3.0, 6.0),
    "ndtr": (-6.0, 6.0),
    "log_ndtr": (-9.0, 6.0),
    "ndtri": (0.001, 0.999),
    "erfinv": (-0.999, 0.999),
    "gelu": (-6.0, 6.0),
}
OPERATIONS = {
    f"{name}-{dtype}": Operation(
        f"{name} of 10⁶ {dtype} from {low:g} to {high:g}",
        partial(_arguments, dtype, low, high),
        _gelu if name == "gelu" else special_function(name),
        _torch_gelu if name == "gelu" else partial(_torch, name),
        gradient=True,
    )
    for name, (low, high) in RANGES.items()
    for dtype in ("float32", "float64")
}

ROWS = rows_of(OPERATIONS)
