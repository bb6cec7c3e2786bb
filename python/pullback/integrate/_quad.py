"""`quad`: adaptive quadrature as a loop of the plan.

The integral is a node with a rule: its derivatives by the limits are values of the integrand, and
those by all other tensors are integrals with the same rule. So derivatives of every order exist.
Start at `quad`, then `_integral`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import placeholder, recorded_from
from .._autodiff.rules import place
from .._autodiff.vmap import vmap
from .._base.checks import counted, integer, number
from .._base.hints import without
from .._base.pytree import flatten, unflatten
from .._control.checks import warned
from .._control.loops import while_loop
from .._core import ClosedGraph, Rule, Tensor, Variable

# Gauss-Kronrod rule of 21 points on [-1, 1]: the positive nodes from the largest, 0, and the
# weights. Every second node is one of Gauss's rule of 10 points.
_NODES = [
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452,
    0.930157491355708226001207180059508, 0.865063366688984510732096688423493,
    0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784,
    0.294392862701460198131126603103866, 0.148874338981631210884826001129720, 0.0,
]  # fmt: skip
_KRONROD = [
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390,
    0.054755896574351996031381300244580, 0.075039674810919952767043140916190,
    0.093125454583697605535465085079309, 0.109387158802297641899210590325805,
    0.123491976262065851077958109831074, 0.134709217311473325928054001771707,
    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
    0.149445554002916905664936468389821,
]  # fmt: skip
_GAUSS = [
    0.066671344308688137593568809893332, 0.149451349150580593145776339657697,
    0.219086362515982043995534934228163, 0.269266719309996355091226921569469,
    0.295524224714752870173892994651338,
]  # fmt: skip


class _Rules(NamedTuple):
    absolute: float
    relative: float
    limit: int


@without(
    full_output="the result is the integral and an estimate of its error",
    points="integrate in parts, which end at the points",
    weight="multiply the integrand by the weight",
    wvar="multiply the integrand by the weight",
    wopts="multiply the integrand by the weight",
    maxp1="multiply the integrand by the weight",
    limlst="pass limit",
    complex_func="return the real and the imaginary part, stacked",
)
def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    *,
    epsabs: float | None = None,
    epsrel: float | None = None,
    limit: int = 50,
) -> tuple[Tensor, Tensor]:
    """Integrate a function of one variable from `a` to `b`.

    The method is that of QUADPACK [1]_: the interval with the largest error is halved, and each
    part is integrated by a Gauss-Kronrod rule of 21 points. An infinite range is mapped to (0, 1].
    The solver is a loop of the plan.

    Differentiable in `a`, `b`, `args` and all tensors that `func` uses, any number of times. A
    derivative by the latter is an integral of its own, with the same tolerances.

    Parameters
    ----------
    func : callable
        Function `func(x, *args)` of operations of this library, where x is a tensor of shape (). It
        returns a floating tensor of any shape.
    a, b : array_like, real, scalar
        Limits. An infinite one must be a number, not a tensor.
    args : tuple, optional
        Further arguments of `func`, tensors or pytrees. A single argument needs no tuple.
    epsabs, epsrel : float, optional
        The solver ends when the estimated error is at most the larger one of `epsabs` and `epsrel`
        times the largest entry of the integral. Default: the square root of the machine precision.
    limit : int, optional
        Largest number of intervals. Default: 50.

    Returns
    -------
    y : Tensor
        The integral, of the shape that `func` returns.
    abserr : Tensor
        Estimate of the error. If `limit` is not enough, it is larger than the tolerances, and the
        evaluation of `y` issues SciPy's IntegrationWarning.

    Raises
    ------
    TypeError
        If `func` is not callable or does not return a real floating tensor, or a limit is not real.
    ValueError
        If a limit is not a scalar, or a tolerance or `limit` is not positive.

    See Also
    --------
    integrate.odeint

    References
    ----------
    .. [1] R. Piessens et al., QUADPACK: a subroutine package for automatic integration, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> k = pb.Variable(np.float64(2.0))
    >>> y, abserr = pb.integrate.quad(lambda x, k: pb.exp(-k * x**2), 0.0, np.inf, k)
    >>> pb.round(y, 6), pb.round(pb.gradients(y, k)[0], 6)  # sqrt(pi / k) / 2
    (Tensor(0.626657, dtype=float64), Tensor(-0.156664, dtype=float64))
    """
    who = "quad"
    if not callable(func):
        raise TypeError(f"{who}: expected a function for func, got {_core.shown(func)}")
    given = args if isinstance(args, tuple) else (args,)
    leaves, structure = flatten(list(given))
    at = [k for k, leaf in enumerate(leaves) if _is_array(leaf)]
    tensors = [_core.identity(_core.constant(leaves[k])) for k in at]
    low, high = (_limit(x, who) for x in (a, b))
    dtype = _dtype([x for x in (a, b) if _is_array(x)], tensors)

    def f(x: Tensor) -> Tensor:
        for k, tensor in zip(at, tensors, strict=True):
            leaves[k] = tensor
        y = func(x, *unflatten(structure, leaves))
        y = _core.constant(y, x.dtype if isinstance(y, (int, float)) else None, who)
        if y.dtype.kind != "f":
            raise TypeError(
                f"{who}: expected a real floating tensor from {place(func)}, got {y.dtype}"
            )
        return y

    # Tensors that the integrand reads beyond its arguments may be of higher precision.
    dtype = _core.promote(dtype, f(_core.full((), 0.5, dtype)).dtype)
    eps = float(np.finfo(dtype).eps) ** 0.5
    rules = _Rules(
        eps if epsabs is None else _tolerance(epsabs, "epsabs", who),
        eps if epsrel is None else _tolerance(epsrel, "epsrel", who),
        integer(limit, who, "limit"),
    )
    if rules.limit < 1:
        raise ValueError(f"{who}: expected limit >= 1, got {rules.limit}")
    limits = [
        x if isinstance(x, float) and abs(x) == inf
        else _core.constant(x, dtype) if isinstance(x, float) else _core.cast(x, dtype)
        for x in (low, high)
    ]  # fmt: skip
    g, ends, sign = _on_finite_range(f, limits, dtype)
    outer = [*tensors, *(x for x in limits if isinstance(x, Tensor))]
    y, error = _integral(g, ends[0], ends[1], outer, rules, place(func))
    return (y if sign > 0 else -y), error


def _is_array(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable, np.ndarray, np.generic))


def _limit(x: Any, who: str) -> Tensor | float:
    """Return a Python number or an infinite one as a number, else a tensor."""
    if isinstance(x, (int, float, np.floating)) and (abs(x) == inf or not _is_array(x)):
        return float(x)
    tensor = _core.operands([x], who)[0]
    if tensor.dtype.kind == "c":
        raise TypeError(f"{who}: expected real limits, got {tensor.dtype}")
    if tensor.shape != ():
        raise ValueError(f"{who}: expected scalars for a and b, got shape {tensor.shape}")
    return tensor


def _dtype(ends: list[Any], tensors: list[Tensor]) -> Any:
    found = [x.dtype for x in (*ends, *tensors) if x.dtype.kind == "f"]
    return reduce(_core.promote, found) if found else _core.default_float()


def _tolerance(value: Any, name: str, who: str) -> float:
    made = number(value, who, name)
    if not made >= 0:
        raise ValueError(f"{who}: expected {name} >= 0, got {made}")
    return made


def _on_finite_range(
    f: Callable[[Tensor], Tensor], ends: list[Any], dtype: Any
) -> tuple[Callable[[Tensor], Tensor], list[Tensor], int]:
    """Return an integrand, finite limits, and the sign of the integral."""
    infinite = [isinstance(end, float) for end in ends]
    if not any(infinite):
        return f, ends, 1
    unit = [_core.full((), 0, dtype), _core.full((), 1, dtype)]
    sign = 1
    if all(infinite):
        if ends[0] == ends[1]:  # an empty range
            return lambda t: 0.0 * f(t), unit, 1
        sign = 1 if ends[0] < 0 else -1

        def both(t: Tensor) -> Tensor:
            x = (1 - t) / t
            return (f(x) + f(-x)) / t / t  # t * t may underflow

        return both, unit, sign
    end, far = (ends[1], ends[0]) if infinite[0] else (ends[0], ends[1])
    direction = 1.0 if far > 0 else -1.0
    # From the finite limit to the infinite one, or the other way round.
    sign = int(direction) * (-1 if infinite[0] else 1)

    def one(t: Tensor) -> Tensor:
        return f(end + direction * ((1 - t) / t)) / t / t

    return one, unit, sign


def _integral(
    f: Callable[[Tensor], Tensor], low: Tensor, high: Tensor, outer: list[Tensor], rules: _Rules,
    where: str,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the integral as a node with a rule, and its error."""
    with (
        placeholder(low.dtype, (), f"quad of {where}") as at,
        recorded_from([at, *outer]) as first,
    ):
        y = f(at)
        graph = ClosedGraph([y], [at], first)
    others = graph.others
    stopped = [_core.stop_gradient(one) for one in others]

    def plain(x: Tensor) -> Tensor:
        return graph.copy([x, *stopped], False)[0]

    ends = _core.stop_gradient(low), _core.stop_gradient(high)
    value, error, good = _adapt(plain, *ends, y.shape, y.dtype, rules)
    value = warned(
        value, good,
        f"quad: the estimated error of the integral of {where} is larger than epsabs and epsrel "
        f"after {counted(rules.limit, 'interval')}; increase limit, divide the interval at the "
        "points where the integrand is not smooth, or read abserr",
        "scipy.integrate.IntegrationWarning",
    )  # fmt: skip

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        begin, end, *rest = (_core.identity(one) for one in inputs)
        (upstream,) = cotangents
        with recorded_from([begin, end, *rest]):
            at_ends = [graph.copy([x, *rest], False)[0] for x in (begin, end)]
            slopes = [_core.cast(_core.sum(upstream * one), low.dtype) for one in at_ends]
            answers = [-slopes[0], slopes[1]]
            if rest:
                answers += _of_others(graph, begin, end, rest, upstream, rules, where)
        return answers

    node = _core.custom([value], [low, high, *others], Rule(rule, where))[0]
    return node, error


def _of_others(
    graph: ClosedGraph, low: Tensor, high: Tensor, others: list[Tensor], upstream: Tensor,
    rules: _Rules, where: str,
) -> list[Tensor]:  # fmt: skip
    """Integrate the gradient of the integrand by other tensors."""

    def slopes(x: Tensor) -> Tensor:
        inside = [_core.identity(one) for one in others]
        with recorded_from(inside):
            y = graph.copy([x, *inside], False)[0]
            found = _core.gradients([y], inside, [upstream])
        parts = [
            _core.full(one.shape, 0, one.dtype) if g is None else g
            for g, one in zip(found, others, strict=True)
        ]
        return _core.concat([_core.cast(_core.reshape(g, (-1,)), y.dtype) for g in parts], 0)

    for one in others:
        if one.dtype.kind == "c":
            raise TypeError(f"quad: {where}: gradients by complex tensors are not implemented")
    flat, _ = _integral(slopes, low, high, [low, high, *others, upstream], rules, where)
    sizes = [prod(one.shape) for one in others]
    parts = _core.split(flat, sizes, 0) if len(sizes) > 1 else [flat]
    return [
        _core.cast(_core.reshape(part, one.shape), one.dtype)
        for part, one in zip(parts, others, strict=True)
    ]


class _State(NamedTuple):
    low: Tensor  # of all intervals, of which the first `number` are used
    high: Tensor
    values: Tensor
    errors: Tensor
    number: Tensor


def _adapt(
    f: Callable[[Tensor], Tensor], low: Tensor, high: Tensor, shape: tuple[int, ...], dtype: Any,
    rules: _Rules,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the integral of a function, an estimate of its error, and True if it is small."""
    positive = np.array(_NODES, low.dtype)
    kronrod, gauss = np.array(_KRONROD, dtype), np.array(_GAUSS, dtype)
    nodes = np.concatenate([positive, -positive[-2::-1]])
    kronrod = np.concatenate([kronrod, kronrod[-2::-1]])[:, None]
    gauss = np.concatenate([gauss, gauss[::-1]])[:, None]
    least = float(np.finfo(dtype).eps)
    entries = vmap(f)

    def integrate(begin: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
        half = 0.5 * (end - begin)
        y = _core.reshape(entries(0.5 * (begin + end) + half * nodes), (len(nodes), -1))
        half = _core.cast(half, dtype)
        fine, coarse = _core.sum(y * kronrod, [0]), _core.sum(y[1::2] * gauss, [0])
        spread = _core.sum(_core.abs(y - 0.5 * fine) * kronrod, [0])
        size = _core.abs(half)
        error, spread, total = (
            size * _largest(x)
            for x in (fine - coarse, spread, _core.sum(_core.abs(y) * kronrod, [0]))
        )
        # The rule of QUADPACK: the difference of both rules is pessimistic if it is small.
        regular = _core.logical_and(_core.greater(spread, 0), _core.greater(error, 0))
        ratio = 200 * error / _core.where(regular, spread, 1)
        scaled = spread * _core.minimum(1, ratio * _core.sqrt(ratio))
        error = _core.where(regular, scaled, error)
        return half * fine, _core.maximum(error, 50 * least * total)

    def is_good(state: _State) -> Tensor:
        bound = _core.maximum(
            rules.absolute, rules.relative * _largest(_core.sum(state.values, [0]))
        )
        return _core.logical_not(_core.greater(_core.sum(state.errors), bound))  # NaN is no error

    def goes_on(state: _State) -> Tensor:
        more = _core.less(state.number, rules.limit)
        return _core.logical_and(_core.logical_not(is_good(state)), more)

    numbers = np.arange(rules.limit)

    def halve(state: _State) -> _State:
        worst = _core.argmax(state.errors, 0)
        begin, end = state.low[worst], state.high[worst]
        middle = 0.5 * (begin + end)
        left, right = integrate(begin, middle), integrate(middle, end)
        here, new = numbers == worst, numbers == state.number

        def put(old: Tensor, first: Tensor, second: Tensor) -> Tensor:
            masks = [m[:, None] if len(old.shape) > 1 else m for m in (here, new)]
            return _core.where(masks[1], second, _core.where(masks[0], first, old))

        return _State(
            put(state.low, begin, middle),
            put(state.high, middle, end),
            put(state.values, left[0], right[0]),
            put(state.errors, left[1], right[1]),
            state.number + 1,
        )

    first, error = integrate(low, high)
    empty = np.arange(rules.limit) == 0
    state = _State(
        _core.where(empty, low, 0),
        _core.where(empty, high, 0),
        _core.where(empty[:, None], first, 0),
        _core.where(empty, error, 0),
        _core.full((), 1, "int64"),
    )
    end: _State = while_loop(goes_on, halve, state)
    total = _core.reshape(_core.sum(end.values, [0]), shape)
    return total, _core.sum(end.errors), is_good(end)


def _largest(x: Tensor) -> Tensor:
    return _core.max(_core.abs(x)) if x.size else _core.full((), 0, x.dtype)
