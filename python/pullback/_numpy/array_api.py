"""Requirements of the Array API standard for a namespace and its arrays.

These are the namespace of an array, its device, a description of the namespace, constants, and
exchange with other libraries through DLPack.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy

from .. import _core
from .._base.checks import check_copy
from .._core import Tensor
from .._typing import Device

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "e",
    "from_dlpack",
    "inf",
    "nan",
    "newaxis",
    "pi",
]

DEVICE: Device = "cpu"
VERSION = __array_api_version__ = "2025.12"

e = numpy.e
inf = numpy.inf
nan = numpy.nan
newaxis = None
pi = numpy.pi


def check_device(device: Any, who: str) -> None:
    """Raise a TypeError unless the device is a name or None."""
    if device is not None and not isinstance(device, str):
        raise TypeError(
            f"{who}: expected 'cpu', 'cuda', 'cuda:1' or None for device, got {_core.shown(device)}"
        )


def placed(x: Tensor, device: Any, who: str) -> Tensor:
    """Move a new tensor to a device; None is the default of `use_device`."""
    check_device(device, who)
    if device is None and (device := _core.default_device()) == DEVICE:
        return x
    return _core.transfer(x, device)


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """Make a tensor from an array of another library, through DLPack.

    Parameters
    ----------
    x : object
        Array with the method `__dlpack__`, in the memory of the processor. A tensor is accepted
        too.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.
    copy : bool, optional
        True copies the value. False shares the memory, which nothing may modify as long as the
        tensor and results of it are used. Default: None, which shares memory that the other library
        declares read-only, such as that of a tensor or a read-only array, and copies other memory.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` has no `__dlpack__`, or `copy` is neither a bool nor None.
    ValueError
        If `copy` is False and the memory is not aligned and in row-major order, or `device` is
        unknown.
    BufferError
        If the other library or NumPy cannot exchange the array.

    Examples
    --------
    >>> import numpy
    >>> pb.from_dlpack(numpy.array([1.0, 2.0]))
    Tensor([1., 2.], dtype=float64)
    """
    check_device(device, "from_dlpack")
    check_copy(copy, "from_dlpack")
    if isinstance(x, Tensor):
        out = _core.identity(x)
        return out if device is None else placed(out, device, "from_dlpack")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(
            f"from_dlpack: expected an array with __dlpack__ for x, got {_core.shown(x)}"
        )
    exchange = _Exchange(x)
    try:
        kind = x.__dlpack_device__()[0]
        array = numpy.from_dlpack(exchange)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BufferError(f"from_dlpack: {error}") from error
    if kind not in _HOST:
        raise BufferError(
            f"from_dlpack: expected an array in the memory of the processor, got device type {kind}"
        )
    if copy is None:
        unchanging = exchange.has_flags and not array.flags.writeable
        copy = not (unchanging and array.flags.c_contiguous and array.flags.aligned)
    if copy or not array.size:
        return placed(_core.constant(array, who="from_dlpack"), device, "from_dlpack")
    return placed(_core.share(array, "from_dlpack"), device, "from_dlpack")


# Types of devices in DLPack whose memory the processor reads: its own, and that of CUDA and ROCm
# which is mapped to it.
_HOST = (1, 3, 11, 13)


class _Exchange:
    """An array of another library, and whether its capsule has the flag of read-only memory.

    NumPy declares arrays read-only if the capsule is older than DLPack 1.0, which has no flags.
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        self.has_flags = False

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._array.__dlpack__(**options)
        self.has_flags = '"dltensor_versioned"' in repr(capsule)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def namespace(self: Any, *, api_version: str | None = None) -> ModuleType:
    """__array_namespace__(self, *, api_version: str | None = None) -> types.ModuleType

    Return the module `pullback`, the namespace of the Array API standard.

    Parameters
    ----------
    api_version : str, optional
        Version of the standard, from "2021.12" to "2025.12". Default: the latest.

    Returns
    -------
    module
        The module `pullback`.

    Raises
    ------
    ValueError
        If the version is unknown.
    """
    import pullback

    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"__array_namespace__: expected a version from {VERSIONS[0]} to {VERSION} for "
            f"api_version, got {_core.shown(api_version)}"
        )
    return pullback


VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)


def device(self: Any) -> str:
    """Return the device of the tensor.

    Returns
    -------
    str
        "cpu", or a GPU such as "cuda:0".
    """
    return _core.device_of(self)


def to_device(self: Any, device: str, /, *, stream: None = None) -> Tensor:
    """to_device(self, device: str, /, *, stream: None = None) -> Tensor

    Return the tensor on a device.

    The gradient moves back.

    Parameters
    ----------
    device : str
        "cpu", "cuda" for the first GPU, or "cuda:1" for another.
    stream : None, optional
        Accepted for the Array API standard; it must be None.

    Returns
    -------
    Tensor
        The same value; the tensor itself if it is there. A variable returns a tensor.

    Raises
    ------
    TypeError
        If `device` is not a str.
    ValueError
        If `device` is unknown, or `stream` is not None.
    RuntimeError
        If CUDA is not available.
    """
    if not isinstance(device, str):
        raise TypeError(f"to_device: expected a str for device, got {_core.shown(device)}")
    if stream is not None:
        raise ValueError(f"to_device: expected None for stream, got {_core.shown(stream)}")
    if isinstance(self, Tensor) and device == _core.device_of(self):
        return self
    try:
        return placed(_core.identity(self), device, "to_device")
    except ValueError as error:
        raise ValueError(f"to_device: {error}") from None


def dlpack(
    self: Any,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """__dlpack__(self, *, stream: typing.Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> typing.Any

    Export the value to another library through DLPack.

    The exported memory is read-only. A consumer without support for read-only memory (DLPack before
    1.0, and PyTorch, which ignores the flag) receives a copy.

    Parameters
    ----------
    stream : None, optional
        NumPy, which exports the value, accepts None only.
    max_version : tuple of two int, optional
        Highest DLPack version of the consumer. Default: below 1.0.
    dl_device : tuple of two int, optional
        Device, as in `__dlpack_device__`.
    copy : bool, optional
        Request or forbid a copy of the exported memory.

    Returns
    -------
    capsule
        The DLPack capsule.

    Raises
    ------
    TypeError
        If `max_version` is not a pair.
    BufferError
        If the device is not the processor's memory.
    RuntimeError
        If `stream` is not None, or the value is required for a gradient and conversions of such
        tensors are errors.
    """  # noqa: E501, the stub's line
    if max_version is not None and not (isinstance(max_version, tuple) and len(max_version) == 2):
        raise TypeError(
            "__dlpack__: expected a pair of integers for max_version, got "
            f"{_core.shown(max_version)}"
        )
    _core.check_escape(self, "__dlpack__")
    value = self.numpy()
    caller = str(sys._getframe(1).f_globals.get("__name__"))
    if max_version is None or max_version[0] < 1 or (caller.startswith("torch.") and copy is None):
        value = value.copy()
    return value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def dlpack_device(self: Any) -> tuple[int, int]:
    """__dlpack_device__(self) -> tuple[int, int]

    Return the DLPack device type and number of the processor's memory.

    Returns
    -------
    tuple of two int
        The pair (1, 0).
    """
    return (1, 0)


class _Info:
    """Describe this namespace, as defined by the Array API standard."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional features of the standard.

        Returns
        -------
        dict
            Boolean indexing, data-dependent shapes and the maximum number of axes.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self) -> str:
        """Return the default device, "cpu".

        Returns
        -------
        str
            The string "cpu".
        """
        return DEVICE

    def devices(self) -> tuple[Device, ...]:
        """Return all devices.

        Returns
        -------
        tuple of str
            The tuple ("cpu",).
        """
        return (DEVICE,)

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, Any]:
        """Return the default dtype of each kind.

        Parameters
        ----------
        device : str, optional
            Any device, which makes no difference.

        Returns
        -------
        dict
            Dtypes of the keys "real floating", "complex floating", "integral" and "indexing".

        Raises
        ------
        ValueError
            If `device` is unknown.
        """
        check_device(device, "default_dtypes")
        real = _core.default_float()
        wide = numpy.dtype("complex64" if real == "float32" else "complex128")
        integer = numpy.dtype("int64")
        return {"real floating": real, "complex floating": wide, "integral": integer,
                "indexing": integer}  # fmt: skip

    def dtypes(
        self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Return the dtypes of the standard that exist here, by name.

        Parameters
        ----------
        device : str, optional
            Any device, which makes no difference.
        kind : str or tuple of str, optional
            Kind of dtypes, as in `isdtype`. Default: all dtypes.

        Returns
        -------
        dict
            Names and dtypes.

        Raises
        ------
        ValueError
            If a kind is unknown, or `device` is unknown.
        """
        import pullback as pb

        check_device(device, "dtypes")
        found = {name: getattr(pb, name) for name in _DTYPES if hasattr(pb, name)}
        if kind is None:
            return found
        return {name: d for name, d in found.items() if pb.isdtype(d, kind)}


_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def __array_namespace_info__() -> _Info:  # noqa: N807, the standard's name
    """Return an object that describes this namespace, as in the Array API standard.

    Returns
    -------
    object
        Its methods are `capabilities()`, `default_device()`, `default_dtypes()`, `devices()` and
        `dtypes()`.

    Examples
    --------
    >>> pb.__array_namespace_info__().devices()
    ('cpu',)
    """
    return _Info()
