"""Clipping by value, by norm and by global norm."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each

import pullback as pb

inf, nan = np.inf, np.nan


def gradient(y, x):
    return pb.gradients(y, x)[0].numpy().tolist()


def same(got, expected):
    np.testing.assert_array_equal(got.numpy(), np.asarray(expected, got.dtype))


# --- by value


def test_by_value():
    x = [-inf, -3.0, 0.5, 3.0, inf, nan]
    same(pb.clip_by_value(x, -1, 2), [-1, -1, 0.5, 2, 2, nan])
    same(pb.clip_by_value(x, -inf, inf), x)
    same(pb.clip_by_value([0, 9], 1, 5), [1, 5])
    same(pb.clip_by_value([0.0, 9.0], pb.constant(5.0), 1), [1, 1])
    same(pb.clip_by_value(np.zeros((2, 2)), np.array([1.0, -1.0]), 3.0), [[1, 0], [1, 0]])


def test_gradient_by_value():
    x = pb.Variable([-2.0, -1.0, 0.0, 1.0, 2.0])
    lo, hi = pb.Variable(-1.0), pb.Variable(1.0)
    y = pb.clip_by_value(x, lo, hi)
    assert gradient(y, x) == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert (gradient(y, lo), gradient(y, hi)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (([1.0, 2.0], [[0.0, 0.0]], 1.0), ValueError),
        (([1.0, 2.0], [0.0, 0.0, 0.0], 1.0), ValueError),
        (([1, 2], 0.5, 1.5), TypeError),
        (([1.0], np.zeros(1), 1.0), TypeError),
        (([1.0], np.float32(2.0), 1), ValueError),
        ((None, 0.0, 1.0), TypeError),
    ],
)
def test_by_value_refuses(args, error):
    with pytest.raises(error, match="clip"):
        pb.clip_by_value(*args)


def test_clip_like_numpy():
    x = pb.Variable([-2.0, 0.0, 2.0])
    same(pb.clip(x, -1, 1), [-1, 0, 1])
    same(pb.clip(x, max=1), [-2, 0, 1])
    same(pb.clip(x, min=-1), [-1, 0, 2])
    same(pb.clip(x), [-2, 0, 2])
    same(pb.clip([1, 5], max=3), [1, 3])
    same(pb.clip([1, 5], 2), [2, 5])
    assert gradient(pb.clip(x, max=0), x) == [1.0, 1.0, 0.0]
    assert gradient(pb.clip(x, min=0), x) == [0.0, 1.0, 1.0]
    assert gradient(pb.clip(x), x) == [1.0, 1.0, 1.0]


# --- by norm


def test_by_norm():
    np.testing.assert_allclose(pb.clip_by_norm([3.0, 4.0], 1.0).numpy(), [0.6, 0.8], rtol=1e-6)
    same(pb.clip_by_norm([3.0, 4.0], 5.0), [3, 4])
    same(pb.clip_by_norm([3.0, 4.0], 100.0), [3, 4])
    by_row = pb.clip_by_norm(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0, axis=1)
    np.testing.assert_allclose(by_row.numpy(), [[0.6, 0.8], [0.3, 0.4]])
    np.testing.assert_allclose(pb.clip_by_norm([3.0, 4.0], pb.constant(2.5)).numpy(), [1.5, 2.0])


@pytest.mark.parametrize("scale", [1e30, 3e38, 1e-30])
def test_norms_of_what_has_no_square_in_float32(scale):
    x = pb.cast(np.array([scale, -scale], np.float32), "float64")
    unit = np.array([1, -1]) / np.sqrt(2)
    c = scale / 2
    (alone,), norm = pb.clip_by_global_norm([x], c)
    for y in (pb.clip_by_norm(x, c), alone):
        np.testing.assert_allclose(y.numpy(), unit * c, rtol=1e-7)
    assert float(norm) == pytest.approx(scale * np.sqrt(2), rel=1e-7)


def test_by_norm_at_the_edges():
    same(pb.clip_by_norm([3.0, 4.0], inf), [3, 4])
    same(pb.clip_by_norm([inf, 4.0], inf), [inf, 4])
    same(pb.clip_by_norm([0.0, 0.0], 0.0), [0, 0])
    same(pb.clip_by_norm([3.0, 4.0], 0.0), [0, 0])
    same(pb.clip_by_norm([3.0, 4.0], pb.constant(-1.0)), [0, 0])
    same(pb.clip_by_global_norm([pb.constant(3.0)], pb.constant(-1.0))[0][0], 0)
    same(pb.clip_by_norm([nan, 4.0], 1.0), [nan, nan])
    same(pb.clip_by_norm([inf, 4.0], 1.0), [nan, 0])


def test_gradient_by_norm():
    x = pb.Variable([3.0, 4.0])
    np.testing.assert_allclose(gradient(pb.clip_by_norm(x, 1.0), x), [0.032, -0.024], rtol=1e-5)
    assert gradient(pb.clip_by_norm(x, 10.0), x) == [1.0, 1.0]
    assert gradient(pb.clip_by_norm(x, inf), x) == [1.0, 1.0]
    zero = pb.Variable([0.0, 0.0])
    assert gradient(pb.clip_by_norm(zero, 1.0), zero) == [1.0, 1.0]


# --- by global norm


def test_global_norm():
    assert pb.global_norm([pb.constant([3.0, 4.0]), None, pb.constant(12.0)]).item() == 13.0
    for nothing in ([], [None], (None, None)):
        norm = pb.global_norm(nothing)
        assert norm.item() == 0.0 and norm.dtype == np.float32
    assert pb.global_norm([np.array([3.0]), np.array([4.0])]).dtype == np.float64
    assert np.isnan(pb.global_norm([pb.constant(nan)]).item())
    assert pb.global_norm([pb.constant(-inf)]).item() == inf


def test_gradient_of_the_norm():
    x = pb.Variable([3.0, 4.0])
    np.testing.assert_allclose(gradient(pb.global_norm([x]), x), [0.6, 0.8], rtol=1e-6)
    zero = pb.Variable([0.0, 0.0])
    norm = pb.global_norm([zero])
    assert gradient(norm, zero) == [0.0, 0.0]
    assert gradient(pb.gradients(norm, zero)[0], zero) == [0.0, 0.0]


def test_by_global_norm():
    clipped, norm = pb.clip_by_global_norm((pb.constant([3.0, 4.0]), None, pb.constant(12.0)), 6.5)
    assert isinstance(clipped, tuple) and clipped[1] is None and norm.item() == 13.0
    same(clipped[0], [1.5, 2.0])
    same(clipped[2], 6.0)
    unchanged, norm = pb.clip_by_global_norm([pb.constant([3.0, 4.0])], 5.0)
    same(unchanged[0], [3, 4])
    assert norm.item() == 5.0
    assert pb.clip_by_global_norm([None], 1.0)[0] == [None]
    assert pb.clip_by_global_norm([], 1.0)[0] == []


def test_by_global_norm_with_a_known_norm():
    for known in (10.0, pb.constant(10.0)):
        clipped, norm = pb.clip_by_global_norm([pb.constant([3.0, 4.0])], 5.0, use_norm=known)
        same(clipped[0], [1.5, 2.0])
        assert norm.item() == 10.0


@pytest.mark.parametrize("bad", [inf, -inf, nan])
def test_a_norm_that_is_not_finite(bad):
    clipped, norm = pb.clip_by_global_norm([pb.constant([1.0, bad]), pb.constant(2.0)], 1.0)
    same(clipped[0], [nan, nan])
    same(clipped[1], nan)
    assert np.isnan(norm.item()) if np.isnan(bad) else norm.item() == inf


def test_by_global_norm_at_the_edges():
    tensors = [pb.constant([3.0, 4.0]), pb.constant(0.0)]
    for bound, expected in ((inf, [3.0, 4.0]), (0.0, [0.0, 0.0]), (pb.constant(-1.0), [0.0, 0.0])):
        same(pb.clip_by_global_norm(tensors, bound)[0][0], expected)
    zeros = [pb.zeros(2)]
    same(pb.clip_by_global_norm(zeros, 0.0)[0][0], [0, 0])
    same(pb.clip_by_global_norm(zeros, 1.0)[0][0], [0, 0])
    same(pb.clip_by_global_norm([pb.constant([inf, 1.0])], inf)[0][0], [inf, 1.0])


def test_gradient_by_global_norm():
    a, b = pb.Variable([3.0]), pb.Variable([4.0])
    clipped, _ = pb.clip_by_global_norm([a, b], 1.0)
    total = pb.sum(clipped[0]) + pb.sum(clipped[1])
    got = [g.numpy().item() for g in pb.gradients(total, [a, b])]
    np.testing.assert_allclose(got, [0.032, -0.024], rtol=1e-5)


@each("clip", [pb.global_norm, lambda x: pb.clip_by_global_norm(x, 1.0)])
@each(
    ("wrong", "words"),
    [
        (pb.constant([3.0]), "expected a list"),
        ((x for x in [1.0]), "expected a list"),
        ("text", "expected a list"),
        ([pb.constant([1])], "entry 0: expected floats, got int64"),
        (
            [pb.zeros(1), None, pb.zeros(1, "float64")],
            "float32 (entry 0) and float64 (entry 2)",
        ),
        (
            {"w": [pb.zeros(1), pb.zeros(1)], "b": pb.zeros(1, "float64")},
            "float64 (entry ['b']) and float32 (entry ['w'][0])",
        ),
        ([pb.zeros(1), "text"], "str"),
    ],
)
def test_global_norm_refuses(clip, wrong, words):
    with pytest.raises(TypeError) as caught:
        clip(wrong)
    assert words in str(caught.value)


def test_by_norm_refuses():
    with pytest.raises(TypeError, match="int64"):
        pb.clip_by_norm([1, 2], 1.0)
    with pytest.raises(TypeError):
        pb.clip_by_norm(None, 1.0)
    with pytest.raises(ValueError, match="axis"):
        pb.clip_by_norm([1.0, 2.0], 1.0, axis=1)


def test_by_norm_takes_keywords():
    same(pb.clip_by_norm(x=[3.0, 4.0], clip_norm=1), [0.6, 0.8])


def test_bounds_by_norm_have_the_shape_of_the_norms():
    rows = pb.constant([[3.0, 4.0], [6.0, 8.0]])
    same(pb.clip_by_norm(rows, [[1.0], [5.0]], axis=1), [[0.6, 0.8], [3.0, 4.0]])
    columns = pb.clip_by_norm(rows, [5.0, np.inf], axis=0)
    np.testing.assert_allclose(columns, [[3 / 1.8**0.5, 4], [6 / 1.8**0.5, 8]], rtol=1e-6)
    same(pb.clip_by_norm([3.0, 4.0], [1.0]), [0.6, 0.8])
    for x, bound, axis in (
        ([3.0, 4.0], [[1.0], [2.0]], None),
        ([3.0, 4.0], [1.0, 2.0], None),
        ([3.0, 4.0], [[1.0]], None),
        (rows, [1.0, 2.0], 1),
        (rows, [1.0, 2.0, 3.0], 0),
    ):
        with pytest.raises(
            ValueError, match=r"clip_by_norm: expected a scalar.* for clip_norm, got shape"
        ):
            pb.clip_by_norm(x, bound, axis)


def test_bounds_by_global_norm_are_scalars():
    tensors = [pb.constant([3.0, 4.0])]
    with pytest.raises(
        ValueError, match=r"clip_by_global_norm: .* for clip_norm, got shape \(2,\)"
    ):
        pb.clip_by_global_norm(tensors, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"clip_by_global_norm: .* for use_norm, got shape \(1,\)"):
        pb.clip_by_global_norm(tensors, 1.0, use_norm=[5.0])
    with pytest.raises(ValueError, match="clip_norm"):
        pb.clip_by_global_norm([], [1.0])


# --- norms that are not finite

UNBOUNDED = [[inf, 4.0], [-inf, 4.0], [nan, 4.0], [3e38, 3e38]]


@pytest.mark.parametrize("x", UNBOUNDED)
def test_norms_that_are_not_finite(x):
    v = pb.Variable(x)
    zeros = pb.clip_by_norm(v, 1.0, mode="zero")
    same(zeros, [0, 0])
    assert pb.gradients(zeros, v)[0].numpy().tolist() == [0.0, 0.0]
    (a, none, b), norm = pb.clip_by_global_norm([v, None, pb.constant(2.0)], 1.0, mode="zero")
    same(a, [0, 0])
    same(b, 0)
    assert none is None and not np.isfinite(norm.item())
    for call in (
        lambda: pb.clip_by_norm(v, 1.0, mode="raise"),
        lambda: pb.clip_by_global_norm([v], 1.0, mode="raise"),
    ):
        with pytest.raises(
            FloatingPointError, match=r"^clip_by_\w*norm: expected a finite norm, got (inf|nan);"
        ):
            call()


def test_modes_that_have_nothing_to_do():
    x = [3.0, 4.0]
    for mode in ("nan", "zero", "raise"):
        same(pb.clip_by_norm(x, 1.0, mode=mode), [0.6, 0.8])
        same(pb.clip_by_global_norm([pb.constant(x)], 1.0, mode=mode)[0][0], [0.6, 0.8])
        same(pb.clip_by_norm([0.0, 0.0], 1.0, mode=mode), [0, 0])
    same(pb.clip_by_norm([inf, 4.0], inf, mode="zero"), [inf, 4])
    same(pb.clip_by_global_norm([pb.constant([inf, 4.0])], inf, mode="zero")[0][0], [inf, 4])


def test_each_row_by_its_own_norm():
    rows = pb.clip_by_norm([[3.0, 4.0], [inf, 1.0]], 1.0, axis=1, mode="zero")
    same(rows, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("mode", ["nan", "zero"])
def test_modes_inside_of_a_function(mode):
    f = pb.function(lambda x: pb.clip_by_global_norm([x], 1.0, mode=mode)[0][0])
    same(f(np.array([3.0, 4.0], np.float32)), [0.6, 0.8])
    same(f(np.array([inf, 4.0], np.float32)), [0, 0] if mode == "zero" else [nan, nan])


@pytest.mark.parametrize(
    "call",
    [
        lambda: pb.clip_by_norm([1.0], 1.0, mode="skip"),
        lambda: pb.clip_by_global_norm([pb.ones(2)], 1.0, mode=None),
    ],
)
def test_modes_that_there_are_not(call):
    with pytest.raises(
        ValueError, match=r"clip_by_\w*norm: mode must be one of 'nan', 'zero', 'raise'; got"
    ):
        call()
