"""The equation of an implicit function: its solution is a node, whose gradient is another solution.

If r(x, θ) = 0, then dx/dθ = -J⁻¹ ∂r/∂θ with J = ∂r/∂x. The function runs once, on placeholders, and
becomes a closed graph; the solver and the gradient rule use copies of it. The rule of the solution
solves Jᵀ w = v, which is an equation as well, whose solution is a node with the same rule. So
derivatives of every order exist. Start reading at `implicit_function`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.closed_graph import node_number, placeholder, recorded_from
from .._autodiff.function import function, inlined_functions
from .._autodiff.jacobian import jacobian
from .._autodiff.rules import place
from .._autodiff.shaping import with_gradient
from .._autodiff.transforms import differentiable_leaf
from .._base.checks import entries_stacked
from .._base.pytree import flatten, leaves_like, unflatten
from .._core import ClosedGraph, Rule, Tensor, Variable, shown
from ._linear_solve import MOST_DENSE, dense_solver, for_each, iterative_solution

_Residual = Callable[[Tensor, Tensor], "Tensor | None"]  # of the result of f and x, both flat


def _slope(y: Tensor, x: Tensor) -> Tensor | None:
    slope: Tensor | None = _core.gradients([y], [x])[0]
    return slope


def _projected(value: Callable[[Tensor], Tensor]) -> _Residual:
    """Return the residual of a minimum of `value` within bounds, which are the end of `y`.

    It is the slope for free variables. For others, at a bound that the slope leads beyond, it is
    the distance from that bound. So no scale of the slope decides.
    """

    def residual(y: Tensor, x: Tensor) -> Tensor | None:
        n = x.shape[0]
        slope = _slope(value(y[: -2 * n]), x)
        if slope is None:
            return None
        low, high = y[-2 * n : -n], y[-n:]
        at_low = _core.logical_and(_core.less_equal(x, low), _core.greater_equal(slope, 0))
        at_high = _core.logical_and(_core.greater_equal(x, high), _core.less_equal(slope, 0))
        rest: Tensor = _core.where(at_low, x - low, _core.where(at_high, x - high, slope))
        return rest

    return residual


def _squares(y: Tensor) -> Tensor:
    return _core.sum(_core.square(y))


RESIDUALS: dict[str, _Residual] = {
    "root": lambda y, x: y,
    "fixed_point": _core.subtract,
    "minimum": _slope,
    "bounded minimum": _projected(lambda y: y[0]),
    "least_squares": lambda y, x: _slope(_squares(y), x),
    "bounded least_squares": _projected(_squares),
    "elementwise root": lambda y, x: y,  # each entry of y depends on one entry of x
    "symmetric root": lambda y, x: y,  # the derivative of y is symmetric
}
_SYMMETRIC = ("minimum", "least_squares", "symmetric root")


def implicit_function(f: Any, solver: Any, who: str) -> Callable[..., Any]:
    """Return the function that `root`, `fixed_point` or `minimum` returns; `who` is its name."""
    for name, given in (("f", f), ("solver", solver)):
        if not callable(given):
            raise TypeError(f"{who}: expected a function for {name}, got {shown(given)}")

    @wraps(f)
    def solution(x0: Any, *theta: Any) -> Any:
        x, arguments, graph = _recorded(f, x0, theta, who, who)
        callback = _SolverCallback(graph, x, arguments, solver, who == "minimum")
        start = x.start
        value = callback_operation(
            for_each(callback), callback.inputs(), x.dtype, start.shape, True
        )
        return x.tree(_solution_node(value, graph, who, f, who))

    return solution


def solution_on_plan(
    f: Any, x0: Any, theta: Sequence[Any], solve: Callable[..., Any], kind: str, who: str
) -> tuple[Any, Any, Tensor]:
    """Return a solution, the value of `f` there, and a bool that is True if it was found.

    `solve` consists of operations. It receives the function of the vector x alone and the start,
    and returns a vector and that bool. The gradient of a solution that was not found is NaN. `kind`
    is a key of RESIDUALS.
    """
    x, _, graph = _recorded(f, x0, theta, kind, who)
    others = [_core.stop_gradient(one) for one in graph.others]
    value, success = solve(
        lambda at: graph.copy([at, *others], False)[0], _core.stop_gradient(x.start)
    )
    found = _solution_node(_core.stop_gradient(value), graph, kind, f, who)
    # A product, since forward mode transposes the rule: it is linear, and where() of NaN is not.
    factor = _core.where(success, _core.full((), 1, x.dtype), math.nan)
    checked = with_gradient(found, lambda upstream: upstream * factor)
    at_solution = x.result(graph.copy([checked, *graph.others], False)[0])
    return x.tree(checked), at_solution, success


def _recorded(
    f: Any, x0: Any, theta: Sequence[Any], kind: str, who: str
) -> tuple[_Unknown, _Arguments, ClosedGraph]:
    """Return the unknown, the arguments, and the result of `f` as a closed graph of x."""
    leaves, structure = flatten(x0)
    x = _Unknown([differentiable_leaf(leaf, lambda _: f"{who}: x0") for leaf in leaves],
                 structure, who)  # fmt: skip
    arguments = _Arguments(theta)
    name = f"{who} of {place(f)}"
    with (
        placeholder(x.dtype, x.start.shape, name) as at,
        recorded_from([at, *arguments.tensors], who) as first,
    ):
        with inlined_functions():
            returned = f(x.tree(at), *arguments.tree(arguments.tensors))
        if kind == "minimum":
            y = _scalar(returned, f, who)
            x.result = _core.identity
        elif kind == "bounded minimum":
            value, low, high = returned
            y = _core.concat([_scalar(value, f, who)[None], low, high], 0)
            x.result = lambda flat: flat[0]
        elif kind == "least_squares":
            y = x.residuals(returned, f)
        elif kind == "bounded least_squares":
            residuals, low, high = returned
            y = x.residuals(residuals, f)
            size, result = y.shape[0], x.result
            y = _core.concat([y, low, high], 0)
            x.result = lambda flat: result(flat[:size])
        else:
            y = x.flat(returned, f)
        graph = ClosedGraph([y], [at], first)
    if not _core.computed_from([y], [at])[0]:
        raise ValueError(f"{who}: expected a result that depends on x from {place(f)}")
    return x, arguments, graph


class _Unknown:
    """The unknown x: its pytree as one vector."""

    def __init__(self, leaves: list[Tensor], structure: Any, who: str) -> None:
        dtypes = {leaf.dtype for leaf in leaves}
        if len(dtypes) != 1 or not dtypes <= {np.dtype("float32"), np.dtype("float64")}:
            names = " and ".join(sorted(dtype.name for dtype in dtypes)) or "nothing"
            raise TypeError(
                f"{who}: expected a single dtype, float32 or float64, for x0, got {names}"
            )
        self.structure, self.who = structure, who
        self.shapes = [leaf.shape for leaf in leaves]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.dtype = leaves[0].dtype
        self.start = _core.concat([_core.reshape(leaf, (-1,)) for leaf in leaves], 0)
        self.result: Callable[[Tensor], Any] = self.tree  # of the result of f as one vector

    def tree(self, flat: Any) -> Any:
        parts = _core.split(flat, self.sizes, 0) if len(self.sizes) > 1 else [flat]
        pairs = zip(parts, self.shapes, strict=True)
        return unflatten(self.structure, [_core.reshape(part, shape) for part, shape in pairs])

    def arrays(self, flat: Any) -> Any:
        """Return the pytree of a vector with arrays that may be written to."""
        parts = np.split(np.array(flat), np.cumsum(self.sizes)[:-1])
        pairs = zip(parts, self.shapes, strict=True)
        return unflatten(self.structure, [part.reshape(shape) for part, shape in pairs])

    def residuals(self, returned: Any, f: Any) -> Tensor:
        """Return all entries of a result of `f` of any structure as one vector."""
        leaves, structure = flatten(returned)
        made = [_core.constant(leaf, None if has_dtype(leaf) else self.dtype) for leaf in leaves]
        for leaf in made:
            if leaf.dtype != self.dtype:
                raise TypeError(
                    f"{self.who}: expected residuals of dtype {self.dtype} from {place(f)}, that "
                    f"of x, got {leaf.dtype}; cast them"
                )
        sizes = [prod(leaf.shape) for leaf in made]

        def result(flat: Tensor) -> Any:
            pairs = zip(_core.split(flat, sizes, 0), made, strict=True)
            return unflatten(structure, [_core.reshape(part, leaf.shape) for part, leaf in pairs])

        self.result = result
        return _core.concat([_core.reshape(leaf, (-1,)) for leaf in made], 0)

    def flat(self, tree: Any, f: Any) -> Tensor:
        """Return the result of `f` or of the solver as one vector."""
        like = unflatten(self.structure, range(len(self.shapes)))
        who = f"{self.who}: the result of {place(f)}"
        tree = entries_stacked(tree, who) if isinstance(like, int) else tree
        leaves = leaves_like(like, tree, who)
        tensors = []
        for leaf, shape in zip(leaves, self.shapes, strict=True):
            tensor = _core.constant(leaf, None if has_dtype(leaf) else self.dtype, who)
            if tensor.shape != shape:
                raise ValueError(
                    f"{self.who}: expected shape {shape} from {place(f)}, that of x, got "
                    f"{tensor.shape}"
                )
            if tensor.dtype != self.dtype:
                raise TypeError(
                    f"{self.who}: expected dtype {self.dtype} from {place(f)}, that of x, got "
                    f"{tensor.dtype}; cast it"
                )
            tensors.append(_core.reshape(tensor, (-1,)))
        return _core.concat(tensors, 0)


def has_dtype(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable, np.ndarray, np.generic))


def _scalar(y: Any, f: Any, who: str) -> Tensor:
    if isinstance(y, tuple):
        raise TypeError(
            f"{who}: expected a floating tensor of shape () from {place(f)}, got a tuple; return "
            f"the value alone ({who} has no has_aux), and compute other results from the solution"
        )
    if not isinstance(y, Tensor) or y.dtype.kind != "f" or y.shape != ():
        got = f"{y.dtype} of shape {y.shape}" if isinstance(y, Tensor) else f"a {type(y).__name__}"
        raise TypeError(f"{who}: expected a floating tensor of shape () from {place(f)}, got {got}")
    return y


class _Arguments:
    """The tensors of theta, and the structure to rebuild it."""

    def __init__(self, theta: Sequence[Any]) -> None:
        self.leaves, self.structure = flatten(list(theta))
        self.at = [
            k for k, leaf in enumerate(self.leaves)
            if has_dtype(leaf)
        ]  # fmt: skip
        self.tensors = [_core.identity(_core.constant(self.leaves[k])) for k in self.at]

    def tree(self, others: Sequence[Any]) -> Any:
        leaves = list(self.leaves)
        for k, other in zip(self.at, others, strict=True):
            leaves[k] = other
        return unflatten(self.structure, leaves)

    def tensors_of(self, theta: Sequence[Any]) -> list[Any]:
        leaves = flatten(list(theta))[0]
        return [leaves[k] for k in self.at]


class _SolverCallback:
    """The callback that calls the solver with arrays."""

    def __init__(
        self, graph: ClosedGraph, x: _Unknown, arguments: _Arguments, solver: Any, scalar: bool
    ) -> None:
        self.x, self.arguments, self.solver, self.scalar = x, arguments, solver, scalar
        self.on = function(lambda x, others: graph.copy([x, *others], False)[0])
        # The indices of the inputs of the graph among the arguments and the outer tensors.
        places = {node_number(tensor): k for k, tensor in enumerate(arguments.tensors)}
        self.outside = [one for one in graph.others if node_number(one) not in places]
        places |= {node_number(one): len(places) + k for k, one in enumerate(self.outside)}
        self.places = [places[node_number(one)] for one in graph.others]

    def inputs(self) -> list[Tensor]:
        inputs = [self.x.start, *self.arguments.tensors, *self.outside]
        return [_core.stop_gradient(one) for one in inputs]

    def __call__(self, start: Any, *arrays: Any) -> Any:
        count = len(self.arguments.tensors)

        def f(x: Any, *theta: Any) -> Any:
            given = self.arguments.tensors_of(theta) if theta else arrays[:count]
            known = [*given, *arrays[count:]]
            y = self.on(self.x.flat(x, self.solver), [known[k] for k in self.places])
            if any(isinstance(leaf, (Tensor, Variable)) for leaf in flatten(x)[0]):
                return y if self.scalar else self.x.tree(y)
            return np.array(y) if self.scalar else self.x.arrays(y)

        theta = self.arguments.tree([np.array(one) for one in arrays[:count]])
        answer = self.solver(f, self.x.arrays(start), *theta)
        return np.ascontiguousarray(self.x.flat(answer, self.solver).numpy())


def _solution_node(value: Tensor, graph: ClosedGraph, kind: str, f: Any, who: str) -> Tensor:
    """Return a node with this value, which is a root x of the residual of `graph`.

    The node has a derivative with respect to `others`.
    """
    residual = RESIDUALS[kind]

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        x, *others = (_core.identity(one) for one in (outputs[0], *inputs))
        with recorded_from([x, *others]):
            r = residual(graph.copy([x, *others], False)[0], x)
            w = None if r is None else _adjoint(r, x, cotangents[0], kind, f, who)
        if r is None or w is None:
            raise ValueError(f"{who}: expected a gradient that depends on x from {place(f)}")
        answers: list[Any] = _core.gradients([r], others, [_core.negative(w)], overrides=True)
        return answers

    found: Tensor = _core.custom([value], graph.others, Rule(rule, place(f)))[0]
    return found


def _adjoint(r: Tensor, x: Tensor, v: Tensor, kind: str, f: Any, who: str) -> Tensor | None:
    """Return the w whose product from the left with the derivative of `r` by `x` is `v`."""
    if kind == "elementwise root":
        slope = _slope(r, x)
        return None if slope is None else _core.divide(v, slope)
    at = _core.identity(_core.full(x.shape, 0, x.dtype))
    with recorded_from([at]) as first:
        (product,) = _core.gradients([r], [x], [at])
        if product is None:
            return None
        rest = _core.subtract(product, v)
        graph = ClosedGraph([rest], [at], first)
    if prod(x.shape) <= MOST_DENSE:
        (matrix,) = jacobian(rest, [at], None, True)
        assert matrix is not None  # zeros in place of None
        inputs = [_core.stop_gradient(one) for one in (matrix, v)]
        solve = for_each(dense_solver(who, place(f)), 2)
        value = callback_operation(solve, inputs, x.dtype, x.shape, True)
    else:
        products = ClosedGraph([product], [at], first)
        symmetric = kind in _SYMMETRIC
        value = iterative_solution(products, _core.stop_gradient(v), symmetric, who, place(f))
    # The equation of w is linear; its matrix is symmetric if this one is.
    return _solution_node(value, graph, "symmetric root" if kind in _SYMMETRIC else "root", f, who)
