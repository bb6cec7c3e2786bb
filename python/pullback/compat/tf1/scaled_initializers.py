"""Initial values whose size depends on the shape of the variable."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from . import mode
from .array_ops import constant, eye
from .graph import get_default_graph
from .names import public_names
from .opdef import define
from .random_ops import Initializer, _fans, random_normal, random_uniform, truncated_normal

_DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "normal", "uniform")


class variance_scaling_initializer(Initializer):
    """Draws with the variance scale / n, where n is the number of inputs ('fan_in'), of outputs
    ('fan_out') or their mean ('fan_avg'), from the distribution 'truncated_normal' (also called
    'normal'), 'untruncated_normal' or 'uniform'."""

    arguments = "scale=1.0 mode='fan_in' distribution='truncated_normal' seed=None dtype='float32'"

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        if self.given["scale"] <= 0:
            raise ValueError(f"variance_scaling_initializer: scale is {self.given['scale']}")
        if self.given["mode"] not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"variance_scaling_initializer: mode is {self.given['mode']!r}")
        if self.given["distribution"] not in _DISTRIBUTIONS:
            kind = self.given["distribution"]
            raise ValueError(f"variance_scaling_initializer: distribution is {kind!r}")

    @staticmethod
    def make(shape: Any, dtype: Any, scale: float, mode: str, distribution: str, seed: Any) -> Any:
        inputs, outputs = _fans([int(d) for d in shape])
        n = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
        variance = scale / max(1.0, n)
        if distribution == "uniform":
            limit = sqrt(3 * variance)
            return random_uniform(shape, -limit, limit, dtype, seed)
        if distribution == "untruncated_normal":
            return random_normal(shape, 0.0, sqrt(variance), dtype, seed)
        # What is cut off takes some of the variance with it.
        return truncated_normal(shape, 0.0, sqrt(variance) / 0.87962566103423978, dtype, seed)


def _scaled(name: str, scale: float, fan: str, distribution: str, source: str) -> Any:
    def make(shape: Any, dtype: Any, seed: Any) -> Any:
        return variance_scaling_initializer.make(shape, dtype, scale, fan, distribution, seed)

    text = f"Variance {scale:g} / {fan}, {distribution}. Source: {source}"
    members = {
        "arguments": "seed=None dtype='float32'",
        "make": staticmethod(make),
        "__doc__": text,
    }
    return type(name, (Initializer,), members | {"__module__": __name__})


_GLOROT = "Glorot and Bengio, Understanding the difficulty of training deep networks, 2010."
_HE = "He et al., Delving deep into rectifiers, 2015."
_LECUN = "LeCun et al., Efficient backprop, 1998."
glorot_normal_initializer = _scaled(
    "glorot_normal_initializer", 1.0, "fan_avg", "truncated_normal", _GLOROT
)
he_normal_initializer = _scaled("he_normal_initializer", 2.0, "fan_in", "truncated_normal", _HE)
he_uniform_initializer = _scaled("he_uniform_initializer", 2.0, "fan_in", "uniform", _HE)
lecun_normal_initializer = _scaled(
    "lecun_normal_initializer", 1.0, "fan_in", "truncated_normal", _LECUN
)
lecun_uniform_initializer = _scaled(
    "lecun_uniform_initializer", 1.0, "fan_in", "uniform", _LECUN
)  # fmt: skip


class uniform_unit_scaling_initializer(Initializer):
    """Draws between ±factor √(3 / inputs), which keeps the size of what passes."""

    arguments = "factor=1.0 seed=None dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, factor: float, seed: Any) -> Any:
        inputs = int(np.prod([int(d) for d in shape][:-1])) if shape else 1
        limit = factor * sqrt(3 / max(inputs, 1))
        return random_uniform(shape, -limit, limit, dtype, seed)


def _orthogonal(generator: Any, shape: tuple[int, ...], dtype: Any, gain: float) -> list[Any]:
    rows, columns = int(np.prod(shape[:-1])), shape[-1]
    normal = generator.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(normal)
    q = q * np.sign(np.diag(r))  # so that all are equally likely
    q = q if rows >= columns else q.T
    return [(gain * q).reshape(shape).astype(dtype.dtype)]


define("RandomOrthogonal", execute=lambda run, op, inputs: [], flows=False, sampled=_orthogonal)


class orthogonal_initializer(Initializer):
    """A matrix with orthogonal rows or columns, times `gain`; more axes are taken as rows. Source:
    Saxe et al., Exact solutions to the nonlinear dynamics of learning, 2014."""

    arguments = "gain=1.0 seed=None dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float, seed: Any) -> Any:
        dims = tuple(int(d) for d in shape)
        if len(dims) < 2:
            raise ValueError(f"orthogonal_initializer: expected two axes or more, got {dims}")
        attrs = {"shape": dims, "dtype": dtype, "gain": gain}
        if mode.executing_eagerly():
            return constant(_orthogonal(np.random.default_rng(seed), **attrs)[0])
        graph = get_default_graph()
        if seed is not None:
            graph._op_seeds.append(seed)
        record = graph.record("RandomOrthogonal", (), attrs, "Orthogonal", (dtype, dims))
        return record.outputs[0]


class identity_initializer(Initializer):
    """The identity matrix, times `gain`."""

    arguments = "gain=1.0 dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float) -> Any:
        if len(shape) != 2:
            raise ValueError(f"identity_initializer: expected two axes, got {shape}")
        return eye(int(shape[0]), int(shape[1]), dtype=dtype) * gain


__all__ = public_names(globals())
