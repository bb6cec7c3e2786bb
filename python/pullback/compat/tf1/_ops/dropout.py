"""`tf.nn.dropout`, which cells of recurrent networks use too."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._graph import mode
from .._graph.create import cast, convert_to_tensor, scope_of
from ..dtypes import as_dtype
from .array_ops import shape as shape_of
from .math_ops import multiply
from .random_ops import random_uniform


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
        name: str | None = None, rate: Any = None) -> Any:  # fmt: skip
    """x with zeros for a share `rate` of its entries, the others divided by 1 - rate; or what is
    kept with probability `keep_prob`, divided by it. Both may be tensors.

    `noise_shape` has a length of 1 where entries are dropped together.
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError("dropout: give either keep_prob or rate")
    with scope_of(name or "dropout", x) as scope:
        x = convert_to_tensor(x)
        dtype = as_dtype(x.dtype)
        if not dtype.is_floating:
            raise ValueError(f"dropout: expected floats, got {dtype.name}")
        given = keep_prob if rate is None else rate
        if isinstance(given, (int, float, np.number)):
            low, high = (given > 0, given <= 1) if rate is None else (given >= 0, given < 1)
            if not (low and high):
                raise ValueError(
                    f"dropout: keep_prob is from above 0 to 1, rate from 0 to below 1; got {given}"
                )
        kept = (
            convert_to_tensor(given, dtype) if rate is None else 1 - convert_to_tensor(rate, dtype)
        )
        if isinstance(noise_shape, (list, tuple)) and None in noise_shape:
            dims = shape_of(x)
            noise_shape = [dims[i] if n is None else n for i, n in enumerate(noise_shape)]
        drawn = random_uniform(shape_of(x) if noise_shape is None else noise_shape, dtype=dtype,
                               seed=seed)  # fmt: skip
        out = multiply(x / kept, cast(drawn < kept, dtype), name=scope)
        if not mode.executing_eagerly():
            out.set_shape(x.shape)  # nothing may be known of the shape of keep_prob
        return out
