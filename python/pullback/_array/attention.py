"""Attention: `scaled_dot_product_attention`, `multi_head_attention`."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import flag, integer, number
from .arranging import swapaxes


def share_of(dropout_p: Any, who: str) -> float:
    share = number(dropout_p, who, "dropout_p")
    if not 0 <= share <= 1:
        raise ValueError(f"{who}: dropout_p must be from 0 to 1, got {share}")
    return share


def scaled_dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    attn_mask: TensorLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: TensorLike | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale query keyᵀ + mask) value: for each query the mean of the values, weighted by
    how well their keys go with it (Vaswani et al., 2017).

    query: shape (..., L, d), of L queries.
    key: shape (..., S, d); value: shape (..., S, e). The axes before broadcast.
    attn_mask: broadcasts to (..., L, S). Of bool: which keys take part for a query; of floats: what
        is added to the scores, which may be -inf.
    dropout_p: with this probability a weight becomes 0, and the others are divided by 1 -
        dropout_p. Give 0 where you do not train.
    is_causal: query i sees the keys 0 … i alone.
    scale: 1 / √d unless given.
    enable_gqa: key and value have fewer heads, the axis before the last two; neighbouring heads of
        query share one.

    Returns shape (..., L, e). A query that sees no key has the result 0 and the gradient 0.

    No weights are stored: they are computed block by block, and again for the gradient, so that
    memory grows with L + S (Dao et al., "FlashAttention", 2022). Derivatives in forward mode and of
    a higher order, and gradients by an additive mask, take the memory of all weights, L S.

    Raises ValueError for shapes that do not go together, TypeError for a mask of integers.

    >>> q, k, v = pb.constant([[0.0, 50.0]]), pb.eye(2), pb.constant([[1.0], [2.0]])
    >>> pb.nn.scaled_dot_product_attention(q, k, v)
    Tensor([[2.]], dtype=float32)
    >>> pb.nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    Tensor([[1.]], dtype=float32)
    """
    if is_causal is not False:
        is_causal = flag(is_causal, "scaled_dot_product_attention", "is_causal")
    who = "scaled_dot_product_attention"
    q, k, v = (_core.constant(x, who=who) for x in (query, key, value))
    if enable_gqa:
        k, v = (_repeated(x, q, who) for x in (k, v))
    if scale is None:
        scale = 1 / sqrt(q.shape[-1]) if q.shape and q.shape[-1] else 1.0
    mask = None if attn_mask is None else _core.constant(attn_mask, who=who)
    share = share_of(dropout_p, who)
    return _core.attention(q, k, v, _core.constant(scale, who=who), mask, is_causal, share or None)


def _repeated(x: Tensor, query: Tensor, who: str) -> Tensor:
    """Each head of x as often as it has queries."""
    if len(x.shape) < 3 or len(query.shape) < 3 or query.shape[-3] % max(x.shape[-3], 1):
        raise ValueError(
            f"{who}: enable_gqa: the heads of key and value (the axis before the last two) must "
            f"divide those of query: query is {query.shape}, key or value {x.shape}"
        )
    times = query.shape[-3] // max(x.shape[-3], 1)
    if times == 1:
        return x
    shape = (*x.shape[:-2], times, *x.shape[-2:])
    apart = _core.broadcast_to(_core.expand_dims(x, -3), shape)
    return _core.reshape(apart, (*x.shape[:-3], query.shape[-3], *x.shape[-2:]))


def multi_head_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    weights: Sequence[TensorLike],
    heads: SupportsIndex,
    *,
    biases: Sequence[TensorLike | None] | None = None,
    attn_mask: TensorLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Tensor:
    """Attention of several heads, each with a part of the features (Vaswani et al., 2017).

    query: shape (..., L, features); key and value: shape (..., S, features). For self-attention all
        three are the same tensor.
    weights: four matrices: of queries, keys and values, of shape (features, heads * d) (of values,
        heads * e), and of what comes out, of shape (heads * e, features).
    biases: four vectors for the same, of which any may be None.
    attn_mask: broadcasts to (..., heads, L, S); otherwise as `dropout_p` and `is_causal` of
        `scaled_dot_product_attention`.

    Returns shape (..., L, features). Raises ValueError where the heads do not divide the columns of
    a matrix.

    >>> x = pb.ones((5, 4))
    >>> pb.nn.multi_head_attention(x, x, x, [pb.eye(4)] * 4, 2).shape
    (5, 4)
    """
    if is_causal is not False:
        is_causal = flag(is_causal, "multi_head_attention", "is_causal")
    who = "multi_head_attention"
    dropout_p = share_of(dropout_p, who)
    count = integer(heads, who, "heads")
    matrices = _four(weights, who, "weights")
    shifts = [None] * 4 if biases is None else _four(biases, who, "biases")
    q, k, v = (
        _heads(_affine(x, matrices[i], shifts[i], who), count, who)
        for i, x in enumerate((query, key, value))
    )
    apart = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    joined = swapaxes(apart, -3, -2)
    joined = _core.reshape(joined, (*joined.shape[:-2], joined.shape[-2] * joined.shape[-1]))
    return _affine(joined, matrices[3], shifts[3], who)


def _four(given: Any, who: str, what: str) -> list[Any]:
    try:
        found = list(given)
    except TypeError:
        found = []
    if len(found) != 4:
        raise ValueError(
            f"{who}: {what}: expected four, of queries, keys, values and results, got "
            f"{_core.shown(given)}"
        )
    return found


def _affine(x: TensorLike, weight: TensorLike, bias: TensorLike | None, who: str) -> Tensor:
    left, right = _core.constant(x, who=who), _core.constant(weight, who=who)
    if len(left.shape) < 2 or len(right.shape) != 2 or left.shape[-1] != right.shape[0]:
        raise ValueError(
            f"{who}: expected (..., length, features) and a matrix (features, columns), got shapes "
            f"{left.shape} and {right.shape}"
        )
    y = _core.matmul(left, right)
    return y if bias is None else _core.add(y, bias)


def _heads(x: Tensor, count: int, who: str) -> Tensor:
    """(..., length, heads * d) as (..., heads, length, d)."""
    if count < 1 or x.shape[-1] % count:
        raise ValueError(f"{who}: {x.shape[-1]} columns in {count} equal heads")
    return swapaxes(_core.reshape(x, (*x.shape[:-1], count, x.shape[-1] // count)), -3, -2)
