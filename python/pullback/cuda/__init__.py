"""GPUs of NVIDIA, through the CUDA driver that is found at run time.

>>> import pullback as pb
>>> pb.cuda.is_available() or bool(pb.cuda.reason())
True

A tensor is moved by `Tensor.to_device`, and `pullback.use_device` makes new ones on a GPU.
Gradients are where their tensors are. Elementwise operations, reductions, products, copies,
indexing, sorts, scans and random draws have kernels, which NVRTC compiles. So far every other
operation runs on the processor, with copies: `fallbacks` counts them.
"""

from ._devices import (
    device_count,
    fallbacks,
    is_available,
    memory,
    reason,
    synchronize,
    trim,
)

__all__ = [
    "device_count",
    "fallbacks",
    "is_available",
    "memory",
    "reason",
    "synchronize",
    "trim",
]
