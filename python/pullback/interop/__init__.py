"""Functions of PyTorch and JAX as operations, and functions of pullback in PyTorch and JAX."""

from ._jax import from_jax, jax_function
from ._torch import from_torch, torch_function

__all__ = ["from_jax", "from_torch", "jax_function", "torch_function"]
