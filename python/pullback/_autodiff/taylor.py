"""Taylor mode: derivatives of any order along a path, and what is made of them: `jet`,
`derivative`, `laplacian`. The core computes all orders at once (cpp/grad/taylor.cpp)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._base.checks import integer
from .._base.pytree import flatten, leaves_like, unflatten
from .._core import Tensor
from .forward import Opened, like
from .gradients import seed
from .transforms import differentiable_leaf
from .vmap import vmap

__all__ = ["derivative", "jet", "laplacian"]


def jet(
    f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """The value of f at the start of a path, and its derivatives along it, up to any order.

    Where x(t) is a path with x(0) = primals and with the derivatives series, these are the value
    and the derivatives at 0 of f(x(t)). With series ([v, 0, 0],) they are those of f(x + t v).

    f: takes one argument for each primal, and returns a tensor or a nest of them.
    primals: a tuple or list of arguments, as in `jvp`.
    series: for each primal a list of its derivatives along the path, first, second and so on, as
        many for all. Each is in the structure of the primal, of its leaf's dtype and shape; or a
        number for all elements; None and 0 are zeros that cost nothing.

    Returns (value, [first, second, …]): derivatives and no Taylor coefficients, which would be
    divided by factorials; each has the structure of the value, zeros where it does not depend on
    what moves, and None for what is not floating. They are differentiable again. The cost of n
    orders grows with n², where a `jvp` of a `jvp` doubles it for each (with n³ for powers that are
    no small whole numbers, and for Bessel, gamma and other functions whose every derivative is
    another function). Custom and overridden gradients hold, to all orders.

    The method is that of Griewank and Walther, Evaluating Derivatives (2008), chapter 13.

    Raises ValueError for lists of different lengths or of none, else as `jvp` does.

    >>> value, (first, second, third) = pb.jet(pb.exp, (0.0,), ([2.0, 0.0, 0.0],))
    >>> float(value), float(first), float(second), float(third)
    (1.0, 2.0, 4.0, 8.0)
    >>> area = lambda a, b: a * b
    >>> _, terms = pb.jet(area, (3.0, 5.0), ([1.0, 0.0], [1.0, 2.0]))  # b(t) = 5 + t + t²
    >>> [float(term) for term in terms]
    [8.0, 8.0]
    """
    opened = Opened(f, primals, "jet")
    order = _order(primals, series)
    terms = _terms(opened, primals, series, order)
    return _along(opened, terms, order)


def derivative(f: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
    """The n-th derivative of a function of one number, which may return anything.

    Returns a function of a number x, or a tensor of shape (), and of what else f takes, which is
    constant. Its result has the structure of that of f. All orders together cost as said at `jet`.

    Raises ValueError for a negative n, and, when it is called, for an x that is an array: `vmap`
    of it is the derivative at many points, `jacobian` that by many numbers.

    >>> third = pb.derivative(lambda x: x**5, 3)
    >>> float(third(2.0))
    240.0
    >>> pb.vmap(pb.derivative(pb.sin))(pb.constant([0.0, 1.0]))
    Tensor([1.       , 0.5403023], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"derivative: expected a function, got {_core.shown(f)}")
    n = integer(n, "derivative: n")
    if n < 0:
        raise ValueError(f"derivative: n must be 0 or more, got {n}")

    def at(x: Any, *others: Any, **named: Any) -> Any:
        opened = Opened(lambda x: f(x, *others, **named), (x,), "derivative")
        if len(opened.xs) != 1 or opened.xs[0].shape != ():
            got = opened.xs[0].shape if len(opened.xs) == 1 else _core.shown(x)
            raise ValueError(
                f"derivative: expected a number, or a floating tensor of shape (), got {got}; "
                "vmap(derivative(f)) takes an array of points"
            )
        one = _core.full((), 1, opened.xs[0].dtype)
        value, found = _along(opened, [[one] + [None] * (n - 1)] if n else [[]], n)
        return found[-1] if n else value

    return at


def laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of the second derivatives of f by each element of its first argument.

    Returns a function of a floating tensor of any shape, and of what else f takes, which is
    constant; its result has the structure of that of f: the Laplacian of each element. It is exact,
    and the trace of the Hessian, which is not formed: second derivatives along all axes at once,
    of which what does not depend on the axis is computed once.

    Raises TypeError for an argument that is complex or no number.

    >>> f = lambda x: pb.sum(x**3)
    >>> float(pb.laplacian(f)(pb.constant([1.0, 2.0])))
    18.0
    """
    if not callable(f):
        raise TypeError(f"laplacian: expected a function, got {_core.shown(f)}")

    def at(x: Any, *others: Any, **named: Any) -> Any:
        point = differentiable_leaf(x, lambda _: "laplacian: x")
        if point.dtype.kind == "c":
            raise TypeError("laplacian: x is complex; take its parts as the argument")
        count = point.size
        axes = _core.reshape(_core.eye(count, count, 0, point.dtype.name), (count, *point.shape))

        def along(axis: Tensor) -> Any:
            opened = Opened(lambda x: f(x, *others, **named), (point,), "laplacian")
            return _along(opened, [[axis, None]], 2)[1][1]

        leaves, structure = flatten(vmap(along)(axes))
        return unflatten(
            structure, [leaf if leaf is None else _core.sum(leaf, 0) for leaf in leaves]
        )

    return at


def _along(opened: Opened, terms: list[list[Any]], order: int) -> tuple[Any, list[Any]]:
    value = opened.call()
    ys = opened.results(value)
    opened.tape.start()  # what a slope makes of the xs has a history as well
    try:
        found = _core.along_path(ys, opened.xs, terms, order)
    finally:
        opened.tape.stop()
    by_order = [
        [_core.full(y.shape, 0, y.dtype) if t is None else t for y, t in zip(ys, row, strict=True)]
        for row in zip(*found, strict=True)
    ]
    opened.close([*ys, *(t for row in by_order for t in row)])
    return value, [like(value, row) for row in by_order] if ys else [like(value, [])] * order


def _order(primals: Sequence[Any], series: Any) -> int:
    if not isinstance(series, (tuple, list)):
        raise TypeError(
            "jet: series: expected a tuple with a list of derivatives for each primal, got "
            f"{_core.shown(series)}"
        )
    if len(series) != len(primals):
        raise ValueError(f"jet: {len(series)} series for {len(primals)} primals")
    for i, own in enumerate(series):
        if not isinstance(own, (tuple, list)):
            raise TypeError(
                f"jet: series[{i}]: expected a list of derivatives, first to last, got "
                f"{_core.shown(own)}"
            )
        if len(own) != len(series[0]):
            raise ValueError(
                f"jet: series[{i}] has {len(own)} derivatives and series[0] has {len(series[0])}; "
                "expected as many for all, 0 or None for those that are zero"
            )
    if not series or not series[0]:
        raise ValueError("jet: no derivatives in series; expected one at least")
    return len(series[0])


def _terms(opened: Opened, primals: Any, series: Any, order: int) -> list[list[Any]]:
    """For each of the xs its terms, None where one is zero."""
    at = {place: n for n, place in enumerate(opened.places)}
    terms: list[list[Any]] = [[None] * order for _ in opened.xs]
    for i, (primal, own) in enumerate(zip(primals, series, strict=True)):
        leaves = flatten(primal)[0]
        for k, term in enumerate(own):
            where = f"jet: series[{i}][{k}]"
            for j, value in enumerate(leaves_like(primal, term, where)):
                if value is None or (type(value) in (int, float) and value == 0):
                    continue
                if (i, j) not in at:
                    _refuse(leaves[j], f"jet: primals[{i}]")
                n = at[i, j]
                terms[n][k] = seed(value, opened.xs[n], where)
    return terms


def _refuse(leaf: Any, where: str) -> None:
    """Raises what says why a leaf does not move."""
    differentiable_leaf(leaf, lambda _: where)
