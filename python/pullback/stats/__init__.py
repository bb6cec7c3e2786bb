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

from ._continuous import cauchy, expon, laplace, logistic, lognorm, norm, uniform
from ._discrete import bernoulli, binom, geom, nbinom, poisson
from ._extreme_values import gumbel_l, gumbel_r, pareto, rayleigh, weibull_min
from ._gamma_and_beta import beta, chi2, gamma, t
from ._half_line import f, halfcauchy, halfnorm, invgamma
from ._multinomial import multinomial
from ._multivariate import dirichlet, multivariate_normal
from ._multivariate_t import multivariate_t
from ._skewnorm import skewnorm
from ._truncnorm import truncnorm
from ._vonmises import vonmises
from ._wishart import wishart

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "f",
    "gamma",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rayleigh",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "weibull_min",
    "wishart",
]
