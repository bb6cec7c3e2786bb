"""Forward mode and derivatives as linear maps.

`tangents` is the forward-mode counterpart of `gradients`. `jvp` and `linearize` give the derivative
of a function as a linear map of tangents, `vjp` and `linear_transpose` as one of cotangents.
`Opened` is a call of a function on arguments that can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, overload

from .. import _core
from .._base.checks import counted
from .._base.pytree import flatten, leaves_like, unflatten, written_behind
from .._core import Tape, Tensor, Variable
from .._typing import Gradient, Key, NamedTupleLike, R, Source, Unconnected
from .function import inlined_functions
from .gradients import seed, seed_list, wants_zeros, with_zeros
from .rules import place, rule_map
from .transforms import differentiable_leaf

__all__ = ["jvp", "linear_transpose", "linearize", "tangents", "vjp"]

_PLACEHOLDER = "a placeholder tangent"


@overload
def tangents(
    ys: NamedTupleLike,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
@overload
def tangents(
    ys: Source | Sequence[Source],
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> list[Gradient]: ...
@overload
def tangents(
    ys: Mapping[Key, Source],
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> dict[Key, Gradient]: ...
@overload
def tangents(
    ys: Any,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
def tangents(
    ys: Any,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any:
    """Compute the directional derivatives of `ys` along tangents of `xs` in forward mode.

    This is the counterpart of `gradients`: for any weights `g`, the sum of `g * tangents(ys, xs,
    t)` equals the sum of `t * gradients(ys, xs, g)`. The identity also holds for custom and
    overridden gradients, whose rules are transposed. The results are differentiable again, in both
    modes.

    Parameters
    ----------
    ys : Tensor, Variable or pytree of them
        Targets.
    xs : Tensor, Variable or pytree of them
        Sources. A variable stands for all of its reads.
    xs_tangents : pytree of array_like, optional
        Tangents in the structure of `xs`, each of the dtype and shape of its source. A number
        counts for all elements, and None for ones. Default: ones.
    stop_gradients : Tensor, Variable or pytree of them, optional
        Tensors that count as constants, for all sources except themselves.
    unconnected_gradients : {"none", "zero"}, optional
        Result for a target that has no differentiable path to a source: None, or zeros. Default:
        "none".
    overrides : mapping, optional
        Gradient rules by operation, as in `gradients`.

    Returns
    -------
    list of Tensor or None
        One tangent of the dtype and shape of each target. If `ys` is a dict, a dataclass or a
        pytree of several levels, the tangents have its structure.

    Raises
    ------
    TypeError
        If an entry of `ys`, `xs` or `stop_gradients` is not a tensor, or if a tangent has another
        dtype than its source.
    ValueError
        If a tangent has another shape or structure, if a source is not tracked, or if
        `unconnected_gradients` is invalid.
    LookupError
        If `overrides` contains an unknown name.

    See Also
    --------
    gradients, jvp

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0, 3.0])
    >>> y = x * x
    >>> pb.tangents([y, pb.sum(y)], [x], [[1.0, 0.0, 2.0]])
    [Tensor([ 2.,  0., 12.], dtype=float32), Tensor(14., dtype=float32)]
    >>> pb.tangents(y, x, stop_gradients=[y])
    [None]
    """
    zeros = unconnected_gradients != "none" and wants_zeros(unconnected_gradients, "tangents")
    seeds = None
    if xs_tangents is not None:
        sources = _core.tensors_of(xs, "tangents", "xs")
        seeds = seed_list(xs_tangents, xs, sources, "tangents: xs_tangents")
    rules = None if overrides is None else rule_map(overrides, "tangents: overrides")
    return _core.checked_tangents(ys, xs, seeds, stop_gradients, rules, zeros)


@overload
def jvp(
    f: Callable[..., Tensor], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Tensor, Gradient]: ...
@overload
def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, Any]: ...
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Compute the value of `f` and its directional derivative in forward mode.

    The tangent is the product of the Jacobian with `tangents`. It costs about as much as two
    evaluations of `f`, independent of the number of arguments. The results are differentiable
    again, as those of `value_and_grad`.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    primals : tuple or list
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. A Python or NumPy
        integer counts as a float.
    tangents : tuple or list
        One tangent for each primal in its structure. Each leaf has the dtype and shape of its
        primal, or is a number that counts for all elements, or None if the primal does not move. A
        leaf that is not floating takes None.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    tangent : Tensor or pytree of Tensor
        Derivative of `value` along `tangents`, with its structure, shapes and dtypes. It is zero if
        `value` does not depend on a primal that moves, and None for a leaf that is not floating.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `tangents` is not a tuple or list, if `f` returns
        something else than tensors, or if a tangent has another dtype or belongs to a leaf that is
        not floating.
    ValueError
        If a tangent has another shape or structure than its primal.

    See Also
    --------
    vjp, linearize, tangents

    Examples
    --------
    >>> f = lambda x, y: pb.sin(x) * y
    >>> value, tangent = pb.jvp(f, (0.0, 3.0), (1.0, 0.5))
    >>> float(value), float(tangent)
    (0.0, 3.0)
    >>> curvature = pb.jvp(lambda x: pb.jvp(lambda x: x**3, (x,), (1.0,))[1], (2.0,), (1.0,))[1]
    >>> float(curvature)
    12.0
    """
    opened = Opened(f, primals, "jvp", tangents)
    value = opened.call()
    ys = opened.results(value)
    found = with_zeros(_core.tangents(ys, opened.xs, opened.tangents), ys)
    opened.close([*ys, *found])
    return value, like(value, found)


@overload
def linearize(
    f: Callable[..., Tensor], *primals: Any
) -> tuple[Tensor, Callable[..., Gradient]]: ...
@overload
def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., Any]]: ...
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Compute the value of `f` and its derivative at the primals as a linear function.

    Everything that the derivative needs from inside `f` is computed once and stored, so each call
    of the linear function costs only the linear part.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    *primals
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. The derivative is
        taken with respect to all floating leaves. A Python or NumPy integer counts as a float.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    f_jvp : callable
        Function `f_jvp(*tangents)` that returns the tangent that `jvp` returns for these tangents.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors. In a call of `f_jvp`: if a
        tangent has another dtype.
    ValueError
        In a call of `f_jvp`: if a tangent has another shape or structure, or if their number
        differs from the number of primals.

    See Also
    --------
    jvp

    Examples
    --------
    >>> value, push = pb.linearize(pb.exp, 0.0)
    >>> float(push(1.0)), float(push(0.25))
    (1.0, 0.25)
    """
    opened = Opened(f, primals, "linearize")
    value = opened.call()
    ys = opened.results(value)
    trace = _core.Trace(_PLACEHOLDER)
    stand_ins = [trace.argument(x.dtype.name, x.shape, False) for x in opened.xs]
    try:
        found = _core.tangents(ys, opened.xs, stand_ins)
    except RuntimeError as error:
        if _PLACEHOLDER not in str(error):  # a rule in Python reads its tangent
            raise
        found = None
    live = [t for t in found or [] if t is not None]
    kept = _core.Linear(live, stand_ins)

    def push(*tangents: Any) -> Any:
        given = _seeds("linearize: f_jvp", primals, tangents, opened.xs)
        if found is None:
            return like(value, with_zeros(_core.tangents(ys, opened.xs, given), ys))
        made = iter(kept.at(given))
        return like(value, with_zeros([None if t is None else next(made) for t in found], ys))

    opened.close([*ys, *live] if found is not None else [])
    return value, push


def vjp(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[[Any], tuple[Any, ...]]]:
    """Compute the value of `f` and its pullback, the derivative in reverse mode.

    The pullback maps cotangents of the value to cotangents of the primals. It may be called many
    times; the values inside `f` are computed once. Prefer it over `jvp` for functions with few
    results.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    *primals
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. A Python or NumPy
        integer counts as a float.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    pullback : callable
        Function `pullback(cotangent)`. The cotangent has the structure of `value`; None stands for
        ones. It returns a tuple with a cotangent for each primal in its structure: zeros if `value`
        does not depend on it, and None for a leaf that is not floating.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors. In a call of `pullback`: if a
        cotangent has another dtype.
    ValueError
        In a call of `pullback`: if a cotangent has another shape or structure.

    See Also
    --------
    jvp, linear_transpose

    Examples
    --------
    >>> value, pullback = pb.vjp(lambda x, y: (x * y, x + y), 2.0, 5.0)
    >>> [float(g) for g in pullback((1.0, 10.0))]
    [15.0, 12.0]
    """
    opened = Opened(f, primals, "vjp")
    value = opened.call()
    ys = opened.results(value)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = seed_list(cotangent, value, flatten(value)[0], "vjp: cotangent")
        seeds = None if given is None else [given[i] for i in opened.floating]
        found = with_zeros(_core.gradients(ys, opened.xs, seeds), opened.xs)
        return opened.like_primals(found)

    return value, pullback


def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return the transpose of a linear function.

    This is the pullback that `vjp` returns, without a point of linearisation.

    Parameters
    ----------
    f : callable
        Linear function of one argument for each primal that returns a Tensor or a pytree of
        Tensors. It must not read the values of its arguments.
    *primals
        Examples of the arguments. Only their structures, shapes and dtypes are used.

    Returns
    -------
    callable
        Function `transposed(cotangent)`. The cotangent has the structure of the result of `f`. It
        returns a tuple with a cotangent for each primal in its structure.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors.
    RuntimeError
        If `f` reads the value of an argument.
    ValueError
        In a call of the transpose: if `f` is not linear, or if the cotangent has another shape or
        structure.

    See Also
    --------
    vjp

    Examples
    --------
    >>> A = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> (x,) = pb.linear_transpose(lambda x: A @ x, pb.zeros(2))(pb.constant([1.0, 10.0]))
    >>> x
    Tensor([31., 42.], dtype=float32)
    """
    opened = Opened(f, primals, "linear_transpose")
    trace = _core.Trace("linear_transpose")
    opened.xs = [trace.argument(x.dtype.name, x.shape, False) for x in opened.xs]
    with inlined_functions():
        value = opened.call()
    ys = opened.results(value)

    def transposed(cotangent: Any) -> tuple[Any, ...]:
        given = seed_list(cotangent, value, flatten(value)[0], "linear_transpose: cotangent")
        seeds = None if given is None else [given[i] for i in opened.floating]
        answers = _core.gradients(ys, opened.xs, seeds)
        if any(_core.computed_from([g for g in answers if g is not None], opened.xs)):
            raise ValueError(
                f"linear_transpose: expected a linear function for f, got {place(f)}, whose "
                "derivative depends on its arguments; use vjp, which differentiates at a point"
            )
        return opened.like_primals(with_zeros(answers, opened.xs))

    return transposed


def like(value: Any, floats: Sequence[Any]) -> Any:
    """Return the pytree `value` with `floats` as its floating leaves and None as all others."""
    leaves, structure = flatten(value)
    left = iter(floats)
    return unflatten(structure, [next(left) if is_floating(leaf) else None for leaf in leaves])


def is_floating(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable)) and leaf.dtype.kind in "fc"


class Opened:
    """A call of `f` on new tensors, `xs`, in place of its floating arguments.

    A tensor that is passed twice has two entries in `xs`, and no earlier result depends on them.
    With `tangents`, the leaves that have a tangent are opened, otherwise all floating leaves. With
    `every`, a leaf that is not floating is an error.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        primals: Any,
        who: str,
        tangents: Any = None,
        every: bool = False,
    ) -> None:
        if not callable(f):
            raise TypeError(f"{who}: expected a function for f, got {_core.shown(f)}")
        if not isinstance(primals, (tuple, list)):
            raise TypeError(
                f"{who}: expected a tuple of arguments for primals, got {_core.shown(primals)}"
            )
        self.f = f
        self.who = who
        self.tape = Tape(False, who)
        self.xs: list[Tensor] = []
        self.tangents: list[Tensor] = []
        self.floating: list[int] = []  # indices of the floating leaves of the value
        self._leaves: list[list[Any]] = []
        self._structures = []
        self.places: list[tuple[int, int]] = []  # positions of xs: argument, leaf
        if tangents is not None:
            if not isinstance(tangents, (tuple, list)):
                raise TypeError(
                    f"{who}: expected a tuple for tangents, one for each primal, got "
                    f"{_core.shown(tangents)}"
                )
            _check_count(tangents, primals, who)
        with self.watching():
            for i, primal in enumerate(primals):
                leaves, structure = flatten(primal)
                self._leaves.append(leaves)
                self._structures.append(structure)
                moves: list[Any] = [True] * len(leaves)
                if tangents is not None:
                    moves = leaves_like(primal, tangents[i], f"{who}: tangents[{i}]")
                for k, move in enumerate(moves):
                    # Tangents select the leaves that move. Without them all floating leaves do.
                    given = every or tangents is not None
                    if move is not None and (given or _may_move(leaves[k])):
                        self._open(i, k, primal, move if tangents is not None else None)

    def _open(self, i: int, k: int, primal: Any, tangent: Any) -> None:
        def where(what: str) -> str:
            path = written_behind(primal)[k] if len(self._leaves[i]) > 1 else ""
            return f"{self.who}: {what}[{i}]{path}"

        x = differentiable_leaf(self._leaves[i][k], lambda _: where("primals"))
        self.tape.watch(x)
        self.xs.append(x)
        self.places.append((i, k))
        if tangent is not None:
            self.tangents.append(seed(tangent, x, where("tangents")))

    def call(self) -> Any:
        for (i, k), x in zip(self.places, self.xs, strict=True):
            self._leaves[i][k] = x
        pairs = zip(self._structures, self._leaves, strict=True)
        arguments = [unflatten(structure, leaves) for structure, leaves in pairs]
        with self.watching():
            return self.f(*arguments)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the operations on `xs` inside the block, so that they can be differentiated."""
        self.tape.start()
        try:
            yield
        finally:
            self.tape.stop()

    def results(self, value: Any) -> list[Any]:
        """Return the floating tensors of the result of `f`."""
        leaves = flatten(value)[0]
        for leaf in leaves:
            if not isinstance(leaf, (Tensor, Variable)):
                raise TypeError(
                    f"{self.who}: expected a Tensor or a pytree of Tensors from {place(self.f)}, "
                    f"got {_core.shown(leaf)}"
                )
        self.floating = [i for i, leaf in enumerate(leaves) if is_floating(leaf)]
        return [leaves[i] for i in self.floating]

    def like_primals(self, found: Sequence[Any]) -> tuple[Any, ...]:
        leaves: list[list[Any]] = [[None] * len(own) for own in self._leaves]
        for (i, k), g in zip(self.places, found, strict=True):
            leaves[i][k] = g
        pairs = zip(self._structures, leaves, strict=True)
        return tuple(unflatten(structure, own) for structure, own in pairs)

    def close(self, results: list[Tensor]) -> None:
        self.tape.end_histories([y for y in results if isinstance(y, Tensor)])


def _check_count(tangents: Any, primals: Any, who: str) -> None:
    if len(tangents) != len(primals):
        raise ValueError(
            f"{who}: expected {counted(len(primals), 'tangent')}, one for each primal, got "
            f"{len(tangents)}"
        )


def _may_move(leaf: Any) -> bool:
    """Return whether a leaf is floating or a number that counts as a float."""
    if isinstance(leaf, (Tensor, Variable)):
        return leaf.dtype.kind in "fc"
    if isinstance(leaf, (bool, str, bytes)) or leaf is None:
        return False
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None:
        return getattr(dtype, "kind", "") in "fc" or (leaf.shape == () and dtype.kind in "iu")
    return isinstance(leaf, (int, float, complex))


def _seeds(who: str, primals: Any, tangents: Any, xs: list[Tensor]) -> list[Any]:
    _check_count(tangents, primals, who)
    given: list[Any] = []
    for i, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        entries = leaves_like(primal, tangent, f"{who}: tangents[{i}]")
        pairs = zip(flatten(primal)[0], entries, strict=True)
        given += [(entry, f"{who}: tangents[{i}]") for leaf, entry in pairs if _may_move(leaf)]
    return [
        _core.full(x.shape, 0, x.dtype) if entry is None else seed(entry, x, where)
        for (entry, where), x in zip(given, xs, strict=True)
    ]
