"""The update rules of the optimizers, as pure functions:

    rule(gradient, state, hyper) -> (what to subtract from the value, new state)

`state` is a dict of tensors by name, `hyper` one of scalars: Python numbers, or tensors of the
value's dtype. In the formulas g is the gradient, r the learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .. import _core

Scalars: TypeAlias = Mapping[str, Any]
State: TypeAlias = dict[str, Any]
Rule: TypeAlias = Callable[[Any, Mapping[str, Any], Scalars], tuple[Any, State]]


def gradient_descent(g: Any, state: Mapping[str, Any], hyper: Scalars) -> tuple[Any, State]:
    """r g."""
    return hyper["learning_rate"] * g, {}


def momentum(g: Any, state: Mapping[str, Any], hyper: Scalars) -> tuple[Any, State]:
    """m = μ m + g; r m, or r (g + μ m) in Nesterov's form."""
    mu = hyper["momentum"]
    m = mu * state["momentum"] + g
    return hyper["learning_rate"] * (g + mu * m if hyper["use_nesterov"] else m), {"momentum": m}


def rms_prop(g: Any, state: Mapping[str, Any], hyper: Scalars) -> tuple[Any, State]:
    """s = ρ s + (1 - ρ) g²; m = μ m + r g / √(s - q² + ε); m, with the mean q of g only where the
    state has one."""
    decay = hyper["decay"]
    s = decay * state["rms"] + (1 - decay) * (g * g)
    new = {"rms": s}
    if "mean" in state:
        new["mean"] = q = decay * state["mean"] + (1 - decay) * g
        s = s - q * q
    step = hyper["learning_rate"] * g / _core.sqrt(s + hyper["epsilon"])
    new["momentum"] = m = hyper["momentum"] * state["momentum"] + step
    return m, new


def adam(g: Any, state: Mapping[str, Any], hyper: Scalars) -> tuple[Any, State]:
    """m = β₁ m + (1 - β₁) g; s = β₂ s + (1 - β₂) g²; r m / (√s + ε), where r is corrected for the
    start already."""
    beta1, beta2 = hyper["beta1"], hyper["beta2"]
    m = beta1 * state["m"] + (1 - beta1) * g
    s = beta2 * state["s"] + (1 - beta2) * (g * g)
    return hyper["learning_rate"] * m / (_core.sqrt(s) + hyper["epsilon"]), {"m": m, "s": s}
