"""What the Array API standard asks of a namespace and of its arrays: who they belong to, where they
are, what there is, and exchange with other libraries (DLPack).
"""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import Tensor
from .arguments import check_copy

DEVICE = "cpu"
VERSION = __array_api_version__ = "2025.12"

e = numpy.e
inf = numpy.inf
nan = numpy.nan
newaxis = None
pi = numpy.pi


def on_device(device: Any, who: str) -> None:
    """Refuses every device but ours."""
    if device is not None and device != DEVICE:
        raise ValueError(f"{who}: expected the device 'cpu' or None, got {_core.shown(device)}")


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor of the value of another library's array, through DLPack. The value is copied, as a
    tensor never changes: `copy=False` is a ValueError, but for a tensor.

    >>> import numpy
    >>> pb.from_dlpack(numpy.array([1.0, 2.0]))
    Tensor([1., 2.], dtype=float64)
    """
    on_device(device, "from_dlpack")
    check_copy(copy, "from_dlpack")
    if isinstance(x, Tensor):
        return _core.identity(x)
    if copy is False:
        raise ValueError("from_dlpack: the value is always copied, and copy=False forbids it")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: expected an array with __dlpack__, got {_core.shown(x)}")
    try:
        array = numpy.from_dlpack(x)
    except (BufferError, RuntimeError, ValueError) as error:
        raise BufferError(f"from_dlpack: {error}") from error
    return _core.constant(array, who="from_dlpack")


def namespace(self: Any, *, api_version: str | None = None) -> Any:
    """__array_namespace__(self, *, api_version: str | None = None) -> typing.Any

    `pullback` itself: the namespace of the Array API standard."""
    import pullback

    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"__array_namespace__: expected a version from {VERSIONS[0]} to {VERSION}, "
            f"got {_core.shown(api_version)}"
        )
    return pullback


VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)


def device(self: Any) -> str:
    """Where the value is: always "cpu"."""
    return DEVICE


def to_device(self: Any, device: str, /, *, stream: Any = None) -> Tensor:
    """to_device(self, device: str, /, *, stream: typing.Any = None) -> Tensor

    The tensor itself: there is one device, "cpu"."""
    on_device(device, "to_device")
    if stream is not None:
        raise ValueError(f"to_device: expected no stream, got {_core.shown(stream)}")
    return self if isinstance(self, Tensor) else _core.identity(self)


def dlpack(
    self: Any,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """__dlpack__(self, *, stream: typing.Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> typing.Any

    The value for another library, read-only; consumers that know no read-only memory (DLPack
    before 1.0) get a copy."""  # noqa: E501, the stub's line
    if max_version is not None and not (isinstance(max_version, tuple) and len(max_version) == 2):
        raise TypeError(
            f"__dlpack__: max_version: expected a pair of integers, got {_core.shown(max_version)}"
        )
    _core.check_escape(self, "__dlpack__")
    value = self.numpy()
    if max_version is None or max_version[0] < 1:
        value = value.copy()
    return value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def dlpack_device(self: Any) -> tuple[int, int]:
    """__dlpack_device__(self) -> tuple[int, int]

    The processor's memory, as DLPack counts devices."""
    return (1, 0)


class _Info:
    """What this namespace has, as the Array API standard asks for it."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self) -> str:
        return DEVICE

    def devices(self) -> tuple[str, ...]:
        return (DEVICE,)

    def default_dtypes(self, *, device: str | None = None) -> dict[str, Any]:
        on_device(device, "default_dtypes")
        real = _core.default_float()
        wide = numpy.dtype("complex64" if real == "float32" else "complex128")
        integer = numpy.dtype("int64")
        return {"real floating": real, "complex floating": wide, "integral": integer,
                "indexing": integer}  # fmt: skip

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        import pullback as pb

        on_device(device, "dtypes")
        found = {name: getattr(pb, name) for name in _DTYPES if hasattr(pb, name)}
        if kind is None:
            return found
        return {name: d for name, d in found.items() if pb.isdtype(d, kind)}


_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def __array_namespace_info__() -> _Info:  # noqa: N807, the standard's name
    """What there is: `capabilities()`, `default_device()`, `default_dtypes()`, `devices()` and
    `dtypes()`.

    >>> pb.__array_namespace_info__().devices()
    ('cpu',)
    """
    return _Info()
