"""Random numbers: `pb.random`, counter-based (Philox, Salmon et al., 2011), so the same seed gives
the same numbers, whatever the number of threads. Each call draws anew; a drawn tensor keeps its
numbers however often it is looked at. In a `function` each call draws, in `vmap` each entry, in
`scan` each iteration; a checkpoint that is computed again has the numbers it had.

One rule for all: what a distribution cannot do without comes first, then `shape` and `dtype`, and
location and scale have names: `normal((2, 3))`, `normal(loc=m, scale=s)`,
`gamma(concentration, (2, 3))`. Parameters are numbers or tensors and broadcast, to `shape` where it
is given. The dtype is that of the parameters, or the default float. Gradients pass to the
parameters of continuous distributions. A parameter without meaning is a ValueError where it is a
number, and makes NaN where it is an entry of a tensor.
"""

from ._generator import MODULE, Generator, seed

beta = MODULE.beta
bernoulli = MODULE.bernoulli
binomial = MODULE.binomial
categorical = MODULE.categorical
cauchy = MODULE.cauchy
choice = MODULE.choice
dirichlet = MODULE.dirichlet
exponential = MODULE.exponential
gamma = MODULE.gamma
gumbel = MODULE.gumbel
integers = MODULE.integers
laplace = MODULE.laplace
logistic = MODULE.logistic
lognormal = MODULE.lognormal
multivariate_normal = MODULE.multivariate_normal
normal = MODULE.normal
permutation = MODULE.permutation
poisson = MODULE.poisson
rademacher = MODULE.rademacher
shuffle = MODULE.shuffle
student_t = MODULE.student_t
truncated_normal = MODULE.truncated_normal
uniform = MODULE.uniform
weibull = MODULE.weibull
del MODULE

__all__ = [
    "Generator",
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "choice",
    "dirichlet",
    "exponential",
    "gamma",
    "gumbel",
    "integers",
    "laplace",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "normal",
    "permutation",
    "poisson",
    "rademacher",
    "seed",
    "shuffle",
    "student_t",
    "truncated_normal",
    "uniform",
    "weibull",
]
