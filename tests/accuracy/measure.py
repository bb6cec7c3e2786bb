"""Errors in units of the last place (ulp) of the exact result, against mpmath.

What cannot be compared with mpmath in reasonable time, all 2³² floats, is compared with our own
float64 function, whose errors are measured here as well, and the worst of them with mpmath.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np

import pullback as pb

from .functions import Function

DIGITS = 60
CHUNK = 1 << 16  # of floats: what is computed of them stays in the cache


def ulp(got: float, exact: Any, dtype: str, size: float = 0.0) -> float:
    """The distance in units of the last place of the exact number, or of `size` where that is
    larger; infinite where one of the two is a number and the other none."""
    limits = np.finfo(dtype)
    if mp.isnan(exact):
        return 0.0 if np.isnan(got) else float("inf")
    largest = mp.mpf(float(limits.max)) * (1 + mp.mpf(2) ** -(limits.nmant + 2))
    if abs(exact) >= largest:
        same = np.isinf(got) and (got > 0) == (exact > 0)
        return 0.0 if same else float("inf")
    if not np.isfinite(got):
        return float("inf")
    if exact == 0 and not size:
        return 0.0 if got == 0 else float("inf")
    exponent = max(int(mp.floor(mp.log(max(abs(exact), size), 2))), int(limits.minexp))
    return float(abs(mp.mpf(float(got)) - exact) / mp.mpf(2) ** (exponent - limits.nmant))


def points(function: Function, dtype: str, count: int, random: np.random.Generator) -> Any:
    """Arguments in the domain: all sizes of them, and around hard points."""
    limits = np.finfo(dtype)
    low, high = limits.minexp - limits.nmant, limits.maxexp
    scales = [1.0, 8.0, 90.0, 750.0]
    parts = [
        np.ldexp(random.uniform(-1, 1, count), random.integers(low, high, count)),
        random.uniform(-1, 1, count) * random.choice(scales, count),
    ]
    parts += [
        p + p * random.uniform(-1, 1, count // 4) * 2.0 ** random.integers(-52, -1, count // 4)
        for p in function.hard
    ]
    found = np.concatenate(parts).astype(dtype)
    return found[(found > function.low) & (found < function.high) & np.isfinite(found)]


def orders(function: Function, x: Any) -> list[Any]:
    """Value, first and second derivative, as arrays."""
    start = pb.Variable(x)
    y = function.ours(start)
    (slope,) = pb.gradients(y, [start])
    (second,) = pb.gradients(slope, [start])
    return [part.numpy() for part in (y, slope, second)]


def exact(function: Function, x: float, order: int) -> Any:
    known = (function.exact, function.slope, function.second)[order]
    if known is not None:
        with mp.workdps(DIGITS):
            return mp.mpmathify(known(mp.mpf(x)))
    # Central differences: the step is small against the argument, so that nothing near 0 or a pole
    # is missed, and digits are enough for what cancels and for slopes down to 1e-308.
    size = min(abs(x), 1.0) or 1.0
    places = 20 - mp.floor(mp.log10(size))
    with mp.workdps(int(400 + order * places + abs(mp.log10(abs(x) or 1.0)))):
        step = mp.mpf(10) ** -places
        return mp.diff(function.exact, mp.mpf(x), order, h=step)


def errors(function: Function, x: Any, order: int) -> Any:
    """The error at each point. Derivatives count where they are normal numbers."""
    dtype = x.dtype.name
    limits = np.finfo(dtype)
    found = orders(function, x)[order] if order else np.asarray(function.ours(x))
    result = np.zeros(len(x))
    with mp.workdps(DIGITS):
        for k, (at, got) in enumerate(zip(x, found, strict=True)):
            true = exact(function, float(at), order)
            if order and not float(limits.tiny) <= abs(true) <= float(limits.max):
                continue
            result[k] = ulp(got, true, dtype, function.sizes[order])
    return result


def worst(function: Function, dtype: str, order: int, count: int = 300,
          rounds: int = 6) -> tuple[float, float]:  # fmt: skip
    """The largest error found, and where: of points all over the domain, then of neighbours of the
    worst ones, nearer and nearer (hill climbing as in Zimmermann et al., "Accuracy of mathematical
    functions", 2024)."""
    random = np.random.default_rng(1)
    x = points(function, dtype, count, random)
    found = errors(function, x, order)
    width = 2.0**-6
    for _ in range(rounds):
        best = x[np.argsort(-found)[:12]]
        near = (best[:, None] * (1 + width * random.uniform(-1, 1, (len(best), 12)))).ravel()
        near = near.astype(dtype)
        near = near[(near > function.low) & (near < function.high)]
        x, found = np.concatenate([x, near]), np.concatenate([found, errors(function, near, order)])
        width /= 8
    at = int(np.argmax(found))
    return float(found[at]), float(x[at])


def all_floats() -> Iterator[Any]:
    """Every float32 there is, NaNs included."""
    for start in range(0, 1 << 32, CHUNK):
        yield np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)


def worst_of_all(function: Function, arrays: Iterator[Any] | None = None) -> tuple[float, float]:
    """The largest error of float32 over all 2³² arguments, confirmed by mpmath, and where."""
    worst_points: list[tuple[float, float]] = []
    for x in arrays or all_floats():
        with np.errstate(all="ignore"):
            single = function.ours(pb.constant(x)).numpy()
            double = function.ours(pb.constant(x.astype(np.float64))).numpy()
            # 2^k of double, or of the least normal float32, and 1 / (2^k / 2^23), by their bits.
            power = np.maximum(double.view(np.int64) & (2047 << 52), (1023 - 126) << 52)
            per_ulp = (((2047 << 52) - power) + ((2 * 1023 + 23 - 2047) << 52)).view(np.float64)
            error = np.abs(single - double) * per_ulp
            odd = np.flatnonzero(~(error < 1e9))
            rounded = double[odd].astype(np.float32)
            same = (single[odd] == rounded) | np.isnan(single[odd]) & np.isnan(rounded)
        if not same.all():
            return float("inf"), float(x[odd[np.argmin(same)]])
        error[odd] = 0
        for k in np.argpartition(-error, 3)[:3]:
            worst_points.append((float(error[k]), float(x[k])))
    best = sorted(worst_points, reverse=True)[:5]
    confirmed = [(ulp(float(function.ours(pb.constant(np.float32(x)))),
                      exact(function, x, 0), "float32"), x) for _, x in best]  # fmt: skip
    return max(confirmed)
