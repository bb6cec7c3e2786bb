"""Taylor mode: derivatives of any order along a path.

`jet` computes them; `derivative` and `laplacian` are built on it. The core propagates all orders at
once (cpp/grad/taylor.cpp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._base.checks import counted, integer
from .._base.pytree import flatten, leaves_like, unflatten
from .._core import Tensor
from .gradients import seed
from .recorded_call import RecordedCall, like
from .transforms import differentiable_leaf
from .vmap import vmap

__all__ = ["derivative", "jet", "laplacian"]


def jet(
    f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Compute the value of `f` and its derivatives along a path, up to any order.

    For a path x(t) with x(0) = `primals` and the derivatives `series` at 0, the results are the
    value and the derivatives of f(x(t)) at 0. With the series ([v, 0, 0],) these are the
    derivatives of f(x + t v).

    The results are derivatives, not Taylor coefficients, which are divided by factorials. They are
    differentiable again. Custom and overridden gradients apply to all orders. The cost of n orders
    grows with n**2, while nested calls of `jvp` double it with each order. It grows with n**3 for
    powers that are not small integers, and for Bessel, gamma and other functions whose derivatives
    are further functions. The method is that of [1]_, chapter 13.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    series : tuple or list of list
        For each primal the list of its derivatives along the path: first, second and so on. All
        lists have the same length, at least 1. Each derivative has the structure of its primal, and
        the dtype and shape of its leaf. A number counts for all elements. None and 0 are zeros that
        cost nothing.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    derivatives : list
        The derivatives [first, second, ...]. Each has the structure, shapes and dtypes of `value`.
        It is zero if `value` does not depend on a primal that moves, and None for a leaf that is
        not floating.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals`, `series` or an entry of `series` is not a tuple or
        list, or if a derivative has another dtype or belongs to a leaf that is not floating.
    ValueError
        If the lists in `series` are empty or differ in length, if their number differs from the
        number of primals, or if a derivative has another shape or structure.

    See Also
    --------
    jvp, derivative, laplacian

    References
    ----------
    .. [1] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM, 2008.

    Examples
    --------
    >>> value, (first, second, third) = pb.jet(pb.exp, (0.0,), ([2.0, 0.0, 0.0],))
    >>> float(value), float(first), float(second), float(third)
    (1.0, 2.0, 4.0, 8.0)
    >>> area = lambda a, b: a * b
    >>> _, terms = pb.jet(area, (3.0, 5.0), ([1.0, 0.0], [1.0, 2.0]))  # b(t) = 5 + t + t²
    >>> [float(term) for term in terms]
    [8.0, 8.0]
    """
    recorded = RecordedCall(f, primals, "jet")
    order = _order(primals, series)
    terms = _terms(recorded, primals, series, order)
    return _differentiate_along(recorded, terms, order)


def derivative(f: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
    """Return the n-th derivative of a function of one number.

    All orders are computed together, as in `jet`.

    Parameters
    ----------
    f : callable
        Function of a number and of further arguments, which count as constants. It returns a Tensor
        or a pytree of Tensors.
    n : int, optional
        Order of the derivative, at least 0. Default: 1.

    Returns
    -------
    callable
        Function of `x`, a number or a floating tensor of shape (), and of the further arguments of
        `f`. Its result has the structure of the result of `f`. For many points use `vmap` of it;
        for many variables use `jacobian`.

    Raises
    ------
    TypeError
        If `f` is not callable or `n` is not an integer.
    ValueError
        If `n` is negative. At the call: if `x` is not a number or a floating tensor of shape ().

    See Also
    --------
    jet

    Examples
    --------
    >>> third = pb.derivative(lambda x: x**5, 3)
    >>> float(third(2.0))
    240.0
    >>> pb.vmap(pb.derivative(pb.sin))(pb.constant([0.0, 1.0]))
    Tensor([1.       , 0.5403023], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"derivative: expected a function for f, got {_core.shown(f)}")
    n = integer(n, "derivative", "n")
    if n < 0:
        raise ValueError(f"derivative: expected a non-negative integer for n, got {n}")

    def at(x: Any, *others: Any, **named: Any) -> Any:
        recorded = RecordedCall(lambda x: f(x, *others, **named), (x,), "derivative")
        if len(recorded.xs) != 1 or recorded.xs[0].shape != ():
            got = recorded.xs[0].shape if len(recorded.xs) == 1 else _core.shown(x)
            raise ValueError(
                "derivative: expected a number or a floating tensor of shape () for x, got "
                f"{got}; use vmap(derivative(f)) for an array of points"
            )
        one = _core.full((), 1, recorded.xs[0].dtype)
        value, found = _differentiate_along(recorded, [[one] + [None] * (n - 1)] if n else [[]], n)
        return found[-1] if n else value

    return at


def laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes the Laplacian of `f`.

    The Laplacian is the sum of the second derivatives with respect to each element of the first
    argument: the trace of the Hessian, which is not formed. The result is exact. The second
    derivatives along all axes are computed at once, and what does not depend on the axis only once.

    Parameters
    ----------
    f : callable
        Function of a real floating tensor and of further arguments, which count as constants. It
        returns a Tensor or a pytree of Tensors.

    Returns
    -------
    callable
        Function of `x`, a real floating tensor of any shape, and of the further arguments of `f`.
        Its result has the structure of the result of `f`, with the Laplacian of each element.

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if `x` is complex or is not floating.

    See Also
    --------
    divergence, hessian, jet

    Examples
    --------
    >>> f = lambda x: pb.sum(x**3)
    >>> float(pb.laplacian(f)(pb.constant([1.0, 2.0])))
    18.0
    """
    if not callable(f):
        raise TypeError(f"laplacian: expected a function for f, got {_core.shown(f)}")

    def at(x: Any, *others: Any, **named: Any) -> Any:
        point = differentiable_leaf(x, lambda _: "laplacian: x")
        if point.dtype.kind == "c":
            raise TypeError(
                f"laplacian: expected a real tensor for x, got {point.dtype}; pass its real and "
                "imaginary parts"
            )
        count = point.size
        axes = _core.reshape(_core.eye(count, count, 0, point.dtype.name), (count, *point.shape))

        def along(axis: Tensor) -> Any:
            recorded = RecordedCall(lambda x: f(x, *others, **named), (point,), "laplacian")
            return _differentiate_along(recorded, [[axis, None]], 2)[1][1]

        leaves, structure = flatten(vmap(along)(axes))
        return unflatten(structure, [_core.sum(leaf, 0) for leaf in leaves])

    return at


def _differentiate_along(
    recorded: RecordedCall, terms: list[list[Any]], order: int
) -> tuple[Any, list[Any]]:
    value = recorded.call()
    ys = recorded.results(value)
    with recorded.recording():  # a slope that is computed from the xs needs a history too
        found = _core.along_path(ys, recorded.xs, terms, order)
    by_order = [
        [_core.full(y.shape, 0, y.dtype) if t is None else t for y, t in zip(ys, row, strict=True)]
        for row in zip(*found, strict=True)
    ]
    recorded.close([*ys, *(t for row in by_order for t in row)])
    return value, [like(value, row) for row in by_order] if ys else [like(value, [])] * order


def _order(primals: Sequence[Any], series: Any) -> int:
    if not isinstance(series, (tuple, list)):
        raise TypeError(
            "jet: expected a tuple for series, a list of derivatives for each primal, got "
            f"{_core.shown(series)}"
        )
    if len(series) != len(primals):
        raise ValueError(
            f"jet: expected {len(primals)} series, one for each primal, got {len(series)}"
        )
    for i, own in enumerate(series):
        if not isinstance(own, (tuple, list)):
            raise TypeError(
                f"jet: expected a list of derivatives, first to last, for series[{i}], got "
                f"{_core.shown(own)}"
            )
        if len(own) != len(series[0]):
            raise ValueError(
                f"jet: expected {counted(len(series[0]), 'derivative')} for series[{i}], as for "
                f"series[0], got {len(own)}; fill with 0 or None"
            )
    if not series or not series[0]:
        raise ValueError("jet: expected at least one derivative for series, got none")
    return len(series[0])


def _terms(recorded: RecordedCall, primals: Any, series: Any, order: int) -> list[list[Any]]:
    """Return the terms of each of `xs`, with None for a zero."""
    at = {place: n for n, place in enumerate(recorded.places)}
    terms: list[list[Any]] = [[None] * order for _ in recorded.xs]
    for i, (primal, own) in enumerate(zip(primals, series, strict=True)):
        leaves = flatten(primal)[0]
        for k, term in enumerate(own):
            where = f"jet: series[{i}][{k}]"
            for j, value in enumerate(leaves_like(primal, term, where)):
                if value is None or (type(value) in (int, float) and value == 0):
                    continue
                if (i, j) not in at:
                    _raise_for_leaf(leaves[j], f"jet: primals[{i}]")
                n = at[i, j]
                terms[n][k] = seed(value, recorded.xs[n], where)
    return terms


def _raise_for_leaf(leaf: Any, where: str) -> None:
    """Raise the error that explains why a leaf does not move."""
    differentiable_leaf(leaf, lambda _: where)
