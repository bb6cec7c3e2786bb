"""Exchange of arrays with other libraries through DLPack.

Memory of the processor is exchanged by NumPy, that of GPUs by the core.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy

from .. import _core
from .._base.checks import check_copy
from .._core import Tensor
from .._typing import Device
from .array_api import DEVICE, check_device, placed

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """Make a tensor from an array of another library, through DLPack.

    Parameters
    ----------
    x : object
        Array with the method `__dlpack__`, in the memory of the processor or of a GPU. A tensor is
        accepted too.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: the GPU that has the memory; for memory of the
        processor, the device of `use_device`, which is "cpu" at first.
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
        If `copy` is False and the memory is not aligned and in row-major order or is not that of
        the device, or `device` is unknown.
    BufferError
        If the other library or NumPy cannot exchange the array, or memory of a GPU is not in
        row-major order.

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
        return out if device is None else _moved(out, x.device, device, copy)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(
            f"from_dlpack: expected an array with __dlpack__ for x, got {_core.shown(x)}"
        )
    exchange = _Exchange(x)
    try:
        kind, index = x.__dlpack_device__()
        if kind == _CUDA:
            stream = _core.cuda_stream(index)
            out = _core.import_dlpack(_capsule_on(x, stream), copy)
        else:
            array = numpy.from_dlpack(exchange)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BufferError("from_dlpack: " + str(error).removeprefix("from_dlpack: ")) from error
    if kind == _CUDA:
        return out if device is None else _moved(out, out.device, device, copy)
    if kind not in _HOST:
        raise BufferError(
            "from_dlpack: expected an array in the memory of the processor or of a GPU of NVIDIA, "
            f"got device type {kind}"
        )
    if copy is None:
        unchanging = exchange.has_flags and not array.flags.writeable
        copy = not (unchanging and array.flags.c_contiguous and array.flags.aligned)
    if copy or not array.size:
        return placed(_core.constant(array, who="from_dlpack"), device, "from_dlpack")
    return _moved(_core.share(array, "from_dlpack"), DEVICE, device, copy)


def _moved(x: Tensor, source: str, device: Device | None, copy: bool | None) -> Tensor:
    out = placed(x, device, "from_dlpack")
    if copy is False and out.device != source:
        raise ValueError(
            "from_dlpack: expected True or None for copy, got False; memory of "
            f"{source} is copied to {out.device}"
        )
    return out


def _capsule_on(x: Any, stream: int) -> Any:
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(stream=stream)


# Types of devices in DLPack whose memory the processor reads: its own, and that of CUDA and ROCm
# which is mapped to it.
_HOST = (1, 3, 11, 13)
_CUDA = 2


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

    The exported memory is read-only, and that of the device of the tensor. A consumer without support for read-only memory (DLPack before
    1.0, and PyTorch, which ignores the flag) receives a copy.

    Parameters
    ----------
    stream : int, optional
        Stream of a GPU in which the consumer uses the memory. All work is complete before, so any
        stream is valid. It must be None for the memory of the processor.
    max_version : tuple of two int, optional
        Highest DLPack version of the consumer. Default: below 1.0.
    dl_device : tuple of two int, optional
        Device, as in `__dlpack_device__`; (1, 0) copies from a GPU to the processor.
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
        If `dl_device` is neither the device of the tensor nor the processor, or `copy` is False and
        the export is a copy: for a consumer before DLPack 1.0, and from a GPU to the processor.
    RuntimeError
        If `stream` is not None for the memory of the processor, or the value is required for a gradient and conversions of such
        tensors are errors.
    """  # noqa: E501, the stub's line
    if max_version is not None and not (isinstance(max_version, tuple) and len(max_version) == 2):
        raise TypeError(
            "__dlpack__: expected a pair of integers for max_version, got "
            f"{_core.shown(max_version)}"
        )
    _core.check_escape(self, "__dlpack__")
    caller = str(sys._getframe(1).f_globals.get("__name__"))
    versioned = max_version is not None and max_version[0] >= 1
    unprotected = not versioned or (caller.startswith("torch.") and copy is None)
    own = dlpack_device(self)
    if copy is False and (not versioned or (own[0] == _CUDA and dl_device not in (None, own))):
        reason = (
            "memory of a GPU is copied to the processor"
            if versioned
            else "a consumer before DLPack 1.0 receives a copy, because its memory is not read-only"
        )
        raise BufferError(f"__dlpack__: copy=False is impossible, since {reason}; permit a copy")
    if own[0] == _CUDA and dl_device in (None, own):
        return _core.export_dlpack(self, versioned, unprotected or bool(copy))
    value = self.numpy()
    if unprotected:
        value = value.copy()
    return value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def dlpack_device(self: Any) -> tuple[int, int]:
    """__dlpack_device__(self) -> tuple[int, int]

    Return the DLPack device type and number of the tensor.

    Returns
    -------
    tuple of two int
        (1, 0) for the memory of the processor, (2, i) for GPU i.
    """
    kind, _, index = _core.device_of(self).partition(":")
    return (_CUDA, int(index)) if kind == "cuda" else (1, 0)
