"""Functions of PyTorch and JAX as operations, functions of pullback in PyTorch and JAX, and
registrations with libraries for arrays or pytrees of any class and for limits of threads."""

from ._jax import from_jax, jax_function
from ._registries import register_einops, register_optree, register_threadpoolctl
from ._torch import from_torch, torch_function

__all__ = [
    "from_jax",
    "from_torch",
    "jax_function",
    "register_einops",
    "register_optree",
    "register_threadpoolctl",
    "torch_function",
]
