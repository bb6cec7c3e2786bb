"""What operations mean, in NumPy, for any floating dtype: gradients are judged in long double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb


def identity(x: Any) -> Any:
    return x


def to_double(x: Any) -> Any:
    return np.asarray(x) if np.asarray(x).dtype == np.longdouble else np.asarray(x, np.float64)


def item(x: Any, key: Any) -> Any:
    return x[key]


def joined(join: Callable[..., Any]) -> Callable[..., Any]:
    """join([a, b, …], axis) as a function of a, b, …, axis."""
    return lambda *args: join(list(args[:-1]), axis=args[-1])


def last_of(split: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, parts, axis=0: split(x, parts, axis=axis)[-1]


# --- elementwise


def pow_da(a: Any, b: Any) -> Any:
    return np.where(b == 0, 0, b * np.power(a, b - np.ones_like(b)))


def pow_db(a: Any, b: Any) -> Any:
    return np.where((a == 0) & (b >= 0), 0, np.power(a, b) * np.log(a))


def log_slope(a: Any) -> Any:
    return 1 / a


def rsqrt(a: Any) -> Any:
    return 1 / np.sqrt(a)


def tanh_slope(a: Any) -> Any:
    return 1 / np.square(np.cosh(a))


def sigmoid(a: Any) -> Any:
    return np.where(a < 0, np.exp(np.minimum(a, 0)), 1) / (1 + np.exp(-np.abs(a)))


def sigmoid_slope(a: Any) -> Any:
    return sigmoid(a) * sigmoid(-a)


def softplus(a: Any) -> Any:
    return np.maximum(a, 0) + np.log1p(np.exp(-np.abs(a)))


def relu(a: Any) -> Any:
    return np.where(a <= 0, np.zeros_like(a), a)


def gate(a: Any, b: Any) -> Any:
    return np.where(a <= 0, np.zeros_like(b), b)


def multiply_no_nan(a: Any, b: Any) -> Any:
    return np.where(b == 0, np.zeros_like(a), a * b)


def max_share(a: Any, b: Any) -> Any:
    return np.where(a == b, 0.5, np.where(a > b, 1.0, 0.0))


def min_share(a: Any, b: Any) -> Any:
    return max_share(-a, -b)


def clip(a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


def erf(a: Any) -> Any:
    """DLMF 7.6.2: 2/sqrt(pi) exp(-a^2) times the sum of 2^n a^(2n+1) / (2n+1)!!."""
    x = np.clip(np.asarray(a, np.longdouble), -7, 7)  # erf(7) is 1 - 4e-23
    term = total = x
    for n in range(1, 300):
        term = term * (2 * x * x / (2 * n + 1))
        total = total + term
        if not np.any(np.abs(term) > 1e-22 * np.abs(total)):
            break
    value = total * np.exp(-x * x) / np.sqrt(np.arctan(np.longdouble(1)))
    return value.astype(np.asarray(a).dtype)


def erf_slope(a: Any) -> Any:
    x = np.asarray(a, np.longdouble)
    value = np.exp(-x * x) / np.sqrt(np.arctan(np.longdouble(1)))
    return value.astype(np.asarray(a).dtype)


# --- reductions; `…_size` is what the rounding error of one is relative to


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / np.asarray(_count(x, total), total.dtype)


def _count(x: Any, result: Any) -> float:
    return np.size(x) / np.size(result) if np.size(result) else 1.0


def sum_size(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(np.abs(x), axis=axis, keepdims=keepdims)


def mean_size(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return mean(np.abs(x), axis, keepdims)


def prod_size(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    result = np.prod(x, axis=axis, keepdims=keepdims)
    return np.abs(result) * max(1.0, _count(x, result))


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.reshape(out, np.max(x, axis=axis).shape)


def lse_size(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.max(np.abs(x), axis=axis, keepdims=keepdims) + np.log(1 + np.size(x))


def softmax(x: Any, axis: int) -> Any:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int) -> Any:
    return x - logsumexp(x, axis, True)


def log_softmax_size(x: Any, axis: int) -> Any:
    return np.abs(x) + lse_size(x, axis, True)


def cross_entropy(logits: Any, labels: Any) -> Any:
    return -np.sum(labels * log_softmax(logits, -1), axis=-1)


def cross_entropy_size(logits: Any, labels: Any) -> Any:
    return np.sum(labels * log_softmax_size(logits, -1), axis=-1)


def sparse_cross_entropy(logits: Any, labels: Any) -> Any:
    return -pick(log_softmax(logits, -1), labels)


def sparse_cross_entropy_size(logits: Any, labels: Any) -> Any:
    return pick(log_softmax_size(logits, -1), labels)


# --- products and indexing


def pick(x: Any, indices: Any) -> Any:
    """Entry indices[r] (modulo its length) of each row r of x."""
    at = np.asarray(indices)[..., None] % x.shape[-1]
    return np.take_along_axis(x, at, axis=-1)[..., 0]


def place(x: Any, indices: Any) -> Any:
    out = np.zeros((*np.shape(x), 4), np.asarray(x).dtype)
    at = np.asarray(indices)[..., None] % 4
    np.put_along_axis(out, at, np.asarray(x)[..., None], axis=-1)
    return out


def matmul_size(a: Any, b: Any) -> Any:
    return np.matmul(np.abs(a), np.abs(b))


def subscripted(einsum: Callable[..., Any]) -> Callable[..., Any]:
    """einsum(text, a, b, …) as a function of a, b, …, text."""
    return lambda *args: einsum(args[-1], *args[:-1])


def size_of(product: Callable[..., Any]) -> Callable[..., Any]:
    """What the rounding errors of a product are relative to: the product of the absolute values."""
    return lambda *args: product(*[np.abs(x) if isinstance(x, np.ndarray) else x for x in args])


def vecdot(a: Any, b: Any, axis: int = -1) -> Any:
    return np.sum(np.moveaxis(a, axis, -1) * np.moveaxis(b, axis, -1), -1, dtype=a.dtype)


def embed(x: Any, shape: tuple[int, ...], key: Any) -> Any:
    out = np.zeros(shape, x.dtype)
    out[key] = x
    return out


def embed_by_gradient(x: Any, shape: tuple[int, ...], key: Any) -> Any:
    """`embed` has no name of its own: it is what the gradient of a slice does to its cotangent."""
    whole = pb.constant(np.zeros(shape, x.dtype))
    with pb.GradientTape() as tape:
        tape.watch(whole)
        part = whole[key]
    return tape.gradient(part, whole, output_gradients=x)


def scatter_add(x: Any, indices: Any) -> Any:
    x = np.asarray(x)
    out = np.zeros((4, *x.shape[np.ndim(indices) :]), x.dtype)
    np.add.at(out, indices, x)
    return out


def sum_duplicates(x: Any, indices: Any) -> Any:
    last = {int(i): k for k, i in enumerate(indices)}
    out = np.zeros_like(x)
    for row, i in zip(x, indices, strict=True):
        out[last[int(i)]] += row
    return out


UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


def put(x: Any, value: Any, key: Any, update: str) -> Any:
    """What x.at[key].update(value) means, by assignment and by NumPy's unbuffered `at`."""
    out = np.array(x)
    if update == "set":
        out[key] = value
    else:
        UFUNCS[update].at(out, key, np.broadcast_to(np.asarray(value, out.dtype), out[key].shape))
    return out


def put_size(x: Any, value: Any, key: Any, update: str) -> Any:
    return put(abs(x), abs(value), key, update)


def at(x: Any, value: Any, key: Any, update: str) -> Any:
    return getattr(x.at[key], update)(value)


def along(axis: int) -> Callable[..., Any]:
    return lambda x, i: np.take_along_axis(np.asarray(x), np.asarray(i), axis)


def one_hot(indices: Any) -> Any:
    return (np.asarray(indices)[..., None] == np.arange(4)).astype(np.float32)


def asin_slope(x: Any) -> Any:
    return 1 / np.sqrt((1 - x) * (1 + x))


def atan_slope(x: Any) -> Any:
    return 1 / (1 + x * x)


def asinh_slope(x: Any) -> Any:
    return 1 / np.sqrt(1 + x * x)


def acosh_slope(x: Any) -> Any:
    return 1 / np.sqrt((x - 1) * (x + 1))


def atanh_slope(x: Any) -> Any:
    return 1 / ((1 - x) * (1 + x))


def over_square(a: Any, b: Any) -> Any:
    size = a * a + b * b
    return np.where(size == 0, 0, b / np.where(size == 0, 1, size))


def cosine_of(a: Any, b: Any) -> Any:
    size = np.hypot(a, b)
    return np.where(size == 0, 0, a / np.where(size == 0, 1, size))


def logaddexp_size(a: Any, b: Any) -> Any:
    return np.maximum(np.maximum(abs(a), abs(b)), 1)


def xlogy(a: Any, b: Any) -> Any:
    none = (a == 0) & ~np.isnan(b)
    return np.where(none, 0, a * np.log(np.where(none, 1, b)))


def xlog1py(a: Any, b: Any) -> Any:
    none = (a == 0) & ~np.isnan(b)
    return np.where(none, 0, a * np.log1p(np.where(none, 1, b)))


def first(a: Any, b: Any) -> Any:
    return a + 0 * b


def along_axis(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: f(x, axis=axis)


def rolled(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, shift, axis: f(x, shift, axis=axis)


def repeated(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, repeats, axis: f(x, repeats, axis=axis)


def listed(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: f(list(xs))


def diagonals(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, k: f(x, k=k)


def corrected(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, by: f(x, correction=by)


def size_two(x: Any, *_: Any) -> Any:
    return np.asarray(2.0, x.dtype)


def var_size(x: Any, axis: Any = None) -> Any:
    return np.var(x, axis) + np.max(abs(x)) ** 2


def linspace(x: Any, y: Any) -> Any:
    return x + (y - x) * (np.arange(7) / np.longdouble(6)).astype(np.result_type(x))


def relu6(x: Any) -> Any:
    return np.clip(x, 0, 6)


def leaky_relu(x: Any) -> Any:
    return np.where(x > 0, x, x * 0.01)


def elu(x: Any) -> Any:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def selu(x: Any) -> Any:
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * elu(np.minimum(x, 0)))


def silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def mish(x: Any) -> Any:
    return x * np.tanh(np.log1p(np.exp(x)))


def softsign(x: Any) -> Any:
    return x / (1 + abs(x))


def log_sigmoid(x: Any) -> Any:
    return -np.log1p(np.exp(-x))


def hard_sigmoid(x: Any) -> Any:
    return np.clip(x + 3, 0, 6) / 6


def hard_silu(x: Any) -> Any:
    return x * hard_sigmoid(x)
