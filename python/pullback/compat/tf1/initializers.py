"""`tf.initializers`: the initial values of variables."""

from ._ops import random_ops as _classes
from ._variables import variables as _variables
from .names import absent

_found = {
    name.removesuffix("_initializer"): getattr(module, name)
    for module in (_classes, _variables)
    for name in (*vars(module),)
    if name.endswith("_initializer") and name[0] != "_"
}
_found["tables_initializer"] = _found.pop("tables")
globals().update(_found)
__all__ = sorted(_found)
__getattr__ = absent(__name__)
