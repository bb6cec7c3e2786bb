"""Integrals and solutions of differential equations: `pb.integrate`."""

from ._odeint import odeint
from ._quad import quad
from ._solve_ivp import OdeResult, OdeSolution, solve_ivp

__all__ = ["OdeResult", "OdeSolution", "odeint", "quad", "solve_ivp"]
