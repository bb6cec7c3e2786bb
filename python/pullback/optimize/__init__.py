"""Minima, roots and least squares, compiled and differentiable: `pb.optimize`.

The solvers are loops of the plan, so they can be used inside `function` and `vmap`. A function that
is passed to one is called once, on tensors without values. Derivatives of a solution with respect
to `args` follow from the implicit function theorem and do not depend on the steps. If a solver does
not converge, `success` is False, `message` states the reason, and the gradient is NaN.
"""

from ._curve_fit import CurveFit, curve_fit
from ._least_squares import least_squares
from ._minimize import minimize
from ._result import OptimizeResult
from ._roots import bisect, root

__all__ = ["CurveFit", "OptimizeResult", "bisect", "curve_fit", "least_squares", "minimize", "root"]
