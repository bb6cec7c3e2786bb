"""Requirements of the Array API standard for a namespace and its arrays.

These are the namespace of an array, its device, a description of the namespace, and constants.
dlpack.py exchanges arrays with other libraries.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy

from .. import _core
from .._core import Tensor
from .._typing import Device

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "e",
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


def placed_like(x: Tensor, like: Tensor, device: Any, who: str) -> Tensor:
    """Move a new tensor to a device; None is the device of another tensor."""
    return placed(x, _core.own_device(like) if device is None else device, who)


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
        """Return the default device, which `use_device` sets.

        Returns
        -------
        str
            "cpu", or a GPU such as "cuda:0".
        """
        return _core.default_device()

    def devices(self) -> tuple[Device, ...]:
        """Return all devices.

        Returns
        -------
        tuple of str
            "cpu", and the GPUs that can be used.
        """
        return (DEVICE, *(f"cuda:{i}" for i in range(_core.cuda_device_count())))

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
    >>> pb.__array_namespace_info__().devices()[0]
    'cpu'
    """
    return _Info()
