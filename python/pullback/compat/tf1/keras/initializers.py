"""`tf.keras.initializers`: the classes of `tf.initializers` whose arguments are the same there."""

from .. import initializers
from ..names import absent

_CLASSES = ("identity", "ones", "orthogonal", "variance_scaling", "zeros")
_OTHERS = (
    "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
    "lecun_uniform",
)  # fmt: skip
_found = {name: getattr(initializers, name) for name in (*_CLASSES, *_OTHERS)}
_found |= {name.title().replace("_", ""): _found[name] for name in _CLASSES}
globals().update(_found)
__all__ = sorted(_found)
__getattr__ = absent(__name__)
