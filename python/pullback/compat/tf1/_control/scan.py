"""scan, map_fn, foldl and foldr: loops along the first axis of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._base.pytree import flatten_with_none as flatten
from .._graph import mode
from .._graph.create import convert_to_tensor, graph_of, scope_of
from .._graph.shapes import TensorShape
from .._graph.tensor import mapped
from .._ops.array_ops import stop_gradient
from .._ops.indexing_ops import concat, stack
from ..dtypes import as_dtype
from ..names import named
from .body import argument_of, recorded, subgraph_of
from .tensor_array import TensorTree, callable_or_raise

__all__ = ["foldl", "foldr", "map_fn", "scan"]


def _entries(elems: Any, who: str) -> tuple[TensorTree, int | None]:
    """Return the inputs of the loop, and the number of entries if it is known."""
    along = TensorTree(elems)
    if not along.tensors:
        raise ValueError(f"{who}: expected at least one tensor for elems, got none")
    length = None
    for x in along.tensors:
        shape = TensorShape(x.shape)
        if shape.ndims == 0:
            raise ValueError(f"{who}: expected tensors of rank 1 or more for elems, got {x!r:.80}")
        n = shape.as_list()[0] if shape.ndims is not None else None
        if n is not None and length is not None and n != length:
            raise ValueError(
                f"{who}: expected one size of the first axis for elems, got {length} and {n}"
            )
        length = n if length is None else length
    return along, length


def _along(
    who: str, fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, reverse: bool,
    name: str | None, first: bool, kinds: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Run fn(state, entry) -> (next state, output) over entries; return state and stacked outputs.

    Without an initializer, and if `first`, the first entry is the first state.
    """
    if mode.executing_eagerly():
        return _in_turn(who, fn, elems, initializer, back_prop, reverse, first)
    graph = graph_of(flatten((elems, initializer))[0])
    with graph.as_default(), graph.name_scope(name or who):
        along, _ = _entries(elems, who)
        start = TensorTree(() if initializer is None else initializer)
        tensors = along.tensors
        if initializer is None and first:
            at = -1 if reverse else 0
            # Integers have no gradient through a loop, so the first entry has none either.
            ends = [x[at] if x.dtype.is_inexact else stop_gradient(x[at]) for x in tensors]
            start = TensorTree(along.like(ends))
            tensors = [x[:-1] if reverse else x[1:] for x in tensors]
        with graph.body():
            number = len(graph._operations)
            given = [argument_of(graph, x.dtype, x.dims, "Identity", x) for x in start.tensors]
            entries = [
                argument_of(graph, x.dtype, None if x.dims is None else x.dims[1:], "Read")
                for x in tensors
            ]
            state, each = fn(start.like(given), along.like(entries))
            after, results = TensorTree(state), TensorTree(each)
            start.check_like(after, who, "the result of fn and the state")
            for x, y in zip(start.tensors, after.tensors, strict=True):
                if not TensorShape(x.dims).is_compatible_with(y.dims):
                    raise ValueError(
                        f"{who}: expected a state of shape {x.shape} from fn, as before, got "
                        f"{y.shape}"
                    )
            if kinds is not None:
                _check_kinds(results, kinds, who)
            subgraph = subgraph_of(number, [*given, *entries], [*after.tensors, *results.tensors])
        count = len(start.tensors)
        attrs = {"bodies": (subgraph,), "carried": count, "arrays": (False,) * count,
                 "reverse": reverse}  # fmt: skip
        inputs = [*start.tensors, *tensors, *subgraph.captured]
        rows = tensors[0].dims[0] if tensors[0].dims is not None else None
        made = [(x.dtype, x.dims) for x in start.tensors]
        made += [(y.dtype, None if y.dims is None else (rows, *y.dims)) for y in results.tensors]
        outs = recorded(graph, "Scan", inputs, attrs, who, made, subgraph.controls)
        if not back_prop:
            outs = [stop_gradient(y) for y in outs]
        ys = outs[count:]
        if initializer is None and first and ys:
            pairs = [[x[None], y] for x, y in zip(start.tensors, ys, strict=True)]
            ys = [concat(p[::-1] if reverse else p, 0) for p in pairs]
        return start.like(outs[:count]), results.like(ys)


def _names(dtypes: list[Any]) -> str:
    return ", ".join(dtype.name for dtype in dtypes)


def _check_kinds(results: TensorTree, kinds: Any, who: str) -> None:
    wanted = [as_dtype(d) for d in flatten(kinds)[0]]
    got = [as_dtype(y.dtype) for y in results.tensors]
    if wanted != got:
        raise ValueError(
            f"{who}: expected {_names(wanted)} from fn, as the dtypes of elems or in dtype, got "
            f"{_names(got)}; give dtype"
        )


def _in_turn(
    who: str, fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, reverse: bool,
    first: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Run the same loop in eager mode, one entry after the other."""
    along, length = _entries(elems, who)
    assert length is not None
    places = [*range(length)][:: -1 if reverse else 1]
    state = (
        () if initializer is None else TensorTree(initializer).like(TensorTree(initializer).tensors)
    )
    each = []
    if initializer is None and first:
        state = along.like([x[places.pop(0)] for x in along.tensors])
        each.append(state)
    for i in places:
        before = TensorTree(state)
        state, y = fn(state, along.like([x[i] for x in along.tensors]))
        before.check_like(TensorTree(state), who, "the result of fn and the state")
        each.append(y)
    if not each:
        raise ValueError(
            f"{who}: expected elems with an entry or more, got none: the shape of the results is "
            "unknown"
        )
    trees = [TensorTree(y) for y in each[:: -1 if reverse else 1]]
    ys = [stack(list(rows)) for rows in zip(*(tree.tensors for tree in trees), strict=True)]
    if not back_prop:
        ys = [stop_gradient(y) for y in ys]
        state = mapped(stop_gradient, state)
    return state, trees[0].like(ys)


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Compute running results: state = fn(state, entry) for each entry, all states stacked.

    In a graph the loop is one operation. The other arguments are those of `while_loop`.

    Parameters
    ----------
    fn : callable
        Function of the state and of an entry of `elems`; in a graph it is called once.
    elems : tensor or pytree of tensors
        Inputs with one size of the first axis. An entry has the same structure.
    initializer : tensor or pytree, optional
        The first state, which is not among the results. `fn` returns the same structure, dtypes
        and shapes. Default: the first entry, which is then the first result.
    reverse : bool
        Run from the last entry to the first; each state stays at the place of its entry.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0, 3.0])
    ...     y = tf.scan(lambda a, e: a * e, x)
    ...     session.run([y, tf.gradients(y, x)[0]])
    [array([1., 2., 6.], dtype=float32), array([9., 4., 2.], dtype=float32)]
    """
    callable_or_raise(fn, "scan", "fn")

    def step(state: Any, entry: Any) -> Any:
        after = fn(state, entry)
        return after, after

    return _along("scan", step, elems, initializer, back_prop, reverse, name, True)[1]


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Apply a function to each entry of the first axis and stack the results.

    The other arguments are those of `scan`.

    Parameters
    ----------
    fn : callable
        Function of an entry, which returns a tensor or a pytree; in a graph it is called once.
    elems : tensor or pytree of tensors
        Inputs with one size of the first axis. An entry has the same structure.
    dtype : dtype or pytree of dtypes, optional
        The dtypes that `fn` returns, if they are not those of `elems`.

    Raises
    ------
    ValueError
        If `fn` returns other dtypes.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    ...     session.run(tf.map_fn(tf.reduce_sum, rows))
    array([3., 7.], dtype=float32)
    """
    callable_or_raise(fn, "map_fn", "fn")
    with scope_of(name or "map", *flatten(elems)[0]) as scope:
        kinds = [as_dtype(convert_to_tensor(x).dtype) for x in flatten(elems)[0]]
        return _along("map_fn", lambda state, entry: (state, fn(entry)), elems, None, back_prop,
                      False, scope, False, kinds if dtype is None else dtype)[1]  # fmt: skip


def _fold(who: str, reverse: bool, text: str) -> Callable[..., Any]:
    def fold(
        fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
        back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
    ) -> Any:  # fmt: skip
        callable_or_raise(fn, who, "fn")
        if mode.executing_eagerly():
            return _in_turn(who, lambda state, entry: (fn(state, entry),) * 2, elems, initializer,
                            back_prop, reverse, True)[0]  # fmt: skip
        return _along(who, lambda state, entry: (fn(state, entry), ()), elems, initializer,
                      back_prop, reverse, name, True)[0]  # fmt: skip

    doc = f"Return the last state of state = fn(state, entry) {text}; the default first state "
    return named(fold, who, f"{doc}is an entry. See `scan`.")


foldl = _fold("foldl", False, "for each entry of elems")
foldr = _fold("foldr", True, "from the last entry of elems to the first")
