"""Random tensors and initializers.

Every run draws new numbers. `set_random_seed`, or a `seed` given to an operation, makes a program
repeatable: a session then begins its draws from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from ... import _core
from . import mode
from .array_ops import _shape_tensor, constant, ones, zeros
from .convert import convert_to_tensor, scope_of
from .create import apply
from .dtypes import as_dtype, float32
from .graph import get_default_graph

__all__ = [
    "constant_initializer",
    "glorot_uniform_initializer",
    "ones_initializer",
    "random_normal",
    "random_normal_initializer",
    "random_shuffle",
    "random_uniform",
    "random_uniform_initializer",
    "set_random_seed",
    "truncated_normal",
    "truncated_normal_initializer",
    "zeros_initializer",
]


def set_random_seed(seed: int) -> None:
    """Makes the draws of every session of this graph begin from this seed."""
    if not isinstance(seed, int):
        raise TypeError(f"set_random_seed: expected an integer, got {seed!r}")
    if mode.executing_eagerly():
        _core.seed_random(seed % 2**64)
    else:
        get_default_graph().seed = seed


def _seeded(seed: int | None) -> None:
    if seed is not None and not mode.executing_eagerly():
        get_default_graph()._op_seeds.append(seed)


def _draw(type: str, shape: Any, dtype: Any, seed: int | None, scope: str) -> Any:
    wish = as_dtype(dtype)
    if not wish.is_floating:
        raise TypeError(f"{type}: expected float32 or float64, got {wish.name}")
    _seeded(seed)
    return apply(type, [_shape_tensor(shape)], {"dtype": wish, "seed": seed}, scope)


def _scaled(
    type: str, shape: Any, center: Any, scale: Any, dtype: Any, seed: Any, name: str
) -> Any:
    with scope_of(name, shape) as scope:
        draw = _draw(type, shape, dtype, seed, type)
        wish = as_dtype(dtype)
        scale = convert_to_tensor(scale, wish, "stddev")
        center = convert_to_tensor(center, wish, "mean")
        return apply("AddV2", [apply("Mul", [draw, scale], None, "mul"), center], None, scope)


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str = "random_normal",
) -> Any:
    """Draws from the normal distribution."""
    return _scaled("RandomStandardNormal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str = "truncated_normal",
) -> Any:
    """Draws from the normal distribution within two deviations of the mean."""
    return _scaled("TruncatedNormal", shape, mean, stddev, dtype, seed, name)


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = 1,
    dtype: Any = float32,
    seed: int | None = None,
    name: str = "random_uniform",
) -> Any:
    """Draws from `minval` (included) to `maxval` (excluded), all equally likely."""
    with scope_of(name, shape) as scope:
        wish = as_dtype(dtype)
        draw = _draw("RandomUniform", shape, dtype, seed, "RandomUniform")
        low = convert_to_tensor(minval, wish, "min")
        high = convert_to_tensor(maxval, wish, "max")
        width = apply("Sub", [high, low], None, "sub")
        return apply("AddV2", [apply("Mul", [draw, width], None, "mul"), low], None, scope)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The entries along the first axis in random order.

    It has no registered gradient: `tf.gradients` through it raises LookupError, unless
    `tf.stop_gradient` comes after it.
    """
    _seeded(seed)
    return apply("RandomShuffle", [convert_to_tensor(value)], {"seed": seed}, name)


# --- initializers: functions of a shape, for variables


class Initializer:
    """Called with a shape and perhaps a dtype, gives the initial value of a variable."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return self._value(shape, self.dtype if dtype is None else as_dtype(dtype))

    def _value(self, shape: Any, dtype: Any) -> Any:
        raise NotImplementedError("an initializer defines _value(shape, dtype)")


class zeros_initializer(Initializer):
    """Zeros."""

    def _value(self, shape: Any, dtype: Any) -> Any:
        return zeros(shape, dtype)


class ones_initializer(Initializer):
    """Ones."""

    def _value(self, shape: Any, dtype: Any) -> Any:
        return ones(shape, dtype)


class constant_initializer(Initializer):
    """A number, or values that fill the shape."""

    def __init__(self, value: Any = 0, dtype: Any = float32) -> None:
        super().__init__(dtype)
        self.value = value

    def _value(self, shape: Any, dtype: Any) -> Any:
        return constant(self.value, dtype, shape)


class _Random(Initializer):
    def __init__(self, a: Any, b: Any, seed: int | None, dtype: Any) -> None:
        super().__init__(dtype)
        self.a, self.b, self.seed = a, b, seed


class random_normal_initializer(_Random):
    """Draws from the normal distribution."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)

    def _value(self, shape: Any, dtype: Any) -> Any:
        return random_normal(shape, self.a, self.b, dtype, self.seed)


class truncated_normal_initializer(_Random):
    """Draws from the normal distribution within two deviations."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)

    def _value(self, shape: Any, dtype: Any) -> Any:
        return truncated_normal(shape, self.a, self.b, dtype, self.seed)


class random_uniform_initializer(_Random):
    """Draws between two bounds, all equally likely."""

    def __init__(
        self, minval: Any = 0.0, maxval: Any = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)

    def _value(self, shape: Any, dtype: Any) -> Any:
        return random_uniform(shape, self.a, self.b, dtype, self.seed)


class glorot_uniform_initializer(_Random):
    """Draws between ±√(6 / (inputs + outputs)), the default for variables of floats.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
    networks, 2010.
    """

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(None, None, seed, dtype)

    def _value(self, shape: Any, dtype: Any) -> Any:
        inputs, outputs = _fans([int(d) for d in shape])
        limit = sqrt(6 / max(inputs + outputs, 1))
        return random_uniform(shape, -limit, limit, dtype, self.seed)


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field
