"""Copies of a temporary to another place of a second one, which the planner replaces by views:
values and gradients are those of NumPy and of the formulas, in every layout of the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

N = 700
X = np.random.default_rng(1).normal(size=N)
END = np.array([3.0])

# (a form, written for NumPy and for pullback alike; the number of copies that remain)
FORMS: dict[str, tuple[Callable[..., Any], int]] = {
    "shifted up": (lambda xp, y: xp.concatenate([END, y[:-1]]), 1),
    "shifted down": (lambda xp, y: xp.concatenate([y[1:], END]), 1),
    "one more in front": (lambda xp, y: xp.concatenate([END, y]), 1),
    "halo": (lambda xp, y: xp.concatenate([END, y, 2 * END]), 2),
    "both neighbours": (
        lambda xp, y: (
            xp.concatenate([END, y[:-1]]) * y - xp.concatenate([y[1:], 2 * END]) / (2 + y)
        ),
        2,
    ),
    "two shifts": (
        lambda xp, y: xp.concatenate([END, y[:-1]]) * y + xp.concatenate([END, END, y[:-2]]),
        4,
    ),
    "two times shifted": (
        lambda xp, y: y * xp.concatenate([END, xp.tanh(xp.concatenate([END, y[:-1]]))[:-1]]),
        2,
    ),
    "roll": (lambda xp, y: y * xp.roll(y, 1), 2),
    "halves exchanged": (lambda xp, y: y * xp.concatenate([y[N // 2 :], y[: N // 2]]), 2),
    "twice": (lambda xp, y: y[::-1] * xp.concatenate([y, y])[N // 2 : N // 2 + N], 2),
    "rows": (
        lambda xp, y: y.reshape(100, 7) * xp.concatenate([np.ones((1, 7)), y.reshape(100, 7)[:-1]]),
        1,
    ),
    "columns": (
        lambda xp, y: (
            y.reshape(100, 7)
            * xp.concatenate([np.ones((100, 1)), y.reshape(100, 7)[:, :-1]], axis=1)
        ),
        2,
    ),
}


def differences(f: Callable[[Any], Any], x: Any, direction: Any) -> Any:
    h = 1e-5
    return (f(x + h * direction) - f(x - h * direction)) / (2 * h)


@pytest.mark.parametrize("name", FORMS)
def test_values_and_gradients_are_those_of_copies(name: str) -> None:
    form, copies = FORMS[name]

    def f(xp: Any, x: Any) -> Any:
        # The form reads a temporary, and more than one step reads its result.
        y = xp.exp(-x * x)
        z = form(xp, y)
        return xp.cumsum(z.reshape(-1)[: N - 2] * y[2:]) + xp.sum(z * z)

    got = pb.function(lambda x: f(pb, x))
    np.testing.assert_allclose(got(X).numpy(), f(np, X), rtol=1e-12)
    assert got.plan(X).count("copy ") == copies, got.plan(X)
    weights = np.random.default_rng(2).normal(size=N - 2)
    slope = pb.function(pb.grad(lambda x: pb.sum(weights * f(pb, x))))(X).numpy()
    direction = np.random.default_rng(3).normal(size=N)
    expected = differences(lambda x: np.sum(weights * f(np, x)), X, direction)
    np.testing.assert_allclose(slope @ direction, expected, rtol=1e-6)


@pytest.mark.parametrize("window", [(1, N), (0, N - 1), (1, N - 1), (3, N - 5), (2, N - 2)])
def test_gradients_of_slices_have_zeros_outside(window: tuple[int, int]) -> None:
    low, high = window
    weights = np.random.default_rng(2).normal(size=high - low)

    def f(x: Any) -> Any:
        y = pb.exp(x)
        return pb.sum(weights * y[low:high] * y[low:high])

    slope = pb.function(pb.grad(f))
    got = slope(X).numpy()
    # One group clears ends of one length; otherwise all is cleared first, and then copied.
    assert ("embed tmp" in slope.plan(X)) == (window == (3, N - 5))
    expected = np.zeros(N)
    expected[low:high] = 2 * weights * np.exp(2 * X[low:high])
    np.testing.assert_allclose(got, expected, rtol=1e-13)
    assert not got[:low].any() and not got[high:].any()


def test_a_temporary_that_changes_after_its_copy_keeps_it() -> None:
    def f(x: Any) -> Any:
        y = pb.exp(x)
        shifted = pb.concatenate([END, y[:-1]])
        changed = y.at[1:].add(shifted[1:])
        moved = shifted.at[:-1].multiply(changed[:-1])
        return changed * shifted + moved

    y = np.exp(X)
    shifted = np.concatenate([END, y[:-1]])
    changed = y.copy()
    changed[1:] += shifted[1:]
    moved = shifted.copy()
    moved[:-1] *= changed[:-1]
    np.testing.assert_allclose(pb.function(f)(X).numpy(), changed * shifted + moved, rtol=1e-14)
