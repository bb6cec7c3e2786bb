"""What activations, losses and normalisations mean, in NumPy, for any floating dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def celu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def glu(x: Any, axis: int = -1) -> Any:
    value, gate = np.split(x, 2, axis)
    return value / (1 + np.exp(-gate))


def hard_tanh(x: Any) -> Any:
    return np.clip(x, -1, 1)


def reduced(losses: Any, reduction: str = "mean") -> Any:
    return {"none": lambda x: x, "sum": np.sum, "mean": np.mean}[reduction](losses)


def reducing(f: Callable[..., Any]) -> Callable[..., Any]:
    """f(x, y, reduction=…) as a function of three."""
    return lambda x, y, reduction="mean": f(x, y, reduction=reduction)


def l1_loss(x: Any, y: Any, reduction: str = "mean") -> Any:
    return reduced(abs(x - y), reduction)


def l2_loss(x: Any, y: Any, reduction: str = "mean") -> Any:
    return reduced((x - y) ** 2 / 2, reduction)


def huber_loss(x: Any, y: Any, delta: float = 1.0) -> Any:
    d = abs(x - y)
    return reduced(np.where(d <= delta, d * d / 2, delta * (d - delta / 2)))


def smooth_l1(x: Any, y: Any, beta: float = 1.0) -> Any:
    return huber_loss(x, y, beta) / beta if beta else l1_loss(x, y)


def hinge(x: Any, y: Any) -> Any:
    return reduced(np.maximum(1 - x * y, 0))


def sigmoid_cross_entropy(x: Any, p: Any, reduction: str = "mean") -> Any:
    return reduced(p * np.log1p(np.exp(-x)) + (1 - p) * np.log1p(np.exp(x)), reduction)


def kl_divergence(q: Any, p: Any, axis: int = -1) -> Any:
    return reduced(np.sum(p * (np.log(p) - q), axis))


def kl_size(q: Any, p: Any, axis: int = -1) -> Any:
    return reduced(np.sum(p * (abs(np.log(p)) + abs(q)), axis))


def cosine_similarity(x: Any, y: Any, axis: int = -1) -> Any:
    return np.sum(x * y, axis) / np.sqrt(np.sum(x * x, axis) * np.sum(y * y, axis))


def cosine_size(x: Any, y: Any, axis: int = -1) -> Any:
    return np.asarray(1.0, x.dtype)


def normalized(x: Any, axis: Any, epsilon: float = 1e-5) -> Any:
    apart = x - np.mean(x, axis, keepdims=True)
    return apart / np.sqrt(np.mean(apart * apart, axis, keepdims=True) + epsilon)


def layer_norm(x: Any, weight: Any = 1, bias: Any = 0, axis: Any = -1) -> Any:
    return normalized(x, axis) * weight + bias


def rms_norm(x: Any, weight: Any = 1) -> Any:
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * weight


def batch_norm(x: Any, weight: Any, bias: Any, axis: int = -1) -> Any:
    others = tuple(k for k in range(x.ndim) if k != axis % x.ndim)
    shape = [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)]
    return normalized(x, others) * weight.reshape(shape) + bias.reshape(shape)


def kept_norm(x: Any, mean: Any, variance: Any) -> Any:
    return (x - mean) / np.sqrt(variance**2 + 1e-5)


def group_norm(x: Any, weight: Any, bias: Any, groups: int) -> Any:
    parts = x.reshape((*x.shape[:-1], groups, -1))
    axes = tuple(k for k in range(1, x.ndim + 1) if k != x.ndim - 1)
    return normalized(parts, axes).reshape(x.shape) * weight + bias


def four(x: Any, *_: Any) -> Any:
    """The size of what a few roundings of numbers up to 4 are relative to."""
    return np.asarray(4.0, x.dtype)


def weighted_cov(x: Any, w: Any, times: Any) -> Any:
    both = w * times
    apart = x - np.sum(x * both[:, None], 0) / np.sum(both)
    left = np.sum(both) - np.sum(both * w) / np.sum(both)
    return (apart * both[:, None]).T @ apart / left


def corrcoef(x: Any) -> Any:
    c = np.cov(x)
    size = np.sqrt(np.diagonal(c))
    return c / size[:, None] / size


def trapezoid(y: Any, x: Any) -> Any:
    return np.sum((x[1:] - x[:-1]) * (y[..., 1:] + y[..., :-1]) / 2, -1)
