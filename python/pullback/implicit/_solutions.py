"""Derivatives of solutions of equations by the implicit function theorem: `root`, `fixed_point`,
`minimum`.

If r(x, θ) = 0, then dx/dθ = -J⁻¹ ∂r/∂θ with J = ∂r/∂x. The function runs once, on placeholders, and
becomes a subgraph (cpp/transform/recompute.h); the solver and the gradient rule use copies of it.
The solution is one node. Its rule solves Jᵀ w = v, which is an equation as well, whose solution is
a node with the same rule. So derivatives of every order exist. Start reading at `_solving`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.function import function, inlined_functions
from .._autodiff.jacobian import jacobian
from .._autodiff.rules import place
from .._autodiff.transforms import differentiable_leaf
from .._base.pytree import flatten, leaves_like, unflatten
from .._core import Rule, Tape, Tensor, Variable, shown
from ._linear_solve import MOST_DENSE, for_each, solved, solved_by_products


def root(f: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a root of `f` with the given solver.

    Gradients follow from the implicit function theorem [1]_. They are those of the exact solution
    next to the computed one, independent of the steps of the solver. All orders exist, in forward
    and reverse mode, with respect to floating leaves of `theta` and to outer tensors and variables
    that `f` reads. There is no gradient with respect to `x0`.

    A gradient costs one linear system with the Jacobian of `f` by x. For up to 128 unknowns the
    matrix is formed. For more unknowns the system is solved by SciPy's GMRES from products with the
    matrix alone; if such a system has many solutions, one is taken.

    Parameters
    ----------
    f : callable
        Function `f(x, *theta)` of operations of this library. It returns a result of the structure,
        shapes and dtype of x, a tensor or a pytree of tensors.
    solver : callable
        Function `solver(f, x0, *theta)` of any library that returns x or an approximation of it. It
        receives NumPy arrays in place of tensors. Its `f` returns arrays for arrays and tensors for
        tensors, and may be called without `theta`. It is called when the result is evaluated, and
        at each call of a traced `function`.

    Returns
    -------
    callable
        Function `(x0, *theta)` that returns the root, with the structure, shapes and dtype of `x0`.
        The leaves of `x0` have a single dtype, float32 or float64.

    Raises
    ------
    TypeError
        If `f` or `solver` is not callable. At the call: if `x0` or a result of `f` has another
        dtype.
    ValueError
        At the call: if `f` returns another shape or does not depend on x. When the result is
        evaluated: if the solver returns another shape. Exceptions of the solver are raised there as
        well.
    numpy.linalg.LinAlgError
        When a gradient is evaluated: if the Jacobian of `f` by x is singular or, for more than 128
        unknowns, if the linear system has no solution.
    ImportError
        When a gradient is evaluated: if there are more than 128 unknowns and SciPy is not
        installed.

    See Also
    --------
    implicit.fixed_point, implicit.minimum, linalg.gmres

    References
    ----------
    .. [1] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM, 2008, section 15.1.

    Examples
    --------
    >>> from scipy import optimize
    >>> solver = lambda f, x0, *theta: optimize.root(f, x0).x
    >>> x = pb.implicit.root(lambda x, a: x**3 + x - a, solver)
    >>> a = pb.Variable([2.0, 10.0], dtype="float64")
    >>> solution = x(np.ones(2), a)
    >>> solution.numpy().round(6), pb.gradients(solution, a)[0].numpy().round(6)
    (array([1., 2.]), array([0.25    , 0.076923]))
    """
    return _solving(f, solver, "root", lambda y, x: y)


def fixed_point(f: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a fixed point of `f` with the given solver.

    The derivatives and costs are those of `root` for the function f(x, *theta) - x.

    Parameters
    ----------
    f : callable
        Function `f(x, *theta)` of operations of this library. It returns a result of the structure,
        shapes and dtype of x, a tensor or a pytree of tensors.
    solver : callable
        Function `solver(f, x0, *theta)` of any library that returns x or an approximation of it, as
        in `root`.

    Returns
    -------
    callable
        Function `(x0, *theta)` that returns the fixed point, with the structure, shapes and dtype
        of `x0`. The leaves of `x0` have a single dtype, float32 or float64.

    Raises
    ------
    TypeError
        If `f` or `solver` is not callable. At the call: if `x0` or a result of `f` has another
        dtype.
    ValueError
        At the call: if `f` returns another shape or does not depend on x. When the result is
        evaluated: if the solver returns another shape.
    numpy.linalg.LinAlgError
        When a gradient is evaluated: if the Jacobian of f(x) - x by x is singular.
    ImportError
        When a gradient is evaluated: if there are more than 128 unknowns and SciPy is not
        installed.

    See Also
    --------
    implicit.root, implicit.minimum

    Examples
    --------
    >>> def iterate(f, x, *theta):
    ...     for _ in range(60):
    ...         x = f(x)
    ...     return x
    >>> x = pb.implicit.fixed_point(lambda x, a: (x + a / x) / 2, iterate)
    >>> a = pb.Variable(9.0)
    >>> round(float(x(1.0, a)), 4), round(float(pb.gradients(x(1.0, a), a)[0]), 4)
    (3.0, 0.1667)
    """
    return _solving(f, solver, "fixed_point", _core.subtract)


def minimum(f: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a minimum of `f` with the given solver.

    The derivatives are those of `root` for the gradient of `f` by x. The matrix of the linear
    system is the Hessian, which is symmetric: for more than 128 unknowns it is solved by conjugate
    gradients, and by GMRES if these do not converge.

    Parameters
    ----------
    f : callable
        Function `f(x, *theta)` of operations of this library that returns a floating tensor of
        shape (). It must be twice differentiable in x.
    solver : callable
        Function `solver(f, x0, *theta)` of any library that returns x or an approximation of it, as
        in `root`.

    Returns
    -------
    callable
        Function `(x0, *theta)` that returns the minimum, with the structure, shapes and dtype of
        `x0`. The leaves of `x0` have a single dtype, float32 or float64.

    Raises
    ------
    TypeError
        If `f` or `solver` is not callable. At the call: if `x0` has another dtype, or if the result
        of `f` is not a floating tensor of shape ().
    ValueError
        At the call: if `f` does not depend on x. When the result is evaluated: if the solver
        returns another shape.
    numpy.linalg.LinAlgError
        When a gradient is evaluated: if the Hessian of `f` by x is singular.
    ImportError
        When a gradient is evaluated: if there are more than 128 unknowns and SciPy is not
        installed.

    See Also
    --------
    implicit.root, implicit.fixed_point

    Examples
    --------
    >>> from scipy import optimize
    >>> solver = lambda f, x0, *theta: optimize.minimize(f, x0, tol=1e-12).x
    >>> x = pb.implicit.minimum(lambda x, a: pb.sum((x - a) ** 2) + pb.sum(x) ** 2, solver)
    >>> a = pb.Variable([1.0, 3.0], dtype="float64")
    >>> pb.gradients(x(np.zeros(2), a)[0], a)[0].numpy().round(6)
    array([ 0.666667, -0.333333])
    """
    return _solving(f, solver, "minimum", _slope)


_Residual = Callable[[Tensor, Tensor], "Tensor | None"]  # of the result of f and x, both flat


def _slope(y: Tensor, x: Tensor) -> Tensor | None:
    slope: Tensor | None = _core.gradients([y], [x])[0]
    return slope


def _solving(f: Any, solver: Any, who: str, residual: _Residual) -> Callable[..., Any]:
    for name, given in (("f", f), ("solver", solver)):
        if not callable(given):
            raise TypeError(f"{who}: expected a function for {name}, got {shown(given)}")

    @wraps(f)
    def solution(x0: Any, *theta: Any) -> Any:
        leaves, structure = flatten(x0)
        x = _Unknown([differentiable_leaf(leaf, lambda _: f"{who}: x0") for leaf in leaves],
                     structure, who)  # fmt: skip
        arguments = _Arguments(theta)
        at = _core.identity(_core.stop_gradient(x.start))
        piece = _Piece(at, [at, *arguments.tensors], who)
        with piece:
            with inlined_functions():
                returned = f(x.nest(at), *arguments.nest(arguments.tensors))
            y = _scalar(returned, f, who) if residual is _slope else x.flat(returned, f)
            piece.close(y)
        if not _core.computed_from([y], [at])[0]:
            raise ValueError(f"{who}: expected a result that depends on x from {place(f)}")
        run = _Run(piece, x, arguments, solver, residual is _slope)
        value = callback_operation(for_each(run), run.inputs(), at.dtype, at.shape, True)
        found = _attached(value, piece, residual, residual is _slope, f, who)
        return x.nest(found)

    return solution


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

    def nest(self, flat: Any) -> Any:
        parts = _core.split(flat, self.sizes, 0) if len(self.sizes) > 1 else [flat]
        pairs = zip(parts, self.shapes, strict=True)
        return unflatten(self.structure, [_core.reshape(part, shape) for part, shape in pairs])

    def arrays(self, flat: Any) -> Any:
        """Return the pytree of a vector with arrays that may be written to."""
        parts = np.split(np.array(flat), np.cumsum(self.sizes)[:-1])
        pairs = zip(parts, self.shapes, strict=True)
        return unflatten(self.structure, [part.reshape(shape) for part, shape in pairs])

    def flat(self, nest: Any, f: Any) -> Tensor:
        """Return the result of `f` or of the solver as one vector."""
        like = unflatten(self.structure, range(len(self.shapes)))
        who = f"{self.who}: the result of {place(f)}"
        leaves = leaves_like(like, nest, who)
        tensors = []
        for leaf, shape in zip(leaves, self.shapes, strict=True):
            own = isinstance(leaf, (Tensor, Variable, np.ndarray, np.generic))
            tensor = _core.constant(leaf, None if own else self.dtype, who)
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


def _scalar(y: Any, f: Any, who: str) -> Tensor:
    if not isinstance(y, Tensor) or y.dtype.kind != "f" or y.shape != ():
        got = f"{y.dtype} of shape {y.shape}" if isinstance(y, Tensor) else f"a {type(y).__name__}"
        raise TypeError(f"{who}: expected a floating tensor of shape () from {place(f)}, got {got}")
    return y


class _Arguments:
    """The tensors of theta, and the structure that they are put back into."""

    def __init__(self, theta: Sequence[Any]) -> None:
        self.leaves, self.structure = flatten(list(theta))
        self.at = [
            k for k, leaf in enumerate(self.leaves)
            if isinstance(leaf, (Tensor, Variable, np.ndarray, np.generic))
        ]  # fmt: skip
        self.tensors = [_core.identity(_core.constant(self.leaves[k])) for k in self.at]

    def nest(self, others: Sequence[Any]) -> Any:
        leaves = list(self.leaves)
        for k, other in zip(self.at, others, strict=True):
            leaves[k] = other
        return unflatten(self.structure, leaves)

    def chosen(self, theta: Sequence[Any]) -> list[Any]:
        leaves = flatten(list(theta))[0]
        return [leaves[k] for k in self.at]


def _number(x: Tensor) -> int:
    number: int = _core.identity_of(x, None)[0]
    return number


class _Piece:
    """The operations created while it is open, as a function of `at` and of their other inputs."""

    def __init__(self, at: Tensor, watched: Sequence[Tensor], who: str = "") -> None:
        self.at = at
        self.tape = Tape(False, who)
        self.watched = watched

    def __enter__(self) -> None:
        self.tape.start()
        for x in self.watched:
            self.tape.watch(x)
        self.first = _core.next_number()

    def __exit__(self, *_: Any) -> None:
        self.tape.stop()

    def close(self, y: Tensor) -> None:
        self.piece = _core.Piece([y], self.first)
        self.inputs = self.piece.inputs()
        self.is_at = [_number(x) == _number(self.at) for x in self.inputs]
        self.others = [x for x, is_at in zip(self.inputs, self.is_at, strict=True) if not is_at]

    def on(self, x: Tensor, others: Sequence[Tensor]) -> Tensor:
        left = iter(others)
        made = [x if is_at else next(left) for is_at in self.is_at]
        copy: Tensor = self.piece.copy(self.inputs, made, False)[0]
        return copy


class _Run:
    """The callback of the plan: calls the solver with arrays."""

    def __init__(
        self, piece: _Piece, x: _Unknown, arguments: _Arguments, solver: Any, scalar: bool
    ) -> None:
        self.x, self.arguments, self.solver, self.scalar = x, arguments, solver, scalar
        self.on = function(lambda x, others: piece.on(x, others))
        # The indices of the inputs of the graph among the arguments and the outer tensors.
        places = {_number(tensor): k for k, tensor in enumerate(arguments.tensors)}
        self.outside = [one for one in piece.others if _number(one) not in places]
        places |= {_number(one): len(places) + k for k, one in enumerate(self.outside)}
        self.places = [places[_number(one)] for one in piece.others]

    def inputs(self) -> list[Tensor]:
        inputs = [self.x.start, *self.arguments.tensors, *self.outside]
        return [_core.stop_gradient(one) for one in inputs]

    def __call__(self, start: Any, *arrays: Any) -> Any:
        count = len(self.arguments.tensors)

        def f(x: Any, *theta: Any) -> Any:
            given = self.arguments.chosen(theta) if theta else arrays[:count]
            known = [*given, *arrays[count:]]
            y = self.on(self.x.flat(x, self.solver), [known[k] for k in self.places])
            if any(isinstance(leaf, (Tensor, Variable)) for leaf in flatten(x)[0]):
                return y if self.scalar else self.x.nest(y)
            return np.array(y) if self.scalar else self.x.arrays(y)

        theta = self.arguments.nest([np.array(one) for one in arrays[:count]])
        answer = self.solver(f, self.x.arrays(start), *theta)
        return np.ascontiguousarray(self.x.flat(answer, self.solver).numpy())


def _attached(
    value: Tensor, piece: _Piece, residual: _Residual, symmetric: bool, f: Any, who: str
) -> Tensor:
    """Return a node with this value, which is a root x of the residual of `piece`.

    The node has a derivative with respect to `others`.
    """

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        tape = Tape(False)
        tape.start()
        try:
            x, *others = (_core.identity(one) for one in (outputs[0], *inputs))
            for one in (x, *others):
                tape.watch(one)
            r = residual(piece.on(x, others), x)
            w = None if r is None else _adjoint(r, x, cotangents[0], symmetric, f, who)
        finally:
            tape.stop()
        if w is None:
            raise ValueError(f"{who}: expected a gradient that depends on x from {place(f)}")
        answers: list[Any] = _core.gradients([r], others, [_core.negative(w)], overrides=True)
        return answers

    found: Tensor = _core.custom([value], piece.others, Rule(rule, place(f)))[0]
    return found


def _adjoint(r: Tensor, x: Tensor, v: Tensor, symmetric: bool, f: Any, who: str) -> Tensor | None:
    """Return the w whose product with the derivative of `r` by `x`, from the left, is `v`."""
    at = _core.identity(_core.full(x.shape, 0, x.dtype))
    piece = _Piece(at, [at])
    with piece:
        (product,) = _core.gradients([r], [x], [at])
        if product is None:
            return None
        rest = _core.subtract(product, v)
        piece.close(rest)
    if prod(x.shape) <= MOST_DENSE:
        (matrix,) = jacobian(rest, [at], None, True)
        assert matrix is not None  # zeros in place of None
        inputs = [_core.stop_gradient(one) for one in (matrix, v)]
        solve = for_each(solved(who, place(f)), 2)
        value = callback_operation(solve, inputs, x.dtype, x.shape, True)
    else:
        on = function(lambda w, others: piece.on(w, others))
        value = callback_operation(
            for_each(solved_by_products(on, symmetric, who, place(f))),
            [_core.stop_gradient(one) for one in (v, *piece.others)],
            x.dtype, x.shape, True,
        )  # fmt: skip
    return _attached(value, piece, lambda y, _: y, symmetric, f, who)
