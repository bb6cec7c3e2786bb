"""Solutions of equations with derivatives by the implicit function theorem: `root`, `fixed_point`,
`minimum`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def root(f: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a root of `f` with the given solver.

    Gradients follow from the implicit function theorem [1]_. They are those of the exact solution
    next to the computed one, independent of the steps of the solver. All orders exist, in forward
    and reverse mode, with respect to floating leaves of `theta` and to outer tensors and variables
    that `f` reads. There is no gradient with respect to `x0`.

    A gradient costs one linear system with the Jacobian of `f` by x. For up to 128 unknowns the
    matrix is formed. For more unknowns the system is solved by BiCGSTAB [2]_, and by GMRES if this
    does not converge, from products with the matrix alone; if such a system has many solutions, one
    is taken. If GMRES stagnates, a matrix of up to 2048 unknowns is formed.

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

    See Also
    --------
    implicit.fixed_point, implicit.minimum, linalg.gmres

    References
    ----------
    .. [1] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM, 2008, section 15.1.
    .. [2] H. A. van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the
       solution of nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 13, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import optimize
    >>> solver = lambda f, x0, *theta: optimize.root(f, x0).x
    >>> x = pb.implicit.root(lambda x, a: x**3 + x - a, solver)
    >>> a = pb.Variable([2.0, 10.0], dtype="float64")
    >>> solution = x(np.ones(2), a)
    >>> solution.numpy().round(6), pb.gradients(solution, a)[0].numpy().round(6)
    (array([1., 2.]), array([0.25    , 0.076923]))
    """
    return _implicit_function(f, solver, "root")


def fixed_point(f: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a fixed point of `f` with the given solver.

    The derivatives and costs are those of `root` for the function `f(x, *theta) - x`.

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
    return _implicit_function(f, solver, "fixed_point")


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

    See Also
    --------
    implicit.root, implicit.fixed_point

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import optimize
    >>> solver = lambda f, x0, *theta: optimize.minimize(f, x0, tol=1e-12).x
    >>> x = pb.implicit.minimum(lambda x, a: pb.sum((x - a) ** 2) + pb.sum(x) ** 2, solver)
    >>> a = pb.Variable([1.0, 3.0], dtype="float64")
    >>> pb.gradients(x(np.zeros(2), a)[0], a)[0].numpy().round(6)
    array([ 0.666667, -0.333333])
    """
    return _implicit_function(f, solver, "minimum")


def _implicit_function(f: Any, solver: Any, who: str) -> Callable[..., Any]:
    from ._equation import implicit_function  # imported at the first use

    return implicit_function(f, solver, who)
