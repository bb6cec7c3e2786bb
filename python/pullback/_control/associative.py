"""`associative_scan`: running results of an associative function in logarithmic depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base.checks import flag, integer
from .._core import Tensor
from .bodies import Pytree, callable_of

__all__ = ["associative_scan"]


def associative_scan(
    f: Callable[[Any, Any], Any], xs: Any, axis: int = 0, reverse: bool = False
) -> Any:
    """Compute the running results of an associative function along an axis.

    The results are x[0], f(x[0], x[1]), f(f(x[0], x[1]), x[2]), and so on. They are formed from
    pairs, pairs of pairs, and so on [1]_: `f` is called about 2 log2(n) times, on about n entries
    altogether. So the order of evaluation differs from a sequential scan, and results may differ by
    rounding. There is no loop; the operations are differentiated like any others.

    Parameters
    ----------
    f : callable
        Associative function: f(f(a, b), c) equals f(a, f(b, c)). It takes two pytrees like `xs`
        with several entries along the axis, works on all of them at once, as elementwise functions
        do, and returns a pytree of the same structure, shapes and dtypes.
    xs : array_like or pytree of array_like
        Input with the same size n along the axis for all leaves.
    axis : int, optional
        Axis to scan. Default: 0.
    reverse : bool, optional
        If True, scan from the last entry: the results are x[n-1], f(x[n-1], x[n-2]), and so on,
        each at the position of its last operand. Default: False.

    Returns
    -------
    Tensor or pytree of Tensor
        Structure, shapes and dtypes of `xs`.

    Raises
    ------
    TypeError
        If `f` is not callable, if `axis` is not an integer, if `reverse` is not a bool, or if `f`
        changes a dtype.
    ValueError
        If `axis` is out of range, if the sizes along the axis differ, or if `f` changes a shape or
        the structure.

    See Also
    --------
    scan, cumulative_sum

    References
    ----------
    .. [1] G. E. Blelloch, "Prefix sums and their applications", Carnegie Mellon University,
       CMU-CS-90-190, 1990.

    Examples
    --------
    >>> pb.associative_scan(pb.multiply, pb.constant([1.0, 2.0, 3.0, 4.0]))
    Tensor([ 1.,  2.,  6., 24.], dtype=float32)
    """
    callable_of(f, "associative_scan", "f")
    reverse = flag(reverse, "associative_scan", "reverse")
    inputs = Pytree(xs, "associative_scan: xs")
    pairs = zip(inputs.tensor_paths(), inputs.tensors, strict=True)
    axes = [_axis(axis, x, path) for path, x in pairs]
    lengths = {x.shape[d] for x, d in zip(inputs.tensors, axes, strict=True)}
    if len(lengths) != 1:
        raise ValueError(
            f"associative_scan: expected one size along the axis for xs, got {sorted(lengths)}"
        )

    def take(tensors: list[Tensor], window: slice) -> list[Tensor]:
        return [x[(slice(None),) * d + (window,)] for x, d in zip(tensors, axes, strict=True)]

    def combine(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        result = Pytree(f(inputs.like(a), inputs.like(b)), "associative_scan: the result of f")
        if not result.same_structure(inputs):
            raise ValueError("associative_scan: expected a result of f with the structure of xs")
        for path, x, y in zip(inputs.tensor_paths(), a, result.tensors, strict=True):
            if x.shape != y.shape:
                raise ValueError(
                    f"associative_scan: expected shape {x.shape} from f for xs{path}, that of its "
                    f"arguments, got {y.shape}"
                )
            if x.dtype != y.dtype:
                raise TypeError(
                    f"associative_scan: expected dtype {x.dtype} from f for xs{path}, got "
                    f"{y.dtype}; cast it"
                )
        return result.tensors

    def concat(parts: list[list[Tensor]]) -> list[Tensor]:
        return [_core.concat(list(xs), d) for *xs, d in zip(*parts, axes, strict=True)]

    def scan(tensors: list[Tensor], n: int) -> list[Tensor]:
        if n < 2:
            return tensors
        pairs = combine(take(tensors, slice(0, n - 1, 2)), take(tensors, slice(1, None, 2)))
        odd = scan(pairs, n // 2)
        if n == 2:
            return concat([take(tensors, slice(0, 1)), odd])
        before = take(odd, slice(0, (n - 1) // 2))
        even = concat(
            [take(tensors, slice(0, 1)), combine(before, take(tensors, slice(2, None, 2)))]
        )
        triples = zip(take(even, slice(0, n // 2)), odd, axes, strict=True)
        interleaved = [_interleave(a, b, d) for a, b, d in triples]
        return concat([interleaved, take(even, slice(n // 2, None))]) if n % 2 else interleaved

    tensors = inputs.tensors
    backwards = slice(None, None, -1)
    if reverse:
        tensors = take(tensors, backwards)
    out = scan(tensors, lengths.pop())
    return inputs.like(take(out, backwards) if reverse else out)


def _interleave(a: Tensor, b: Tensor, axis: int) -> Tensor:
    """Interleave two tensors along an axis: a[0], b[0], a[1], b[1], ..."""
    shape = (*a.shape[: axis + 1], 1, *a.shape[axis + 1 :])
    pairs = _core.concat([_core.reshape(a, shape), _core.reshape(b, shape)], axis + 1)
    return _core.reshape(pairs, (*a.shape[:axis], 2 * a.shape[axis], *a.shape[axis + 1 :]))


def _axis(axis: Any, x: Tensor, path: str) -> int:
    d = integer(axis, "associative_scan", "axis")
    rank = len(x.shape)
    if not -rank <= d < rank:
        raise ValueError(
            f"associative_scan: axis={d} is out of range for xs{path} of shape {x.shape}"
        )
    return d % rank
