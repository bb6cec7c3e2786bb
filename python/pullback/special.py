"""Special functions: `pb.special`."""

from ._array.gamma_functions import (
    beta,
    betaln,
    digamma,
    gamma,
    gammaln,
    gammasgn,
    multigammaln,
    polygamma,
    psi,
    rgamma,
)
from ._array.reductions import logsumexp
from ._array.special import erf

__all__ = [
    "beta",
    "betaln",
    "digamma",
    "erf",
    "gamma",
    "gammaln",
    "gammasgn",
    "logsumexp",
    "multigammaln",
    "polygamma",
    "psi",
    "rgamma",
]
