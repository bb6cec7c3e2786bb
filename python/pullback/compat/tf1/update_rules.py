"""The update rules of the optimizers: pure functions of core tensors.

    rule(value, gradient, state, hyper) -> (new value, new state)

`state` and `hyper` are dicts by name, hyper-parameters are scalars of the value's dtype. The
session and eager mode both use them. In the formulas v is the variable, g its gradient, r the
learning rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _core

__all__ = ["RULES"]

Dict = dict[str, Any]
Update = tuple[Any, Dict]


def gradient_descent(v: Any, g: Any, state: Dict, hyper: Dict) -> Update:
    """v -= r g."""
    return v - hyper["learning_rate"] * g, {}


def momentum(v: Any, g: Any, state: Dict, hyper: Dict) -> Update:
    """m = μ m + g; v -= r m, or r g + r μ m with Nesterov's form."""
    rate, mu = hyper["learning_rate"], hyper["momentum"]
    m = mu * state["momentum"] + g
    step = rate * g + rate * mu * m if hyper["use_nesterov"] else rate * m
    return v - step, {"momentum": m}


def adam(v: Any, g: Any, state: Dict, hyper: Dict) -> Update:
    """v -= r √(1 - β₂ᵗ) / (1 - β₁ᵗ) m / (√s + ε), the ε̂ form of Kingma and Ba, 2015, section 2."""
    beta1, beta2 = hyper["beta1"], hyper["beta2"]
    one = _core.constant(1, v.dtype)
    m = beta1 * state["m"] + (one - beta1) * g
    s = beta2 * state["v"] + (one - beta2) * g * g
    rate = hyper["learning_rate"] * _core.sqrt(one - hyper["beta2_power"])
    rate = rate / (one - hyper["beta1_power"])
    return v - rate * m / (_core.sqrt(s) + hyper["epsilon"]), {"m": m, "v": s}


def rms_prop(v: Any, g: Any, state: Dict, hyper: Dict) -> Update:
    """r = ρ r + (1 - ρ) g²; m = μ m + rate g / √(r - q² + ε); v -= m; q only if centred."""
    decay = hyper["decay"]
    rest = _core.constant(1, v.dtype) - decay
    rms = decay * state["rms"] + rest * g * g
    new = {"rms": rms}
    spread = rms
    if "mg" in state:
        new["mg"] = q = decay * state["mg"] + rest * g
        spread = rms - q * q
    step = hyper["learning_rate"] * g / _core.sqrt(spread + hyper["epsilon"])
    new["momentum"] = m = hyper["momentum"] * state["momentum"] + step
    return v - m, new


RULES: dict[str, Callable[[Any, Any, Dict, Dict], Update]] = {
    "GradientDescent": gradient_descent,
    "Momentum": momentum,
    "Adam": adam,
    "RMSProp": rms_prop,
}
