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
from .._numpy.euclidean import euclidean_norm

Given: TypeAlias = Mapping[str, Any]
Updated: TypeAlias = tuple[Any, dict[str, Any]]
Rule: TypeAlias = Callable[[Any, Any, Given, Given], Updated]


def gradient_descent(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """v - r g."""
    return v - hyper["learning_rate"] * g, {}


def momentum(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """m = μ m + g; v - r m, or v - r (g + μ m) in Nesterov's form."""
    mu = hyper["momentum"]
    m = mu * state["momentum"] + g
    step = g + mu * m if hyper["use_nesterov"] else m
    return v - hyper["learning_rate"] * step, {"momentum": m}


def rms_prop(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """s = ρ s + (1 - ρ) g²; m = μ m + r g / √(s - q² + ε); v - m, with the mean q of g only where
    the state has one."""
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
    """a = a + g²; v - r g / √a."""
    a = state["accumulator"] + g * g
    return v - hyper["learning_rate"] * g / _core.sqrt(a), {"accumulator": a}


def adadelta(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """a = ρ a + (1 - ρ) g²; d = g √(u + ε) / √(a + ε); u = ρ u + (1 - ρ) d²; v - r d."""
    rho, epsilon = hyper["rho"], hyper["epsilon"]
    a = _mean(state["accumulator"], g * g, rho)
    d = g * (_core.sqrt(state["updates"] + epsilon) / _core.sqrt(a + epsilon))
    return v - hyper["learning_rate"] * d, {
        "accumulator": a,
        "updates": _mean(state["updates"], d * d, rho),
    }


def adam(v: Any, g: Any, state: Given, hyper: Given, mean: Any = None) -> Updated:
    """m = β₁ m + (1 - β₁) g; s = β₂ s + (1 - β₂) g²; v - r m / (√s + ε), where r is corrected for
    the start already. `mean` makes these sums, where g is not of the shape of v."""
    new = _moments(g, state, hyper, mean or _mean)
    step = hyper["learning_rate"] * new["m"] / (_core.sqrt(new["s"]) + hyper["epsilon"])
    return v - step, new


def adam_by_steps(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """adam with r √(1 - β₂ᵗ) / (1 - β₁ᵗ) for r."""
    t = hyper["step"]
    rate = hyper["learning_rate"] * _core.sqrt(one_minus_power(hyper["beta2"], t))
    rate = rate / one_minus_power(hyper["beta1"], t)
    return adam(v, g, state, {**hyper, "learning_rate": rate})


def adam_w(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """v - r (m̂ / (√ŝ + ε) + λ v), with the moments corrected for the start: m̂ = m / (1 - β₁ᵗ),
    ŝ = s / (1 - β₂ᵗ)."""
    new = _moments(g, state, hyper)
    m = new["m"] / one_minus_power(hyper["beta1"], hyper["step"])
    return v - hyper["learning_rate"] * _with_decay(v, m, new["s"], hyper), new


def nadam(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """v - r (β₁ m / (1 - β₁ᵗ⁺¹) + (1 - β₁) g / (1 - β₁ᵗ)) / (√ŝ + ε)."""
    new = _moments(g, state, hyper)
    beta1, t = hyper["beta1"], hyper["step"]
    ahead = beta1 * new["m"] / one_minus_power(beta1, t + 1)
    m = ahead + (1 - beta1) * g / one_minus_power(beta1, t)
    return v - hyper["learning_rate"] * _with_decay(v, m, new["s"], hyper), new


def lamb(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """u = m̂ / (√ŝ + ε) + λ v; v - r u ‖v‖ / ‖u‖, or v - r u where a norm is 0."""
    new = _moments(g, state, hyper)
    u = _with_decay(v, new["m"] / one_minus_power(hyper["beta1"], hyper["step"]), new["s"], hyper)
    of_value, of_step = euclidean_norm(v), euclidean_norm(u)
    both = _core.logical_and(of_value > 0, of_step > 0)
    trust = _core.where(both, of_value / of_step, 1)
    return v - hyper["learning_rate"] * trust * u, new


def lion(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """v - r (sign(β₁ m + (1 - β₁) g) + λ v); m = β₂ m + (1 - β₂) g."""
    m, decay = state["m"], hyper["weight_decay"]
    step = _core.sign(_mean(m, g, hyper["beta1"]))
    if not _is_zero(decay):
        step = step + decay * v
    return v - hyper["learning_rate"] * step, {"m": _mean(m, g, hyper["beta2"])}


def adafactor(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """b = 1 - t^c; s = b s + (1 - b) (g² + ε₁), of which a matrix keeps the means of its rows and
    of its columns: s ≈ rows · columns / mean(rows). u = g / √s; v - α u / max(1, rms(u) / d), with
    α = max(ε₂, rms(v)) times r, at most 1 / √t where it is relative."""
    t = hyper["step"]
    b = 1 - t ** hyper["beta2_decay"]
    square = g * g + hyper["epsilon1"]
    if "rows" in state:
        rows = _mean(state["rows"], _core.mean(square, -1), b)
        columns = _mean(state["columns"], _core.mean(square, -2), b)
        new = {"rows": rows, "columns": columns}
        share = rows / _core.mean(rows, -1, True)
        # One after the other: the product of two that are small is 0 in float32.
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
    """n' = n + g², with n^-p: σ = (n'^-p - n^-p) / r; z = z + g + 2 s v - σ v; the new value is
    (l₁ sign(z) - z) / (n'^-p / r + β / r + 2 l₂) where |z| > l₁, else 0. With r = 0 all stays."""
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
    """p = v - r g; sign(p) max(|p| - r l₁, 0) / (1 + r l₂)."""
    rate = hyper["learning_rate"]
    return _shrunk(v - rate * g, rate, hyper), {}


def proximal_adagrad(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """a = a + g²; e = r / √a; p = v - e g; sign(p) max(|p| - e l₁, 0) / (1 + e l₂)."""
    a = state["accumulator"] + g * g
    rate = hyper["learning_rate"] / _core.sqrt(a)
    return _shrunk(v - rate * g, rate, hyper), {"accumulator": a}


def adagrad_da(v: Any, g: Any, state: Given, hyper: Given) -> Updated:
    """G = G + g; N = N + g²; -r sign(G) max(|G| - l₁ t, 0) / (l₂ t r + √N)."""
    rate, t = hyper["learning_rate"], hyper["step"]
    total = state["gradients"] + g
    squares = state["squares"] + g * g
    beyond = _core.sign(total) * _core.maximum(abs(total) - hyper["l1"] * t, 0)
    new = -rate * beyond / (hyper["l2"] * t * rate + _core.sqrt(squares))
    return new, {"gradients": total, "squares": squares}


# --- parts


def _mean(old: Any, new: Any, decay: Any) -> Any:
    return decay * old + (1 - decay) * new


def _moments(g: Any, state: Given, hyper: Given, mean: Any = _mean) -> dict[str, Any]:
    return {
        "m": mean(state["m"], g, hyper["beta1"]),
        "s": mean(state["s"], g * g, hyper["beta2"]),
    }


def _with_decay(v: Any, m: Any, s: Any, hyper: Given) -> Any:
    """m / (√ŝ + ε) + λ v."""
    root = _core.sqrt(s / one_minus_power(hyper["beta2"], hyper["step"]))
    step = m / (root + hyper["epsilon"])
    decay = hyper.get("weight_decay", 0)
    return step if _is_zero(decay) else step + decay * v


def one_minus_power(beta: Any, t: Any) -> Any:
    """1 - βᵗ, without the cancellation that float32 would suffer in the first steps."""
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
