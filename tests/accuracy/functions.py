"""The functions of one argument whose accuracy is measured: ours, the exact one of mpmath, and
where it is real. Derivatives are mpmath's of the exact one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

import pullback as pb

INFINITY = float("inf")


@dataclass(frozen=True)
class Function:
    ours: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    low: float = -INFINITY
    high: float = INFINITY
    # Points near which errors are measured on purpose: roots, ends of the domain, seams.
    hard: tuple[float, ...] = ()


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x >= 0 else mp.exp(x) / (1 + mp.exp(x))


FUNCTIONS: dict[str, Function] = {
    "exp": Function(pb.exp, mp.exp),
    "expm1": Function(pb.expm1, mp.expm1),
    "log": Function(pb.log, mp.log, low=0.0, hard=(1.0,)),
    "log1p": Function(pb.log1p, mp.log1p, low=-1.0),
    "sqrt": Function(pb.sqrt, mp.sqrt, low=0.0),
    "sin": Function(pb.sin, mp.sin, hard=(3.141592653589793, 6.283185307179586)),
    "cos": Function(pb.cos, mp.cos, hard=(1.5707963267948966, 4.71238898038469)),
    "tanh": Function(pb.tanh, mp.tanh),
    "sigmoid": Function(pb.sigmoid, sigmoid),
    "softplus": Function(pb.softplus, lambda x: mp.log1p(mp.exp(-abs(x))) + max(x, 0)),
    "erf": Function(pb.special.erf, mp.erf),
    "gammaln": Function(pb.special.gammaln, mp.loggamma, low=0.0, hard=(1.0, 2.0)),
    "digamma": Function(pb.special.digamma, mp.digamma, low=0.0, hard=(1.4616321449683622,)),
    "gamma": Function(pb.special.gamma, mp.gamma, low=0.0),
    "rgamma": Function(pb.special.rgamma, mp.rgamma, low=0.0),
}
