"""Random tensors, dropout and initializers.

Every run draws new numbers. `set_random_seed`, or the `seed` of an operation, makes a program
repeatable: each session then draws from a sequence of its own that starts at the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import _core, random
from ....initializers._matrices import orthogonal
from ....initializers._variance_scaling import MODES, scaled
from .._graph import mode, shape_functions
from .._graph.create import apply, cast, check_rank, convert_to_tensor, known_dims, scope_of
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from ..dtypes import as_dtype, float32, int32
from ..errors import InvalidArgumentError
from ..names import bind, public_names, signature_of
from .array_ops import constant, eye, ones, zeros
from .array_ops import shape as shape_of
from .math_ops import multiply
from .slicing_ops import slice


def _uniform_integers(shape: Any, low: Any, high: Any, dtype: Any, seed: Any) -> Any:
    return random.integers(low, high, shape, dtype.dtype)


def _shuffled_shape(value: Any, seed: Any) -> Any:
    if value.dims == ():
        raise ValueError("random_shuffle: expected a tensor of rank 1 or more, got a scalar")
    return value.dims


def _shuffle(value: Any, seed: Any) -> Any:
    if not value.shape:
        raise ValueError("random_shuffle: expected a tensor of rank 1 or more, got a scalar")
    return random.shuffle(value)


for _type, _public, _function in (
    ("RandomStandardNormal", "random_normal", _core.random_normal),
    ("RandomUniform", "random_uniform", _core.random_uniform),
    ("TruncatedNormal", "truncated_normal", lambda s, d: random.truncated_normal(-2.0, 2.0, s, d)),
):
    define(
        _type, lambda s, dtype, seed, _function=_function: _function(s, dtype.dtype), static=(0,),
        flows=False, dtype="dtype", shape=shape_functions.of_value, labels=("shape",), random=True,
        public=_public,
    )  # fmt: skip
define(
    "RandomUniformInt", _uniform_integers, static=(0,), flows=False, dtype="dtype",
    shape=shape_functions.of_value, labels=("shape", "min", "max"), random=True,
    public="random_uniform",
)  # fmt: skip
define("RandomShuffle", _shuffle, registered=False, shape=_shuffled_shape, random=True)


def set_random_seed(seed: int) -> None:
    """Set the seed of the random numbers of every session of this graph."""
    if not isinstance(seed, int):
        raise TypeError(f"set_random_seed: expected an integer, got {seed!r}")
    if mode.executing_eagerly():
        _core.seed_random(seed % 2**64)
    else:
        get_default_graph().seed = seed


def _seeded(seed: int | None) -> None:
    if seed is not None and not mode.executing_eagerly():
        get_default_graph()._op_seeds.append(seed)


def _draw(type: str, shape: Any, dtype: Any, seed: int | None, who: str) -> Any:
    wish = as_dtype(dtype)
    if not wish.is_floating:
        raise TypeError(f"{who}: expected float32 or float64 for dtype, got {wish.name}")
    _seeded(seed)
    return apply(type, shape, name=type, dtype=wish, seed=seed)


def _normal(public: str, type: str, doc: str) -> Any:
    def function(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
        seed: int | None = None, name: str | None = None,
    ) -> Any:  # fmt: skip
        with scope_of(name or public, shape) as scope:
            draw = _draw(type, shape, dtype, seed, public)
            scale = convert_to_tensor(stddev, dtype, "stddev")
            center = convert_to_tensor(mean, dtype, "mean")
            return apply("AddV2", apply("Mul", draw, scale, name="mul"), center, name=scope)

    function.__name__ = public
    function.__doc__ = f"Draw from the normal distribution{doc}."
    return function


random_normal = _normal("random_normal", "RandomStandardNormal", "")
truncated_normal = _normal("truncated_normal", "TruncatedNormal", " within two deviations of it")


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32,
                   seed: int | None = None, name: str | None = None) -> Any:  # fmt: skip
    """Draw uniform numbers from `minval` (included) to `maxval` (excluded, 1).

    Integers are drawn too; then `maxval` must be given.
    """
    wish = as_dtype(dtype)
    with scope_of(name or "random_uniform", shape) as scope:
        if maxval is None and wish.is_integer:
            raise ValueError(
                f"random_uniform: expected a number for maxval of {wish.name}, got None"
            )
        low = convert_to_tensor(minval, wish, "min")
        high = convert_to_tensor(1 if maxval is None else maxval, wish, "max")
        if wish.is_integer:
            if isinstance(minval, int) and isinstance(maxval, int) and minval >= maxval:
                raise InvalidArgumentError(
                    None, f"random_uniform: expected minval < maxval, got {minval} and {maxval}"
                )
            _seeded(seed)
            return apply("RandomUniformInt", shape, low, high, name=scope, dtype=wish, seed=seed)
        draw = _draw("RandomUniform", shape, dtype, seed, "random_uniform")
        width = apply("Sub", high, low, name="sub")
        return apply("AddV2", apply("Mul", draw, width, name="mul"), low, name=scope)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Permute the entries along the first axis at random.

    It has no registered gradient: `tf.gradients` through it raises LookupError, unless it is inside
    `tf.stop_gradient`.
    """
    _seeded(seed)
    return apply("RandomShuffle", value, name=name, seed=seed)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Return a slice of the given size at a random position."""
    with scope_of(name or "random_crop", value):
        x = convert_to_tensor(value)
        dims = known_dims(x)
        if isinstance(size, (list, tuple)) and any(
            n is not None and isinstance(s, int) and s > n  # entries may be tensors
            for n, s in zip(dims, size, strict=True)
        ):
            raise InvalidArgumentError(
                None, f"random_crop: expected a size of at most {dims}, got {size}"
            )
        room = apply("Shape", x, out_type=int32) - convert_to_tensor(size, int32) + 1
        draw = random_uniform([len(dims)], 0, int32.max, int32, seed)
        return slice(x, draw % room, size)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Any:  # fmt: skip
    """Draw classes for each row of logits, with the probabilities softmax(logits)."""
    with scope_of(name or "multinomial", logits) as scope:
        x = convert_to_tensor(logits)
        check_rank(x, 2, "multinomial")
        _seeded(seed)
        kind = as_dtype("int64" if output_dtype is None else output_dtype)
        return apply("Multinomial", x, num_samples, name=scope, output_dtype=kind)


def _classes(logits: Any, count: int, output_dtype: Any) -> Any:
    place = random.categorical(_core.expand_dims(logits, 1), (logits.shape[0], count))
    return _core.cast(place, output_dtype.dtype)


define("Multinomial", _classes, static=(1,), flows=False, domain="float", dtype="output_dtype",
       random=True, shape=lambda x, n, output_dtype: (x.dims and x.dims[0], n))  # fmt: skip


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Any:  # fmt: skip
    """Alias of `multinomial`."""
    return multinomial(logits, num_samples, seed, name, dtype)


# --- initializers: functions of a shape, for variables


class Initializer:
    """Function of a shape and a dtype that returns the initial value of a variable.

    A class defines its `arguments`, and the function `make` of shape, dtype and these.
    """

    arguments = "dtype='float32'"
    make: Callable[..., Any]
    __signature__ = signature_of(arguments)

    def __init_subclass__(cls) -> None:
        cls.__signature__ = signature_of(cls.arguments)

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self.given = bind(self.__signature__, type(self).__name__, args, keywords)
        self.dtype = as_dtype(self.given.pop("dtype"))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        wish = self.dtype if dtype is None else as_dtype(dtype)
        return type(self).make(shape, dtype=wish, **self.given)


def _initializer(name: str, doc: str, make: Any, arguments: str = Initializer.arguments) -> Any:
    members = {"arguments": arguments, "make": staticmethod(make), "__doc__": doc}
    return type(name, (Initializer,), {**members, "__module__": __name__})


_NUMBERS = "mean=0.0 stddev=1.0 seed=None dtype='float32'"
zeros_initializer = _initializer("zeros_initializer", "Return zeros.", zeros)
ones_initializer = _initializer("ones_initializer", "Return ones.", ones)
random_normal_initializer = _initializer(
    "random_normal_initializer", "Draw from the normal distribution.", random_normal, _NUMBERS
)
truncated_normal_initializer = _initializer(
    "truncated_normal_initializer", "Draw from the normal distribution within two deviations.",
    truncated_normal, _NUMBERS,
)  # fmt: skip
random_uniform_initializer = _initializer(
    "random_uniform_initializer", "Draw between two bounds, all equally likely.", random_uniform,
    "minval=0 maxval=None seed=None dtype='float32'",
)  # fmt: skip


class constant_initializer(Initializer):
    """Fill with a number, or with values for each element."""

    arguments = "value=0 dtype='float32' verify_shape=False"

    @staticmethod
    def make(shape: Any, dtype: Any, value: Any, verify_shape: bool) -> Any:
        return constant(value, dtype, shape, verify_shape=verify_shape)


# TensorFlow's names -> names of the library.
_DISTRIBUTIONS = {"truncated_normal": "truncated_normal", "untruncated_normal": "normal",
                  "normal": "truncated_normal", "uniform": "uniform"}  # fmt: skip


class variance_scaling_initializer(Initializer):
    """Draw with the variance scale / n.

    n is the number of inputs ('fan_in'), of outputs ('fan_out') or their mean ('fan_avg'). The
    distribution is 'truncated_normal' (also called 'normal'), 'untruncated_normal' or 'uniform'.
    """

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

    text = f"Draw with variance {scale:g} / {fan}, {distribution}. Source: {source}"
    return _initializer(name, text, make, "seed=None dtype='float32'")


_GLOROT = "Glorot and Bengio, Understanding the difficulty of training deep networks, 2010."
_HE = "He et al., Delving deep into rectifiers, 2015."
_LECUN = "LeCun et al., Efficient backprop, 1998."
_NORMAL = "truncated_normal"
glorot_uniform_initializer = _scaled(
    "glorot_uniform_initializer", 1.0, "fan_avg", "uniform", _GLOROT
)
glorot_normal_initializer = _scaled("glorot_normal_initializer", 1.0, "fan_avg", _NORMAL, _GLOROT)
he_normal_initializer = _scaled("he_normal_initializer", 2.0, "fan_in", _NORMAL, _HE)
he_uniform_initializer = _scaled("he_uniform_initializer", 2.0, "fan_in", "uniform", _HE)
lecun_normal_initializer = _scaled("lecun_normal_initializer", 1.0, "fan_in", _NORMAL, _LECUN)
lecun_uniform_initializer = _scaled("lecun_uniform_initializer", 1.0, "fan_in", "uniform", _LECUN)


define(
    "RandomOrthogonal", lambda s, gain, dtype, seed: orthogonal(s, gain, dtype.dtype), static=(0,),
    flows=False, dtype="dtype", shape=shape_functions.of_value, random=True,
    public="orthogonal_initializer",
)  # fmt: skip


class orthogonal_initializer(Initializer):
    """Draw a matrix with orthogonal rows or columns, times `gain`; leading axes are rows.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning, 2014.
    """

    arguments = "gain=1.0 seed=None dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float, seed: Any) -> Any:
        dims = tuple(int(d) for d in shape)
        if len(dims) < 2:
            raise ValueError(f"orthogonal_initializer: expected two axes or more, got {dims}")
        _seeded(seed)
        return apply("RandomOrthogonal", dims, name="Orthogonal", gain=gain, dtype=dtype, seed=seed)


class identity_initializer(Initializer):
    """Return the identity matrix, times `gain`."""

    arguments = "gain=1.0 dtype='float32'"

    @staticmethod
    def make(shape: Any, dtype: Any, gain: float) -> Any:
        if len(shape) != 2:
            raise ValueError(f"identity_initializer: expected two axes, got {shape}")
        return eye(int(shape[0]), int(shape[1]), dtype=dtype) * gain


_HIDDEN = ("categorical", "dropout", "he_normal_initializer", "he_uniform_initializer",
           "identity_initializer", "lecun_normal_initializer",
           "lecun_uniform_initializer")  # fmt: skip


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
        name: str | None = None, rate: Any = None) -> Any:  # fmt: skip
    """Set a share `rate` of the entries to zero and divide the others by 1 - rate.

    `keep_prob` is 1 - rate. Both may be tensors. `noise_shape` has size 1 along axes whose entries
    are dropped together.

    Raises
    ------
    ValueError
        If both or neither is given, or the number is out of range.
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError("dropout: expected one of keep_prob and rate, got both or neither")
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
                    f"dropout: expected keep_prob in (0, 1] or rate in [0, 1), got {given}"
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
            out.set_shape(x.shape)  # the shape of keep_prob may be unknown
        return out


__all__ = [name for name in public_names(globals()) if name not in _HIDDEN]
