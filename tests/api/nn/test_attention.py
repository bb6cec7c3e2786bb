"""Attention beside its formula in NumPy (float64): masks, causality, dropout, derivatives of both
modes and orders, batches, what it takes in memory, its bits for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.memory import bytes_beside

import pullback as pb

RNG = np.random.default_rng(0)
WHO = "scaled_dot_product_attention"


def draw(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def weights(q: Any, k: Any, mask: Any = None, causal: bool = False, scale: Any = None) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    parts = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = parts.sum(-1, keepdims=True)
    return parts / np.where(total == 0, 1, total)


def reference(q: Any, k: Any, v: Any, *rest: Any, **options: Any) -> Any:
    return weights(q, k, *rest, **options) @ v


def composed(q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False) -> Any:
    """The formula with all of its weights, whose gradients are those of its parts."""
    scores = q @ pb.matrix_transpose(k) * q.shape[-1] ** -0.5
    if causal:
        scores = pb.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = pb.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return pb.softmax(scores) @ v


SHAPES = [
    ((3, 4), (5, 4), (5, 2)),
    ((1, 1), (1, 1), (1, 1)),
    ((2, 3, 7, 8), (2, 3, 9, 8), (2, 3, 9, 5)),
    ((2, 1, 6, 3), (3, 5, 3), (1, 3, 5, 4)),
    ((2, 130, 16), (2, 260, 16), (2, 260, 16)),  # more than a block each way
    ((1, 300, 5), (1, 129, 5), (1, 129, 33)),
    ((40, 3, 4), (40, 2, 4), (40, 2, 4)),  # many matrices
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, limit", [("float64", 1e-13), ("float32", 3e-6)])
def test_values_and_gradients(shapes: Any, causal: bool, dtype: str, limit: float) -> None:
    q, k, v = (draw(*shape) for shape in shapes)
    mask = RNG.random((shapes[0][-2], shapes[1][-2])) < 0.7
    mask[:, 0] = True
    for given in (None, mask, np.where(mask, draw(*mask.shape), -np.inf)):
        y = reference(q, k, v, given, causal=causal)
        xs = [pb.Variable(x.astype(dtype)) for x in (q, k, v)]
        cast = given.astype(dtype) if given is not None and given.dtype != bool else given
        out = pb.nn.scaled_dot_product_attention(*xs, cast, is_causal=causal)
        assert out.dtype == dtype and out.shape == y.shape
        np.testing.assert_allclose(out.numpy(), y, rtol=0, atol=limit)
        g = draw(*y.shape)
        wide = [pb.Variable(x) for x in (q, k, v)]
        truth = pb.gradients(pb.sum(composed(*wide, given, causal) * g), wide)
        found = pb.gradients(pb.sum(out * g.astype(dtype)), xs)
        for one, true in zip(found, truth, strict=True):
            np.testing.assert_allclose(one.numpy(), true.numpy(), rtol=0, atol=30 * limit)


MASKS = [
    RNG.random((2, 1, 3, 4)) < 0.6,
    RNG.random((2, 3, 4)) < 0.6,
    RNG.random((1, 4)) < 0.6,
    RNG.random((3, 1)) < 0.6,
    RNG.random(4) < 0.6,
    np.zeros((3, 4), bool),
    np.array(True),
]


@pytest.mark.parametrize("mask", MASKS, ids=lambda mask: str(mask.shape))
def test_masks_broadcast(mask: Any) -> None:
    q, k, v = draw(2, 2, 3, 5), draw(2, 2, 4, 5), draw(2, 2, 4, 6)
    y = pb.nn.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_allclose(y.numpy(), reference(q, k, v, mask), atol=1e-14)
    added = np.where(mask, 0.3, -np.inf)
    y = pb.nn.scaled_dot_product_attention(q, k, v, added)
    np.testing.assert_allclose(y.numpy(), reference(q, k, v, mask), atol=1e-14)


def test_a_query_that_sees_nothing() -> None:
    mask = np.array([[True, False], [False, False]])
    for given in (mask, np.where(mask, 0.0, -np.inf)):
        xs = [pb.Variable(draw(2, 3)) for _ in range(3)]
        y = pb.nn.scaled_dot_product_attention(*xs, given)
        assert y[1].numpy().tolist() == [0, 0, 0]
        for g in pb.gradients(pb.sum(y * y), xs):
            assert np.isfinite(g.numpy()).all()
            assert not g.numpy()[1].any()
        pb.testing.check_gradients(
            lambda *xs, given=given: pb.nn.scaled_dot_product_attention(*xs, given),
            *(x.numpy() for x in xs),
        )


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": True}], ids=str)
def test_derivatives(options: Any) -> None:
    xs = [draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 3)]
    mask = RNG.random((2, 3, 5)) < 0.7 if "mask" in options else None
    causal = "is_causal" in options

    def f(q: Any, k: Any, v: Any) -> Any:
        return pb.nn.scaled_dot_product_attention(q, k, v, mask, 0.0, causal)

    pb.testing.check_gradients(f, *xs)
    tangents = [draw(*x.shape) for x in xs]
    _, found = pb.jvp(f, xs, tangents)
    h = 1e-6
    up, down = (f(*(x + s * t for x, t in zip(xs, tangents, strict=True))) for s in (h, -h))
    np.testing.assert_allclose(found.numpy(), ((up - down) / (2 * h)).numpy(), atol=1e-8)


def test_third_order() -> None:
    k, v = pb.constant(draw(3, 2)), pb.constant(draw(3, 1))

    def f(t: Any) -> Any:
        return pb.sum(pb.nn.scaled_dot_product_attention(t * pb.constant([[0.7, -1.1]]), k, v))

    def g(t: Any) -> Any:
        return pb.sum(composed(t * pb.constant([[0.7, -1.1]]), k, v))

    at = np.float64(0.4)
    third = [float(pb.grad(pb.grad(pb.grad(one)))(at)) for one in (f, g)]
    np.testing.assert_allclose(third[0], third[1], rtol=1e-6)


def test_the_gradient_by_an_added_mask() -> None:
    xs = [draw(3, 4), draw(5, 4), draw(5, 2), draw(3, 5)]
    pb.testing.check_gradients(pb.nn.scaled_dot_product_attention, *xs)


def test_the_gradient_by_the_scale() -> None:
    q, k, v = draw(3, 4), draw(5, 4), draw(5, 2)

    def f(scale: Any) -> Any:
        return pb.nn.scaled_dot_product_attention(q, k, v, scale=scale)

    np.testing.assert_allclose(f(0.3).numpy(), reference(q, k, v, scale=0.3), atol=1e-14)
    pb.testing.check_gradients(f, np.float64(0.3))


def test_dropout() -> None:
    q, k, v = draw(2, 150, 4), draw(2, 131, 4), np.broadcast_to(np.eye(131), (2, 131, 131))

    def dropped(rate: float, *xs: Any) -> Any:
        pb.random.seed(5)
        return pb.nn.scaled_dot_product_attention(*xs, dropout_p=rate)

    full = weights(q, k)
    some = dropped(0.3, q, k, v).numpy()
    kept = some != 0
    np.testing.assert_allclose(some[kept], full[kept] / 0.7)
    assert abs(kept.mean() - 0.7) < 4 * (0.21 / kept.size) ** 0.5
    pb.random.seed(5)  # as a draw of its own
    assert (kept == (pb.random.uniform(kept.shape, "float32").numpy() >= 0.3)).all()
    assert not dropped(1.0, q, k, v).numpy().any()
    # The gradient meets the same weights, of each order.
    xs = [draw(2, 5, 3), draw(2, 7, 3), draw(2, 7, 2)]
    pb.testing.check_gradients(lambda *xs: dropped(0.4, *xs), *xs)
    traced = pb.function(lambda *xs: pb.nn.scaled_dot_product_attention(*xs, dropout_p=0.5))
    first, second = traced(*xs).numpy(), traced(*xs).numpy()
    assert (first != second).any()
    entries = pb.vmap(lambda q: pb.nn.scaled_dot_product_attention(q, k[0], v[0], dropout_p=0.5))
    a, b = entries(np.stack([q[0], q[0]])).numpy()
    assert (a != b).any()
    np.testing.assert_allclose(a[a != 0], 2 * full[0][a != 0])


def test_vmap_and_function() -> None:
    q, k, v = draw(3, 2, 4, 5), draw(3, 2, 6, 5), draw(2, 6, 5)
    mask = RNG.random((4, 6)) < 0.7

    def f(q: Any, k: Any, v: Any) -> Any:
        return pb.nn.scaled_dot_product_attention(q, k, v, mask)

    batched = pb.vmap(f, in_axes=(0, 0, None))
    y = reference(q, k, v[None], mask)
    np.testing.assert_allclose(batched(q, k, v).numpy(), y, atol=1e-14)
    np.testing.assert_allclose(pb.function(f)(q[0], k[0], v).numpy(), y[0], atol=1e-14)
    slope = pb.vmap(pb.grad(lambda q, k, v: pb.sum(f(q, k, v) ** 2)), in_axes=(0, 0, None))
    for i in range(3):
        alone = pb.grad(lambda q, i=i: pb.sum(f(q, k[i], v) ** 2))(q[i])
        np.testing.assert_allclose(slope(q, k, v)[i].numpy(), alone.numpy(), atol=1e-13)


def test_masks_and_cotangents_of_a_batch() -> None:
    q, k, v = draw(3, 4), draw(5, 4), draw(5, 2)
    masks = RNG.random((6, 3, 5)) < 0.6
    for entries in (
        pb.vmap(lambda mask: pb.nn.scaled_dot_product_attention(q, k, v, mask))(masks),
        pb.vmap(lambda q: pb.vmap(lambda m: pb.nn.scaled_dot_product_attention(q, k, v, m))(masks))(
            np.stack([q])
        )[0],
    ):
        truth = np.stack([reference(q, k, v, mask) for mask in masks])
        np.testing.assert_allclose(entries.numpy(), truth, atol=1e-14)
    slopes = pb.jacobian(lambda q: pb.nn.scaled_dot_product_attention(q, k, v))(q).numpy()
    h = 1e-6
    for i, j in np.ndindex(q.shape):
        step = np.zeros_like(q)
        step[i, j] = h
        change = (reference(q + step, k, v) - reference(q - step, k, v)) / (2 * h)
        np.testing.assert_allclose(slopes[..., i, j], change, atol=1e-8)


def test_derivatives_of_a_batch_after_dropout() -> None:
    """They are of the weights that were dropped, for every entry."""
    q, k, v = draw(3, 4), draw(5, 4), draw(5, 2)

    def f(q: Any) -> Any:
        return pb.nn.scaled_dot_product_attention(q, k, v, dropout_p=0.5)

    x = pb.Variable(q)
    with pb.GradientTape(persistent=True) as tape:
        y = f(x)
        parts = [y[i, j] for i, j in np.ndindex(3, 2)]
    rows = np.stack([tape.gradient(part, x).numpy() for part in parts]).reshape(3, 2, 3, 4)
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), rows, atol=1e-12)
    pb.random.seed(3)
    slopes = pb.jacobian(f)(q).numpy()
    pb.random.seed(3)
    _, pull = pb.vjp(f, q)
    for i, j in np.ndindex(3, 2):
        cotangent = np.zeros((3, 2))
        cotangent[i, j] = 1
        np.testing.assert_allclose(pull(cotangent)[0].numpy(), slopes[i, j], atol=1e-12)
    with pytest.raises(NotImplementedError, match="dropout mask was drawn outside"):
        pb.vmap(lambda g: pull(g)[0])(np.eye(6).reshape(6, 3, 2))


def test_dropout_inside_of_loops_and_checkpoints() -> None:
    q, k = draw(3, 4), draw(5, 4)
    _, y = pb.scan(
        lambda c, _: (c, pb.nn.scaled_dot_product_attention(q, k, np.eye(5), dropout_p=0.5)),
        0.0,
        length=4,
    )
    assert len({(each != 0).tobytes() for each in y.numpy()}) == 4

    def step(c: Any, _: Any) -> Any:
        c = c + pb.tanh(pb.nn.scaled_dot_product_attention(c, k, k, dropout_p=0.4))
        return c, pb.sum(c * c)

    def loop(q: Any) -> Any:
        pb.random.seed(3)
        return pb.scan(step, q, length=3)[1]

    def again(q: Any) -> Any:
        pb.random.seed(3)
        return pb.checkpoint(lambda q: step(q, None)[0])(q)

    pb.testing.check_gradients(loop, q)
    pb.testing.check_gradients(again, q)
    anew = pb.vmap(lambda s: s * pb.nn.scaled_dot_product_attention(q, k, np.eye(5), None, 0.5))
    assert len({(each != 0).tobytes() for each in anew(np.ones(3)).numpy()}) == 3


def test_bits_for_any_number_of_threads() -> None:
    for lead in ((), (3,), (40,)):
        q, k, v = (draw(*lead, 260, 16).astype("f") for _ in range(3))
        found = []
        for threads in (1, 2, 5):
            before = pb.num_threads()
            pb.set_num_threads(threads)
            try:
                xs = [pb.Variable(x) for x in (q, k, v)]
                y = pb.nn.scaled_dot_product_attention(*xs, is_causal=True)
                found.append([y.numpy(), *(g.numpy() for g in pb.gradients(pb.sum(y * y), xs))])
            finally:
                pb.set_num_threads(before)
        for other in found[1:]:
            for a, b in zip(found[0], other, strict=True):
                assert a.tobytes() == b.tobytes()


def test_memory_grows_with_the_length() -> None:
    def beside(length: int) -> int:
        q, k, v = (pb.Variable(draw(16, length, 8).astype("f")) for _ in range(3))

        def call() -> None:
            y = pb.nn.scaled_dot_product_attention(q, k, v, is_causal=True)
            pb.evaluate(pb.gradients(pb.sum(y * y), [q, k, v]))

        return bytes_beside(call, 3)

    few, many = beside(256), beside(1024)
    assert many < 4.5 * few
    assert many < 16 * 1024 * 1024 * 4 / 10  # of the weights alone


def test_values_at_the_ends() -> None:
    big = pb.nn.scaled_dot_product_attention([[1e4, 0.0]], [[1e4, 0], [0, 1]], [[1.0], [2.0]])
    assert big.numpy().tolist() == [[1.0]]
    q = pb.Variable([[np.nan, 0.0], [1.0, 2.0]])
    y = pb.nn.scaled_dot_product_attention(q, np.eye(2), np.eye(2))
    assert np.isnan(y[0].numpy()).all() and np.isfinite(y[1].numpy()).all()
    (g,) = pb.gradients(pb.sum(y), [q])
    assert np.isnan(g[0].numpy()).all() and np.isfinite(g[1].numpy()).all()


@each("sizes", [(0, 3, 2, 2), (3, 0, 2, 2), (3, 4, 0, 2), (3, 4, 2, 0)])
@each("lead", [(), (0,), (2,)])
def test_sizes_of_zero(sizes: tuple[int, ...], lead: tuple[int, ...]) -> None:
    length, keys, d, e = sizes
    xs = [pb.Variable(draw(*lead, *s)) for s in ((length, d), (keys, d), (keys, e))]
    y = pb.nn.scaled_dot_product_attention(*xs)
    arrays = [x.numpy() for x in xs]
    scale = 1.0 if d == 0 else None
    np.testing.assert_allclose(y.numpy(), reference(*arrays, scale=scale), atol=1e-15)
    for g, x in zip(pb.gradients(pb.sum(y), xs), xs, strict=True):
        assert g.shape == x.shape and np.isfinite(g.numpy()).all()


def test_dtypes() -> None:
    xs = [draw(3, 4), draw(5, 4), draw(5, 2)]
    for name, limit in (("float16", 2e-3), ("bfloat16", 2e-2)):
        y = pb.nn.scaled_dot_product_attention(*(pb.cast(x, name) for x in xs))
        assert y.dtype == pb.cast(1.0, name).dtype
        np.testing.assert_allclose(pb.cast(y, "float64").numpy(), reference(*xs), atol=limit)
    y = pb.nn.scaled_dot_product_attention([[1, 2]], [[0, 0], [0, 0]], [[1], [3]])
    assert y.dtype == "float32" and y.numpy().tolist() == [[2.0]]


def test_grouped_queries() -> None:
    q, k, v = draw(2, 6, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 4)
    y = pb.nn.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    wide = [np.repeat(x, 3, 1) for x in (k, v)]
    np.testing.assert_allclose(y.numpy(), reference(q, *wide), atol=1e-14)
    with pytest.raises(ValueError, match=f"^{WHO}: expected a number of heads .* for enable_gqa"):
        pb.nn.scaled_dot_product_attention(q[:, :3], k, v, enable_gqa=True)


ERRORS = [
    (ValueError, "expected .*length, features", ([1.0], [[1.0]], [[1.0]])),
    (ValueError, "one feature size for query and key", (draw(2, 3), draw(2, 4), draw(2, 4))),
    (ValueError, "one length for key and value", (draw(2, 3), draw(2, 3), draw(3, 3))),
    (ValueError, "leading axes that broadcast", (draw(2, 2, 3), draw(3, 2, 3), draw(3, 2, 3))),
    (
        ValueError,
        "a shape that broadcasts to .* for mask",
        (draw(2, 3), draw(2, 3), draw(2, 3), draw(3, 2)),
    ),
    (
        ValueError,
        "a shape that broadcasts to .* for mask",
        (draw(2, 3), draw(2, 3), draw(2, 3), draw(5, 2, 2)),
    ),
    (
        TypeError,
        "expected bool or floats for mask",
        (draw(2, 3), draw(2, 3), draw(2, 3), np.ones((2, 2), int)),
    ),
    (ValueError, "for dropout_p, got 1.5", (draw(2, 3), draw(2, 3), draw(2, 3), None, 1.5)),
    (TypeError, "expected floats", (draw(2, 3) * 1j, draw(2, 3), draw(2, 3))),
]


@each("kind, text, arguments", ERRORS, ids=[text for _, text, _ in ERRORS])
def test_errors(kind: Any, text: str, arguments: Any) -> None:
    with pytest.raises(kind, match=f"^{WHO}: .*{text}"):
        pb.nn.scaled_dot_product_attention(*arguments)


def test_several_heads() -> None:
    x, y = draw(2, 5, 6), draw(2, 7, 6)
    ws = [draw(6, 8), draw(6, 8), draw(6, 4), draw(4, 6)]
    bs = [draw(8), None, draw(4), draw(6)]
    found = pb.nn.multi_head_attention(x, y, y, ws, 2, biases=bs)
    q, k, v = x @ ws[0] + bs[0], y @ ws[1], y @ ws[2] + bs[2]
    heads = [
        reference(q[..., 4 * h : 4 * h + 4], k[..., 4 * h : 4 * h + 4], v[..., 2 * h : 2 * h + 2])
        for h in range(2)
    ]
    truth = np.concatenate(heads, -1) @ ws[3] + bs[3]
    np.testing.assert_allclose(found.numpy(), truth, atol=1e-13)
    pb.testing.check_gradients(
        lambda x, *ws: pb.nn.multi_head_attention(x, x, x, ws, 2, is_causal=True),
        x[0],
        *ws,
    )


def test_errors_of_several_heads() -> None:
    x, w = draw(5, 4), draw(4, 4)
    with pytest.raises(
        ValueError, match=r"^multi_head_attention: expected a divisor of 4 columns for heads, got 3"
    ):
        pb.nn.multi_head_attention(x, x, x, [w] * 4, 3)
    with pytest.raises(
        ValueError, match=r"^multi_head_attention: expected four tensors .* for weights"
    ):
        pb.nn.multi_head_attention(x, x, x, [w] * 3, 2)
    with pytest.raises(
        ValueError, match=r"^multi_head_attention: .* weights \(features, columns\)"
    ):
        pb.nn.multi_head_attention(x, x, x, [w, w, w, draw(3, 4)], 2)
