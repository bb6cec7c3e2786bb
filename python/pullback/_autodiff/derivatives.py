"""Whole derivatives of functions: `jacobian`, `hessian`, and the trace `divergence`.

They are computed block by block in the cheaper mode; see jacobian_blocks.py. Start reading at
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
from .._typing import Gradient, Lambda, P, Transformed, Tree
from .gradients import with_zeros
from .jacobian import unit, units
from .jacobian_blocks import JacobianBlocks
from .recorded_call import RecordedCall, is_floating, like
from .rules import place
from .transforms import argument_numbers, resolve_positions, result_and_gradients

__all__ = ["divergence", "hessian", "jacobian"]

F = Callable[..., Any]
Mode: TypeAlias = Literal["auto", "forward", "reverse"]
Chunk: TypeAlias = Literal["auto"] | int


# The derivative of a single tensor has the type of the first parameter of `f`, as in `grad`.
@overload
def jacobian(
    f: Lambda | Callable[Concatenate[Tree, P], Tensor],
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
    f: Lambda | Callable[Concatenate[Tensor, P], Any],
    argnums: Literal[0] = 0,
    chunk: Chunk = "auto",
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
        both = result_and_gradients(f, argnums, False, "hessian")

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
    moving = resolve_positions(positions, len(args), f, who)

    def inner(*own: Any) -> Any:
        full = list(args)
        for position, x in zip(moving, own, strict=True):
            full[position] = x
        return f(*full, **kwargs)

    inner.__wrapped__ = f  # type: ignore[attr-defined]  # errors name f
    recorded = RecordedCall(inner, [args[position] for position in moving], who, every=True)
    value = recorded.call()
    ys = recorded.results(value)
    others = [y for y in flatten(value)[0] if not is_floating(y)]
    if others:
        raise TypeError(
            f"{who}: expected floating dtypes from {place(f)}, got {others[0].dtype}; cast the "
            "result, or omit it"
        )
    for what, tensors in (("argument", recorded.xs), ("result", ys)):
        for x in tensors:
            if x.dtype.kind == "c":
                raise TypeError(
                    f"{who}: expected a real {what} of {place(f)}, got {x.dtype}; differentiate "
                    "with respect to real and imaginary parts"
                )
    blocks = JacobianBlocks(ys, recorded.xs, mode, chunk, who).all()
    recorded.close([block for row in blocks for block in row])
    rows = []
    for row in blocks:
        like_arguments = recorded.like_primals(row)
        rows.append(like_arguments[0] if single else like_arguments)
    return like(value, rows)


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
        recorded = RecordedCall(f, [x], "divergence", every=True)
        value = recorded.call()
        [y] = recorded.results(value)
        [own] = recorded.xs
        if y.shape != own.shape:
            raise ValueError(
                f"divergence: expected shape {own.shape} from {place(f)}, that of its argument, "
                f"got {y.shape}"
            )

        def along(where: Tensor) -> Tensor:
            [moved] = with_zeros(_core.tangents([y], [own], [unit(where, own)], [where]), [y])
            return _core.sum(_core.where(where, moved, _core.constant(0, y.dtype)))

        total = _core.sum(vmap(along)(units(own.shape)))
        recorded.close([total])
        return total

    return call
