"""Solutions of differential equations: `pb.integrate`."""

from ._integrate.odeint import odeint

__all__ = ["odeint"]
