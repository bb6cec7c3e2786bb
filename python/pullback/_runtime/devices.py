"""The device on which new tensors are made."""

from __future__ import annotations

import os
from types import TracebackType

from .. import _core
from .._typing import Device

__all__ = ["use_device"]


class use_device:  # noqa: N801, a context manager that reads like a function
    """Make tensors and variables on a device, in this thread.

    Inside of the block, creation functions, random draws and variables use the device, and NumPy
    arrays are moved there where operations read them. Tensors that exist stay where they are:
    `Tensor.to_device` moves one.

    Parameters
    ----------
    device : str
        "cpu", "cuda" for the first GPU, or "cuda:1" for another.

    Raises
    ------
    ValueError
        If `device` is unknown.
    RuntimeError
        If CUDA is not available, with the reason.

    See Also
    --------
    pullback.cuda.is_available : Whether there is a GPU.

    Examples
    --------
    >>> with pb.use_device("cpu"):
    ...     x = pb.zeros(2)
    >>> x.device
    'cpu'
    """

    def __init__(self, device: Device) -> None:
        if not isinstance(device, str):
            raise TypeError(f"use_device: expected a str for device, got {_core.shown(device)}")
        self._device = device
        self._before: list[str] = []

    def __enter__(self) -> None:
        self._before.append(_core.exchange_default_device(self._device))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.exchange_default_device(self._before.pop())


def start() -> None:
    """Use the device that the variable PULLBACK_DEVICE names, in all threads."""
    if device := os.environ.get("PULLBACK_DEVICE"):
        _core.set_first_device(device)
