"""Random numbers: distributions, choices and seeds.

The numbers are counter-based (Philox; Salmon et al., 2011), so a seed gives the same numbers for
any number of threads. Each call draws new numbers; a drawn tensor keeps its numbers. A `function`
draws in each call, `vmap` for each entry, `scan` in each iteration. A checkpoint that is recomputed
repeats its numbers.

Required parameters come first, then `shape` and `dtype`; location and scale are passed by name:
`normal((2, 3))`, `normal(loc=m, scale=s)`, `gamma(concentration, (2, 3))`. Parameters are numbers
or arrays and broadcast to `shape`. The default dtype is that of the parameters, or the default
floating dtype. Continuous distributions are differentiable in their parameters. A number outside
the domain of a parameter raises a ValueError; an entry of a tensor outside gives NaN.
"""

from ._random.generator import MODULE, Generator, seed

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
