"""Reverse mode as a linear map of cotangents: `vjp` and `linear_transpose`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base.pytree import flatten
from .._typing import R
from .function import inlined_functions
from .gradients import seed_list, with_zeros
from .recorded_call import RecordedCall
from .rules import place

__all__ = ["linear_transpose", "vjp"]


def vjp(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[[Any], tuple[Any, ...]]]:
    """Compute the value of `f` and its pullback, the derivative in reverse mode.

    The pullback maps cotangents of the value to cotangents of the primals. It may be called many
    times; the values inside `f` are computed once. Prefer it over `jvp` for functions with few
    results.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    *primals
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. A Python or NumPy
        integer counts as a float.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    pullback : callable
        Function `pullback(cotangent)`. The cotangent has the structure of `value`; None stands for
        ones. It returns a tuple with a cotangent for each primal in its structure: zeros if `value`
        does not depend on it, and None for a leaf that is not floating.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors. In a call of `pullback`: if a
        cotangent has another dtype.
    ValueError
        In a call of `pullback`: if a cotangent has another shape or structure.

    See Also
    --------
    jvp, linear_transpose

    Examples
    --------
    >>> value, pullback = pb.vjp(lambda x, y: (x * y, x + y), 2.0, 5.0)
    >>> [float(g) for g in pullback((1.0, 10.0))]
    [15.0, 12.0]
    """
    recorded = RecordedCall(f, primals, "vjp")
    value = recorded.call()
    ys = recorded.results(value)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = seed_list(cotangent, value, flatten(value)[0], "vjp: cotangent")
        seeds = None if given is None else [given[i] for i in recorded.floating]
        found = with_zeros(_core.gradients(ys, recorded.xs, seeds), recorded.xs)
        return recorded.like_primals(found)

    return value, pullback


def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return the transpose of a linear function.

    This is the pullback that `vjp` returns, without a point of linearisation.

    Parameters
    ----------
    f : callable
        Linear function of one argument for each primal that returns a Tensor or a pytree of
        Tensors. It must not read the values of its arguments.
    *primals
        Examples of the arguments. Only their structures, shapes and dtypes are used.

    Returns
    -------
    callable
        Function `transposed(cotangent)`. The cotangent has the structure of the result of `f`. It
        returns a tuple with a cotangent for each primal in its structure.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors.
    RuntimeError
        If `f` reads the value of an argument.
    ValueError
        In a call of the transpose: if `f` is not linear, or if the cotangent has another shape or
        structure.

    See Also
    --------
    vjp

    Examples
    --------
    >>> A = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> (x,) = pb.linear_transpose(lambda x: A @ x, pb.zeros(2))(pb.constant([1.0, 10.0]))
    >>> x
    Tensor([31., 42.], dtype=float32)
    """
    recorded = RecordedCall(f, primals, "linear_transpose")
    trace = _core.Trace("linear_transpose")
    recorded.xs = [trace.argument(x.dtype.name, x.shape, False) for x in recorded.xs]
    with inlined_functions():
        value = recorded.call()
    ys = recorded.results(value)

    def transposed(cotangent: Any) -> tuple[Any, ...]:
        given = seed_list(cotangent, value, flatten(value)[0], "linear_transpose: cotangent")
        seeds = None if given is None else [given[i] for i in recorded.floating]
        answers = _core.gradients(ys, recorded.xs, seeds)
        if any(_core.computed_from([g for g in answers if g is not None], recorded.xs)):
            raise ValueError(
                f"linear_transpose: expected a linear function for f, got {place(f)}, whose "
                "derivative depends on its arguments; use vjp, which differentiates at a point"
            )
        return recorded.like_primals(with_zeros(answers, recorded.xs))

    return transposed
