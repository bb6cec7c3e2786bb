"""Integrals and solutions of differential equations: `pb.integrate`."""

from ._odeint import odeint
from ._quad import quad

__all__ = ["odeint", "quad"]
