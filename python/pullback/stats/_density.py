"""Base classes of distributions with a density."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Tensor
from ._distribution import INFINITY, Distribution


class Continuous(Distribution):
    """Implement a distribution with a density."""

    def _logpdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _pdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return _core.exp(self._logpdf(x, *shapes))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the probability density; 0 outside the support.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the arguments; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        at = self._standard_form("pdf", x, args, kwargs)
        value = self._pdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value / at.scale, 0.0)

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the logarithm of the density; -inf outside the support.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the arguments; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        at = self._standard_form("logpdf", x, args, kwargs)
        value = self._logpdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value - _core.log(at.scale), -INFINITY)


class Symmetric(Continuous):
    """Implement a distribution with an even density: one tail determines the other."""

    def _sf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._cdf(-x, *shapes)

    def _logsf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._logcdf(-x, *shapes)

    def _isf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return -self._ppf(q, *shapes)

    def _mean(self, *shapes: Any, **_: Any) -> Tensor | float:
        return 0.0
