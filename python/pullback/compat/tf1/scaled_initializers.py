"""Initial values whose size depends on the shape of the variable."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..._array.initializers import MODES, orthogonal, scaled
from . import shape_functions
from .array_ops import eye
from .create import apply
from .names import public_names
from .opdef import define
from .random_ops import Initializer, _seeded, random_normal, random_uniform, truncated_normal

# By TensorFlow's names those of the library.
_DISTRIBUTIONS = {"truncated_normal": "truncated_normal", "untruncated_normal": "normal",
                  "normal": "truncated_normal", "uniform": "uniform"}  # fmt: skip


class variance_scaling_initializer(Initializer):
    """Draws with the variance scale / n, where n is the number of inputs ('fan_in'), of outputs
    ('fan_out') or their mean ('fan_avg'), from the distribution 'truncated_normal' (also called
    'normal'), 'untruncated_normal' or 'uniform'."""

    arguments = "scale=1.0 mode='fan_in' distribution='truncated_normal' seed=None dtype='float32'"

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        scale, mode, kind = (self.given[key] for key in ("scale", "mode", "distribution"))
        if scale <= 0 or mode not in MODES or kind not in _DISTRIBUTIONS:
            raise ValueError(
                f"variance_scaling_initializer: expected scale > 0, mode of {', '.join(MODES)} and "
                f"distribution of {', '.join(_DISTRIBUTIONS)}, got {scale}, {mode!r} and {kind!r}"
            )

    @staticmethod
    def make(shape: Any, dtype: Any, scale: float, mode: str, distribution: str, seed: Any) -> Any:
        kind = _DISTRIBUTIONS[distribution]
        width = scaled([int(d) for d in shape], scale, mode, kind)
        if kind == "uniform":
            return random_uniform(shape, -width, width, dtype, seed)
        draw = random_normal if kind == "normal" else truncated_normal
        return draw(shape, 0.0, width, dtype, seed)


def _scaled(name: str, scale: float, fan: str, distribution: str, source: str) -> Any:
    def make(shape: Any, dtype: Any, seed: Any) -> Any:
        return variance_scaling_initializer.make(shape, dtype, scale, fan, distribution, seed)

    text = f"Variance {scale:g} / {fan}, {distribution}. Source: {source}"
    members = {"arguments": "seed=None dtype='float32'", "make": staticmethod(make),
               "__doc__": text, "__module__": __name__}  # fmt: skip
    return type(name, (Initializer,), members)


_GLOROT = "Glorot and Bengio, Understanding the difficulty of training deep networks, 2010."
_HE = "He et al., Delving deep into rectifiers, 2015."
_LECUN = "LeCun et al., Efficient backprop, 1998."
_NORMAL = "truncated_normal"
glorot_uniform_initializer = _scaled(
    "glorot_uniform_initializer", 1.0, "fan_avg", "uniform", _GLOROT
)
glorot_normal_initializer = _scaled("glorot_normal_initializer", 1.0, "fan_avg", _NORMAL, _GLOROT)
he_normal = _scaled("he_normal_initializer", 2.0, "fan_in", _NORMAL, _HE)
he_uniform = _scaled("he_uniform_initializer", 2.0, "fan_in", "uniform", _HE)
lecun_normal = _scaled("lecun_normal_initializer", 1.0, "fan_in", _NORMAL, _LECUN)
lecun_uniform = _scaled("lecun_uniform_initializer", 1.0, "fan_in", "uniform", _LECUN)


class uniform_unit_scaling_initializer(Initializer):
    """Draws between ±factor √(3 / inputs), which keeps the size of what passes."""

    arguments = "factor=1.0 seed=None dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, factor: float, seed: Any) -> Any:
        inputs = int(np.prod([int(d) for d in shape][:-1])) if shape else 1
        limit = factor * sqrt(3 / max(inputs, 1))
        return random_uniform(shape, -limit, limit, dtype, seed)


define(
    "RandomOrthogonal", lambda s, gain, dtype, seed: orthogonal(s, gain, dtype.dtype), static=(0,),
    flows=False, dtype="dtype", shape=shape_functions.of_value, random=True,
)  # fmt: skip


class orthogonal_initializer(Initializer):
    """A matrix with orthogonal rows or columns, times `gain`; more axes are taken as rows. Source:
    Saxe et al., Exact solutions to the nonlinear dynamics of learning, 2014."""

    arguments = "gain=1.0 seed=None dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float, seed: Any) -> Any:
        dims = tuple(int(d) for d in shape)
        if len(dims) < 2:
            raise ValueError(f"orthogonal_initializer: expected two axes or more, got {dims}")
        _seeded(seed)
        return apply("RandomOrthogonal", dims, name="Orthogonal", gain=gain, dtype=dtype, seed=seed)


class identity(Initializer):
    """The identity matrix, times `gain`."""

    arguments = "gain=1.0 dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float) -> Any:
        if len(shape) != 2:
            raise ValueError(f"identity: expected two axes, got {shape}")
        return eye(int(shape[0]), int(shape[1]), dtype=dtype) * gain


__all__ = [name for name in public_names(globals()) if name.endswith("_initializer")]
