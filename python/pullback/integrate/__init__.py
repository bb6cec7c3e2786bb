"""Solutions of differential equations: `pb.integrate`."""

from ._odeint import odeint

__all__ = ["odeint"]
