"""Whole derivatives of functions, and products with them.

`jacobian` and `hessian` compute the derivative block by block (one block for each pair of a result
and an argument) in the cheaper mode. `hvp`, `vhp`, `gauss_newton_product` and `fisher_product`
compute products without forming a matrix; `divergence` computes a trace. Start reading at
`_jacobian_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from operator import index
from typing import Any, Concatenate, Literal, TypeAlias, overload

from .. import _core
from .._base.pytree import flatten
from .._core import Tensor
from .._typing import Gradient, P, Transformed, Tree
from .forward import Opened, is_floating, like
from .gradients import with_zeros
from .jacobian import PLACEHOLDER, batched_in_chunks, check_axes, row_batches, unit, units
from .rules import place
from .transforms import _transformed, argument_numbers, check_value, resolved

__all__ = [
    "divergence",
    "fisher_product",
    "gauss_newton_product",
    "hessian",
    "hvp",
    "jacobian",
    "vhp",
]

F = Callable[..., Any]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
Chunk: TypeAlias = Literal["auto"] | int
# Bytes of all tensors of a chunk as if none were fused. The actual memory is a small part of it.
_CHUNK_BYTES = 2**30


# The derivative of a single tensor has the type of the first parameter of `f`, as in `grad`.
@overload
def jacobian(
    f: Callable[Concatenate[Tree, P], Tensor],
    argnums: Literal[0] = 0,
    mode: Mode = "auto",
    chunk: Chunk = "auto",
) -> Callable[Concatenate[Any, P], Tree]: ...
@overload
def jacobian(
    f: Callable[Concatenate[Tensor, P], Tensor],
    argnums: Literal[0] = 0,
    mode: Mode = "auto",
    chunk: Chunk = "auto",
) -> Callable[Concatenate[Any, P], Gradient]: ...
@overload
def jacobian(
    f: F, argnums: int | Sequence[int] = 0, mode: Mode = "auto", chunk: Chunk = "auto"
) -> Transformed[Any]: ...
def jacobian(
    f: F, argnums: int | Sequence[int] = 0, mode: Mode = "auto", chunk: Chunk = "auto"
) -> F:
    """Return a function that computes the derivative of every element of `f`.

    In reverse mode each element of a result gives one unit cotangent, in forward mode each element
    of an argument gives one unit tangent. The zeros of these units are structural, so they are not
    multiplied by an infinite slope. A rule written in Python is called once for all units. If it
    reads the value of its cotangent, the rows are computed one after the other in reverse mode, and
    "forward" raises an error. If a rule is not linear in its cotangent, as one that clips, the
    modes differ: forward mode uses the slope of the rule at zero. The result is differentiable
    again, as that of `value_and_grad`.

    Parameters
    ----------
    f : callable
        Function that returns a real floating Tensor or a pytree of them.
    argnums : int or sequence of int, optional
        Positions of the arguments to differentiate with respect to, as in `value_and_grad`. Such an
        argument is a real floating tensor, variable, array or number, or a pytree of them. Default:
        0.
    mode : {"auto", "forward", "reverse"}, optional
        Direction of differentiation. "auto" takes the mode that needs fewer units for each pair of
        a result and an argument, and reverse mode if the numbers are equal. Default: "auto".
    chunk : "auto" or int, optional
        Number of units that are computed at once; each takes the memory of one pass. "auto" takes
        all units, or as many as fit into about one GiB. Default: "auto".

    Returns
    -------
    callable
        Function of the arguments of `f`. Its result has the structure of the result of `f`. Each
        leaf is replaced by the structure of the argument, or by a tuple of these if `argnums` is a
        sequence. The tensors there have the shape `result.shape + argument.shape` and the dtype of
        the argument. They are zero if there is no path.

    Raises
    ------
    TypeError
        If `f` is not callable or `argnums` is not made of integers. At the call: if an argument is
        missing, or if an argument or a result is not a real floating tensor.
    ValueError
        If `mode` or `chunk` is invalid. At the call: if a derivative has more than 16 axes, or if
        `argnums` names an argument twice.

    See Also
    --------
    hessian, sparse_jacobian, vjp, jvp

    Examples
    --------
    >>> J = pb.jacobian(lambda x: pb.stack([x[0] * x[1], x[1] ** 2, x[0]]))
    >>> J(pb.constant([2.0, 3.0]))
    Tensor([[3., 2.],
            [0., 6.],
            [1., 0.]], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"jacobian: expected a function for f, got {_core.shown(f)}")
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(
            f"jacobian: mode must be one of 'auto', 'forward', 'reverse'; got {_core.shown(mode)}"
        )
    _check_chunk(chunk, "jacobian")
    single, positions = argument_numbers(argnums, "jacobian")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _jacobian_of(f, args, kwargs, (single, positions), mode, chunk, "jacobian")

    return call


@overload
def hessian(
    f: Callable[Concatenate[Tensor, P], Any], argnums: Literal[0] = 0, chunk: Chunk = "auto"
) -> Callable[Concatenate[Any, P], Gradient]: ...
@overload
def hessian(f: F, argnums: int | Sequence[int] = 0, chunk: Chunk = "auto") -> Transformed[Any]: ...
def hessian(f: F, argnums: int | Sequence[int] = 0, chunk: Chunk = "auto") -> F:
    """Return a function that computes the second derivatives of a scalar function.

    The Hessian is computed as the forward-mode Jacobian of the gradient. See `hvp` for products
    with it, and `sparse_hessian` for Hessians that are mostly zero.

    Parameters
    ----------
    f : callable
        Function that returns a Tensor of shape () and a real floating dtype.
    argnums : int or sequence of int, optional
        Positions of the arguments to differentiate with respect to, as in `value_and_grad`.
        Default: 0.
    chunk : "auto" or int, optional
        Number of columns that are computed at once, as in `jacobian`. Default: "auto".

    Returns
    -------
    callable
        Function of the arguments of `f`. Its result has the structure of the differentiated
        arguments twice: each leaf of the structure is replaced by the structure. The tensors there
        have the shape `one.shape + other.shape`.

    Raises
    ------
    TypeError
        If `f` is not callable or `argnums` is not made of integers. At the call: if an argument is
        missing, or if an argument or the result is not a real floating tensor.
    ValueError
        At the call: if the result does not have shape (), or if `argnums` names an argument twice.

    See Also
    --------
    jacobian, hvp, sparse_hessian

    Examples
    --------
    >>> pb.hessian(lambda x: x[0] ** 2 * x[1] + x[1] ** 3)(pb.constant([1.0, 2.0]))
    Tensor([[ 4.,  2.],
            [ 2., 12.]], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"hessian: expected a function for f, got {_core.shown(f)}")
    _check_chunk(chunk, "hessian")
    single, positions = argument_numbers(argnums, "hessian")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        both = _transformed(f, argnums, False, "hessian")

        @wraps(f)
        def slope(*args: Any, **kwargs: Any) -> Any:
            return both(*args, **kwargs)[1]

        found = (single, positions)
        return _jacobian_of(slope, args, kwargs, found, "second", chunk, "hessian")

    return call


def _check_chunk(chunk: Any, who: str) -> None:
    if chunk != "auto" and (
        isinstance(chunk, bool) or not hasattr(chunk, "__index__") or index(chunk) < 1
    ):
        raise ValueError(
            f"{who}: expected 'auto' or a positive integer for chunk, got {_core.shown(chunk)}"
        )


def _jacobian_of(
    f: F,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    argnums: tuple[bool, list[int]],
    mode: str,
    chunk: Any,
    who: str,
) -> Any:
    single, positions = argnums
    moving = resolved(positions, len(args), f, who)

    def inner(*own: Any) -> Any:
        full = list(args)
        for position, x in zip(moving, own, strict=True):
            full[position] = x
        return f(*full, **kwargs)

    inner.__wrapped__ = f  # type: ignore[attr-defined]  # errors name that one
    opened = Opened(inner, [args[position] for position in moving], who, every=True)
    value = opened.call()
    ys = opened.results(value)
    others = [y for y in flatten(value)[0] if not is_floating(y)]
    if others:
        raise TypeError(
            f"{who}: expected floating dtypes from {place(f)}, got {others[0].dtype}; cast the "
            "result, or omit it"
        )
    for what, tensors in (("argument", opened.xs), ("result", ys)):
        for x in tensors:
            if x.dtype.kind == "c":
                raise TypeError(
                    f"{who}: expected a real {what} of {place(f)}, got {x.dtype}; differentiate "
                    "with respect to real and imaginary parts"
                )
    blocks = _Blocks(ys, opened.xs, mode, chunk, who).all()
    opened.close([block for row in blocks for block in row])
    rows = []
    for row in blocks:
        nests = opened.like_primals(row)
        rows.append(nests[0] if single else nests)
    return like(value, rows)


class _Blocks:
    """The derivatives of `ys` with respect to `xs`, in passes that compute several of them."""

    def __init__(self, ys: list[Tensor], xs: list[Tensor], mode: str, chunk: Any, who: str) -> None:
        self.ys = ys
        self.xs = xs
        self.chunk = chunk
        self.mode = mode
        self.shapes = [[(*y.shape, *x.shape) for x in xs] for y in ys]
        for y, row in zip(ys, self.shapes, strict=True):
            for x, shape in zip(xs, row, strict=True):
                check_axes(shape, y, x, who)
        self.forward = [
            [mode in ("forward", "second") or (mode == "auto" and x.size < y.size) for x in xs]
            for y in ys
        ]

    def all(self) -> list[list[Tensor]]:
        blocks: list[list[Any]] = [[None] * len(self.xs) for _ in self.ys]
        for i, y in enumerate(self.ys):
            places = [k for k in range(len(self.xs)) if not self.forward[i][k]]
            if places:
                found = self._rows(y, [self.xs[k] for k in places])
                for k, block in zip(places, found, strict=True):
                    blocks[i][k] = block
        for k, x in enumerate(self.xs):
            places = [i for i in range(len(self.ys)) if self.forward[i][k]]
            if places:
                for i, block in zip(places, self._pushed(places, x), strict=True):
                    blocks[i][k] = block
        for i, row in enumerate(self.shapes):
            for k, shape in enumerate(row):
                if blocks[i][k] is None:
                    blocks[i][k] = _core.full(shape, 0, self.xs[k].dtype)
        return blocks

    def _pushed(self, places: list[int], x: Tensor) -> list[Tensor | None]:
        ys = [self.ys[i] for i in places]
        try:
            return self._columns(ys, x)
        except (RuntimeError, NotImplementedError) as error:
            # A rule that cannot be transposed; forward mode was not requested explicitly.
            if self.mode == "forward" or "forward mode" not in str(error):
                raise
            return [self._rows(y, [x])[0] for y in ys]

    def _rows(self, y: Tensor, xs: list[Tensor]) -> list[Tensor | None]:
        if y.size == 1:
            batches = _core.gradients([y], xs)
        else:
            batches = row_batches(y, xs, None, units(y.shape), self._length)
        return [
            None if batch is None else _core.reshape(batch, (*y.shape, *x.shape))
            for batch, x in zip(batches, xs, strict=True)
        ]

    def _columns(self, ys: list[Tensor], x: Tensor) -> list[Tensor | None]:
        chosen = units(x.shape)
        if not chosen.shape[0] or _core.checking_numbers():
            return self._one_by_one(ys, x, chosen)
        where = _core.Trace(PLACEHOLDER).argument("bool", x.shape, False)
        try:
            answers = _core.tangents(ys, [x], [unit(where, x)], [where])
            found = batched_in_chunks(
                [a for a in answers if a is not None], where, chosen, self._length
            )
        except RuntimeError as error:
            if PLACEHOLDER not in str(error):  # a rule in Python reads its tangent
                raise
            found = None
        if found is None:
            return self._one_by_one(ys, x, chosen)
        left = iter(found)
        return [
            None if a is None else _columns_last(next(left), y, x)
            for a, y in zip(answers, ys, strict=True)
        ]

    def _one_by_one(self, ys: list[Tensor], x: Tensor, chosen: Tensor) -> list[Tensor | None]:
        columns = [
            with_zeros(_core.tangents(ys, [x], [unit(where, x)], [where]), ys)
            for where in (chosen[i] for i in range(chosen.shape[0]))
        ]
        if not columns:
            return [None] * len(ys)
        return [
            _columns_last(_core.stack(list(batch), 0), y, x)
            for batch, y in zip(zip(*columns, strict=True), ys, strict=True)
        ]

    def _length(self, piece: _core.Linear, count: int) -> int:
        if self.chunk != "auto":
            return min(index(self.chunk), count)
        return max(1, min(count, _CHUNK_BYTES // max(1, piece.bytes())))


def _columns_last(batch: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Move the batch axis of the elements of `x` from the front to the end."""
    order = (*range(1, batch.ndim), 0)
    turned = _core.cast(_core.transpose(batch, order), x.dtype)
    return _core.reshape(turned, (*y.shape, *x.shape))


# --- products


def hvp(f: F, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of the Hessian of `f` with tangents.

    The product is the directional derivative of the gradient, computed in forward mode over reverse
    mode at about twice the cost of a gradient.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor of shape () and a real
        floating dtype.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`; None for a primal that does not move.

    Returns
    -------
    tuple
        One product for each primal in its structure. It is zero if the gradient does not depend on
        the primals that move, and None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `tangents` is not a tuple or list, if the result is
        not a real floating tensor, or if a tangent has another dtype.
    ValueError
        If the result does not have shape (), or if a tangent has another shape or structure.

    See Also
    --------
    vhp, hessian, gauss_newton_product

    Examples
    --------
    >>> f = lambda x: x[0] ** 2 * x[1] + x[1] ** 3
    >>> pb.hvp(f, (pb.constant([1.0, 2.0]),), ([1.0, 10.0],))
    (Tensor([ 24., 122.], dtype=float32),)
    """
    opened, slopes = _slopes(f, primals, tangents, "hvp")
    live = [g for g in slopes if g is not None]
    moved = iter(_core.tangents(live, opened.xs, opened.tangents))
    found = [None if g is None else next(moved) for g in slopes]
    return _answer(opened, found)


def vhp(f: F, primals: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of cotangents with the Hessian of `f`.

    The product is the gradient of the inner product of the cotangents with the gradient of `f`,
    computed in reverse mode over reverse mode. It equals `hvp` for true derivatives. It may differ
    from `hvp` if a custom gradient is not the derivative of its function.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor of shape () and a real
        floating dtype.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    cotangents : tuple or list
        One cotangent for each primal in its structure; None for a primal that does not count.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf without a cotangent.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `cotangents` is not a tuple or list, if the result
        is not a real floating tensor, or if a cotangent has another dtype.
    ValueError
        If the result does not have shape (), or if a cotangent has another shape or structure.

    See Also
    --------
    hvp

    Examples
    --------
    >>> pb.vhp(lambda x, y: x * x * y, (1.0, 2.0), (1.0, 0.0))
    (Tensor(4., dtype=float32), Tensor(2., dtype=float32))
    """
    opened, slopes = _slopes(f, primals, cotangents, "vhp")
    pairs = [(g, v) for g, v in zip(slopes, opened.tangents, strict=True) if g is not None]
    found = _core.gradients([g for g, _ in pairs], opened.xs, [v for _, v in pairs])
    return _answer(opened, found)


def _slopes(f: F, primals: Any, tangents: Any, who: str) -> tuple[Opened, list[Tensor | None]]:
    opened = Opened(f, primals, who, tangents)
    value = opened.call()
    check_value(value, f, who)
    with opened.watching():
        return opened, _core.gradients([value], opened.xs)


def _answer(opened: Opened, found: list[Tensor | None]) -> tuple[Any, ...]:
    answers = with_zeros(found, opened.xs)
    opened.close(answers)
    return opened.like_primals(answers)


def gauss_newton_product(
    f: F, primals: Sequence[Any], tangents: Sequence[Any], loss: F | None = None
) -> tuple[Any, ...]:
    """Compute the product of the Gauss-Newton matrix of `f` and `loss` with tangents.

    The matrix is `J^T H J`, with the Jacobian `J` of `f` at the primals and the Hessian `H` of
    `loss` at the result of `f`. It approximates the Hessian of `loss(f(...))` by neglecting the
    curvature of `f`, so for a convex `loss` it is positive semi-definite [1]_.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`.
    loss : callable, optional
        Function of the result of `f` that returns a Tensor of shape () and a real floating dtype.
        Default: half the sum of squares, whose Hessian is the identity.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` or `loss` is not callable, if `primals` or `tangents` is not a tuple or list, if a
        result has an invalid type, or if a tangent has another dtype.
    ValueError
        If the result of `loss` does not have shape (), or if a tangent has another shape or
        structure.

    See Also
    --------
    hvp, fisher_product

    References
    ----------
    .. [1] N. N. Schraudolph, "Fast curvature matrix-vector products for second-order gradient
       descent", Neural Computation 14, 2002.

    Examples
    --------
    >>> f = lambda w: pb.stack([w[0] * w[1], w[1]])
    >>> pb.gauss_newton_product(f, (pb.constant([2.0, 3.0]),), ([1.0, 0.0],))
    (Tensor([9., 6.], dtype=float32),)
    """
    opened = Opened(f, primals, "gauss_newton_product", tangents)
    value = opened.call()
    ys = opened.results(value)
    moved = with_zeros(_core.tangents(ys, opened.xs, opened.tangents), ys)
    if loss is not None:
        moved = flatten(hvp(loss, (value,), (like(value, moved),)))[0]
        moved = [t for t in moved if t is not None]
    return _answer(opened, _core.gradients(ys, opened.xs, moved))


def fisher_product(f: F, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of the Fisher information of a categorical distribution with tangents.

    The product is `J^T (p * J t)`, with the Jacobian `J` of `f`, the probabilities `p` and the
    tangents `t`. It is the expectation of the outer product of the scores, not an estimate from a
    sample [1]_.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns the logarithms of the probabilities of
        all classes along the last axis, as `log_softmax` does. The other axes are independent
        observations, over which the information is summed.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` is not callable or does not return a single real floating tensor, if `primals` or
        `tangents` is not a tuple or list, or if a tangent has another dtype.
    ValueError
        If a tangent has another shape or structure.

    See Also
    --------
    gauss_newton_product

    References
    ----------
    .. [1] S. Amari, "Natural gradient works efficiently in learning", Neural Computation 10, 1998.

    Examples
    --------
    >>> f = lambda z: pb.log_softmax(z, axis=-1)
    >>> pb.fisher_product(f, (pb.zeros(2),), ([1.0, 0.0],))
    (Tensor([ 0.25, -0.25], dtype=float32),)
    """
    opened = Opened(f, primals, "fisher_product", tangents)
    value = opened.call()
    if not isinstance(value, Tensor) or value.dtype.kind != "f":
        raise TypeError(
            f"fisher_product: expected a floating tensor of log-probabilities from {place(f)}, got "
            f"{_core.shown(value)}"
        )
    [moved] = with_zeros(_core.tangents([value], opened.xs, opened.tangents), [value])
    weighted = _core.multiply(_core.exp(_core.stop_gradient(value)), moved)
    return _answer(opened, _core.gradients([value], opened.xs, [weighted]))


def divergence(f: F) -> F:
    """Return a function that computes the divergence of `f`, the trace of its Jacobian.

    All directional derivatives along the unit directions are computed in forward mode. One number
    of each is kept.

    Parameters
    ----------
    f : callable
        Function of one floating tensor that returns a tensor of the same shape.

    Returns
    -------
    callable
        Function of `x` that returns the sum of the derivatives of the elements of `f(x)` with
        respect to the elements of `x` at the same positions: a Tensor of shape ().

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if `x` is not floating.
    ValueError
        At the call: if the result has another shape than `x`.

    See Also
    --------
    laplacian, jacobian

    Examples
    --------
    >>> float(pb.divergence(lambda x: x**2)(pb.constant([1.0, 2.0, 3.0])))
    12.0
    """
    from .vmap import vmap

    if not callable(f):
        raise TypeError(f"divergence: expected a function for f, got {_core.shown(f)}")

    @wraps(f)
    def call(x: Any) -> Tensor:
        opened = Opened(f, [x], "divergence", every=True)
        value = opened.call()
        [y] = opened.results(value)
        [own] = opened.xs
        if y.shape != own.shape:
            raise ValueError(
                f"divergence: expected shape {own.shape} from {place(f)}, that of its argument, "
                f"got {y.shape}"
            )

        def along(where: Tensor) -> Tensor:
            [moved] = with_zeros(_core.tangents([y], [own], [unit(where, own)], [where]), [y])
            return _core.sum(_core.where(where, moved, _core.constant(0, y.dtype)))

        total = _core.sum(vmap(along)(units(own.shape)))
        opened.close([total])
        return total

    return call
