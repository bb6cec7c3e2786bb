"""`data.Dataset`: a recipe of elements, lists of NumPy arrays with the structure `_element`.

`_start(values)` returns a new Python iterator over the elements. `values` has the arrays of the
tensors of the recipe, `_sources`, and the state that one iterator keeps between epochs. The
function of a `map` is traced once, in its own graph and session, which run for each element.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from collections.abc import Iterator as Rows
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .... import _core
from .._graph import mode
from .._graph.conversion import as_array
from .._graph.create import convert_to_tensor, is_tensor, placeholder
from .._graph.graph import Graph, get_default_graph
from .._graph.shapes import TensorShape, common_dims
from .._graph.strings import decoded
from .._graph.tensor import SymbolicTensor
from .._run.session import Session
from ..dtypes import as_dtype, int64, string
from ..dtypes import bool as tf_bool
from ..errors import InvalidArgumentError
from . import rows
from .iterators import Elements, Iterator, Spec, each, leaves_of, packed, parts_of, specs_of

_shuffles: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()  # number per graph


class Dataset(Elements):
    """A sequence of elements: tensors, or tuples and dicts of tensors.

    Methods return a new dataset. Numbers among their arguments may be tensors; arguments about
    speed have no effect.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     rows = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [0.5, 1.5, 2.5]))
    ...     rows = rows.map(lambda n, x: n * tf.cast(2 * x, tf.int32)).repeat().batch(2)
    ...     n = rows.make_one_shot_iterator().get_next()
    ...     [session.run(n).tolist() for _ in range(3)]
    [[1, 6], [15, 1], [6, 15]]
    """

    def __init__(
        self, element: Any, sources: Iterable[Any], start: Callable[[dict[Any, Any]], Rows[Any]]
    ) -> None:
        self._element, self._start = element, start
        self._sources = [*dict.fromkeys(x for x in sources if isinstance(x, SymbolicTensor))]

    def __repr__(self) -> str:
        return f"<Dataset shapes: {self.output_shapes}, types: {self.output_types}>"

    def __iter__(self) -> Iterator:
        if not mode.executing_eagerly():
            raise RuntimeError(
                "Dataset: expected eager mode for a Python loop; use make_one_shot_iterator"
            )
        return Iterator(self._element, self)

    def make_one_shot_iterator(self) -> Iterator:
        """Return an iterator that starts at its first use, in each session."""
        return Iterator(self._element, self, one_shot=True)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """Return an iterator that restarts whenever its `initializer` runs."""
        if mode.executing_eagerly():
            raise RuntimeError(
                "make_initializable_iterator: not possible in eager mode; iterate over the dataset"
            )
        return Iterator(self._element, self)

    def _derived(
        self, make: Callable[..., Rows[Any]], *args: Any, element: Any = None, more: Any = None,
        who: str = "", least: int | None = None,
    ) -> Dataset:  # fmt: skip
        """Return the dataset of `make(again, *args)`, where `again()` iterates over this one.

        A callable among the arguments is replaced by its result for `values`. The last argument is
        the first element of the dataset `more`, if given. Iterators continue after an error; see
        rows.py. `who` is the function with the argument, and `least` the smallest number, for error
        messages.
        """
        args = tuple(convert_to_tensor(x) if is_tensor(x) else x for x in args)
        for x in args:
            if not (_is_source(x) or callable(x)):
                _count(x, who, least)

        def start(values: dict[Any, Any]) -> Rows[Any]:
            found = (values[x] if _is_source(x) else x for x in args)
            given = (x(values) if callable(x) else _count(x, who, least) for x in found)
            further = [next(more._start(values))] if more else []
            return make(lambda: self._start(values), *given, *further)

        sources = [*self._sources, *args, *(more._sources if more else ())]
        return Dataset(self._element if element is None else element, sources, start)

    # --- sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """Create a dataset of a single element."""
        given = [_leaf(x) for x in leaves_of(tensors)]

        def start(values: dict[Any, Any]) -> Rows[Any]:
            return iter([[values[x] if _is_source(x) else x for x, _ in given]])

        return Dataset(packed(tensors, (s for _, s in given)), (x for x, _ in given), start)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """Create a dataset of the entries along the first axis."""
        whole = Dataset.from_tensors(tensors)
        shapes = [s.dims for s in leaves_of(whole._element)]
        if any(dims == () for dims in shapes):
            raise ValueError(
                "from_tensor_slices: expected tensors of rank >= 1 for tensors, got a scalar; use "
                "from_tensors"
            )
        lengths = {dims[0] for dims in shapes if dims} - {None}
        if len(lengths) > 1:
            raise ValueError(
                f"from_tensor_slices: expected one length of the first axis for tensors, got "
                f"{sorted(lengths)}"
            )
        rows = each(lambda s: Spec(s.dtype, s.dims and s.dims[1:]), whole._element)

        def slices(again: Any) -> Rows[Any]:
            arrays = next(again())
            if len({len(a) for a in arrays}) > 1:
                shapes = [a.shape for a in arrays]
                raise InvalidArgumentError(
                    None,
                    f"from_tensor_slices: expected one size of the first axis, got shapes {shapes}",
                )
            return map(list, zip(*arrays, strict=True))

        return whole._derived(slices, element=rows)

    @staticmethod
    def range(*args: Any, output_type: Any = int64) -> Dataset:
        """Create a dataset of integers, as Python's `range`."""
        kind = as_dtype(output_type)
        if not 1 <= len(args) <= 3:
            raise ValueError(f"range: expected 1 to 3 integers, got {len(args)}")

        def numbers(_: Any, *ends: int) -> Rows[Any]:
            if ends[2:] == (0,):
                raise InvalidArgumentError(None, "range: expected a step other than 0, got 0")
            return ([np.asarray(i, kind.dtype)] for i in range(*ends))

        return Dataset(Spec(kind, ()), (), lambda values: iter(()))._derived(
            numbers, *args, who="range args"
        )

    @staticmethod
    def from_generator(
        generator: Any, output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """Create a dataset of what `generator(*args)` yields in each epoch: pytrees of arrays."""
        if not callable(generator):
            raise TypeError(f"from_generator: expected a function, got {generator!r:.60}")
        element = specs_of(output_types, output_shapes)
        first = Dataset.from_tensors(tuple(args or ()))

        def yielded(again: Any) -> Rows[Any]:
            ins = zip(next(again()), leaves_of(first._element), strict=True)
            found = generator(*(decoded(a) if s.dtype == string else a for a, s in ins))
            return map(partial(parts_of, element), found)

        return first._derived(yielded, element=element)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Combine several datasets to tuples or dicts of elements, as long as the shortest."""
        many = leaves_of(datasets)
        for d in many:
            if not isinstance(d, Dataset):
                raise TypeError(
                    f"zip: expected a dataset, or tuples and dicts of datasets, got {d!r:.60}"
                )

        def start(values: dict[Any, Any]) -> Rows[Any]:
            return map(rows.joined, zip(*(d._start(values) for d in many), strict=False))

        element = each(lambda d: d._element, datasets)
        return Dataset(element, (x for d in many for x in d._sources), start)

    # --- functions of elements

    def _traced(self, function: Callable[..., Any], who: str) -> tuple[Any, Any]:
        """Trace a function of an element in its own graph.

        Returns its result, a pytree of tensors, and a function from an element's arrays to the
        values of some of these tensors.
        """
        if not callable(function):
            raise TypeError(f"{who}: expected a function of an element, got {function!r:.60}")
        graph = Graph()
        graph.seed = get_default_graph().seed
        with graph.as_default():
            holes = [placeholder(s.dtype, s.dims, "arg") for s in leaves_of(self._element)]
            given = packed(self._element, holes)
            result = function(*given) if type(given) is tuple else function(given)
            result = tuple(result) if isinstance(result, list) else result
            if result is None:
                raise ValueError(f"{who}: expected tensors from the function, got None")
            if not isinstance(result, Dataset):
                result = each(lambda y: convert_to_tensor(y), result)
        session = Session(graph=graph)

        def compute(tensors: list[Any], arrays: Any) -> list[Any]:
            feeds = [*zip(holes, arrays, strict=True)]
            return [y.numpy() for y in session._results(tensors, feeds)]

        return result, compute

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None,
        deterministic: bool | None = None,
    ) -> Dataset:  # fmt: skip
        """Apply `map_func` to each element; the entries of a tuple are separate arguments.

        It is traced once, and must not use outer tensors: pass these as elements, by `zip`.
        """
        result, compute = self._traced(map_func, "map")
        outs = leaves_of(result)
        element = each(lambda y: Spec(y.dtype, y.dims), result)
        return self._derived(lambda again: map(partial(compute, outs), again()), element=element)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """Concatenate the datasets that `map_func` returns for the elements."""
        inner, compute = self._traced(map_func, "flat_map")
        if not isinstance(inner, Dataset):
            raise TypeError(f"flat_map: expected a dataset from map_func, got {inner!r:.60}")
        sources = inner._sources

        def begun(x: Any) -> Rows[Any]:
            found = compute(sources, x) if sources else []
            return inner._start(dict(zip(sources, found, strict=True)))

        return self._derived(
            lambda again: rows.Chained(map(begun, again())), element=inner._element
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """Keep the elements for which `predicate` holds."""
        result, compute = self._traced(predicate, "filter")
        if not _is_source(result) or result.dtype != tf_bool or result.dims not in ((), None):
            raise ValueError(f"filter: expected a scalar bool from predicate, got {result!r:.80}")
        return self._derived(lambda again: filter(lambda x: compute([result], x)[0], again()))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return `transformation_func` of this dataset."""
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"apply: expected a dataset from the function, got {result!r:.60}")
        return result

    # --- order and number

    def shuffle(
        self, buffer_size: Any, seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
    ) -> Dataset:  # fmt: skip
        """Draw elements from a buffer of the next `buffer_size`.

        `seed`, or the graph's seed, makes the order repeatable; it differs from TensorFlow's order.
        """
        graph = get_default_graph()
        _shuffles[graph] = number = _shuffles.get(graph, 0) + 1
        if seed is None and graph.seed is not None:
            seed = number  # each shuffle of a program has its own order
        seeds = [0 if s is None else s % 2**64 + 1 for s in (graph.seed, seed)]
        kept: dict[Any, Any] | None = {} if mode.executing_eagerly() else None

        def orders(values: dict[Any, Any]) -> Rows[Any]:
            """Yield a generator for each epoch of an iterator, in eager mode of the dataset."""
            known = values if kept is None else kept
            if orders not in known:
                base = seeds if any(seeds) else [_core.fork_random_state()]
                again = reshuffle_each_iteration in (None, True)
                epochs = itertools.count() if again else itertools.repeat(0)
                known[orders] = (np.random.default_rng([*base, epoch]) for epoch in epochs)
            generators: Rows[Any] = known[orders]
            return generators

        def shuffled(again: Any, size: int, orders: Rows[Any]) -> Rows[Any]:
            return rows.shuffled(again(), size, next(orders))

        return self._derived(shuffled, buffer_size, orders, who="shuffle buffer_size", least=1)

    def repeat(self, count: Any = None) -> Dataset:
        """Repeat this dataset `count` times; without end if it is None or negative."""
        return self._derived(rows.repeated, count, who="repeat count")

    def take(self, count: Any) -> Dataset:
        """Keep the first `count` elements; all if it is negative."""
        return self._derived(lambda again, n: rows.first(again(), n), count, who="take count")

    def skip(self, count: Any) -> Dataset:
        """Drop the first `count` elements; all if it is negative."""
        return self._derived(
            lambda again, n: rows.at(lambda i: i >= n, again()) if n >= 0 else iter(()),
            count,
            who="skip count",
        )

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Keep every `num_shards`-th element, from number `index` on."""

        def chosen(again: Any, count: int, at: int) -> Rows[Any]:
            if not 0 <= at < count:
                raise InvalidArgumentError(
                    None, f"shard: expected an index from 0 to num_shards - 1, got {at} of {count}"
                )
            return rows.at(lambda i: i % count == at, again())

        return self._derived(chosen, num_shards, index, who="shard num_shards or index")

    def concatenate(self, dataset: Dataset) -> Dataset:
        """Append the elements of another dataset of the same types."""
        self._check_like(dataset, "concatenate")
        pairs = zip(leaves_of(self._element), leaves_of(dataset._element), strict=True)
        specs = (Spec(a.dtype, common_dims([a.dims, b.dims])) for a, b in pairs)

        def start(values: dict[Any, Any]) -> Rows[Any]:
            return itertools.chain(self._start(values), dataset._start(values))

        element = packed(self._element, specs)
        return Dataset(element, [*self._sources, *dataset._sources], start)

    def enumerate(self, start: int = 0) -> Dataset:
        """Pair each element with its number."""
        return Dataset.zip((Dataset.range(start, 2**63 - 1), self))

    def prefetch(self, buffer_size: Any = None) -> Dataset:
        """Return this dataset: elements are computed when they are taken."""
        return self

    def cache(self, filename: str = "") -> Dataset:
        """Store the elements of the first epoch of each iterator in memory for later epochs."""

        def start(values: dict[Any, Any]) -> Rows[Any]:
            if start in values:
                return iter(values[start])
            return rows.noted(self._start(values), partial(values.__setitem__, start))

        return Dataset(self._element, self._sources, start)

    # --- batches

    def batch(self, batch_size: Any, drop_remainder: bool = False) -> Dataset:
        """Stack `batch_size` elements; the last batch may be smaller, unless it is dropped."""
        return self._batched(
            batch_size, drop_remainder, [s.dims for s in leaves_of(self._element)], None
        )

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
        drop_remainder: bool = False,
    ) -> Dataset:  # fmt: skip
        """Stack elements padded to `padded_shapes`, by zero or `padding_values`.

        For None or -1 the size is the largest of the batch.
        """
        shapes = self.output_shapes if padded_shapes is None else each(_open, padded_shapes)
        wanted = [s.dims for s in leaves_of(specs_of(self.output_types, shapes))]
        kinds = leaves_of(self.output_types)
        for spec, shape in zip(leaves_of(self._element), wanted, strict=True):
            own = spec.dims
            if None not in (own, shape) and (
                len(own) != len(shape)
                or any(
                    None not in pair and pair[0] > pair[1] for pair in zip(own, shape, strict=True)
                )
            ):
                raise ValueError(
                    f"padded_batch: expected padded_shapes that fit elements of shape "
                    f"{TensorShape(own)}, got {TensorShape(shape)}"
                )
        given = [None] * len(kinds) if padding_values is None else leaves_of(padding_values)
        fill = tuple(
            np.zeros((), t.dtype) if v is None else convert_to_tensor(v, t)
            for v, t in zip(given, kinds, strict=True)
        )
        return self._batched(batch_size, drop_remainder, wanted, Dataset.from_tensors(fill))

    def _batched(self, size: Any, drop: bool, shapes: list[Any], fills: Any) -> Dataset:
        def batches(again: Any, size: int, fill: Any = None) -> Rows[Any]:
            return rows.batches(again(), size, drop, shapes, fill)

        count = size if drop and isinstance(size, int) else None
        specs = (
            Spec(s.dtype, None if dims is None else (count, *dims))
            for s, dims in zip(leaves_of(self._element), shapes, strict=True)
        )
        element = packed(self._element, specs)
        return self._derived(
            batches, size, element=element, more=fills, who="batch batch_size", least=1
        )


def _count(x: Any, who: str, least: int | None) -> Any:
    """Check the number that a method received; return a Python int or None."""
    if x is None:
        return None
    function, _, argument = who.partition(" ")
    try:
        number = operator.index(x)
    except TypeError:
        raise TypeError(f"{function}: expected an integer for {argument}, got {x!r:.60}") from None
    if least is not None and number < least:
        raise InvalidArgumentError(None, f"{function}: expected {argument} >= {least}, got {x}")
    return number


def _is_source(x: Any) -> bool:
    return isinstance(x, SymbolicTensor)


def _open(shape: Any) -> Any:
    """Replace -1 in a shape by None."""
    if isinstance(shape, (list, np.ndarray)):
        return [_open(d) for d in shape]
    return None if isinstance(shape, (int, np.integer)) and shape == -1 else shape


def _leaf(value: Any) -> tuple[Any, Spec]:
    """Return a tensor, or another value as an array, with its Spec."""
    x = convert_to_tensor(value) if is_tensor(value) else value
    if _is_source(x):
        return x, Spec(x.dtype, x.dims)
    array, dtype = as_array(x.numpy() if is_tensor(x) else x, None)
    return array, Spec(dtype, array.shape)
