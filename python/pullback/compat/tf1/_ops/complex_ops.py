"""Complex numbers under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import apply, convert_to_tensor, dtype_of, scope_of, together
from .._graph.opdef import define
from ..dtypes import as_dtype, complex64, complex128, float64
from ..names import public_names

define("Complex", lambda x, y, Tout: pb.complex(x, y), labels=("real", "imag"), domain="float",
       same=True, dtype="Tout", shape=lambda x, y, Tout: shape_functions.broadcast(x, y),
       fresh=True)  # fmt: skip
define("Abs", _core.abs, domain="real", shape=shape_functions.unchanged, fresh=True)
define("Conj", _core.conj, domain="complex", shape=shape_functions.unchanged, fresh=True)
for _type, _function in (
    ("Real", _core.real),
    ("Imag", _core.imag),
    ("Angle", pb.angle),
    ("ComplexAbs", _core.abs),
):
    define(
        _type, lambda x, Tout, _function=_function: _function(x), domain="complex", dtype="Tout",
        shape=lambda x, Tout: shape_functions.unchanged(x), fresh=True,
        public=_type.removeprefix("Complex").lower(),
    )  # fmt: skip


def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Return complex numbers with these real and imaginary parts of one floating dtype.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     session.run(tf.complex([2.25, 3.25], [4.75, 5.75]))
    array([2.25+4.75j, 3.25+5.75j], dtype=complex64)
    """
    with scope_of(name or "Complex", real, imag) as scope:
        x, y = together(real, imag, "real imag")
        wide = as_dtype(x.dtype) == float64
        return apply("Complex", x, y, name=scope, Tout=complex128 if wide else complex64)


def _part(type: str, x: Any, name: str | None, of_real: Callable[[Any], Any]) -> Any:
    """Compute a real part of a complex tensor; for a real one the result of `of_real`."""
    x = convert_to_tensor(x)
    dtype = as_dtype(x.dtype)
    if not dtype.is_complex:
        return of_real(x)
    return apply(type, x, name=name, Tout=dtype.real_dtype)


def real(input: Any, name: str | None = None) -> Any:
    """Return the real part; a real tensor is unchanged."""
    return _part("Real", input, name, lambda x: x)


def imag(input: Any, name: str | None = None) -> Any:
    """Return the imaginary part; zeros for a real tensor."""
    return _part("Imag", input, name, lambda x: apply("ZerosLike", x, name=name))


def angle(input: Any, name: str | None = None) -> Any:
    """Return the angle from the positive real axis, from -π to π; zeros for a real tensor."""
    return _part("Angle", input, name, lambda x: apply("ZerosLike", x, name=name))


def conj(x: Any, name: str | None = None) -> Any:
    """Return the complex conjugate; a real tensor is unchanged."""
    found = dtype_of(x)
    if not (np.iscomplexobj(x) if found is None else found.is_complex):
        return x if found is None else convert_to_tensor(x)
    return apply("Conj", x, name=name)


def abs(x: Any, name: str | None = None) -> Any:
    """Return the absolute value, real for complex numbers; its gradient at 0 is 0."""
    return _part("ComplexAbs", x, name, lambda x: apply("Abs", x, name=name))


__all__ = public_names(globals())
