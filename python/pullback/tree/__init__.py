"""Pytrees: nested containers of arrays, `pb.tree`.

A pytree is a dict, list, tuple, namedtuple, dataclass, attrs class or registered class, whose
entries are pytrees again. None is a pytree without leaves. Any other object is a leaf. A field of a
dataclass or of attrs with `metadata={"static": True}` is not an entry: it belongs to the structure,
as do the keys of a dict. A class with the methods `tree_flatten` and `tree_unflatten` counts as
registered; see `register`.
"""

from ._ravel import ravel
from ._trees import flatten, leaves, map, register, structure, unflatten

__all__ = ["flatten", "leaves", "map", "ravel", "register", "structure", "unflatten"]
