"""Special functions: `pb.special`."""

from ._array.bessel import i0, i0e, i1, i1e, iv, ive, j0, j1, jn, y0, y1, yn
from ._array.entropies import entr, expit, kl_div, log_expit, logit, rel_entr
from ._array.error_functions import (
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    log_ndtr,
    ndtr,
    ndtri,
)
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
from ._array.over_axes import log_softmax, softmax
from ._array.powers import xlog1py, xlogy
from ._array.reductions import logsumexp

__all__ = [
    "beta",
    "betaln",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "expit",
    "gamma",
    "gammaln",
    "gammasgn",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "kl_div",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "rel_entr",
    "rgamma",
    "softmax",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
]
