"""`gradient_paths` and `draw`."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pullback as pb
from explain.broken import weights

# --- gradient_paths


def test_terms_inside_of_a_function() -> None:
    def loss(w: Any) -> Any:
        return pb.sum(w * w) + 0.5 * pb.sum(w)

    w = pb.Variable([3.0, 4.0])
    plain = [(part.share, part.through[-1].name) for part in pb.gradient_paths(loss(w), w)]
    traced = pb.gradient_paths(pb.function(loss)(w), w)
    assert [(part.share, part.through[-1].name) for part in traced] == plain
    both = pb.gradient_paths(pb.sum(w * w) + pb.function(lambda w: 0.5 * pb.sum(w))(w), w)
    assert [(part.share, part.through[-1].name) for part in both] == plain


def test_an_auxiliary_loss() -> None:
    w = weights(3, 4)
    main, auxiliary = pb.sum(w * w), 0.01 * pb.sum(w)
    found = pb.gradient_paths(main + auxiliary, w)
    g, h = np.array([6.0, 8.0]), np.array([0.01, 0.01])
    shares = [g @ (g + h) / ((g + h) @ (g + h)), h @ (g + h) / ((g + h) @ (g + h))]
    np.testing.assert_allclose([path.share for path in found], shares, rtol=1e-5)
    np.testing.assert_allclose(found[0].gradient, g, rtol=1e-6)
    np.testing.assert_allclose(found[1].norm, np.hypot(0.01, 0.01), rtol=1e-6)
    assert [path.through[-1].name for path in found] == ["sum", "multiply"]
    assert repr(found).splitlines()[0].lstrip().startswith("99.9%")


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=6), st.integers(1, 16))
def test_shares_add_up(factors: list[float], limit: int) -> None:
    w = pb.Variable(np.array([0.5, -1.5, 2.0]))
    loss = pb.sum(w * w * factors[0])
    for i, factor in enumerate(factors[1:]):
        term = factor * pb.mean(pb.sin(w * (i + 1)))
        loss = loss - term if i % 2 else pb.reshape(loss, ()) + term
    whole = pb.gradients(loss, w)[0].numpy()
    found = pb.gradient_paths(loss, w, limit=limit)
    assert len(found) <= max(limit + 1, 2)
    np.testing.assert_allclose(sum(path.gradient for path in found), whole, atol=1e-12)
    if np.abs(whole).max() > 1e-300:
        assert sum(path.share for path in found) == pytest.approx(1)


def test_a_term_that_pulls_back_is_negative() -> None:
    w = weights(1, 1)
    found = pb.gradient_paths(pb.sum(3 * w) - pb.sum(w), w)
    assert [round(path.share, 6) for path in found] == [1.5, -0.5]


def test_the_same_term_twice() -> None:
    w = weights(1, 2)
    term = pb.sum(w * w)
    found = pb.gradient_paths(term + term, w)
    assert [path.share for path in found] == [1.0] or [p.share for p in found] == [0.5, 0.5]


def test_a_term_that_is_made_of_another_one() -> None:
    w = weights(1, 2)
    first = pb.sum(w * w)
    found = pb.gradient_paths(first + first * first, w)
    norms = [path.norm for path in found]
    np.testing.assert_allclose(norms, [10 * np.sqrt(20), np.sqrt(20)], rtol=1e-6)


def test_the_largest_part_is_divided_first() -> None:
    w = weights(3, 4)
    large = pb.sum(w * w) + pb.sum(w * w * w)
    small = 1e-3 * (pb.sum(w) + pb.sum(pb.sin(w)))
    found = pb.gradient_paths(large + small, w, limit=3)
    assert [path.through[-1].name for path in found] == ["sum", "sum", "multiply"]


def test_a_sum_below_a_fraction_stays_whole() -> None:
    w = weights(3, 4)
    [path] = pb.gradient_paths(2.0 / (pb.sum(w) + pb.sum(w * w)), w)
    assert path.share == pytest.approx(1) and path.through == []


def test_none_zero_and_errors() -> None:
    w = weights(1, 2)
    assert pb.gradient_paths(pb.sum(pb.stop_gradient(w)), w) == []
    [only] = pb.gradient_paths(pb.sum(pb.round(w)), w)
    assert only.share is None and only.norm == 0
    for call, error, words in [
        (
            lambda: pb.gradient_paths(1.0, w),
            TypeError,
            "gradient_paths: expected a Tensor for y, got 1.0",
        ),
        (
            lambda: pb.gradient_paths(w * 1, None),
            TypeError,
            "gradient_paths: expected .* for x, got None",
        ),
        (
            lambda: pb.gradient_paths(w * 1, w, limit=0),
            ValueError,
            "a positive integer for limit, got 0",
        ),
    ]:
        with pytest.raises(error, match=words):
            call()


# --- draw


def texts(drawing: Any) -> list[str]:
    root = ElementTree.fromstring(drawing.svg)
    return [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]


def rectangles(drawing: Any) -> list[tuple[float, ...]]:
    root = ElementTree.fromstring(drawing.svg)
    found = root.iter("{http://www.w3.org/2000/svg}rect")
    return [tuple(float(e.attrib[k]) for k in ("x", "y", "width", "height")) for e in found]


def test_operations_shapes_costs_and_lines(tmp_path: Path) -> None:
    pb.set_debug(True)
    try:
        w = pb.Variable(np.ones((3, 4), np.float32), name="kernel")
        y = pb.sum(pb.tanh(np.ones((2, 3), np.float32) @ w))
        drawing = pb.draw(y, w)
    finally:
        pb.set_debug(False)
    found = texts(drawing)
    assert {"kernel", "matmul", "tanh", "sum", "constant"} <= set(found)
    assert "float32[2, 4] 32 B, 48 flop" in found  # 2 · 2 · 4 · 3
    assert any(text.startswith("test_paths_and_drawings.py:") for text in found)
    drawing.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == drawing.svg == drawing._repr_svg_()


def test_what_flows_what_stops_and_what_dies() -> None:
    w = weights(1, 2)
    y = pb.sum(pb.stop_gradient(pb.exp(w)) * pb.relu(w - 9) * w)
    found = texts(pb.draw(y, w))
    assert {"gradient flows", "gradient is zero", "gradient is stopped"} <= set(found)
    assert "NaN or infinite" in texts(pb.draw(pb.sum(pb.sqrt(w * 0)), w))
    assert "gradient flows" not in texts(pb.draw(y))


def test_boxes_do_not_overlap() -> None:
    x = pb.Variable(np.ones((4, 4), np.float32), name="x")
    y = x
    for i in range(12):
        y = pb.tanh(y @ x) + pb.exp(x * i) * y
    boxes = rectangles(pb.draw(pb.sum(y)))
    for i, (x1, y1, w1, h1) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[:i]:
            apart = x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1
            assert apart


def test_a_large_graph_is_cut() -> None:
    x = weights(1, 2)
    y = x * 1.0
    for _ in range(1000):
        y = y + x
    drawing = pb.draw(y)
    assert "400 operations of 1002" in repr(drawing)


def test_a_plan() -> None:
    f = pb.function(lambda x, w: pb.sum(pb.tanh(x @ w) * pb.exp(x)))
    x = pb.ones((3, 3))
    drawing = pb.draw(f.plan(x, x))
    assert "a plan of 1 steps" in repr(drawing)
    found = " ".join(texts(drawing))
    assert "gemm" in found and "tanh" in found and "exp" in found


def test_sources_in_a_nest_and_errors() -> None:
    a, b = weights(1, 2, name="a"), weights(3, 4, name="b")
    assert {"a", "b"} <= set(texts(pb.draw(pb.sum(a * b), {"a": a, "b": b})))
    with pytest.raises(
        TypeError, match="draw: expected a Tensor or the text of a plan for y, got 3"
    ):
        pb.draw(3)
    with pytest.raises(TypeError, match="draw: expected a Tensor or a Variable in xs, got 'a'"):
        pb.draw(a * b, "a")
