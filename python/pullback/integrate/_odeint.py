"""`odeint`: its arguments and documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .._base.hints import without


@without(
    args="pass the arguments of f after t: odeint(f, y0, t, *args)",
    tfirst="f receives y first: f(y, t, *args)",
    method="the method is Dormand-Prince; integrate.solve_ivp has an implicit one",
    jac="derivatives are computed by automatic differentiation",
    Dfun="derivatives are computed by automatic differentiation",
    col_deriv="derivatives are computed by automatic differentiation",
    ml="derivatives are computed by automatic differentiation",
    mu="derivatives are computed by automatic differentiation",
    func="it is the first argument",
    full_output="the solution is the result alone; a failure is an error",
    tcrit="solve in parts, which end at the critical times",
    h0="the first step is estimated",
    hmin="the smallest step follows from the precision",
    hmax="use integrate.solve_ivp with max_step",
    ixpr="the method is Dormand-Prince",
    mxstep="pass max_steps",
    mxhnil="the method is Dormand-Prince",
    mxordn="the method is Dormand-Prince",
    mxords="the method is Dormand-Prince",
    printmessg="a failure is an error",
)
def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    max_steps: int = 100_000,
    adjoint: Literal["discrete", "continuous"] = "discrete",
) -> Any:
    """Solve the ordinary differential equation `y' = f(y, t, *args)` with y(t[0]) = y0.

    The method is Dormand–Prince of order 5(4) with an interpolant of order 4 [1]_, so the steps do
    not depend on the requested times; no step goes beyond the last one. The solution is one
    operation, whose number of steps is determined when it is evaluated.

    Differentiable in `y0`, `t`, `args` and all tensors that `f` uses, any number of times. Forward
    mode differentiates the steps.

    Parameters
    ----------
    f : callable
        Function of y, in the structure of `y0`, a time, a tensor of shape (), and `args`. It
        returns the derivative of each part of y in its place. It is traced a few times and may use
        tensors from outside. A step evaluates it seven times, or six times if the previous step was
        accepted.
    y0 : array_like or pytree of array_like, floating or complex
        Initial value, of one dtype. Python numbers take that dtype. A list is a pytree, so `f`
        receives and returns a list; an array is a vector.
    t : array_like, real
        Times of shape (n,), increasing or decreasing; equal times are permitted. They are cast to
        the precision of `y0`.
    *args : any
        Further arguments of `f`.
    rtol, atol : float, optional
        Tolerances of a step: the root mean square of the errors of the entries, each divided by
        atol + rtol * |y|, is at most 1. Defaults: 1e-6 and 1e-9.
    max_steps : int, optional
        Largest number of steps between the first and the last time. Default: 100000.
    adjoint : {"discrete", "continuous"}, optional
        Method of the gradient. "discrete" differentiates the accepted steps with their sizes as
        constants. It is exact for the computed numbers, and its memory grows with the number of
        steps. "continuous" solves the adjoint equation [2]_ backwards from the solution with the
        same tolerances, which determine its accuracy. It stores no steps. A stiff or chaotic
        solution cannot be integrated backwards; its gradient is then inaccurate or raises an error.
        Default: "discrete".

    Returns
    -------
    Tensor or pytree of Tensor
        The structure and dtype of `y0`; each part has an additional first axis of size n. The first
        entries are `y0`.

    Raises
    ------
    TypeError
        If `f` is not callable, a dtype is unsuitable, a tolerance is not a number, or `max_steps`
        is not an integer.
    ValueError
        If `t`, a tolerance, `max_steps`, `adjoint` or the result of `f` is invalid.
    RuntimeError
        If the step size becomes too small or `max_steps` are insufficient, as for a stiff equation.
        It is raised when the solution is evaluated, and names the time that was reached.

    References
    ----------
    .. [1] J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comput.
       Appl. Math. 6, 1980.
    .. [2] R. T. Q. Chen, Y. Rubanova, J. Bettencourt, D. Duvenaud, "Neural ordinary differential
       equations", NeurIPS 2018.

    Examples
    --------
    >>> from pullback.integrate import odeint
    >>> ys = odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0])
    >>> pb.round(ys, 4)
    Tensor([1.    , 0.3679, 0.1353], dtype=float32)
    >>> end = lambda rate: odeint(lambda y, t: rate * y, 1.0, [0.0, 1.0])[1]
    >>> round(float(pb.grad(end)(0.5)), 4)  # of exp(rate)
    1.6487
    """
    from ._initial_value_problem import solve_problem  # three modules, imported at the first use

    return solve_problem(f, y0, t, args, rtol, atol, max_steps, adjoint)
