"""Whole derivatives of functions: jacobians and hessians, block by block in the cheaper mode, and
products with them that need neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from operator import index
from typing import Any, Literal

from .. import _core
from .._base.pytree import flatten
from .._core import Tensor
from .forward import Opened, is_floating, like
from .gradients import with_zeros
from .jacobian import MOST_AXES, STAND_IN, batched_in_chunks, row_batches, unit, units
from .rules import place
from .transforms import argument_numbers, check_value, grad, resolved

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
Mode = Literal["auto", "forward", "reverse"]
# What a chunk's tensors may take together, were none of them computed with the next one: what is
# kept in caches or registers is a small part of that.
_CHUNK_BYTES = 2**30


def jacobian(
    f: F,
    argnums: int | Sequence[int] = 0,
    mode: Mode = "auto",
    chunk: Literal["auto"] | int = "auto",
) -> F:
    """A function that returns the derivative of every element of f by every element of arguments.

    f returns a tensor or a nest of them; `argnums` says which positional arguments to differentiate
    by, as in `value_and_grad`, nests included. The result has the structure of f's result, with in
    each place that of the argument (a tuple of these for several), and there a tensor of shape
    result.shape + argument.shape and of the argument's dtype: zeros where there is no path.

    mode: "reverse" pulls back a unit cotangent for each element of a result, "forward" pushes a
        unit tangent for each element of an argument; "auto" takes for each pair of them the
        one with fewer, and where these are as many the reverse one.
    chunk: how many of them are computed at once, each of which takes the memory of a pass. "auto"
        takes all of them as long as that stays near a GiB, else as many as do.

    Units are structural zeros around a one, so they meet no infinite slope. A rule in Python is
    called once for all of them, unless it looks at its cotangent: then the rows come one after the
    other, by reverse mode, or "forward" is an error. Where a rule is not linear in its cotangent,
    as one that clips, the modes differ: forward mode takes it as what it is near zero.

    Raises TypeError for an argument or a result that is not a real floating tensor, ValueError for
    more than 16 axes; otherwise as `value_and_grad`.

    >>> J = pb.jacobian(lambda x: pb.stack([x[0] * x[1], x[1] ** 2, x[0]]))
    >>> J(pb.constant([2.0, 3.0]))
    Tensor([[3., 2.],
            [0., 6.],
            [1., 0.]], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"jacobian: expected a function, got {_core.shown(f)}")
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(
            f"jacobian: mode is 'auto', 'forward' or 'reverse', got {_core.shown(mode)}"
        )
    if chunk != "auto" and (
        isinstance(chunk, bool) or not hasattr(chunk, "__index__") or index(chunk) < 1
    ):
        raise ValueError(
            f"jacobian: chunk is 'auto' or a positive integer, got {_core.shown(chunk)}"
        )
    single, positions = argument_numbers(argnums, "jacobian")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _jacobian_of(f, args, kwargs, (single, positions), mode, chunk, "jacobian")

    return call


def hessian(f: F, argnums: int | Sequence[int] = 0, chunk: Literal["auto"] | int = "auto") -> F:
    """A function that returns the second derivatives of f, whose value is one real number.

    The result has the structure of the arguments that `argnums` names, with in each place that
    structure again, and there a tensor of shape one.shape + other.shape. It is the forward jacobian
    of the gradient; see `jacobian` for `chunk`, `hvp` for products with it and `sparse_hessian` for
    those that are mostly zeros.

    >>> pb.hessian(lambda x: x[0] ** 2 * x[1] + x[1] ** 3)(pb.constant([1.0, 2.0]))
    Tensor([[ 4.,  2.],
            [ 2., 12.]], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"hessian: expected a function, got {_core.shown(f)}")
    single, positions = argument_numbers(argnums, "hessian")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        slope = grad(f, argnums)
        found = (single, positions)
        return _jacobian_of(slope, args, kwargs, found, "second", chunk, "hessian")

    return call


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
            f"{who}: {place(f)} returned {others[0].dtype}; only floats have derivatives: cast it, "
            "or leave it out"
        )
    for what, tensors in (("argument", opened.xs), ("result", ys)):
        for x in tensors:
            if x.dtype.kind == "c":
                raise TypeError(
                    f"{who}: {place(f)}: its {what} is {x.dtype}; differentiate by real and "
                    "imaginary parts"
                )
    blocks = _Blocks(ys, opened.xs, mode, chunk, who).all()
    opened.close([block for row in blocks for block in row])
    rows = []
    for row in blocks:
        nests = opened.like_primals(row)
        rows.append(nests[0] if single else nests)
    return like(value, rows)


class _Blocks:
    """The derivatives of some ys by some xs, in passes that each give several of them."""

    def __init__(self, ys: list[Tensor], xs: list[Tensor], mode: str, chunk: Any, who: str) -> None:
        self.ys = ys
        self.xs = xs
        self.chunk = chunk
        self.mode = mode
        self.shapes = [[(*y.shape, *x.shape) for x in xs] for y in ys]
        for y, row in zip(ys, self.shapes, strict=True):
            for x, shape in zip(xs, row, strict=True):
                if len(shape) > MOST_AXES:
                    raise ValueError(
                        f"{who}: of shape {y.shape} by {x.shape} it has {len(shape)} axes; the "
                        f"most are {MOST_AXES}"
                    )
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
            # A rule that cannot be turned round; that mode was not asked for.
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
        where = _core.Trace(STAND_IN).argument("bool", x.shape, False)
        try:
            answers = _core.tangents(ys, [x], [unit(where, x)], [where])
            found = batched_in_chunks(
                [a for a in answers if a is not None], where, chosen, self._length
            )
        except RuntimeError as error:
            if STAND_IN not in str(error):  # a rule in Python looks at what it is given
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
    """What has an axis for the elements of x in front, with the axes of x behind those of y."""
    order = (*range(1, batch.ndim), 0)
    turned = _core.cast(_core.transpose(batch, order), x.dtype)
    return _core.reshape(turned, (*y.shape, *x.shape))


# --- products


def hvp(f: F, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """The second derivative of f, whose value is one real number, applied to tangents: H t.

    It is how the gradient moves along the tangents: forward over reverse, at about twice the cost
    of a gradient. primals, tangents: as in `jvp`. Returns a tuple in the structure of the primals:
    zeros for what the gradient does not depend on, None for what does not move.

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
    """The same product from the other side, t H, by reverse over reverse.

    It is the gradient of the cotangents times the gradient of f. The two are one for the true
    derivative; where rules of custom gradients say something else, they need not be.

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
    """The Gauss-Newton approximation of a second derivative applied to tangents: Jᵀ H J t.

    J is the derivative of f at the primals, and H the second derivative of `loss`, a function of
    f's result to one real number, at that result; without a loss H is one, as for half the sum of
    squares. What is left out is the curvature of f, so the product with a convex loss is
    never negative. Returns a tuple in the structure of the primals; see `jvp` for the arguments.
    (N. Schraudolph, Fast curvature matrix-vector products for second-order gradient descent, 2002.)

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
    """The Fisher information of a distribution over classes applied to tangents.

    f returns the logarithms of the probabilities of all classes along the last axis, as
    log_softmax does; other axes are independent observations, over which it is summed. The product
    is Jᵀ (p J t) with J the derivative of f and p the probabilities: the expectation, not that
    of a sample, of the outer product of scores (S. Amari, Natural gradient works efficiently in
    learning, 1998). Returns a tuple in the structure of the primals; see `jvp` for the arguments.

    >>> f = lambda z: pb.log_softmax(z, axis=-1)
    >>> pb.fisher_product(f, (pb.zeros(2),), ([1.0, 0.0],))
    (Tensor([ 0.25, -0.25], dtype=float32),)
    """
    opened = Opened(f, primals, "fisher_product", tangents)
    value = opened.call()
    if not isinstance(value, Tensor) or value.dtype.kind != "f":
        raise TypeError(
            f"fisher_product: {place(f)} returned a {type(value).__name__}; expected a tensor of "
            "logarithms of probabilities"
        )
    [moved] = with_zeros(_core.tangents([value], opened.xs, opened.tangents), [value])
    weighted = _core.multiply(_core.exp(_core.stop_gradient(value)), moved)
    return _answer(opened, _core.gradients([value], opened.xs, [weighted]))


def divergence(f: F) -> F:
    """A function of x that returns the sum of the derivatives of f's elements by those of x at the
    same place, for an f whose result has the shape of x: the trace of its jacobian.

    All of f's jvps along the unit directions are computed, and of each one number is kept.
    Raises ValueError for a result of another shape.

    >>> float(pb.divergence(lambda x: x**2)(pb.constant([1.0, 2.0, 3.0])))
    12.0
    """
    from .vmap import vmap

    if not callable(f):
        raise TypeError(f"divergence: expected a function, got {_core.shown(f)}")

    @wraps(f)
    def call(x: Any) -> Tensor:
        opened = Opened(f, [x], "divergence", every=True)
        value = opened.call()
        [y] = opened.results(value)
        [own] = opened.xs
        if y.shape != own.shape:
            raise ValueError(
                f"divergence: {place(f)} returned shape {y.shape} for an argument of shape "
                f"{own.shape}; expected the same"
            )

        def along(where: Tensor) -> Tensor:
            [moved] = with_zeros(_core.tangents([y], [own], [unit(where, own)], [where]), [y])
            return _core.sum(_core.where(where, moved, _core.constant(0, y.dtype)))

        total = _core.sum(vmap(along)(units(own.shape)))
        opened.close([total])
        return total

    return call
