"""Settings of the process: default dtype, threads, debugging, verification of gradient rules."""

from __future__ import annotations

from os import environ
from typing import Any, Literal

import numpy
import numpy.typing as npt

from .. import _core
from .._typing import Verify
from . import last_query
from .checks import integer
from .dtypes import float32, float64

__all__ = [
    "get_default_dtype",
    "get_num_threads",
    "num_threads",
    "set_debug",
    "set_default_dtype",
    "set_escapes",
    "set_gradient_verification",
    "set_num_threads",
]


def set_default_dtype(dtype: npt.DTypeLike) -> None:
    """Set the dtype of Python floats and of new arrays such as those of `zeros`.

    Parameters
    ----------
    dtype : dtype or str
        The dtype, float32 or float64.

    Raises
    ------
    TypeError
        If `dtype` is another one.

    See Also
    --------
    get_default_dtype

    Examples
    --------
    >>> pb.set_default_dtype(pb.float64)
    >>> pb.constant(0.1)
    Tensor(0.1, dtype=float64)
    >>> pb.set_default_dtype(pb.float32)
    """
    try:
        known = dtype is not None and numpy.dtype(dtype) in (float32, float64)
    except TypeError:
        known = False
    if not known:
        raise TypeError(
            f"set_default_dtype: expected float32 or float64 for dtype, got {_core.shown(dtype)}"
        )
    _core.set_default_float(dtype)


def get_default_dtype() -> numpy.dtype[Any]:
    """Return the dtype of Python floats and of new arrays.

    Returns
    -------
    numpy.dtype
        The dtype, float32 or float64.

    See Also
    --------
    set_default_dtype

    Examples
    --------
    >>> pb.get_default_dtype()
    dtype('float32')
    """
    return _core.default_float()


def get_num_threads() -> int:
    """Return the number of threads that compute.

    It is initially the value of PULLBACK_NUM_THREADS or OMP_NUM_THREADS, or else the number of
    cores that the process may use. Results do not depend on it, bit for bit.

    Returns
    -------
    int
        Number of threads, at least 1.

    See Also
    --------
    set_num_threads

    Examples
    --------
    >>> pb.get_num_threads() >= 1
    True
    """
    return _core.num_threads()


def num_threads() -> int:
    """Alias of `get_num_threads`.

    It is initially the value of PULLBACK_NUM_THREADS or OMP_NUM_THREADS, or else the number of
    cores that the process may use. Results do not depend on it, bit for bit.

    Returns
    -------
    int
        Number of threads, at least 1.

    See Also
    --------
    get_num_threads, set_num_threads

    Examples
    --------
    >>> pb.num_threads() == pb.get_num_threads()
    True
    """
    return _core.num_threads()


def set_num_threads(n: int) -> None:
    """Set the number of threads that compute.

    Parameters
    ----------
    n : int
        Number of threads, at least 1.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is below 1.

    See Also
    --------
    get_num_threads

    Examples
    --------
    >>> pb.set_num_threads(pb.get_num_threads())
    """
    _core.set_num_threads(integer(n, "set_num_threads", "n"))


debugging = False
_verification: Verify | None = None


def set_debug(on: bool) -> None:
    """Switch debugging on or off.

    The environment variable PULLBACK_DEBUG=1 starts with debugging on. While it is on, operations
    store the line of the program that created them, so that `explain` can name it (for the last
    262144 operations, in about 20 MB). The rules of `custom_gradient` are verified at their first
    call, unless `set_gradient_verification` sets another mode. A tracked value that leaves the
    graph as an array or a Python number gives a RuntimeWarning, once for each line (see
    `set_escapes`).

    Parameters
    ----------
    on : bool
        Whether debugging is on.

    Raises
    ------
    TypeError
        If `on` is not a bool.

    See Also
    --------
    explain, set_gradient_verification, set_escapes

    Examples
    --------
    >>> pb.set_debug(False)
    """
    global debugging
    if not isinstance(on, bool):
        raise TypeError(f"set_debug: expected True or False for on, got {_core.shown(on)}")
    if on != debugging:
        _core.set_recording(on)
        _core.warn_of_escapes(on)
        last_query.store(on)
    debugging = on


def set_escapes(policy: Literal["raise", "warn", "allow"]) -> None:
    """Set what happens when a differentiated value leaves the graph.

    A value leaves the graph when it is converted to a NumPy array or a Python number: no gradient
    follows it there. Inside a function under `grad`, `value_and_grad`, `vjp`, `jvp`, `jacobian`,
    `hessian` and their relatives this concerns each value with a derivative by an argument that is
    differentiated. Comparisons, `bool()`, printing and formatting are never concerned, nor are
    results of `stop_gradient` and arguments of a `custom_gradient` or `numpy_function`.

    Parameters
    ----------
    policy : {"raise", "warn", "allow"}
        "raise", the default: a conversion to an array (`numpy()`, `numpy.asarray`, `tolist()`,
        `evaluate`, DLPack, copies, functions of other libraries) or to an item of one (``y[i] =
        x[i]``, which NumPy reports as a ValueError with this cause) is a RuntimeError, and one to a
        number (`float()`, `int()`, `complex()`, `item()`) a RuntimeWarning, shown once for each
        line. "warn": both are warnings. "allow": neither is checked, also while debugging is on.

    Raises
    ------
    ValueError
        If `policy` is invalid.

    Notes
    -----
    The setting holds for the whole process. Outside of these transforms, in code with variables
    and tapes, conversions are warnings while debugging is on (`set_debug`), and `explain` reports
    those that a gradient has missed.

    Examples
    --------
    >>> import numpy as np
    >>> pb.grad(lambda x: pb.sum(x * np.asarray(x)))(pb.constant([1.0, 2.0]))
    Traceback (most recent call last):
    RuntimeError: numpy (...): a tensor of shape (2,) and dtype float32 leaves the graph ...
    >>> pb.grad(lambda x: pb.sum(x * np.asarray(pb.stop_gradient(x))))(pb.constant([1.0, 2.0]))
    Tensor([1., 2.], dtype=float32)
    """
    if policy not in ("raise", "warn", "allow"):
        raise ValueError(
            "set_escapes: policy must be one of 'raise', 'warn', 'allow'; "
            f"got {_core.shown(policy)}"
        )
    _core.set_escapes(policy)


def set_gradient_verification(mode: Verify | None) -> None:
    """Set when rules of `custom_gradient` are compared with finite differences.

    A rule that fails raises `testing.GradientError` at the call of its function. The argument
    `verify` of `custom_gradient` overrides the setting.

    Parameters
    ----------
    mode : {"first_call", "always", "never"} or None
        "first_call" verifies once for each kind of arguments. None restores the default:
        "first_call" while debugging is on (`set_debug`), and "never" otherwise.

    Raises
    ------
    ValueError
        If `mode` is invalid.

    See Also
    --------
    custom_gradient, set_debug

    Examples
    --------
    >>> pb.set_gradient_verification("first_call")
    >>> doubled = pb.custom_gradient(lambda x: (x * x, lambda upstream: upstream * x))
    >>> doubled(pb.Variable(3.0))
    Traceback (most recent call last):
    pullback.testing.GradientError: custom_gradient: <lambda> ...
    >>> pb.set_gradient_verification(None)
    """
    global _verification
    if mode is not None:
        check_verification(mode, "set_gradient_verification: mode")
    _verification = mode


def check_verification(mode: Any, who: str) -> None:
    if mode not in ("first_call", "always", "never"):
        raise ValueError(
            f"{who} must be one of 'first_call', 'always', 'never'; got {_core.shown(mode)}"
        )


def verification() -> Verify:
    """Return the mode for a custom_gradient that has none of its own."""
    return _verification or ("first_call" if debugging else "never")


if environ.get("PULLBACK_DEBUG", "0") not in ("", "0"):
    set_debug(True)
