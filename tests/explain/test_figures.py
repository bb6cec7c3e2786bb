"""Numbers in explanations: shares, counts and factors, and which steps they are about."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


def test_the_share_beyond_the_bounds_of_clip() -> None:
    x = pb.Variable([5.0, -3.0, 0.5])
    why = pb.explain(pb.sum(pb.clip(x, -1.0, 1.0)[:2]), x)
    assert why.reason == "clip_bound"
    assert why.findings[0].figures["share"] == pytest.approx(2 / 3)
    assert "67% of the 3 inputs" in why.findings[0].what


def test_the_count_of_entries_that_are_not_finite() -> None:
    x = pb.Variable([0.0, 1.0, 4.0])
    why = pb.explain(pb.sum(pb.sqrt(x)), x)
    assert why.status == "infinite"
    assert why.figures == {"largest": 0.5, "zeros": "0 of 3", "not finite": "1 of 3"}


def test_what_cancels_is_reported_once() -> None:
    """Every step that sends a part of the sum to the same input has a zero cotangent below it."""
    x = pb.Variable([1.0, 2.0])
    a = pb.sin(x)
    why = pb.explain(pb.sum(a * 2) - pb.sum(a) - pb.sum(a), x)
    assert [finding.reason for finding in why.findings] == ["cancels"]


def test_a_mean_is_not_where_a_gradient_shrinks() -> None:
    x = pb.Variable(np.full(1 << 10, 30.0, np.float32))
    why = pb.explain(pb.mean(pb.sigmoid(-x)), x)
    assert why.status == "tiny"
    assert [finding.step.name for finding in why.findings if finding.step] == ["sigmoid"]


def test_a_mean_of_many_is_not_tiny() -> None:
    """All entries together count: each of a mean's is as small as the others are many."""
    x = pb.Variable(np.full(1 << 24, 1.0, np.float32))
    assert pb.explain(pb.mean(x), x).status == "flows"


def test_what_a_step_sends_is_its_own_part() -> None:
    """The sum passes on what is finite; the slope of its other operand is infinite."""
    x = pb.Variable([0.0, 1.0])
    for a in (x, pb.sin(x)):
        why = pb.explain(pb.sum(a + pb.sqrt(a)), x)
        assert why.status == "infinite" and why.reason == "bad_slope"
        assert why.findings[0].step is not None and why.findings[0].step.name == "sqrt"
