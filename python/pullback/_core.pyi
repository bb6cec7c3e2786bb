"""
The C++ core of pullback; use the package's public names instead.
"""

from __future__ import annotations

import collections.abc
import types
import typing

import numpy
import numpy.typing
import typing_extensions

import pullback._numpy.indexing
import pullback._typing

class _ArrayMembers:
    @property
    def T(self) -> Tensor:
        """Return a Tensor with the axes in reverse order."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __and__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __array__(
        self, dtype: pullback._typing.DType = None, copy: bool | None = None
    ) -> numpy.typing.NDArray[numpy.generic]: ...
    def __array_function__(
        self,
        function: collections.abc.Callable[..., object],
        types: collections.abc.Iterable[type],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        /,
    ) -> typing.Any: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> types.ModuleType: ...
    def __array_ufunc__(
        self, ufunc: numpy.ufunc, method: str, /, *inputs: object, **options: object
    ) -> typing.Any: ...
    def __bool__(self) -> bool: ...
    def __complex__(self) -> complex: ...
    def __contains__(self, value: object, /) -> bool: ...
    def __divmod__(self, other: pullback._typing.TensorLike, /) -> tuple[Tensor, Tensor]: ...
    def __dlpack__(
        self,
        *,
        stream: typing.Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> typing.Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> float: ...
    def __floordiv__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __format__(self, specification: str, /) -> str: ...
    def __ge__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __getitem__(self, key: pullback._typing.Index, /) -> Tensor: ...
    def __gt__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> Tensor: ...
    def __iter__(self) -> collections.abc.Iterator[Tensor]: ...
    def __le__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __len__(self) -> int: ...
    def __lshift__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __lt__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __matmul__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __mod__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __mul__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: pullback._typing.TensorLike, mod: None | None = None, /) -> Tensor: ...
    def __radd__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rand__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rdivmod__(self, other: pullback._typing.TensorLike, /) -> tuple[Tensor, Tensor]: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def __rfloordiv__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rlshift__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rmatmul__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rmod__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rmul__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __ror__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __round__(self, decimals: int | None = None) -> Tensor | int: ...
    def __rpow__(
        self, other: pullback._typing.TensorLike, mod: None | None = None, /
    ) -> Tensor: ...
    def __rrshift__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rshift__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rsub__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rtruediv__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __rxor__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __setitem__(
        self, key: pullback._typing.Index, value: pullback._typing.TensorLike, /
    ) -> None: ...
    def __sub__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __truediv__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def __xor__(self, other: pullback._typing.TensorLike, /) -> Tensor: ...
    def _repr_html_(self) -> str:
        """Return the HTML that notebooks show."""
    def all(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Test whether all elements along axes are true."""
    def any(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Test whether any element along axes is true."""
    def argmax(self, axis: typing.SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
        """Return the index of the maximum along an axis."""
    def argmin(self, axis: typing.SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
        """Return the index of the minimum along an axis."""
    def argpartition(self, kth: typing.SupportsIndex, axis: typing.SupportsIndex = -1) -> Tensor:
        """Return the indices that partition the elements along an axis."""
    def argsort(
        self,
        axis: typing.SupportsIndex | None = -1,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Tensor:
        """Return the indices that sort the elements along an axis."""
    def astype(
        self,
        dtype: numpy.typing.DTypeLike,
        /,
        *,
        copy: bool = True,
        device: pullback._typing.Device | None = None,
    ) -> Tensor:
        """Convert `self` to another dtype."""
    @property
    def at(self) -> pullback._numpy.indexing.At:
        """Return an indexer for updates of entries."""
    def choose(
        self,
        choices: collections.abc.Sequence[pullback._typing.TensorLike],
        *,
        mode: typing.Literal["raise", "wrap", "clip"] = "raise",
    ) -> Tensor:
        """Select each element from one of several arrays by its number."""
    def clip(
        self,
        min: pullback._typing.TensorLike | None = None,
        max: pullback._typing.TensorLike | None = None,
        *,
        a_min: pullback._typing.TensorLike | None = None,
        a_max: pullback._typing.TensorLike | None = None,
    ) -> Tensor:
        """Limit the values of `self` to the interval from `min` to `max`."""
    def compress(
        self, condition: pullback._typing.TensorLike, axis: typing.SupportsIndex | None = None
    ) -> Tensor:
        """Select the slices along an axis where a condition is true."""
    def conj(self) -> Tensor:
        """Return the complex conjugate of `self`."""
    def conjugate(self) -> Tensor:
        """Alias of `conj`, under NumPy's other name."""
    def copy(self) -> Tensor:
        """Return a tensor with the same value."""
    def cumprod(
        self, axis: typing.SupportsIndex | None = None, dtype: pullback._typing.DType = None
    ) -> Tensor:
        """Compute the cumulative product along an axis or of the flattened input."""
    def cumsum(
        self, axis: typing.SupportsIndex | None = None, dtype: pullback._typing.DType = None
    ) -> Tensor:
        """Compute the cumulative sum along an axis or of the flattened input."""
    @property
    def device(self) -> pullback._typing.Device:
        """Return the device of the tensor."""
    def diagonal(
        self,
        offset: typing.SupportsIndex = 0,
        axis1: typing.SupportsIndex = 0,
        axis2: typing.SupportsIndex = 1,
    ) -> Tensor:
        """Extract a diagonal of two axes."""
    def dot(self, b: pullback._typing.TensorLike) -> Tensor:
        """Compute the dot product, with the axes of ``np.dot``."""
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """Return the dtype of the elements, a numpy.dtype."""
    def fill(self, value: pullback._typing.TensorLike) -> None:
        """Assign a value to all items, as `x[...] = value` does."""
    @property
    def flat(self) -> pullback._numpy.flat.Flat:
        """Return the elements in row-major order, for reads and assignments."""
    def flatten(self) -> Tensor:
        """Return the elements as a vector, in row-major order."""
    @property
    def imag(self) -> Tensor:
        """Return the imaginary part, like `pullback.imag`."""
    def item(self, *args: int | tuple[int, ...]) -> bool | int | float | complex:
        """Return one element as a Python number."""
    @property
    def itemsize(self) -> int:
        """Return the size of an element in bytes, an int."""
    @property
    def mT(self) -> Tensor:
        """Return a Tensor with the last two axes exchanged; the rank must be 2 or more."""
    def max(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        initial: pullback._typing.TensorLike | None = None,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the maximum over axes."""
    def mean(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        dtype: pullback._typing.DType = None,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the arithmetic mean over axes."""
    def min(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        initial: pullback._typing.TensorLike | None = None,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the minimum over axes."""
    @property
    def nbytes(self) -> int:
        """Return the size of all elements in bytes, an int."""
    @property
    def ndim(self) -> int:
        """Return the number of axes, an int."""
    def nonzero(self) -> tuple[Tensor, ...]:
        """Return the indices of the elements that are not 0."""
    def numpy(self) -> numpy.typing.NDArray[typing.Any]:
        """Return the value as a NumPy array."""
    def partition(self, kth: typing.SupportsIndex, axis: typing.SupportsIndex = -1) -> Tensor:
        """Partition the elements along an axis around the k-th smallest."""
    def prod(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        dtype: pullback._typing.DType = None,
        initial: pullback._typing.TensorLike | None = None,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the product over axes."""
    def ptp(self, axis: pullback._typing.Axis = None, *, keepdims: bool = False) -> Tensor:
        """Compute the difference of maximum and minimum over axes."""
    def ravel(self) -> Tensor:
        """Flatten an array."""
    @property
    def real(self) -> Tensor:
        """Return the real part, like `pullback.real`."""
    def repeat(
        self, repeats: pullback._typing.TensorLike, axis: typing.SupportsIndex | None = None
    ) -> Tensor:
        """Repeat each element along an axis."""
    def reshape(self, *shape: pullback._typing.Shape) -> Tensor:
        """Return the elements in another shape, in row-major order."""
    def round(self, decimals: typing.SupportsIndex = 0) -> Tensor:
        """Round `self` to a number of decimals; ties are rounded to even."""
    def searchsorted(
        self,
        v: pullback._typing.TensorLike,
        side: pullback._typing.Side = "left",
        sorter: pullback._typing.TensorLike | None = None,
    ) -> Tensor:
        """Return the indices at which elements can be inserted into a sorted vector."""
    @property
    def shape(self) -> tuple[int, ...]:
        """Return the sizes of the axes, a tuple of int."""
    @property
    def size(self) -> int:
        """Return the number of elements, an int."""
    def sort(
        self,
        axis: typing.SupportsIndex | None = -1,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Tensor:
        """Sort the elements along an axis."""
    def squeeze(
        self,
        axis: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
    ) -> Tensor:
        """Remove axes of size 1."""
    def std(
        self,
        axis: pullback._typing.Axis = None,
        dtype: pullback._typing.DType = None,
        *,
        correction: float = 0.0,
        ddof: float | None = None,
        keepdims: bool = False,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the standard deviation over axes."""
    def sum(
        self,
        axis: pullback._typing.Axis = None,
        keepdims: bool = False,
        *,
        dtype: pullback._typing.DType = None,
        initial: pullback._typing.TensorLike | None = None,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the sum over axes."""
    def swapaxes(self, axis1: typing.SupportsIndex, axis2: typing.SupportsIndex) -> Tensor:
        """Exchange two axes."""
    def take(
        self, indices: pullback._typing.TensorLike, axis: typing.SupportsIndex | None = None
    ) -> Tensor:
        """Return the elements at indices along an axis."""
    def to_device(self, device: str, /, *, stream: None | None = None) -> Tensor:
        """Return the tensor on a device."""
    def tobytes(self, order: typing.Literal["C", "F", "A"] = "C") -> bytes:
        """Return the bytes of the value."""
    def tolist(self) -> typing.Any:
        """Return the value as a nested list of Python numbers."""
    def trace(
        self,
        offset: typing.SupportsIndex = 0,
        axis1: typing.SupportsIndex = 0,
        axis2: typing.SupportsIndex = 1,
        dtype: pullback._typing.DType = None,
    ) -> Tensor:
        """Compute the sum of a diagonal."""
    def transpose(self, *axes: pullback._typing.Axis) -> Tensor:
        """Permute the axes."""
    def var(
        self,
        axis: pullback._typing.Axis = None,
        dtype: pullback._typing.DType = None,
        *,
        correction: float = 0.0,
        ddof: float | None = None,
        keepdims: bool = False,
        where: pullback._typing.TensorLike = True,
    ) -> Tensor:
        """Compute the variance over axes."""

class Tensor(_ArrayMembers): ...

class Variable(_ArrayMembers):
    def __init__(
        self,
        initial: pullback._typing.TensorLike,
        trainable: bool = True,
        name: str | None = None,
        dtype: pullback._typing.DType = None,
    ) -> None: ...
    def __setstate__(self, state: tuple[object, ...], /) -> None: ...
    def assign(self, value: pullback._typing.TensorLike) -> Variable:
        """Replace the value of the variable."""
    def assign_add(self, value: pullback._typing.TensorLike) -> Variable:
        """Add to the value of the variable."""
    def assign_sub(self, value: pullback._typing.TensorLike) -> Variable:
        """Subtract from the value of the variable."""
    @property
    def name(self) -> str:
        """Return the name, a str, which messages and the state of optimizers use."""
    def read(self) -> Tensor:
        """Return the present value as a tensor, a snapshot."""
    @property
    def trainable(self) -> bool:
        """Return True if tapes watch the variable, so that minimize() changes it by default."""

@typing.final
class Function:
    def __call__(self, *args: object, **kwargs: object) -> typing.Any: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> typing.Any: ...
    def cache_info(self) -> pullback._typing.CacheInfo:
        """Return counts of the cache of traces."""
    def clear_cache(self) -> None:
        """Remove all traces; the next call traces again."""
    def graph(self, *args: object, **kwargs: object) -> str:
        """Return the operations recorded for a call with these arguments, without running them."""
    def plan(self, *args: object, **kwargs: object) -> str:
        """Return the plan of a call with these arguments, without running it."""

class Rule:
    """A gradient rule written in Python."""
    def __init__(
        self,
        fn: collections.abc.Callable[
            [str, list[Tensor], list[Tensor], list[Tensor | None]],
            collections.abc.Iterable[pullback._typing.TensorLike | None],
        ],
        name: str,
    ) -> None:
        """`fn(name, inputs, outputs, cotangents)` returns a cotangent or None for each input."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""

class Tape:
    """An interval of time in which operations are recorded."""
    @staticmethod
    def any_recording() -> bool:
        """Test whether any tape records in this context."""
    def __init__(self, watch_accessed_variables: bool = True, transform: str = "") -> None:
        """`transform` is the function transform that the tape serves; empty for the user's."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def end_histories(self, results: collections.abc.Sequence[pullback._typing.TensorLike]) -> None:
        """Untrack results that depend on no tracked tensor but those of this tape."""
    def exempt(self, inputs: collections.abc.Sequence[pullback._typing.TensorLike]) -> None:
        """Permit reads of inputs whose derivatives a custom rule provides."""
    def pause(self) -> None:
        """Pause the recording."""
    def reset(self) -> None:
        """Forget the recorded operations."""
    def resume(self) -> None:
        """Continue the recording."""
    def start(self) -> None:
        """Record in this context and in later copies of it."""
    def stop(self) -> None:
        """End the recording."""
    def watch(self, x: pullback._typing.Source) -> None:
        """Record the operations on a tensor or a variable from now on."""
    def watched_variables(self) -> list[Variable]:
        """Return the watched variables in order of creation."""
    @property
    def recording(self) -> bool:
        """True while the tape records."""

class Trace:
    """A function recorded once and run many times."""
    @staticmethod
    def active() -> bool:
        """Test whether a trace is open on this thread."""
    def __init__(self, name: str = "") -> None:
        """`name` is the function with its place, for error messages."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def abandon(self) -> None:
        """End recording after an exception inside."""
    def argument(
        self, dtype: numpy.typing.DTypeLike, shape: pullback._typing.Shape, weak: bool
    ) -> Tensor:
        """Add an argument; a weak one is a Python float."""
    def close(self, outputs: collections.abc.Sequence[pullback._typing.TensorLike]) -> None:
        """End recording."""
    def open(self) -> None:
        """Start recording."""
    def replay(
        self, arguments: collections.abc.Sequence[pullback._typing.TensorLike]
    ) -> list[Tensor]:
        """Run the function; the results have no history."""

class ClosedGraph:
    """Operations that can be copied to other inputs."""
    def __init__(
        self,
        roots: collections.abc.Sequence[pullback._typing.TensorLike],
        at: collections.abc.Sequence[pullback._typing.TensorLike],
        first: typing.SupportsInt | typing.SupportsIndex | None = None,
    ) -> None:
        """Take the operations between `at` and `roots`, and all with a number from `first` on."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def bytes(self) -> int:
        """Return the size of all its tensors."""
    def copy(
        self,
        inputs: collections.abc.Sequence[pullback._typing.TensorLike],
        keep: bool | None = None,
    ) -> list[Tensor]:
        """Copy the roots to other inputs, `at` and others; with `keep`, only they may keep their
        values."""
    def never_keep(self) -> None:
        """Do not keep the values of its operations after an evaluation."""
    @property
    def others(self) -> list[Tensor]:
        """The tracked tensors that it reads from outside."""

class BatchScope:
    """A block in which a function is batched."""
    def __enter__(self) -> None:
        """Enter the block."""
    def __exit__(self, *args: object) -> None:
        """Leave the block."""
    def __init__(self) -> None:
        """Make a block that is not entered."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""

class Pattern:
    """The entries of a matrix that may be nonzero, by rows."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def transposed(self) -> Pattern:
        """Return the pattern of the transposed matrix."""
    @property
    def entries(self) -> numpy.typing.NDArray[numpy.integer]:
        """Columns of the entries."""
    @property
    def starts(self) -> numpy.typing.NDArray[numpy.integer]:
        """Position of the first entry of each row, then their number."""

class Body:
    """The recorded body of a loop or a branch."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""

class BodyTrace:
    """Records the body of a loop or a branch."""
    def __init__(self, who: str, name: str) -> None:
        """`name` is the function with its place, for error messages."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def abandon(self) -> None:
        """End recording after an exception inside."""
    def argument(self, dtype: numpy.typing.DTypeLike, shape: pullback._typing.Shape) -> Tensor:
        """Add an argument of the body."""
    def close(
        self, roots: collections.abc.Sequence[pullback._typing.TensorLike], all_inside: bool
    ) -> Body:
        """End recording and return the body."""
    def open(self) -> None:
        """Start recording."""

class NumberCheck:
    """A block of check_numerics."""
    def __init__(self) -> None:
        """Enter the block."""
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def leave(self) -> None:
        """Leave the block."""

class Structure:
    """The structure of a pytree without its leaves."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __len__(self) -> int: ...
    def __reduce__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __reduce_ex__(self, *args: object) -> typing.NoReturn:
        """Refuse to be pickled or copied."""
    def __repr__(self) -> str: ...
    def static_data(self) -> list[tuple[type, typing.Any]]:
        """Return class and static data of each dataclass, class of attrs and registered class."""

def abs(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the absolute value."""

def acos(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse cosine in radians, from 0 to pi."""

def acosh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic cosine."""

def acosh_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `acosh`."""

def add(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the sum `x + y`."""

def all(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Test whether all elements along axes are true."""

def along_path(
    ys: pullback._typing.SourceList,
    xs: pullback._typing.SourceList,
    terms: collections.abc.Sequence[list[pullback._typing.TensorLike | None]],
    order: typing.SupportsInt | typing.SupportsIndex,
) -> list[list[Tensor | None]]:
    """Compute the derivatives of each `y` along a path, up to `order`; None is zero."""

def ancestors(
    ys: collections.abc.Sequence[pullback._typing.TensorLike],
    xs: pullback._typing.SourceList,
    stop: pullback._typing.SourceList,
    overrides: dict[str, Rule] | None,
    tape: Tape | None = None,
    also: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    assignments: bool = False,
) -> list[dict[str, typing.Any]]:
    """Describe the tensors from which the `ys` are computed."""

def any(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Test whether any element along axes is true."""

def arange(
    start: pullback._typing.TensorLike,
    size: typing.SupportsIndex,
    step: pullback._typing.TensorLike,
    dtype: numpy.typing.DTypeLike,
) -> Tensor:
    """Make a vector of evenly spaced values."""

def argmax(
    x: pullback._typing.TensorLike,
    /,
    axis: typing.SupportsIndex | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the index of the maximum along an axis."""

def argmin(
    x: pullback._typing.TensorLike,
    /,
    axis: typing.SupportsIndex | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the index of the minimum along an axis."""

def argsort(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, descending: bool = False
) -> Tensor:
    """Return the indices that sort the elements along an axis."""

def arrays_of(
    tensors: collections.abc.Sequence[pullback._typing.TensorLike],
) -> list[numpy.typing.NDArray[typing.Any]]:
    """Return the values of tensors; not recorded as reads."""

def asin(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse sine in radians, from -pi/2 to pi/2."""

def asin_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `asin`."""

def asinh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic sine."""

def asinh_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `asinh`."""

def at_index(
    x: pullback._typing.TensorLike,
    value: pullback._typing.TensorLike,
    indices: pullback._typing.TensorLike,
    axis: typing.SupportsIndex,
    update: str,
    unique: bool,
) -> Tensor:
    """Update the entries at indices of an axis; with `unique`, no index occurs twice."""

def atan(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse tangent in radians, from -pi/2 to pi/2."""

def atan2(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the angle of the point with ordinate `x` and abscissa `y`."""

def atan_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `atan`."""

def atanh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic tangent."""

def atanh_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `atanh`."""

def attention(
    q: pullback._typing.TensorLike,
    k: pullback._typing.TensorLike,
    v: pullback._typing.TensorLike,
    scale: pullback._typing.TensorLike,
    mask: pullback._typing.TensorLike | None,
    causal: bool,
    dropped: pullback._typing.TensorLike | None,
) -> Tensor:
    """Compute scaled dot-product attention; `dropped` is the dropout rate."""

def attributes_of(x: pullback._typing.TensorLike) -> dict[str, int | bool | tuple[int, ...]]:
    """Return the attributes of an operation, under the argument names of the public functions."""

def banded_solve(
    bands: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    below: typing.SupportsInt | typing.SupportsIndex,
    tridiagonal: bool,
) -> Tensor:
    """Solve a banded system with `below` diagonals under the main one."""

def batch_last(x: pullback._typing.TensorLike) -> Tensor:
    """Move the first axis, a batch, to the end; entries that are taken move in their table."""

def batched(
    roots: collections.abc.Sequence[pullback._typing.TensorLike],
    inputs: collections.abc.Sequence[pullback._typing.TensorLike],
    batches: collections.abc.Sequence[pullback._typing.TensorLike],
    count: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex,
) -> list[Tensor]:
    """Rebuild the roots for all entries of `batches` in place of `inputs`, along a first axis."""

def batched_or_each(
    roots: collections.abc.Sequence[pullback._typing.TensorLike],
    inputs: collections.abc.Sequence[pullback._typing.TensorLike],
    batches: collections.abc.Sequence[pullback._typing.TensorLike],
    count: typing.SupportsInt | typing.SupportsIndex,
    units: bool = False,
) -> list[Tensor] | None:
    """Do the same, one by one if needed; None if a user-defined rule prevents that."""

def beta(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute gamma(a) gamma(b) / gamma(a + b) without intermediate overflow."""

def beta_density(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `beta` by e, n, s, i, t, y."""

def beta_density_da(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `beta_density` by a."""

def beta_density_db(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `beta_density` by b."""

def beta_density_dx(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `beta_density` by x."""

def betainc(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    x: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute the regularized incomplete beta function."""

def betainc_da(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `betainc` by a."""

def betainc_daa(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `betainc` by a, a."""

def betainc_dab(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `betainc` by a, b."""

def betainc_db(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `betainc` by b."""

def betainc_dbb(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `betainc` by b, b."""

def betaincc(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    x: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute the complement of the regularized incomplete beta function."""

def betainccinv(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    q: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Return `x` such that betaincc(a, b, x) = q."""

def betaincinv(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    p: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Return `x` such that betainc(a, b, x) = p."""

def betaln(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm of the absolute value of `beta`."""

def bitwise_and(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the bitwise conjunction `x & y`."""

def bitwise_invert(x: pullback._typing.TensorLike, /) -> Tensor:
    """Invert every bit: `~x`."""

def bitwise_left_shift(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Shift the bits of `x` to the left: `x << y`."""

def bitwise_or(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the bitwise disjunction `x | y`."""

def bitwise_right_shift(
    x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /
) -> Tensor:
    """Shift the bits of `x` to the right: `x >> y`."""

def bitwise_xor(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the bitwise exclusive disjunction `x ^ y`."""

def branch(
    index: pullback._typing.TensorLike,
    bodies: collections.abc.Sequence[Body],
    operands: collections.abc.Sequence[pullback._typing.TensorLike],
) -> list[Tensor]:
    """Run one of several bodies."""

def broadcast_to(x: pullback._typing.TensorLike, /, shape: pullback._typing.Shape) -> Tensor:
    """Broadcast to a shape."""

def build_info() -> dict[str, typing.Any]:
    """Describe the build and the machine."""

def call_with_rule(
    decorated: tuple[typing.Any, ...],
    args: tuple[typing.Any, ...],
    kwargs: dict[str, typing.Any],
    names: collections.abc.Sequence[str],
    values: collections.abc.Sequence[typing.Any],
) -> typing.Any:
    """Call a function that custom_gradient decorates; `values` are its arguments by name."""

def callback(
    f: collections.abc.Callable[..., numpy.typing.NDArray[numpy.generic] | None],
    inputs: collections.abc.Sequence[pullback._typing.TensorLike],
    dtype: numpy.typing.DTypeLike,
    shape: pullback._typing.Shape,
    takes_batches: bool = False,
    in_place: bool = False,
) -> Tensor:
    """Call a Python function on the values of tensors when the result is evaluated. With
    `in_place`, it receives the array of the result as its last argument and writes to it, and all
    arrays are valid during the call only."""

def cast(
    x: pullback._typing.TensorLike, dtype: numpy.typing.DTypeLike, copy: bool = False
) -> Tensor:
    """Convert to a dtype; with `copy`, the result is never `x` itself."""

def cbrt(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the real cube root, also of a negative number."""

def ceil(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return the smallest integer that is not less than `x`."""

def check_escape(x: pullback._typing.TensorLike, who: str) -> None:
    """Apply the policy to an argument whose value a library function returns as an array."""

def check_positions(
    indices: pullback._typing.TensorLike,
    axis: typing.SupportsIndex,
    size: typing.SupportsIndex,
    who: str,
) -> None:
    """Raise IndexError if an index is out of range for an axis of this size."""

def checked_gradients(
    ys: object,
    xs: object,
    seeds: collections.abc.Iterable[pullback._typing.TensorLike | None] | None,
    stops: object,
    overrides: dict[str, Rule] | None,
    zeros: bool,
) -> typing.Any:
    """Check pytrees of tensors and variables and compute gradients in the structure of `xs`."""

def checked_tangents(
    ys: object,
    xs: object,
    seeds: collections.abc.Iterable[pullback._typing.TensorLike | None] | None,
    stops: object,
    overrides: dict[str, Rule] | None,
    zeros: bool,
) -> typing.Any:
    """Check pytrees of tensors and variables and compute tangents in the structure of `ys`."""

def checking_numbers() -> bool:
    """Test for an open block in this context."""

def children_of(object: object) -> tuple[tuple[typing.Any, ...], typing.Any] | None:
    """Return (children, extra) of an object of a registered class, else None."""

def cholesky(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Cholesky factor."""

def clear_plans() -> None:
    """Remove all cached plans."""

def clip(
    x: pullback._typing.TensorLike,
    min: pullback._typing.TensorLike,
    max: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Limit the values of `x` to the interval from `min` to `max`."""

def combine(
    x: pullback._typing.TensorLike, value: pullback._typing.TensorLike, update: str
) -> Tensor:
    """Update every entry of `x`; `update` is 'set', 'add', 'multiply', 'min' or 'max'."""

def composite(
    function: collections.abc.Callable[..., typing.Any], of_sequence: bool
) -> collections.abc.Callable[..., typing.Any]:
    """Name the results of a function that is made of several operations."""

def composite_key(function: typing.Any) -> str | None:
    """Return the name of the nodes of a function that `composite` wraps; None for others."""

def composite_names() -> list[str]:
    """Return the names of the functions that `composite` wraps."""

def compression(
    pattern: Pattern,
    symmetric: bool,
    rows: pullback._typing.Shape,
    columns: pullback._typing.Shape,
    who: str,
) -> tuple[bool, int, numpy.typing.NDArray[numpy.integer], numpy.typing.NDArray[numpy.integer]]:
    """Colour a pattern: by rows or not, number of colours, colours, indices of the entries."""

def computed_from(
    ys: collections.abc.Sequence[pullback._typing.TensorLike],
    xs: collections.abc.Sequence[pullback._typing.TensorLike],
) -> list[bool]:
    """Test for each `x` whether some `y` is computed from its value."""

def concat(
    arrays: collections.abc.Sequence[pullback._typing.TensorLike], /, axis: typing.SupportsIndex
) -> Tensor:
    """Join arrays along an axis."""

def conj(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the complex conjugate."""

def constant(
    value: pullback._typing.TensorLike, dtype: pullback._typing.DType = None, who: str = "constant"
) -> Tensor:
    """Make a tensor of a value."""

def convolve(
    x: pullback._typing.TensorLike,
    w: pullback._typing.TensorLike,
    stride: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    dilation: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    low: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    spacing: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    out: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
) -> Tensor:
    """Compute a cross-correlation over three axes, with `low` padding before the first entries and
    `spacing` between them."""

def copysign(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the magnitude of `x` with the sign of `y`."""

def cos(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the cosine of `x` in radians."""

def cosh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the hyperbolic cosine."""

def cosine_of(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a / hypot(a, b)."""

def counted_loop(
    count: pullback._typing.TensorLike,
    body: Body,
    carries: collections.abc.Sequence[pullback._typing.TensorLike],
) -> list[Tensor]:
    """Run a body `count` times."""

def cuda_device_count() -> int:
    """Return the number of GPUs."""

def cuda_fallbacks() -> dict[str, int]:
    """Return how many steps of each kind have run on the host."""

def cuda_kernel_cache() -> tuple[str, int] | None:
    """Return the folder of compiled kernels and its bytes; None if none is used."""

def cuda_memory(device: str) -> dict[str, int]:
    """Return figures of the memory of a GPU, in bytes."""

def cuda_missing_compiler() -> str:
    """Return why no kernel can be compiled, or ""."""

def cuda_reason() -> str:
    """Return why CUDA cannot be used, or ""."""

def cuda_stream(device: typing.SupportsInt | typing.SupportsIndex) -> int:
    """Return the address of the stream of a GPU, opened by its number."""

def cuda_synchronize(device: str) -> None:
    """Wait for the work of a GPU."""

def cuda_trim(device: str) -> None:
    """Return cached memory to the driver."""

def cumulative_max(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, reversed: bool = False
) -> Tensor:
    """Compute the cumulative maximum along an axis."""

def cumulative_min(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, reversed: bool = False
) -> Tensor:
    """Compute the cumulative minimum along an axis."""

def cumulative_prod(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, reversed: bool = False
) -> Tensor:
    """Compute the cumulative product along an axis."""

def cumulative_sum(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, reversed: bool = False
) -> Tensor:
    """Compute the cumulative sum along an axis."""

def current_site() -> pullback._typing.Site | None:
    """Return file, line and function of the user's running line; None if nothing is recorded."""

def custom(
    inside: collections.abc.Sequence[pullback._typing.TensorLike],
    inputs: collections.abc.Sequence[pullback._typing.TensorLike],
    rule: Rule,
) -> list[Tensor]:
    """Return tensors with the values of `inside` whose gradient `rule` computes for `inputs`."""

def default_device() -> str:
    """Return the default device of this thread."""

def default_float() -> numpy.dtype[typing.Any]:
    """Return the dtype of Python floats."""

def dependence(y: pullback._typing.TensorLike, x: pullback._typing.TensorLike, who: str) -> Pattern:
    """Find which entries of `y` depend on which entries of `x`."""

def describe_plan(tensors: collections.abc.Sequence[pullback._typing.TensorLike]) -> str:
    """Return the plan that evaluates tensors, one line for each step."""

def det(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the determinant."""

def deviation(variance: pullback._typing.TensorLike, dtype: numpy.typing.DTypeLike) -> Tensor:
    """Compute the square root with gradient 0 at 0, and cast it."""

def device_of(x: pullback._typing.TensorLike) -> str:
    """Return the name of the device of a tensor."""

def difference(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a - b, and 0 where they are equal, infinities too."""

def digamma(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the derivative of `gammaln`."""

def discrete_op_names() -> list[str]:
    """Return the names of the operations whose results are integers or bool."""

def divide(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the quotient `x / y` as floating or complex numbers."""

def dtype(dtype: numpy.typing.DTypeLike) -> numpy.dtype[typing.Any]:
    """Convert to a dtype that the package supports."""

def eig(
    x: pullback._typing.TensorLike, /, degenerate: str = "nan", who: str = "eig"
) -> tuple[Tensor, Tensor]:
    """Compute the eigenvalues and right eigenvectors of a square matrix; errors name `who`."""

def eigh(
    x: pullback._typing.TensorLike, /, degenerate: str = "nan", who: str = "eigh"
) -> tuple[Tensor, Tensor]:
    """Compute the eigenvalues and eigenvectors of a Hermitian matrix; errors name `who`."""

def entr(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the entropy term -x log(x)."""

def entr_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `entr`."""

def equal(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x == y`."""

def equation(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, who: str) -> Tensor:
    """Solve a linear system; errors name `who`."""

def erf(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the error function."""

def erf_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `erf`."""

def erfc(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the complementary error function, 1 - erf(x)."""

def erfcinv(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse of `erfc`."""

def erfcinv_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `erfcinv`."""

def erfcx(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the scaled complementary error function, exp(x^2) erfc(x)."""

def erfcx_derivative(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `erfcx` by e, r, i, v, a, t, i, v, e."""

def erfinv(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse of `erf`."""

def erfinv_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `erfinv`."""

def euclidean_norm(
    x: pullback._typing.TensorLike, /, axes: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the Euclidean norm of real floats along axes."""

def euclidean_norm_of_all(xs: collections.abc.Sequence[pullback._typing.TensorLike]) -> Tensor:
    """Compute the Euclidean norm of all entries of tensors."""

def evaluate(*nested: object) -> typing.Any:
    """Evaluate pytrees."""

def exchange_default_device(device: str) -> str:
    """Set the default device of this thread, and return the one before."""

def exchange_random_state(
    seed: typing.SupportsInt | typing.SupportsIndex,
    counter: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[int, int]:
    """Set the state of the module's sequence and return the previous one."""

def exchange_thread_draws(
    next: tuple[
        typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
    ]
    | None,
) -> tuple[int, int] | None:
    """Draw from the sequence `next` in this thread and return the previous one; None is the
    module's sequence."""

def exp(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute e to the power `x`."""

def exp2(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute 2 to the power `x`."""

def expand_dims(x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis) -> Tensor:
    """Insert axes of size 1 at positions of the result."""

def expm(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the matrix exponential."""

def expm1(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute `exp(x) - 1` without cancellation near 0."""

def export_dlpack(
    x: pullback._typing.TensorLike, versioned: bool, copied: bool
) -> typing_extensions.CapsuleType:
    """Return a DLPack capsule of a tensor on a GPU."""

def eye(
    n_rows: typing.SupportsIndex,
    n_cols: typing.SupportsIndex,
    /,
    k: typing.SupportsIndex,
    dtype: pullback._typing.DType,
) -> Tensor:
    """Make a matrix with ones on the k-th diagonal."""

def fail_allocation(after: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Make a later allocation raise MemoryError; 1 is the next one, 0 cancels."""

def fail_run(after: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Make a later run of the null backend fail; 1 is the next one."""

def fit(value: pullback._typing.TensorLike, shape: pullback._typing.Shape, who: str) -> Tensor:
    """Broadcast the value of an update to a shape."""

def flatten(
    tree: object, is_leaf: object = None, none_is_leaf: bool = False
) -> tuple[list[typing.Any], Structure]:
    """Return the leaves of a pytree, in order, and its structure."""

def floor(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return the largest integer that does not exceed `x`."""

def floor_divide(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the quotient `x // y`, rounded towards minus infinity."""

def fmod(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the remainder `x - y * trunc(x / y)`, which has the sign of `x`."""

def fork_random_state() -> int:
    """Return the seed of a new sequence, which counts as a draw."""

def fourier(
    x: pullback._typing.TensorLike,
    axis: typing.SupportsInt | typing.SupportsIndex,
    kind: str,
    points: typing.SupportsInt | typing.SupportsIndex,
    backward: bool,
    factor: typing.SupportsFloat | typing.SupportsIndex,
    who: str,
) -> Tensor:
    """Compute a Fourier transform; `kind` is 'c' (complex), 'r' (real to half spectrum) or 'i'
    (half spectrum to real)."""

def free_random_source(source: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Free a source of draws."""

def full(
    shape: pullback._typing.Shape,
    fill_value: pullback._typing.TensorLike,
    dtype: pullback._typing.DType = None,
) -> Tensor:
    """Make a tensor with equal elements."""

def gamma(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the gamma function."""

def gamma_density(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `gamma` by e, n, s, i, t, y."""

def gamma_density_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `gamma_density` by a."""

def gamma_density_dx(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `gamma_density` by x."""

def gamma_nth(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the a-th derivative of the gamma function at b."""

def gammainc(a: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the regularized lower incomplete gamma function."""

def gammainc_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `gammainc` by a."""

def gammainc_daa(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `gammainc` by a, a."""

def gammaincc(a: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the regularized upper incomplete gamma function."""

def gammainccinv(a: pullback._typing.TensorLike, q: pullback._typing.TensorLike, /) -> Tensor:
    """Return `x` such that gammaincc(a, x) = q."""

def gammaincinv(a: pullback._typing.TensorLike, p: pullback._typing.TensorLike, /) -> Tensor:
    """Return `x` such that gammainc(a, x) = p."""

def gammaln(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm of the absolute value of the gamma function."""

def gammasgn(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the sign of gamma(x)."""

def gate(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute b where a > 0, and 0 elsewhere."""

def gradients(
    ys: pullback._typing.SourceList,
    xs: pullback._typing.SourceList,
    grad_ys: collections.abc.Iterable[pullback._typing.TensorLike | None] | None = None,
    stop_gradients: pullback._typing.SourceList = [],
    overrides: dict[str, Rule] | bool | None = None,
    tape: Tape | None = None,
    integers: bool = False,
    rows: bool = False,
    masks: collections.abc.Sequence[pullback._typing.TensorLike] = [],
) -> list[Tensor | None]:
    """Compute gradients by reverse mode; None for an `x` without a path."""

def greater(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x > y`."""

def greater_equal(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x >= y`."""

def heaviside(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return 0 for a negative `x`, 1 for a positive `x`, and `y` where `x` is 0."""

def hypot(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute sqrt(x² + y²) without intermediate overflow."""

def i0(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 0."""

def i0e(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute exp(-|x|) i0(x)."""

def i0e_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `i0e`."""

def i1(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 1."""

def i1_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `i1`."""

def i1e(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute exp(-|x|) i1(x)."""

def i1e_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `i1e`."""

def identity(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return a new tensor with the value and the gradient of `x`."""

def identity_of(
    x: pullback._typing.Source, tape: Tape | None = None
) -> tuple[int, int, bool, int | None]:
    """Return the numbers of the tensor and of its variable, whether it is tracked, and since which
    number the tape watches it."""

def imag(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return the imaginary part."""

def import_dlpack(capsule: typing_extensions.CapsuleType, copy: bool | None) -> Tensor:
    """Return a tensor over, or with a copy of, the memory of a GPU in a DLPack capsule."""

def inline_functions(change: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Add to the number of open blocks that run traced functions as plain Python."""

def inv(x: pullback._typing.TensorLike, /, who: str = "inv") -> Tensor:
    """Compute the inverse of a square matrix; errors name `who`."""

def is_basic_index(key: object) -> bool:
    """Test for an index of integers, slices, None and Ellipsis only."""

def is_computed(x: pullback._typing.TensorLike) -> bool:
    """Test whether the value is computed already."""

def is_number(x: object) -> bool:
    """Test for a Python number that was an argument of a traced function."""

def is_number_list(x: object) -> bool:
    """Test for a list or tuple of Python numbers only."""

def is_operation_name(name: str) -> bool:
    """Test for the name of an operation or a composite."""

def is_traced(x: pullback._typing.TensorLike) -> bool:
    """Test for a tensor of a function that is being traced, which has no value."""

def is_tracked(x: pullback._typing.TensorLike) -> bool:
    """Test whether a tensor keeps its history."""

def isfinite(x: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` is neither infinite nor NaN."""

def isinf(x: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` is plus or minus infinity."""

def isnan(x: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` is NaN."""

def iv(v: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of real order `v`."""

def ive(v: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute exp(-|x|) iv(v, x)."""

def ive_derivative(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `ive` by e, r, i, v, a, t, i, v, e."""

def j0(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of order 0."""

def j1(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of order 1."""

def jn(n: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of integer order `n`."""

def jn_derivative(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `jn` by e, r, i, v, a, t, i, v, e."""

def kl_div(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Kullback-Leibler term x log(x / y) - x + y."""

def kl_div_slope(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `kl_div`."""

def less(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x < y`."""

def less_equal(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x <= y`."""

def linear_recurrence(
    factors: pullback._typing.TensorLike,
    x: pullback._typing.TensorLike,
    axis: typing.SupportsIndex,
    reversed: bool = False,
) -> Tensor:
    """Compute y[i] = factors[i] * y[i - 1] + x[i] along an axis."""

def log(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the natural logarithm."""

def log10(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm to base 10."""

def log1p(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute `log(1 + x)` without cancellation near 0."""

def log2(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm to base 2."""

def log_gamma_path(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the derivative of b by a for a constant gammainc(a, exp(b))."""

def log_gamma_path_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gamma_path` by a."""

def log_gammainc(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm of `gammainc`."""

def log_gammainc_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammainc` by a."""

def log_gammainc_daa(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammainc` by a, a."""

def log_gammainc_dx(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammainc` by x."""

def log_gammaincc(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm of `gammaincc`."""

def log_gammaincc_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammaincc` by a."""

def log_gammaincc_daa(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammaincc` by a, a."""

def log_gammaincc_dx(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_gammaincc` by x."""

def log_ndtr(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logarithm of `ndtr`."""

def log_ndtr_rest(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a + log_ndtr_slope(a)."""

def log_ndtr_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log_ndtr`."""

def log_ratio(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute log(a / b)."""

def log_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `log`."""

def log_softmax(x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex = -1) -> Tensor:
    """Compute the logarithm of the softmax function along an axis."""

def logaddexp(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute log(exp(x) + exp(y)) without overflow."""

def logaddexp2(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute log2(2**x + 2**y) without overflow."""

def logaddexp2_slope(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `logaddexp2`."""

def logaddexp_slope(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `logaddexp`."""

def logical_and(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` and `y` are both true."""

def logical_not(x: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` is false."""

def logical_or(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether `x` or `y` is true."""

def logical_xor(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether exactly one of `x` and `y` is true."""

def logit(p: pullback._typing.TensorLike, /) -> Tensor:
    """Compute log(p / (1 - p)), the inverse of `expit`."""

def logit_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `logit`."""

def logm(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the principal matrix logarithm."""

def logsumexp(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the logarithm of the sum of exponentials."""

def lu(x: pullback._typing.TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return both factors in one matrix, the permutation, its sign and the row swaps."""

def lu_solve(
    lu: pullback._typing.TensorLike,
    piv: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    trans: str,
) -> Tensor:
    """Solve a linear system from an LU decomposition; `trans` is 'N', 'T' or 'C'."""

def make_complex(real: pullback._typing.TensorLike, imag: pullback._typing.TensorLike) -> Tensor:
    """Combine a real and an imaginary part."""

def make_function(
    f: collections.abc.Callable[..., object],
    name: str,
    place: str,
    positions: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    names: collections.abc.Sequence[str],
    capacity: typing.SupportsInt | typing.SupportsIndex,
) -> Function:
    """Make a Function; `positions` and `names` are its static arguments."""

def matmul(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike) -> Tensor:
    """Compute the matrix product."""

def max(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the maximum along axes."""

def max_pool(
    x: pullback._typing.TensorLike,
    size: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    stride: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    dilation: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    low: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
    out: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
    ],
) -> Tensor:
    """Compute the maxima of windows over three axes."""

def max_share(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the share of a gradient of `maximum` that a receives."""

def maximum(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the larger of `x` and `y`, elementwise."""

def mean(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the mean along axes."""

def min(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the minimum along axes."""

def min_share(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the share of a gradient of `minimum` that a receives."""

def minimum(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the smaller of `x` and `y`, elementwise."""

def multiply(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the product `x * y`."""

def multiply_no_nan(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a * b, and 0 where b is 0."""

def ndtr(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the standard normal distribution function, erfc(-x / sqrt(2)) / 2."""

def ndtr_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `ndtr`."""

def ndtri(p: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the inverse of `ndtr`."""

def ndtri_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `ndtri`."""

def negative(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return `-x`."""

def neighbour_dtype(
    values: collections.abc.Sequence[pullback._typing.TensorLike],
    tensors: collections.abc.Sequence[pullback._typing.TensorLike],
) -> numpy.dtype[typing.Any]:
    """Return the promoted dtype of the values that have a dtype; `tensors` are their
    conversions."""

def new_random_source(seed: typing.SupportsInt | typing.SupportsIndex) -> int:
    """Make a source of draws."""

def next_number() -> int:
    """Return the number that the next node will have."""

def nextafter(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the next floating-point number after `x` towards `y`."""

def normalize(
    x: pullback._typing.TensorLike,
    /,
    axes: collections.abc.Sequence[typing.SupportsIndex],
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> Tensor:
    """Normalise to mean 0 and variance 1 along axes."""

def normalize_square(
    x: pullback._typing.TensorLike,
    /,
    axes: collections.abc.Sequence[typing.SupportsIndex],
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> Tensor:
    """Normalise to mean square 1 along axes."""

def not_equal(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compare elementwise: `x != y`."""

def num_threads() -> int:
    """Return the number of threads that plans use."""

def object_of_children(type: type, children: tuple[typing.Any, ...], extra: object) -> typing.Any:
    """Return an object of a registered class."""

def one_hot(
    indices: pullback._typing.TensorLike,
    /,
    depth: typing.SupportsIndex,
    dtype: pullback._typing.DType = None,
    axis: typing.SupportsIndex = -1,
) -> Tensor:
    """Encode indices as vectors with a single one."""

def op_names() -> list[str]:
    """Return the names of the operations."""

def operands(
    values: collections.abc.Sequence[pullback._typing.TensorLike], who: str
) -> list[Tensor]:
    """Convert values that are compared or weighted with each other."""

def over_square(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute b / (a * a + b * b)."""

def own_array(x: Tensor) -> numpy.typing.NDArray[typing.Any]:
    """Return the value of a tensor that the caller gives up, as a writable array."""

def own_device(x: pullback._typing.TensorLike) -> str | None:
    """Return the name of the device of a tensor, or None if it is on any device."""

def parts(values: collections.abc.Sequence[pullback._typing.TensorLike], who: str) -> list[Tensor]:
    """Convert arrays to concatenate or stack."""

def permutation(
    x: typing.SupportsIndex, source: typing.SupportsInt | typing.SupportsIndex = 0
) -> Tensor:
    """Draw a permutation of 0, ..., x - 1."""

def pick(x: pullback._typing.TensorLike, indices: pullback._typing.TensorLike) -> Tensor:
    """Take one entry of each row along the last axis."""

def place(
    x: pullback._typing.TensorLike, indices: pullback._typing.TensorLike, size: typing.SupportsIndex
) -> Tensor:
    """Place the entries of `x` in rows of zeros, the inverse of `pick`."""

def place_of(x: pullback._typing.TensorLike) -> pullback._typing.Site | None:
    """Return file, line and function where a tensor was made, if recorded."""

def polygamma(n: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the derivative of order `n` of `digamma`."""

def polygamma_gap(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute polygamma(a, b) - polygamma(a, b + c)."""

def pop_overrides(owner: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Leave the innermost block of the owner."""

def pow(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Raise `x` to the power `y`."""

def pow_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `pow` by a."""

def pow_db(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `pow` by b."""

def power_of_two_scale(
    sizes: pullback._typing.TensorLike, /, axes: pullback._typing.Axis
) -> Tensor:
    """Compute the largest power of two up to the largest of some absolute values."""

def prod(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the product along axes."""

def promote(a: numpy.typing.DTypeLike, b: numpy.typing.DTypeLike) -> numpy.dtype[typing.Any]:
    """Return the dtype to which two dtypes promote."""

def pseudo_inverse(
    x: pullback._typing.TensorLike, tolerance: pullback._typing.TensorLike, who: str
) -> tuple[Tensor, Tensor]:
    """Return two factors of the pseudo-inverse; singular values up to `tolerance` times the largest
    count as 0."""

def push_overrides(
    overrides: dict[str, Rule], owner: typing.SupportsInt | typing.SupportsIndex
) -> None:
    """Enter a block of overrides; `owner` is the address of its context manager."""

def pytree_entries(tree: object) -> tuple[list[str], list[typing.Any]] | None:
    """Return the steps of paths to the entries of a container, and the entries; None for a leaf."""

def qr(x: pullback._typing.TensorLike, /, full: bool) -> tuple[Tensor, Tensor]:
    """Compute the QR decomposition."""

def random_binomial(
    n: pullback._typing.TensorLike,
    p: pullback._typing.TensorLike,
    shape: pullback._typing.Shape,
    source: typing.SupportsInt | typing.SupportsIndex,
) -> Tensor:
    """Draw from the binomial distribution, in float64."""

def random_exponential(
    shape: pullback._typing.Shape,
    dtype: pullback._typing.DType = None,
    source: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Tensor:
    """Draw from the exponential distribution."""

def random_gamma(
    concentration: pullback._typing.TensorLike,
    shape: pullback._typing.Shape,
    dtype: numpy.typing.DTypeLike,
    log: bool,
    source: typing.SupportsInt | typing.SupportsIndex,
) -> Tensor:
    """Draw from the gamma distribution of scale 1, or the logarithms of draws."""

def random_integers(
    low: pullback._typing.TensorLike,
    last: pullback._typing.TensorLike,
    shape: pullback._typing.Shape,
    source: typing.SupportsInt | typing.SupportsIndex,
) -> Tensor:
    """Draw integers from `low` to `last`, both included."""

def random_normal(
    shape: pullback._typing.Shape,
    dtype: pullback._typing.DType = None,
    source: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Tensor:
    """Draw from the standard normal distribution."""

def random_poisson(
    mean: pullback._typing.TensorLike,
    shape: pullback._typing.Shape,
    source: typing.SupportsInt | typing.SupportsIndex,
) -> Tensor:
    """Draw from the Poisson distribution, in float64."""

def random_state() -> tuple[int, int]:
    """Return seed and counter of the sequence that this thread uses."""

def random_uniform(
    shape: pullback._typing.Shape,
    dtype: pullback._typing.DType = None,
    source: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Tensor:
    """Draw from the uniform distribution on [0, 1)."""

def real(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return the real part."""

def recorded_reads() -> list[
    tuple[int, int, pullback._typing.Site | None, str, tuple[int, ...], float | None]
]:
    """Return the recorded reads of values: number of the tensor, number of the next node, site,
    function, shape and value."""

def recorded_steps(
    call: collections.abc.Callable[[], object], locate: bool = False
) -> list[pullback._typing.RecordedStep]:
    """Call a function and return kind, operation, dtype, bytes, operations, elements, runs, seconds
    and labels of its steps."""

def recording() -> bool:
    """Test whether the program records."""

def records_aside(begin: bool) -> None:
    """Begin or end a block in which the nodes of this thread have their own records."""

def register_pytree(type: object, flatten: object, unflatten: object) -> bool:
    """Register the functions that flatten and rebuild the objects of a class; return False if it
    has a treatment of its own."""

def register_rule(name: str, rule: Rule, replace: bool) -> None:
    """Register a rule under a name."""

def registered_rule(name: str) -> Rule | None:
    """Return the rule that is registered under a name."""

def rel_entr(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the relative entropy term x log(x / y)."""

def rel_entr_slope(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `rel_entr`."""

def relu(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute max(x, 0)."""

def remainder(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the remainder `x - y * floor(x / y)`, which has the sign of `y`."""

def reset_peak_bytes() -> None:
    """Set the peak to the present number of live bytes."""

def reshape(x: pullback._typing.TensorLike, /, shape: pullback._typing.Shape) -> Tensor:
    """Change the shape; one size may be -1."""

def rest_checks(rest: bool) -> bool:
    """Pause or resume the checks of this thread and return the previous state."""

def rgamma(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute 1 / gamma(x)."""

def rgamma_nth(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the a-th derivative of the reciprocal gamma function at b."""

def round(x: pullback._typing.TensorLike, /) -> Tensor:
    """Round `x` to a number of decimals; ties are rounded to even."""

def row_squares(x: pullback._typing.TensorLike) -> Tensor:
    """Compute the sum of squares of each row."""

def rows_of(x: pullback._typing.TensorLike, as_added: bool = False) -> tuple[Tensor, Tensor] | None:
    """Return values and indices of the rows whose sum `x` is, if it is not evaluated yet."""

def rsqrt(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the reciprocal square root, 1 / sqrt(x)."""

def same(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether a and b are equal; NaN equals NaN."""

def scan_loop(
    body: Body,
    carries: collections.abc.Sequence[pullback._typing.TensorLike],
    stacked: collections.abc.Sequence[pullback._typing.TensorLike],
    trips: typing.SupportsInt | typing.SupportsIndex,
    reversed: bool,
) -> list[Tensor]:
    """Run a body for each entry of `stacked`."""

def scatter_add(
    x: pullback._typing.TensorLike,
    indices: pullback._typing.TensorLike,
    axis: typing.SupportsIndex,
    size: typing.SupportsIndex,
) -> Tensor:
    """Add the entries of `x` to zeros at indices of an axis of this size."""

def searchsorted(
    a: pullback._typing.TensorLike, v: pullback._typing.TensorLike, right: bool
) -> Tensor:
    """Find the indices at which `v` keeps the vector `a` sorted."""

def seed_of(source: typing.SupportsInt | typing.SupportsIndex) -> int:
    """Return the seed of a source."""

def seed_of_child(
    seed: typing.SupportsInt | typing.SupportsIndex, n: typing.SupportsInt | typing.SupportsIndex
) -> int:
    """Return the seed of the n-th child of a source."""

def seed_random(seed: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Restart the module's sequence."""

def set_backend(name: str) -> None:
    """Run plans on the backend 'cpu', on 'null', which computes nothing, or on 'one_step', which
    runs each step as a plan of its own on the CPU."""

def set_blas_path(path: str) -> None:
    """Set the path of the BLAS library."""

def set_default_float(dtype: numpy.typing.DTypeLike) -> None:
    """Set the dtype of Python floats."""

def set_escapes(policy: str) -> None:
    """Set the policy for values that leave the graph: 'raise', 'warn' or 'allow'."""

def set_first_device(device: str) -> None:
    """Set the default device of threads that have set none."""

def set_num_threads(n: typing.SupportsInt | typing.SupportsIndex) -> None:
    """Set the number of threads."""

def set_recording(on: bool) -> None:
    """Record where the program makes tensors and reads values."""

def set_state_of_source(
    source: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex,
    counter: typing.SupportsInt | typing.SupportsIndex,
) -> None:
    """Set seed and counter of a source."""

def share(array: numpy.typing.NDArray[numpy.generic], who: str) -> Tensor:
    """Make a tensor over the memory of an array, which has to keep its values."""

def shown(x: object) -> str:
    """Describe an object for messages, without evaluating it."""

def sigmoid(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the logistic function 1 / (1 + exp(-x))."""

def sigmoid_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `sigmoid`."""

def sign(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return the sign of `x`: -1, 0 or 1."""

def signbit(x: pullback._typing.TensorLike, /) -> Tensor:
    """Test whether the sign bit of `x` is set, as it is for -0.0."""

def sin(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the sine of `x` in radians."""

def sinc(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the normalised sinc function, sin(pi x) / (pi x)."""

def sinc_derivative(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `sinc` by e, r, i, v, a, t, i, v, e."""

def sinh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the hyperbolic sine."""

def slogdet(x: pullback._typing.TensorLike) -> tuple[Tensor, Tensor]:
    """Compute the sign and the logarithm of the absolute value of the determinant."""

def slot_variable(initial: pullback._typing.TensorLike, name: str) -> Variable:
    """Make a variable of an optimizer."""

def softmax(x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex = -1) -> Tensor:
    """Compute the softmax function along an axis."""

def softmax_cross_entropy(
    logits: pullback._typing.TensorLike, labels: pullback._typing.TensorLike
) -> Tensor:
    """Compute the cross entropy of the softmax function with distributions."""

def softplus(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute log(1 + exp(x)) without overflow."""

def softsign(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute x / (1 + |x|)."""

def softsign_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `softsign`."""

def solve(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike) -> Tensor:
    """Solve a linear system."""

def solve_sylvester(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    q: pullback._typing.TensorLike,
    /,
    who: str = "solve_sylvester",
) -> Tensor:
    """Solve a x + x b = q; errors name `who`."""

def sort(
    x: pullback._typing.TensorLike, /, axis: typing.SupportsIndex, descending: bool = False
) -> Tensor:
    """Sort the elements along an axis."""

def sparse_softmax_cross_entropy(
    logits: pullback._typing.TensorLike, labels: pullback._typing.TensorLike
) -> Tensor:
    """Compute the cross entropy of the softmax function with class indices."""

def split(
    x: pullback._typing.TensorLike,
    /,
    sizes: collections.abc.Sequence[typing.SupportsIndex],
    axis: typing.SupportsIndex,
) -> list[Tensor]:
    """Split along an axis into parts of these sizes."""

def sqrt(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the square root."""

def sqrtm(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the principal matrix square root."""

def square(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return `x * x`."""

def squeeze(x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None) -> Tensor:
    """Remove axes of size 1; None removes all of them."""

def stack(
    arrays: collections.abc.Sequence[pullback._typing.TensorLike], /, axis: typing.SupportsIndex
) -> Tensor:
    """Join arrays along a new axis."""

def state_of_source(source: typing.SupportsInt | typing.SupportsIndex) -> tuple[int, int]:
    """Return seed and counter of a source."""

def status() -> dict[str, typing.Any]:
    """Return counters of plans, nodes, memory and steps."""

def stdtr(df: pullback._typing.TensorLike, t: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the distribution function of Student's t distribution."""

def stdtr_da(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `stdtr` by a."""

def stdtr_daa(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `stdtr` by a, a."""

def stdtrit(df: pullback._typing.TensorLike, p: pullback._typing.TensorLike, /) -> Tensor:
    """Return `t` such that stdtr(df, t) = p."""

def stop_gradient(x: pullback._typing.TensorLike, /) -> Tensor:
    """Return `x` without its gradient."""

def student_density(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `student` by e, n, s, i, t, y."""

def subtract(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Return the difference `x - y`."""

def sum(
    x: pullback._typing.TensorLike, /, axis: pullback._typing.Axis = None, keepdims: bool = False
) -> Tensor:
    """Compute the sum along axes."""

def sum_duplicates(x: pullback._typing.TensorLike, indices: pullback._typing.TensorLike) -> Tensor:
    """Sum the rows of an index at its last occurrence; rows before it become zeros."""

def svd(
    x: pullback._typing.TensorLike,
    /,
    full_matrices: bool,
    degenerate: str = "nan",
    who: str = "svd",
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the singular value decomposition; errors name `who`."""

def take(
    x: pullback._typing.TensorLike,
    indices: pullback._typing.TensorLike,
    axis: typing.SupportsIndex,
    checked: bool = False,
) -> Tensor:
    """Take entries along an axis; `checked` indices are known to be in range."""

def tan(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the tangent of `x` in radians."""

def tangents(
    ys: pullback._typing.SourceList,
    xs: pullback._typing.SourceList,
    xs_tangents: collections.abc.Sequence[pullback._typing.TensorLike],
    masks: collections.abc.Sequence[pullback._typing.TensorLike] = [],
) -> list[Tensor | None]:
    """Compute tangents by forward mode; None for a `y` without a path."""

def tanh(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the hyperbolic tangent."""

def tanh_slope(a: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `tanh`."""

def tensors_of(value: object, who: str, name: str) -> list[pullback._typing.Source]:
    """Return the leaves of a pytree of tensors and variables; errors name the argument."""

def transfer(x: pullback._typing.TensorLike, device: str) -> Tensor:
    """Return a tensor on a device."""

def transpose(x: pullback._typing.TensorLike, /, axes: pullback._typing.Axis = None) -> Tensor:
    """Permute the axes; None reverses them."""

def triangular_solve(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    lower: bool,
    trans: str,
    unit_diagonal: bool,
) -> Tensor:
    """Solve a triangular system; `trans` is 'N', 'T' or 'C'."""

def trim_memory() -> None:
    """Return every cached block of memory to the system."""

def trunc(x: pullback._typing.TensorLike, /) -> Tensor:
    """Round `x` towards 0."""

def unflatten(structure: Structure, leaves: collections.abc.Iterable[object]) -> typing.Any:
    """Return a pytree of this structure with these leaves."""

def unrolled_below(
    y: pullback._typing.TensorLike,
    steps: collections.abc.Sequence[pullback._typing.TensorLike],
    ends: collections.abc.Sequence[pullback._typing.TensorLike],
) -> tuple[
    Tensor, dict[int, tuple[str, int, str]], list[dict[str, typing.Any]], list[tuple[int, int]]
]:
    """Rebuild `y` without the loops and branches among `steps`."""

def update_basic(
    x: pullback._typing.TensorLike,
    key: pullback._typing.Index,
    value: pullback._typing.TensorLike,
    update: str,
) -> Tensor:
    """Update the entries at a basic index."""

def update_value(
    x: pullback._typing.TensorLike, value: pullback._typing.TensorLike, who: str
) -> Tensor:
    """Convert the value of an update of `x` to the dtype of `x`."""

def variance(
    x: pullback._typing.TensorLike,
    /,
    axes: collections.abc.Sequence[typing.SupportsIndex],
    correction: typing.SupportsFloat | typing.SupportsIndex,
    keepdims: bool,
    mask: pullback._typing.TensorLike | None,
) -> Tensor:
    """Compute the variance in float64 of the elements where `mask` is true."""

def view_as(
    cls: type[pullback._typing.TensorClass], x: pullback._typing.TensorLike
) -> pullback._typing.TensorClass:
    """Return `x` as an object of a subclass of Tensor."""

def warn_of_escapes(debugging: bool) -> None:
    """Warn of every value that leaves the graph, while debugging."""

def where(
    condition: pullback._typing.TensorLike,
    x: pullback._typing.TensorLike,
    y: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Select entries of `x` where the condition is true, else entries of `y`."""

def while_loop(
    cond: Body,
    body: Body,
    carries: collections.abc.Sequence[pullback._typing.TensorLike],
    memory_limit: typing.SupportsInt | typing.SupportsIndex,
) -> list[Tensor]:
    """Run a body while a condition is true."""

def wrap_index(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Count positions a of an axis of size b from its start."""

def xlog1py(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute x log(1 + y), with the value 0 where `x` is 0 unless `y` is NaN."""

def xlogy(x: pullback._typing.TensorLike, y: pullback._typing.TensorLike, /) -> Tensor:
    """Compute x log(y), with the value 0 where `x` is 0 unless `y` is NaN."""

def y0(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of order 0."""

def y1(x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of order 1."""

def yn(n: pullback._typing.TensorLike, x: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of integer order `n`."""

def yn_derivative(
    a: pullback._typing.TensorLike,
    b: pullback._typing.TensorLike,
    c: pullback._typing.TensorLike,
    /,
) -> Tensor:
    """Compute a derivative of `yn` by e, r, i, v, a, t, i, v, e."""

def zeta(x: pullback._typing.TensorLike, q: pullback._typing.TensorLike, /) -> Tensor:
    """Compute the Hurwitz zeta function, the sum of (k + q)^-x for k = 0, 1, ..."""

def zeta_dq(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `zeta` by q."""

def zeta_ds(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `zeta` by s."""

def zeta_dss(a: pullback._typing.TensorLike, b: pullback._typing.TensorLike, /) -> Tensor:
    """Compute a derivative of `zeta` by s, s."""

__version__: str
