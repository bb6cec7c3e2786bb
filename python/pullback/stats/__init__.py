"""Probability distributions with SciPy's names, `pb.stats`.

Each is an object whose methods take a value, shape parameters, then `loc` and `scale` (discrete
ones only `loc`), all of which broadcast: `pdf logpdf`, or `pmf logpmf` of discrete ones, `cdf
logcdf sf logsf ppf isf mean var std median entropy`. Gradients exist by the value and by all
parameters. Outside of the support densities are 0 and gradients, too; where parameters are not
valid, values are NaN.

>>> pb.stats.gamma.logpdf(1.5, 2.0, scale=0.5)
Tensor(-1.2082405, dtype=float32)
"""

from ._continuous import cauchy, expon, laplace, logistic, lognorm, norm, uniform
from ._discrete import bernoulli, binom, nbinom, poisson
from ._gamma_and_beta import beta, chi2, gamma, t
from ._multivariate import dirichlet, multivariate_normal

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
