"""Attention: `scaled_dot_product_attention`, `multi_head_attention`."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import flag, integer, number
from .._base.composite import composite
from .._core import Tensor
from .._numpy.arranging import swapaxes
from .._typing import TensorLike

__all__ = ["multi_head_attention", "scaled_dot_product_attention"]


def share_of(dropout_p: Any, who: str) -> float:
    share = number(dropout_p, who, "dropout_p")
    if not 0 <= share <= 1:
        raise ValueError(f"{who}: expected a number in [0, 1] for dropout_p, got {share}")
    return share


@composite
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
    """Compute softmax(scale query keyᵀ + mask) value, attention over keys [1]_.

    Each result is the mean of the values, weighted by the match of the query with their keys. A
    query without any key has the result 0 and the gradient 0. Differentiable in `query`, `key`,
    `value`, a floating mask and `scale`.

    The weights are not stored: they are computed block by block, and again for the gradient, so the
    memory grows with L + S [2]_. Derivatives in forward mode and of higher order, and gradients by
    an additive mask, require the memory of all weights, L S.

    Parameters
    ----------
    query : array_like, real
        Queries of shape (..., L, d). Integers become the default floating dtype.
    key : array_like, real
        Keys of shape (..., S, d).
    value : array_like, real
        Values of shape (..., S, e). The leading axes of all three broadcast.
    attn_mask : array_like, bool or floating, optional
        Mask that broadcasts to (..., L, S). A bool mask selects the keys of a query. A floating
        mask is added to the scores and may contain -inf. Default: no mask.
    dropout_p : float, optional
        Probability with which a weight becomes 0; the others are divided by 1 - dropout_p. Use 0
        outside of training. Default: 0.0.
    is_causal : bool, optional
        Restrict query i to the keys 0, …, i. Default: False.
    scale : array_like, real, optional
        Factor of the scores. Default: 1 / √d.
    enable_gqa : bool, optional
        Permit fewer heads (the third axis from the end) in `key` and `value` than in `query`;
        adjacent heads of `query` share one. Default: False.

    Returns
    -------
    Tensor
        Shape (..., L, e); the promoted floating dtype.

    Raises
    ------
    ValueError
        If the shapes do not match, or `dropout_p` is outside [0, 1].
    TypeError
        If an input is complex, the mask is an integer, or `is_causal` or `enable_gqa` is not a
        bool.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017.
    .. [2] T. Dao et al., "FlashAttention: fast and memory-efficient exact attention with
       IO-awareness", NeurIPS 2022.

    Examples
    --------
    >>> q, k, v = pb.constant([[0.0, 50.0]]), pb.eye(2), pb.constant([[1.0], [2.0]])
    >>> pb.nn.scaled_dot_product_attention(q, k, v)
    Tensor([[2.]], dtype=float32)
    >>> pb.nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    Tensor([[1.]], dtype=float32)
    """
    if is_causal is not False:
        is_causal = flag(is_causal, "scaled_dot_product_attention", "is_causal")
    who = "scaled_dot_product_attention"
    enable_gqa = flag(enable_gqa, who, "enable_gqa")
    q, k, v = (_core.constant(x, who=who) for x in (query, key, value))
    if enable_gqa:
        k, v = (_repeated(x, q, who) for x in (k, v))
    if scale is None:
        scale = 1 / sqrt(q.shape[-1]) if q.shape and q.shape[-1] else 1.0
    mask = None if attn_mask is None else _core.constant(attn_mask, who=who)
    share = share_of(dropout_p, who)
    return _core.attention(q, k, v, _core.constant(scale, who=who), mask, is_causal, share or None)


def _repeated(x: Tensor, query: Tensor, who: str) -> Tensor:
    """Repeat each head of `x` for the heads of the query that share it."""
    if len(x.shape) < 3 or len(query.shape) < 3 or query.shape[-3] % max(x.shape[-3], 1):
        raise ValueError(
            f"{who}: expected a number of heads (axis -3) of key and value that divides that of "
            f"query for enable_gqa, got {x.shape} for query of {query.shape}"
        )
    times = query.shape[-3] // max(x.shape[-3], 1)
    if times == 1:
        return x
    shape = (*x.shape[:-2], times, *x.shape[-2:])
    apart = _core.broadcast_to(_core.expand_dims(x, -3), shape)
    return _core.reshape(apart, (*x.shape[:-3], query.shape[-3], *x.shape[-2:]))


@composite
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
    """Compute attention with several heads, each with a part of the features [1]_.

    Differentiable in all tensors.

    Parameters
    ----------
    query : array_like, real
        Queries of shape (..., L, features).
    key, value : array_like, real
        Keys and values of shape (..., S, features). For self-attention all three are the same
        tensor.
    weights : sequence of array_like
        Four matrices: of queries and keys, of shape (features, heads * d); of values, (features,
        heads * e); of the result, (heads * e, features).
    heads : int
        Number of heads.
    biases : sequence of array_like or None, optional
        Four vectors to add to the four products; any of them may be None. Default: None.
    attn_mask : array_like, bool or floating, optional
        Mask that broadcasts to (..., heads, L, S), as in `scaled_dot_product_attention`. Default:
        no mask.
    dropout_p : float, optional
        Dropout probability of the weights, as in `scaled_dot_product_attention`. Default: 0.0.
    is_causal : bool, optional
        Restrict query i to the keys 0, …, i. Default: False.

    Returns
    -------
    Tensor
        Shape (..., L, features); the promoted floating dtype.

    Raises
    ------
    ValueError
        If `heads` does not divide the columns of a matrix, there are not four weights or biases,
        the shapes do not match, or `dropout_p` is outside [0, 1].
    TypeError
        If an input is complex, the mask or `heads` has another dtype, or `is_causal` is not a bool.

    See Also
    --------
    scaled_dot_product_attention

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017.

    Examples
    --------
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
            f"{who}: expected four tensors (of queries, keys, values and results) for {what}, got "
            f"{_core.shown(given)}"
        )
    return found


def _affine(x: TensorLike, weight: TensorLike, bias: TensorLike | None, who: str) -> Tensor:
    left, right = _core.constant(x, who=who), _core.constant(weight, who=who)
    if len(left.shape) < 2 or len(right.shape) != 2 or left.shape[-1] != right.shape[0]:
        raise ValueError(
            f"{who}: expected an input (..., length, features) and weights (features, columns), "
            f"got shapes {left.shape} and {right.shape}"
        )
    y = _core.matmul(left, right)
    return y if bias is None else _core.add(y, bias)


def _heads(x: Tensor, count: int, who: str) -> Tensor:
    """Reshape (..., length, heads * d) to (..., heads, length, d)."""
    if count < 1 or x.shape[-1] % count:
        raise ValueError(
            f"{who}: expected a divisor of {x.shape[-1]} columns for heads, got {count}"
        )
    return swapaxes(_core.reshape(x, (*x.shape[:-1], count, x.shape[-1] // count)), -3, -2)
