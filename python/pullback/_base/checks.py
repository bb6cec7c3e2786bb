"""Checks and conversions of arguments. `who` is the public function that an error names."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy
from numpy.exceptions import AxisError
from numpy.linalg import LinAlgError

from .. import _core
from .._core import Tensor


def integer(value: Any, who: str, name: str = "") -> int:
    """Return an integer of Python, NumPy or a tensor, for the argument `name` of the function
    `who`; raise a TypeError for another value."""
    try:
        return index(value)
    except TypeError:
        what = f"an integer for {name}" if name else "an integer"
        raise TypeError(f"{who}: expected {what}, got {_core.shown(value)}") from None


def flag(value: Any, who: str, name: str) -> bool:
    """Return a truth value of Python or NumPy; raise a TypeError for another value."""
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    raise TypeError(f"{who}: expected True or False for {name}, got {_core.shown(value)}")


def not_a_number(value: Any, who: str, name: str = "") -> TypeError:
    """Return the error for a value that is not a number."""
    what = f"a number for {name}" if name else "a number"
    return TypeError(f"{who}: expected {what}, got {_core.shown(value)}")


def number(value: Any, who: str, name: str = "") -> float:
    """Return a number as a float, for the argument `name` of the function `who`; raise a TypeError
    for another value, also for a string such as "0.5"."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise not_a_number(value, who, name)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun for a message: "1 gradient", "2 gradients", "2 entries"."""
    if count == 1:
        return f"1 {noun}"
    plural = {"axis": "axes", "index": "indices"}.get(noun)
    return f"{count} {plural or (noun[:-1] + 'ies' if noun.endswith('y') else noun + 's')}"


def given_once(names: dict[str, Any], who: str) -> Any:
    """Return the value of an argument that has two names; raise a TypeError if both are given."""
    given = [value for value in names.values() if value is not None]
    if len(given) > 1:
        first, second = names
        raise TypeError(f"{who}: give {first} or {second}, which are the same, not both")
    return given[0] if given else None


def check_copy(value: Any, who: str) -> None:
    """Raise a TypeError unless `value` is True, False or None."""
    if value is not None:
        flag(value, who, "copy")


def offset_of(value: Any, who: str) -> int:
    """The number of a diagonal. One that no matrix has is cut to fit an int64."""
    return max(-(1 << 62), min(1 << 62, integer(value, who, "the diagonal")))


def floating(value: Any, who: str, kinds: str = "f") -> Tensor:
    """Return a tensor of floats; raise a TypeError for another dtype."""
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind not in kinds:
        raise TypeError(f"{who}: expected floats, got {tensor.dtype}; {_cure(tensor)}")
    return tensor


def made_floating(value: Any, who: str, kinds: str = "f") -> Tensor:
    """A tensor of floats: integers and bool are made so in the default dtype."""
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind in kinds:
        return tensor
    if tensor.dtype.kind == "c":
        return floating(tensor, who)
    return _core.cast(tensor, _core.default_float())


def vector_of_numbers(value: Any, who: str) -> Any:
    """Return a list or tuple of numbers, nested or not, as a tensor of floats; another value as it
    is.

    Python numbers take the dtype of the numbers of NumPy, if any.
    """
    numbers: list[Any] = []

    def is_numbers(one: Any) -> bool:
        if type(one) in (list, tuple):
            return bool(one) and all(map(is_numbers, one))
        numbers.append(one)
        return isinstance(one, (int, float, numpy.number)) and not isinstance(one, bool)

    if type(value) not in (list, tuple) or not is_numbers(value):
        return value
    dtypes = [one.dtype for one in numbers if isinstance(one, numpy.number)]
    return made_floating(numpy.asarray(value, numpy.result_type(*dtypes)) if dtypes else value, who)


def floats_of_integers(tree: Any, who: str) -> Any:
    """Return a pytree with floats in place of its arrays of integers.

    They take the dtype of the floating arrays if there is a single one, or the default dtype.
    """
    leaves, structure = _core.flatten(tree)
    arrays = (Tensor, _core.Variable, numpy.ndarray, numpy.generic)
    dtypes = [x.dtype if isinstance(x, arrays) else None for x in leaves]
    if not any(dtype is not None and dtype.kind in "iu" for dtype in dtypes):
        return tree
    found = {dtype for dtype in dtypes if dtype is not None and dtype.kind in "fc"}
    made = [
        x if dtype is None or dtype.kind not in "iu" else made_floating(x, who)
        for x, dtype in zip(leaves, dtypes, strict=True)
    ]
    if len(found) == 1:
        made = [
            _core.cast(x, next(iter(found))) if x is not leaf else x
            for x, leaf in zip(made, leaves, strict=True)
        ]
    return _core.unflatten(structure, made)


def start_of(value: Any, who: str) -> Any:
    """Return the start of a solver: a list of numbers is a vector, integers become floats."""
    return floats_of_integers(vector_of_numbers(value, who), who)


def is_python_numbers(value: Any) -> bool:
    """Test for a Python number, or a list or tuple of Python numbers, nested or not."""
    if type(value) in (list, tuple):
        return bool(value) and all(map(is_python_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, (bool, numpy.generic))


def entries_stacked(value: Any, who: str) -> Any:
    """Return a list or tuple with scalar tensors as a vector; another value as it is."""
    if not isinstance(value, (list, tuple)):
        return value
    if not any(isinstance(one, (Tensor, _core.Variable)) for one in value):
        return value
    return _core.stack(_core.operands(list(value), who), 0)


def check_matrices(x: Tensor, who: str, *, square: bool = False) -> None:
    """Raise a LinAlgError unless the last two axes are those of matrices."""
    if len(x.shape) < 2:
        what = "a matrix or a batch of matrices"
    elif square and x.shape[-1] != x.shape[-2]:
        what = "square matrices"
    else:
        return
    raise LinAlgError(f"{who}: expected {what}, got shape {x.shape}")


def _cure(tensor: Tensor) -> str:
    return "take real(x), or abs(x)" if tensor.dtype.kind == "c" else "cast it"


def choice(value: Any, known: Sequence[str], who: str, what: str) -> str:
    """Return `value`, one of the options `known` of the argument `what`."""
    if isinstance(value, str) and value in known:
        return value
    words = ", ".join(map(repr, known))
    raise ValueError(f"{who}: {what} must be one of {words}; got {_core.shown(value)}")


def is_integer(value: Any) -> bool:
    """Test whether `value` is a single integer."""
    return hasattr(value, "__index__") and not getattr(value, "shape", ())


def integers(value: Any, who: str, name: str) -> list[int]:
    """Return an integer or a sequence of integers, the argument `name` of the function `who`, as a
    list; raise a TypeError for another value."""
    if is_integer(value):
        return [index(value)]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{who}: expected an integer or a sequence of integers for {name}, got "
            f"{_core.shown(value)}"
        )
    return [integer(n, who, name) for n in value]


def axes_of(value: Any, rank: int, who: str) -> list[int]:
    """Return distinct axes, counted from 0; raise an AxisError or a ValueError for others."""
    found = []
    for k in integers(value, who, "axis"):
        if not -rank <= k < rank:
            valid = f"valid: {-rank} to {rank - 1}" if rank else "it has no axes"
            raise AxisError(
                f"{who}: axis {k} is out of range for an array of rank {rank} ({valid})"
            )
        found.append(k % rank)
    if len(set(found)) < len(found):
        raise ValueError(f"{who}: expected distinct axes, got {_core.shown(value)}")
    return found


def along(axis: int, which: Any) -> tuple[Any, ...]:
    """Return the index that selects `which` along an axis."""
    return (*(slice(None),) * axis, which)


def broadcasts_to(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Return whether a tensor of this shape broadcasts to the shape `target`."""
    try:
        return numpy.broadcast_shapes(shape, target) == tuple(target)
    except ValueError:
        return False


def known_values(x: Any, who: str) -> Any:
    """Return the values that determine the shape of a result, as a NumPy array."""
    tensor = _core.constant(x, who=who)
    if _core.is_traced(tensor):
        raise RuntimeError(
            f"{who}: the shape of the result depends on values, which are not known while a "
            "function is traced; call it outside, or use where(mask, x, y)"
        )
    return tensor.numpy()


def integer_orders(value: Any, who: str) -> Any:
    """Return an integer order or a tensor of orders; raise a TypeError for another dtype."""
    if is_integer(value) and not isinstance(value, Tensor):
        return index(value)
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{who}: expected integer orders, got {tensor.dtype}")
    return tensor


def integer_tensor(value: Any, who: str, what: str) -> Tensor:
    """Return integers of any shape as int64; raise a TypeError for another dtype.

    An empty value such as `[]` may have any dtype.
    """
    found = _core.constant(value, who=who)
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{who}: expected integers for {what}, got {found.dtype}")
    return _core.cast(found, "int64")


def trans_letter(trans: Any, who: str) -> str:
    """Return "N" for a matrix, "T" for its transpose, or "C" for its conjugate transpose.

    `trans` is one of these letters, or SciPy's 0, 1 or 2.
    """
    words: dict[Any, str] = {0: "N", 1: "T", 2: "C"}
    return choice(words[trans] if trans in (0, 1, 2) else trans, ("N", "T", "C"), who, "trans")


def lengths_of(value: Any, batch: int, most: int, who: str, what: str) -> Tensor:
    """Return the length of each entry of a batch as int64, `most` by default.

    A length out of range raises a ValueError, or an IndexError at the evaluation if the lengths are
    traced.
    """
    if value is None:
        return _core.full((batch,), most, "int64")
    given = _core.constant(value, who=who)
    if given.shape != (batch,) or (batch and given.dtype.kind not in "iu"):
        raise ValueError(
            f"{who}: expected {counted(batch, 'integer')} for {what}, one for each entry of the "
            f"batch, got {given.dtype} of shape {given.shape}"
        )
    lengths = _core.cast(given, "int64")
    if _core.is_traced(given):
        inside = _core.where(_core.less(lengths, 0), most + 1, lengths)
        return _core.take(_core.cast(numpy.arange(most + 1), "int64"), inside, 0)
    if batch:
        known = given.numpy()
        if known.min() < 0 or known.max() > most:
            raise ValueError(
                f"{who}: expected integers from 0 to {most} for {what}, got {known.tolist()}"
            )
    return lengths
