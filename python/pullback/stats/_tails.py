"""Logarithms of probabilities that underflow, and quantiles of the probabilities 0 and 1."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from ._distribution import log_probability

# Logarithms of smaller probabilities do not use the probability.
_SMALLEST = 1e-280
_FRACTIONS = 8


def log_betainc(
    p: Tensor, complement: Tensor, a: Tensor, b: Tensor, x: tuple[Tensor, Tensor],
    log_x: tuple[Tensor, Tensor], log_factor: float = 0.0,
) -> Tensor:  # fmt: skip
    """Compute the logarithm of `p`, a factor times the incomplete beta function of a, b and x.

    `complement` is 1 - `p`, `x` has x and 1 - x, and `log_x` their logarithms. If `p` underflows,
    it is the logarithm of the continued fraction 8.17.22 of the DLMF. So far from the mean, each
    pair of its terms adds at least 2 digits.
    """
    is_far = _core.less(p, _SMALLEST)
    near = log_probability(_core.where(is_far, 0.5, p), _core.where(is_far, 0.5, complement))
    a, b = _core.where(is_far, a, 2.0), _core.where(is_far, b, 3.0)
    part, rest = _core.where(is_far, x[0], 0.25), _core.where(is_far, x[1], 0.75)
    even: Tensor | float = 0.0
    for m in range(_FRACTIONS, -1, -1):
        # 1 - odd / (1 + even), without the difference of 1 and a number next to 1.
        terms = (a + 2 * m) * (a + 2 * m + 1)
        odd = (a + m) * (a + b + m) * part / terms
        other = a * (2 * m + 1 - b) + m * (3 * m + 2 - b) + (a + m) * (a + b + m) * rest
        without_odd = _core.where(_core.less(odd, 0.5), 1 - odd, other / terms)
        fraction = (even + without_odd) / (1 + even)
        even = m * (b - m) * part / ((a + 2 * m - 1) * (a + 2 * m)) / fraction if m else even
    front = a * log_x[0] + b * log_x[1] - _core.log(a) - _core.betaln(a, b) + log_factor
    return _core.where(is_far, front - _core.log(fraction), near)


def with_ends(
    q: Tensor, value: Tensor, at_0: float | None = None, at_1: float | None = None
) -> Tensor:
    """Replace quantiles at q = 0 and q = 1 by limits at which the density is 0.

    So the slope by q is infinite there. Its sign is that of `ppf` for an end of positive infinity
    at 1 or any other end at 0, except for positive infinity at 0.
    """
    falls = at_0 == float("inf") or (at_1 is not None and at_1 < float("inf"))
    sign = -1.0 if falls else 1.0
    if at_0 is not None:
        value = _core.where(_core.equal(q, 0), at_0 + sign * _core.sqrt(q), value)
    if at_1 is not None:
        value = _core.where(_core.equal(q, 1), at_1 - sign * _core.sqrt(1 - q), value)
    return value
