"""Availability and memory of GPUs."""

from __future__ import annotations

from .. import _core

__all__ = ["device_count", "fallbacks", "is_available", "memory", "reason", "synchronize", "trim"]


def is_available() -> bool:
    """Return whether there is a driver with a GPU.

    Nothing is allocated on a GPU.

    Returns
    -------
    bool
        False without a driver that can be used; `reason` returns the reason.

    Examples
    --------
    >>> isinstance(pb.cuda.is_available(), bool)
    True
    """
    return not _core.cuda_reason()


def reason() -> str:
    """Return why CUDA or its kernels are not available, and what to do.

    Returns
    -------
    str
        Empty if CUDA is available with kernels. If CUDA is available without NVRTC, which compiles
        the kernels, every step of a plan runs on the processor.

    Examples
    --------
    >>> isinstance(pb.cuda.reason(), str)
    True
    """
    return _core.cuda_reason() or _core.cuda_missing_compiler()


def device_count() -> int:
    """Return the number of GPUs that the driver sees.

    Returns
    -------
    int
        0 if CUDA is not available.

    Examples
    --------
    >>> pb.cuda.device_count() >= 0
    True
    """
    return _core.cuda_device_count()


def memory(device: str = "cuda") -> dict[str, int]:
    """Return figures of the memory of a GPU.

    Parameters
    ----------
    device : str, optional
        "cuda" for the first GPU, or "cuda:1" for another. Default: "cuda".

    Returns
    -------
    dict
        In bytes: `live`, of tensors and plans in use; `peak`, the highest `live` so far; `cached`,
        kept for reuse; `free` and `total`, as the driver reports.

    Raises
    ------
    ValueError
        If `device` is "cpu" or unknown.
    RuntimeError
        If CUDA is not available or the device is lost.

    Examples
    --------
    >>> pb.cuda.memory()["live"]  # doctest: +SKIP
    0
    """
    return _core.cuda_memory(device)


def trim(device: str = "cuda") -> None:
    """Return the cached memory of a GPU to the driver.

    Parameters
    ----------
    device : str, optional
        As in `memory`. Default: "cuda".

    Raises
    ------
    ValueError
        If `device` is "cpu" or unknown.
    RuntimeError
        If CUDA is not available or the device is lost.

    Examples
    --------
    >>> pb.cuda.trim()  # doctest: +SKIP
    """
    _core.cuda_trim(device)


def synchronize(device: str = "cuda") -> None:
    """Wait for all work of a GPU.

    Reading a value waits by itself; this is for timings.

    Parameters
    ----------
    device : str, optional
        As in `memory`. Default: "cuda".

    Raises
    ------
    ValueError
        If `device` is "cpu" or unknown.
    RuntimeError
        If CUDA is not available or the device is lost.

    Examples
    --------
    >>> pb.cuda.synchronize()  # doctest: +SKIP
    """
    _core.cuda_synchronize(device)


def fallbacks() -> dict[str, int]:
    """Return how many steps of plans for GPUs have run on the processor.

    Returns
    -------
    dict
        Counts since the process started, by kind of step. In parentheses: what has no kernel.

    Examples
    --------
    >>> isinstance(pb.cuda.fallbacks(), dict)
    True
    """
    return _core.cuda_fallbacks()
