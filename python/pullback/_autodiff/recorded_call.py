"""`RecordedCall`: a call of a function on arguments with respect to which it is differentiated.

The functions that return derivatives of a function at some primals (`jvp`, `vjp`, `jacobian`,
`jet`) make one, differentiate its results with respect to its `xs`, and return them in the
structure of the primals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._base.checks import counted
from .._base.pytree import flatten, leaves_like, unflatten, written_behind
from .._core import Tape, Tensor, Variable
from .gradients import seed
from .rules import place
from .transforms import check_field, differentiable_leaf


class RecordedCall:
    """A call of `f` on new tensors, `xs`, in place of its floating arguments.

    A tensor that is passed twice has two entries in `xs`, and no earlier result depends on them.
    With `tangents`, leaves that have a tangent are replaced, otherwise all floating leaves. With
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
            check_count(tangents, primals, who)
        with self.recording():
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
                    if move is not None and (given or may_move(leaves[k])):
                        self._replace(i, k, primal, move if tangents is not None else None)

    def _replace(self, i: int, k: int, primal: Any, tangent: Any) -> None:
        """Add a tensor for leaf `k` of argument `i`, and its tangent."""

        def where(what: str) -> str:
            path = written_behind(primal)[k] if len(self._leaves[i]) > 1 else ""
            return f"{self.who}: {what}[{i}]{path}"

        if tangent is None and self._leaves[i][k] is not primal:
            check_field(self._leaves[i][k], lambda _: where("primals"))
        x = differentiable_leaf(self._leaves[i][k], lambda _: where("primals"))
        self.tape.watch(x)
        self.xs.append(x)
        self.places.append((i, k))
        if tangent is not None:
            self.tangents.append(seed(tangent, x, where("tangents")))

    def call(self) -> Any:
        """Call `f` on the new tensors."""
        for (i, k), x in zip(self.places, self.xs, strict=True):
            self._leaves[i][k] = x
        pairs = zip(self._structures, self._leaves, strict=True)
        arguments = [unflatten(structure, leaves) for structure, leaves in pairs]
        with self.recording():
            return self.f(*arguments)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the operations on `xs` inside the block, so that they can be differentiated."""
        self.tape.start()
        try:
            yield
        finally:
            self.tape.stop()

    def results(self, value: Any) -> list[Any]:
        """Return the floating tensors of the result of `f`."""
        leaves = flatten(value, none_is_leaf=value is None)[0]
        for leaf in leaves:
            if not isinstance(leaf, (Tensor, Variable)):
                raise TypeError(
                    f"{self.who}: expected a Tensor or a pytree of Tensors from {place(self.f)}, "
                    f"got {_core.shown(leaf)}"
                )
        self.floating = [i for i, leaf in enumerate(leaves) if is_floating(leaf)]
        return [leaves[i] for i in self.floating]

    def like_primals(self, found: Sequence[Any]) -> tuple[Any, ...]:
        """Return results by `xs` in the structures of the arguments; None for other leaves."""
        leaves: list[list[Any]] = [[None] * len(own) for own in self._leaves]
        for (i, k), g in zip(self.places, found, strict=True):
            leaves[i][k] = g
        pairs = zip(self._structures, leaves, strict=True)
        return tuple(unflatten(structure, own) for structure, own in pairs)

    def close(self, results: list[Tensor]) -> None:
        """End the histories of results that depend on no tracked tensor except `xs`."""
        self.tape.end_histories([y for y in results if isinstance(y, Tensor)])


def like(value: Any, floats: Sequence[Any]) -> Any:
    """Return the pytree `value` with `floats` as its floating leaves and None as all others."""
    leaves, structure = flatten(value)
    left = iter(floats)
    return unflatten(structure, [next(left) if is_floating(leaf) else None for leaf in leaves])


def is_floating(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable)) and leaf.dtype.kind in "fc"


def check_count(tangents: Any, primals: Any, who: str) -> None:
    if len(tangents) != len(primals):
        raise ValueError(
            f"{who}: expected {counted(len(primals), 'tangent')}, one for each primal, got "
            f"{len(tangents)}"
        )


def may_move(leaf: Any) -> bool:
    """Return whether a leaf is floating or a number that counts as a float."""
    if isinstance(leaf, (Tensor, Variable)):
        return leaf.dtype.kind in "fc"
    if isinstance(leaf, (bool, str, bytes)) or leaf is None:
        return False
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None:
        return getattr(dtype, "kind", "") in "fc" or (leaf.shape == () and dtype.kind in "iu")
    return isinstance(leaf, (int, float, complex))
