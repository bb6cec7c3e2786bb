"""Reductions, each over many choices of axes (../cases.py)."""

import numpy as np

from .. import reference as ref
from ..cases import Case, reduction
from .domains import DISTINCT, NONZERO, REAL, TIES

# fmt: off

CASES: list[Case] = [
    *reduction("sum",       np.sum,        REAL,     result="wide",  ulp=3.0, size=ref.sum_size),
    *reduction("mean",      ref.mean,      REAL,     result="float", ulp=3.0, size=ref.mean_size),
    *reduction("prod",      np.prod,       NONZERO,  result="wide",           size=ref.prod_size),
    *reduction("max",       np.max,        DISTINCT, empty=False),
    *reduction("min",       np.min,        DISTINCT, empty=False),
    *reduction("all",       np.all,        TIES,     result="bool",  wrt=()),
    *reduction("any",       np.any,        TIES,     result="bool",  wrt=()),
    *reduction("argmax",    np.argmax,     REAL,     result="index", wrt=(), empty=False, one=True),
    *reduction("argmin",    np.argmin,     REAL,     result="index", wrt=(), empty=False, one=True),
    *reduction("logsumexp", ref.logsumexp, REAL,     result="float", ulp=3.0, size=ref.lse_size,
               empty=False),
]
