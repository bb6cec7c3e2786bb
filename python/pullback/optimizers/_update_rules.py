"""The update rules of the optimizers, as pure functions:

    rule(value, gradient, state, hyper) -> (new value, new state)

`state` is a dict of tensors by name, `hyper` one of scalars: Python numbers, or tensors of the
value's dtype. In the formulas v is the value, g its gradient, r the learning rate, t the number of
the step from 1 (`hyper["step"]`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log
from typing import Any, TypeAlias

from .. import _core

Given: TypeAlias = Mapping[str, Any]
Updated: TypeAlias = tuple[Any, dict[str, Any]]
Rule: TypeAlias = Callable[[Any, Any, Given, Given], Updated]


def gradient_descent(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r g."""
    return v - hyper["learning_rate"] * g, {}


def momentum(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r m, or v - r (g + μ m) in Nesterov's form, with m = μ m + g."""
    mu = hyper["momentum"]
    m = mu * state["momentum"] + g
    step = g + mu * m if hyper["use_nesterov"] else m
    return v - hyper["learning_rate"] * step, {"momentum": m}


def rms_prop(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - m with m = μ m + r g / √(s - q² + ε) and s = ρ s + (1 - ρ) g².

    The mean q of g is used if the state contains it.
    """
    decay = hyper["decay"]
    s = _mean(state["rms"], g * g, decay)
    new = {"rms": s}
    if "mean" in state:
        new["mean"] = q = _mean(state["mean"], g, decay)
        s = s - q * q
    step = hyper["learning_rate"] * g / _core.sqrt(s + hyper["epsilon"])
    new["momentum"] = m = hyper["momentum"] * state["momentum"] + step
    return v - m, new


def adagrad(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r g / √a with a = a + g²."""
    a = state["accumulator"] + g * g
    return v - hyper["learning_rate"] * g / _core.sqrt(a), {"accumulator": a}


def adadelta(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r d with d = g √(u + ε) / √(a + ε).

    The means are a = ρ a + (1 - ρ) g² and u = ρ u + (1 - ρ) d².
    """
    rho, epsilon = hyper["rho"], hyper["epsilon"]
    a = _mean(state["accumulator"], g * g, rho)
    d = g * (_core.sqrt(state["updates"] + epsilon) / _core.sqrt(a + epsilon))
    return v - hyper["learning_rate"] * d, {
        "accumulator": a,
        "updates": _mean(state["updates"], d * d, rho),
    }


def adam(v: Any, g: Any, state: Given, hyper: Given, mean: Any = None) -> Updated:
    """Return v - r m / (√s + ε) with the means m of g and s of g².

    The rate r contains the correction for the start. `mean` computes the means if g does not have
    the shape of v.
    """
    new = _moments(g, state, hyper, mean or _mean)
    step = hyper["learning_rate"] * new["m"] / (_core.sqrt(new["s"]) + hyper["epsilon"])
    return v - step, new


def adam_by_steps(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Apply `adam` with the rate r √(1 - β₂ᵗ) / (1 - β₁ᵗ)."""
    t = hyper["step"]
    rate = hyper["learning_rate"] * _core.sqrt(one_minus_power(hyper["beta2"], t))
    rate = rate / one_minus_power(hyper["beta1"], t)
    return adam(v, g, state, {**hyper, "learning_rate": rate})


def adam_w(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r (m̂ / (√ŝ + ε) + λ v).

    The moments are corrected for the start: m̂ = m / (1 - β₁ᵗ), ŝ = s / (1 - β₂ᵗ).
    """
    new = _moments(g, state, hyper)
    m = new["m"] / one_minus_power(hyper["beta1"], hyper["step"])
    return v - hyper["learning_rate"] * _with_decay(v, m, new["s"], hyper), new


def nadam(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r (β₁ m / (1 - β₁ᵗ⁺¹) + (1 - β₁) g / (1 - β₁ᵗ)) / (√ŝ + ε)."""
    new = _moments(g, state, hyper)
    beta1, t = hyper["beta1"], hyper["step"]
    ahead = beta1 * new["m"] / one_minus_power(beta1, t + 1)
    m = ahead + (1 - beta1) * g / one_minus_power(beta1, t)
    return v - hyper["learning_rate"] * _with_decay(v, m, new["s"], hyper), new


def lamb(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r u ‖v‖ / ‖u‖ with u = m̂ / (√ŝ + ε) + λ v; v - r u if a norm is 0."""
    new = _moments(g, state, hyper)
    u = _with_decay(v, new["m"] / one_minus_power(hyper["beta1"], hyper["step"]), new["s"], hyper)
    of_value, of_step = _core.euclidean_norm(v), _core.euclidean_norm(u)
    both = _core.logical_and(of_value > 0, of_step > 0)
    trust = _core.where(both, of_value / of_step, 1)
    return v - hyper["learning_rate"] * trust * u, new


def lion(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - r (sign(β₁ m + (1 - β₁) g) + λ v); then m = β₂ m + (1 - β₂) g."""
    m, decay = state["m"], hyper["weight_decay"]
    step = _core.sign(_mean(m, g, hyper["beta1"]))
    if not _is_zero(decay):
        step = step + decay * v
    return v - hyper["learning_rate"] * step, {"m": _mean(m, g, hyper["beta2"])}


def adafactor(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return v - α u / max(1, rms(u) / d) with u = g / √s.

    The mean s = b s + (1 - b) (g² + ε₁), with b = 1 - t^c, is stored for a matrix as the means of
    its rows and of its columns: s ≈ rows · columns / mean(rows). The rate α is max(ε₂, rms(v))
    times r, limited to 1 / √t if it is relative.
    """
    t = hyper["step"]
    b = 1 - t ** hyper["beta2_decay"]
    square = g * g + hyper["epsilon1"]
    if "rows" in state:
        rows = _mean(state["rows"], _core.mean(square, -1), b)
        columns = _mean(state["columns"], _core.mean(square, -2), b)
        new = {"rows": rows, "columns": columns}
        share = rows / _core.mean(rows, -1, True)
        # One factor after the other: the product of two small factors underflows in float32.
        u = g / _core.expand_dims(_core.sqrt(share), -1)
        u = u / _core.expand_dims(_core.sqrt(columns), -2)
    else:
        new = {"s": _mean(state["s"], square, b)}
        u = g / _core.sqrt(new["s"])
    rate = hyper["learning_rate"]
    if hyper["relative_step"]:
        rate = _core.minimum(rate, 1 / _core.sqrt(t))
    rate = rate * _core.maximum(_root_mean_square(v), hyper["epsilon2"])
    clip = _core.maximum(_root_mean_square(u) / hyper["clip_threshold"], 1)
    return v - rate / clip * u, new


def ftrl(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return (l₁ sign(z) - z) / (n'^-p / r + β / r + 2 l₂) if |z| > l₁, else 0.

    The sums are n' = n + g² and z = z + g + 2 s v - σ v with σ = (n'^-p - n^-p) / r. With r = 0
    nothing changes.
    """
    rate, l1, power = hyper["learning_rate"], hyper["l1"], -hyper["learning_rate_power"]
    n = state["accumulator"]
    grown = n + g * g
    root = grown**power
    shrunk = g + 2 * hyper["l2_shrinkage"] * v
    z = state["linear"] + shrunk - (root - n**power) / rate * v
    curvature = (root + hyper["beta"]) / rate + 2 * hyper["l2"]
    new = _core.where(abs(z) <= l1, 0, (l1 * _core.sign(z) - z) / curvature)
    stays = rate == 0
    return _core.where(stays, v, new), {
        "accumulator": _core.where(stays, n, grown),
        "linear": _core.where(stays, state["linear"], z),
    }


def proximal_gradient_descent(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return sign(p) max(|p| - r l₁, 0) / (1 + r l₂) with p = v - r g."""
    rate = hyper["learning_rate"]
    return _shrunk(v - rate * g, rate, hyper), {}


def proximal_adagrad(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return sign(p) max(|p| - e l₁, 0) / (1 + e l₂) with p = v - e g, e = r / √a.

    The sum is a = a + g².
    """
    a = state["accumulator"] + g * g
    rate = hyper["learning_rate"] / _core.sqrt(a)
    return _shrunk(v - rate * g, rate, hyper), {"accumulator": a}


def adagrad_da(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """Return -r sign(G) max(|G| - l₁ t, 0) / (l₂ t r + √N).

    The sums are G = G + g and N = N + g².
    """
    rate, t = hyper["learning_rate"], hyper["step"]
    total = state["gradients"] + g
    squares = state["squares"] + g * g
    beyond = _core.sign(total) * _core.maximum(abs(total) - hyper["l1"] * t, 0)
    new = -rate * beyond / (hyper["l2"] * t * rate + _core.sqrt(squares))
    return new, {"gradients": total, "squares": squares}


# --- common terms


def _mean(old: Any, new: Any, decay: Any) -> Any:
    return decay * old + (1 - decay) * new


def _moments(g: Any, state: Given, hyper: Given, mean: Any = _mean) -> dict[str, Any]:
    return {
        "m": mean(state["m"], g, hyper["beta1"]),
        "s": mean(state["s"], g * g, hyper["beta2"]),
    }


def _with_decay(v: Any, m: Any, s: Any, hyper: Given) -> Any:
    """Return m / (√ŝ + ε) + λ v."""
    root = _core.sqrt(s / one_minus_power(hyper["beta2"], hyper["step"]))
    step = m / (root + hyper["epsilon"])
    decay = hyper.get("weight_decay", 0)
    return step if _is_zero(decay) else step + decay * v


def one_minus_power(beta: Any, t: Any) -> Any:
    """Return 1 - βᵗ without cancellation in the first steps."""
    if isinstance(beta, (int, float)):
        return -_core.expm1(t * (log(beta) if beta else -inf))
    return -_core.expm1(t * _core.log(beta))


def _shrunk(p: Any, rate: Any, hyper: Given) -> Any:
    beyond = _core.maximum(abs(p) - rate * hyper["l1"], 0)
    return _core.sign(p) * beyond / (1 + rate * hyper["l2"])


def _root_mean_square(x: Any) -> Any:
    return _core.sqrt(_core.mean(x * x))


def _is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0
