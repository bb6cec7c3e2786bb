"""Probability distributions with SciPy's names.

A distribution is an object whose methods take a value, shape parameters, then `loc` and `scale`
(discrete distributions only `loc`). All arguments broadcast. The methods are `pdf` and `logpdf`, or
`pmf` and `logpmf` of discrete distributions, and `cdf`, `logcdf`, `sf`, `logsf`, `ppf`, `isf`,
`mean`, `var`, `std`, `median` and `entropy`. They are differentiable in the value and in all
parameters. Outside the support densities and gradients are 0; for invalid parameters the result is
NaN.

>>> pb.stats.gamma.logpdf(1.5, 2.0, scale=0.5)
Tensor(-1.2082405, dtype=float32)
"""

from ._stats.continuous import cauchy, expon, laplace, logistic, lognorm, norm, uniform
from ._stats.discrete import bernoulli, binom, nbinom, poisson
from ._stats.gamma_and_beta import beta, chi2, gamma, t
from ._stats.multivariate import dirichlet, multivariate_normal

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "laplace",
    "logistic",
    "lognorm",
    "multivariate_normal",
    "nbinom",
    "norm",
    "poisson",
    "t",
    "uniform",
]
