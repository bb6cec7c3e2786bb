"""`expm_multiply`: the matrix exponential times vectors, by products with the matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import check_matrices, flag, integer
from .._base.composite import composite
from .._base.hints import without
from .._control.loops import scan, while_loop
from .._core import Tensor
from .._numpy.sparse_products import is_sparse, product
from ._diagonals import trace
from ._matrices import one_dtype

_LARGEST = 2.0  # norm of the matrix in one step
_TERMS = {"float32": 14, "float64": 25}  # of the exponential series at that norm
_WHO = "expm_multiply"


@composite
@without(traceA="it is computed from the matrix")
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None,  # noqa: N803
    num: int | None = None, endpoint: bool | None = None,
) -> Tensor:  # fmt: skip
    """Compute the product of the exponential of a matrix with vectors, without the exponential.

    It is ``expm(A) @ B``, or ``expm(t * A) @ B`` at `num` times t from `start` to `stop`, as
    `scipy.sparse.linalg.expm_multiply`. The Taylor series of [1]_, with a fixed number of terms, is
    a loop of the plan with 12 products with `A` in float64 for each unit of its norm.
    Differentiable in `B`, the times and a dense matrix `A`, any number of times; reverse mode
    stores the terms.

    Parameters
    ----------
    A : array_like or sparse array of scipy.sparse
        Square matrix of shape (n, n); the entries of a sparse one are constants. Integers become
        the default floating dtype; float16 and bfloat16 are computed in float32.
    B : array_like
        Vector of shape (n,) or columns of shape (n, k).
    start, stop : array_like, real scalar, optional
        First and last time. Default: the single time 1.
    num : int, optional
        Number of times. Default: 50.
    endpoint : bool, optional
        If False, `stop` is not one of the times. Default: True.

    Returns
    -------
    Tensor
        Shape of `B`, with an additional first axis for the times if they are given; the dtype to
        which `A` and `B` promote.

    Raises
    ------
    LinAlgError
        If `A` is not a square matrix.
    ValueError
        If the shapes do not match or `num` is not positive.
    TypeError
        If only some of the times are given, or `num` is not an integer.

    See Also
    --------
    expm

    References
    ----------
    .. [1] A. H. Al-Mohy, N. J. Higham, "Computing the action of the matrix exponential", SIAM J.
       Sci. Comput. 33, 2011.

    Examples
    --------
    >>> pb.round(pb.linalg.expm_multiply([[0.0, 1.0], [0.0, 0.0]], [1.0, 2.0]), 4)
    Tensor([3., 2.], dtype=float32)
    """
    (matrix, x), rounded = one_dtype([A.data if is_sparse(A) else A, B], _WHO)
    shape = tuple(A.shape) if is_sparse(A) else matrix.shape
    if not is_sparse(A):
        check_matrices(matrix, _WHO, square=True)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise np.linalg.LinAlgError(f"{_WHO}: expected a square matrix for A, got shape {shape}")
    if len(x.shape) not in (1, 2) or x.shape[0] != shape[0]:
        raise ValueError(
            f"{_WHO}: expected a vector or columns of {shape[0]} entries for B, got shape {x.shape}"
        )
    advance = _steps(A.astype(x.dtype) if is_sparse(A) else matrix, x.dtype)
    if start is None and stop is None and num is None and endpoint is None:
        return rounded(advance(x, _core.full((), 1, _real(x.dtype))))
    if start is None or stop is None:
        raise TypeError(f"{_WHO}: expected both start and stop, got {start} and {stop}")
    count = 50 if num is None else integer(num, _WHO, "num")
    if not 0 < count < 1 << 31:
        raise ValueError(f"{_WHO}: expected num >= 1 and below 2**31, got {count}")
    first, last = (_time(t, _real(x.dtype)) for t in (start, stop))
    parts = count if endpoint is not None and not flag(endpoint, _WHO, "endpoint") else count - 1
    number = _core.arange(0, count, 1, first.dtype)
    times = first + number * ((last - first) / max(parts, 1))
    earliest = advance(x, times[0])

    def following(x: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        moved = advance(x, step)
        return moved, moved

    rows = scan(following, earliest, times[1:] - times[:-1])[1]
    return rounded(_core.concat([earliest[None], rows], 0))


def _time(t: Any, dtype: str) -> Tensor:
    made = _core.constant(t, None, _WHO)
    if made.shape != () or made.dtype.kind == "c":
        raise ValueError(f"{_WHO}: expected real numbers for start and stop, got {_core.shown(t)}")
    return _core.cast(made, dtype)


def _real(dtype: Any) -> str:
    return str(np.finfo(dtype).dtype)


def _steps(a: Any, dtype: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the function (x, t) ↦ expm(t a) x.

    The mean of the diagonal is subtracted from the matrix, which reduces its norm.
    """
    n = a.shape[0]
    if is_sparse(a):
        mean = _core.constant(np.asarray(a.diagonal().sum() / max(n, 1), dtype))
        columns = np.asarray(abs(a).sum(0)).reshape(-1)
        diagonal = a.diagonal()
        columns = columns - np.abs(diagonal) + np.abs(diagonal - mean.numpy())
        size = _core.constant(np.asarray(columns.max(initial=0.0), _real(dtype)))
    else:
        mean = trace(a) / max(n, 1)
        rest = _core.stop_gradient(a - mean * _core.eye(n, n, 0, dtype))
        size = _core.max(_core.sum(_core.abs(rest), [0])) if n else _core.full((), 0, dtype)

    def on(x: Tensor) -> Any:
        return (product(a, x) if is_sparse(a) else _core.matmul(a, x)) - mean * x

    def advance(x: Tensor, t: Tensor) -> Tensor:
        count = _core.ceil(_core.abs(_core.stop_gradient(t)) * size / _LARGEST)
        count = _core.maximum(_core.where(_core.isfinite(count), count, 1), 1)
        step = t / _core.cast(count, t.dtype)
        growth = _core.exp(mean * step)

        def once(state: Any) -> Any:
            x, done = state
            total = term = x
            for k in range(1, _TERMS[t.dtype.name] + 1):
                term = on(term) * (step / k)
                total = total + term
            return total * growth, done + 1

        start = (x, _core.full((), 0, count.dtype))
        return while_loop(lambda state: _core.less(state[1], count), once, start)[0]  # type: ignore[no-any-return]

    return advance
