"""Forward mode: `tangents`, the mirror image of `gradients`; and derivatives as linear maps of
functions, in both directions: `jvp`, `linearize`, `vjp`, `linear_transpose`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._base.pytree import flatten, leaves_like, unflatten, written_behind
from .._core import Tape, Tensor, Variable
from .function import inlined_functions
from .gradients import seed, seed_list, wants_zeros, with_zeros
from .rules import place, rule_map
from .transforms import differentiable_leaf

__all__ = ["jvp", "linear_transpose", "linearize", "tangents", "vjp"]

_STAND_IN = "a tangent that stands for any"


def tangents(
    ys: Any,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: str = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any:
    """How each of the ys moves where the xs move along xs_tangents: forward mode.

    The mirror image of `gradients`, with the same arguments and the same derivative: for any
    weights g of the ys, the sum of g times these tangents is that of xs_tangents times
    `gradients(ys, xs, g)`, also behind custom and overridden gradients, whose rules are transposed.

    ys, xs: tensors or variables, one, a list, or a nest, as in `gradients`.
    xs_tangents: in the structure of the xs, for each x something of its dtype and shape; a number
        counts for all elements, None means ones.
    stop_gradients, overrides: as in `gradients`.
    unconnected_gradients: what a y gets that depends on no x by a differentiable path: "none" gives
        None, "zero" zeros.

    Returns a list with a tensor of the dtype and shape of each y, or None; for a dict, a dataclass
    or a nest of several levels, the same structure with these in it. All are differentiable again,
    in either direction. Raises what `gradients` does.

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
        sources = _core.tensors_of(xs, "tangents: xs")
        seeds = seed_list(xs_tangents, xs, sources, "tangents: xs_tangents")
    rules = None if overrides is None else rule_map(overrides, "tangents: overrides")
    return _core.checked_tangents(ys, xs, seeds, stop_gradients, rules, zeros)


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of f at the primals, and how it moves along the tangents: J t, in forward mode.

    f: takes one argument for each primal, and returns a tensor or a nest of them.
    primals: a tuple or list of arguments: tensors, variables, arrays, numbers, or nests of them. An
        integer of Python or NumPy counts as a float.
    tangents: one for each primal in its structure, each of its leaf's dtype and shape, a number for
        all elements; or None where it does not move, as an argument without floats never does.

    Returns (value, tangent): the tangent has the structure of the value, zeros where it does not
    depend on what moves, and None for what is not floating. Costs about two evaluations of f,
    whatever the number of arguments; `vjp` is the other direction, for few results. Derivatives of
    the results are those of `grad` or `jvp` around it, as said at `value_and_grad`.

    Raises TypeError for a tangent of another dtype or of what has none, ValueError for another
    shape or structure.

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


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of f at the primals, and its derivative there as a linear function.

    Returns (value, f_jvp): f_jvp(*tangents) is what `jvp` gives for these tangents, at the cost of
    the linear part alone: what it needs of f's inside is computed once and kept. The primals'
    floats all move; see `jvp` for the arguments.

    >>> value, push = pb.linearize(pb.exp, 0.0)
    >>> float(push(1.0)), float(push(0.25))
    (1.0, 0.25)
    """
    opened = Opened(f, primals, "linearize")
    value = opened.call()
    ys = opened.results(value)
    trace = _core.Trace(_STAND_IN)
    stand_ins = [trace.argument(x.dtype.name, x.shape, False) for x in opened.xs]
    try:
        found = _core.tangents(ys, opened.xs, stand_ins)
    except RuntimeError as error:
        if _STAND_IN not in str(error):  # a rule in Python looks at what it is given
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


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of f at the primals, and its pullback: cotangents of the value to those of them.

    Returns (value, pullback): pullback(cotangent), which has the structure of the value with None
    meaning ones, returns a tuple with a cotangent for each primal in its structure: zeros where the
    value does not depend on it, and None for what is not floating. It may be called many times,
    and computes what f has computed once. See `jvp` for the arguments, and for the errors.

    >>> value, pullback = pb.vjp(lambda x, y: (x * y, x + y), 2.0, 5.0)
    >>> [float(g) for g in pullback((1.0, 10.0))]
    [15.0, 12.0]
    """
    opened = Opened(f, primals, "vjp")
    value = opened.call()
    ys = opened.results(value)

    def pullback(cotangent: Any) -> Any:
        given = seed_list(cotangent, value, flatten(value)[0], "vjp: cotangent")
        seeds = None if given is None else [given[i] for i in opened.floating]
        found = with_zeros(_core.gradients(ys, opened.xs, seeds), opened.xs)
        return opened.like_primals(found)

    return value, pullback


def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[..., Any]:
    """The transpose of a linear function: what `vjp` gives, without a point to be linear at.

    primals: of the dtypes and shapes that f takes; their values are not used.

    Returns transposed(cotangent), which takes what has the structure of f's result and returns a
    tuple with a cotangent for each primal. f must not look at its arguments. Raises ValueError
    where f is not linear, when its transpose is used.

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

    def transposed(cotangent: Any) -> Any:
        given = seed_list(cotangent, value, flatten(value)[0], "linear_transpose: cotangent")
        seeds = None if given is None else [given[i] for i in opened.floating]
        answers = _core.gradients(ys, opened.xs, seeds)
        if any(_core.computed_from([g for g in answers if g is not None], opened.xs)):
            raise ValueError(
                f"linear_transpose: {place(f)} is not linear: its derivative depends on its "
                "arguments; use vjp, which takes it at a point"
            )
        return opened.like_primals(with_zeros(answers, opened.xs))

    return transposed


def like(value: Any, floats: Sequence[Any]) -> Any:
    """The nest `value` with these in the place of its floating tensors, and None in others."""
    leaves, structure = flatten(value)
    left = iter(floats)
    return unflatten(structure, [next(left) if is_floating(leaf) else None for leaf in leaves])


def is_floating(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable)) and leaf.dtype.kind in "fc"


class Opened:
    """A call of f whose floating arguments are tensors of their own, `xs`; so the same tensor twice
    moves twice, and nothing that was made before depends on them. With `tangents` those move that
    have one, else all that can; with `every`, one that cannot is an error."""

    def __init__(
        self,
        f: Callable[..., Any],
        primals: Any,
        who: str,
        tangents: Any = None,
        every: bool = False,
    ) -> None:
        if not callable(f):
            raise TypeError(f"{who}: expected a function, got {_core.shown(f)}")
        if not isinstance(primals, (tuple, list)):
            raise TypeError(
                f"{who}: primals: expected a tuple with the arguments, got {_core.shown(primals)}"
            )
        self.f = f
        self.who = who
        self.tape = Tape(False, who)
        self.xs: list[Tensor] = []
        self.tangents: list[Tensor] = []
        self.floating: list[int] = []  # which leaves of the value are
        self._leaves: list[list[Any]] = []
        self._structures = []
        self.places: list[tuple[int, int]] = []  # of the xs among the leaves
        if tangents is not None and len(_sequence(tangents, who)) != len(primals):
            raise ValueError(f"{who}: {len(tangents)} tangents for {len(primals)} primals")
        with self.watching():
            for i, primal in enumerate(primals):
                leaves, structure = flatten(primal)
                self._leaves.append(leaves)
                self._structures.append(structure)
                moves: list[Any] = [True] * len(leaves)
                if tangents is not None:
                    moves = leaves_like(primal, tangents[i], f"{who}: tangents[{i}]")
                for k, move in enumerate(moves):
                    # A jvp says what moves; where all that can shall move, the rest stays as it is.
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
        """What is made from the xs inside can be differentiated by them."""
        self.tape.start()
        try:
            yield
        finally:
            self.tape.stop()

    def results(self, value: Any) -> list[Any]:
        """The floating tensors of what f returned."""
        leaves = flatten(value)[0]
        for leaf in leaves:
            if not isinstance(leaf, (Tensor, Variable)):
                raise TypeError(
                    f"{self.who}: {place(self.f)} returned a {type(leaf).__name__}; expected a "
                    "Tensor, or a nest of them"
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


def _sequence(values: Any, who: str) -> Any:
    if not isinstance(values, (tuple, list)):
        raise TypeError(
            f"{who}: tangents: expected a tuple with one for each primal, got {_core.shown(values)}"
        )
    return values


def _may_move(leaf: Any) -> bool:
    """Whether it is floating, or a number that counts as such."""
    if isinstance(leaf, (Tensor, Variable)):
        return leaf.dtype.kind in "fc"
    if isinstance(leaf, (bool, str, bytes)) or leaf is None:
        return False
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None:
        return getattr(dtype, "kind", "") in "fc" or (leaf.shape == () and dtype.kind in "iu")
    return isinstance(leaf, (int, float, complex))


def _seeds(who: str, primals: Any, tangents: Any, xs: list[Tensor]) -> list[Any]:
    if len(tangents) != len(primals):
        raise ValueError(f"{who}: {len(tangents)} tangents for {len(primals)} primals")
    given: list[Any] = []
    for i, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        entries = leaves_like(primal, tangent, f"{who}: tangents[{i}]")
        pairs = zip(flatten(primal)[0], entries, strict=True)
        given += [(entry, f"{who}: tangents[{i}]") for leaf, entry in pairs if _may_move(leaf)]
    return [
        _core.full(x.shape, 0, x.dtype) if entry is None else seed(entry, x, where)
        for (entry, where), x in zip(given, xs, strict=True)
    ]
