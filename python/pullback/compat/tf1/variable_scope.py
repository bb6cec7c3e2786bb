"""variable_scope and get_variable: variables that are found again by name.

A variable scope prefixes the names of variables made by `get_variable` and says whether they are
new (`reuse=False`), exist already (True) or either (AUTO_REUSE). It opens a name scope too, which
prefixes operations and does not matter for variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any

from . import mode
from .create import convert_to_tensor
from .dtypes import as_dtype, float32
from .graph import get_default_graph
from .names import public_names
from .random_ops import glorot_uniform_initializer, zeros_initializer
from .shapes import TensorShape
from .variables import Variable


class _AutoReuse:
    def __repr__(self) -> str:
        return "tf.AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


@dataclass(eq=False)
class VariableScope:
    """A prefix of variable names and what holds inside it."""

    name: str
    reuse: Any = False
    initializer: Any = None
    dtype: Any = float32
    original_name_scope: str = ""

    def reuse_variables(self) -> None:
        """From here on variables must exist already."""
        self.reuse = True


def get_variable_scope() -> VariableScope:
    """The innermost variable scope of the default graph."""
    scopes = get_default_graph().variable_scopes
    if not scopes:
        scopes.append(VariableScope(""))
    scope: VariableScope = scopes[-1]
    return scope


@contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, values: Any = None,
    initializer: Any = None, reuse: Any = None, dtype: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:  # fmt: skip
    """Opens a variable scope by name, or one that was opened before; yields it.

    `default_name` is made unique and used where the name is None. `reuse=True` is inherited and
    cannot be switched off inside.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     with tf.variable_scope("main"):
    ...         w = tf.get_variable("w", [2])
    ...     with tf.variable_scope("main", reuse=True):
    ...         tf.get_variable("w") is w, w.name
    (True, 'main/w:0')
    """
    if name_or_scope is None and default_name is None:
        raise TypeError("variable_scope: give name_or_scope or default_name")
    graph, outer = get_default_graph(), get_variable_scope()
    settings = name_or_scope if isinstance(name_or_scope, VariableScope) else outer
    if settings is name_or_scope:
        full, short = settings.name, settings.name.rpartition("/")[2]
    elif isinstance(name_or_scope, str) or name_or_scope is None:
        short = name_or_scope or _unique(graph, outer, str(default_name))
        full = _inside(outer, short)
    else:
        raise TypeError(f"variable_scope: expected a name or a scope, got {name_or_scope!r}")
    scope = VariableScope(
        full,
        reuse or outer.reuse or settings.reuse,
        settings.initializer if initializer is None else initializer,
        settings.dtype if dtype is None else as_dtype(dtype),
    )
    names = auxiliary_name_scope and short and not mode.executing_eagerly()
    graph.variable_scopes.append(scope)
    before = set(graph.variable_scope_names)
    try:
        with graph.name_scope(short) if names else nullcontext("") as scope.original_name_scope:
            yield scope
    finally:
        graph.variable_scopes.pop()
        # Whoever opens it again finds the scopes below under the same names.
        if settings is name_or_scope:
            graph.variable_scope_names = before
        else:
            below = f"{full}/"
            graph.variable_scope_names = {
                entry for entry in graph.variable_scope_names if not entry.startswith(below)
            }


def _inside(scope: VariableScope, name: str) -> str:
    return f"{scope.name}/{name}" if scope.name else name


def _unique(graph: Any, outer: VariableScope, name: str) -> str:
    candidates = (f"{name}_{i}" if i else name for i in count())
    unique = next(x for x in candidates if _inside(outer, x) not in graph.variable_scope_names)
    graph.variable_scope_names.add(_inside(outer, unique))
    return unique


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool = True, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
) -> Any:  # fmt: skip
    """The variable of this name in the present variable scope, made or found as it says.

    The initial value comes from `initializer` (a function of shape and dtype, or a value), else the
    scope's; else Glorot's uniform distribution for floats and zeros for integers. ValueError where
    the scope does not allow what would happen, or shape and dtype contradict.
    """
    if regularizer is not None or partitioner is not None or custom_getter is not None:
        raise NotImplementedError("get_variable: regularizer, partitioner and custom_getter")
    scope, graph, eager = get_variable_scope(), get_default_graph(), mode.executing_eagerly()
    full = _inside(scope, name)
    wish = as_dtype(scope.dtype if dtype is None else dtype)
    found = None if eager else graph.variable_store.get(full)
    if found is None and scope.reuse is True and not eager:
        raise ValueError(
            f"get_variable: the variable {full} does not exist, and the scope says reuse=True; "
            "use reuse=tf.AUTO_REUSE, or make it first"
        )
    if found is not None and not scope.reuse:
        raise ValueError(
            f"get_variable: the variable {full} already exists; did you mean reuse=True or "
            "reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    if found is not None:
        fits = shape is None or TensorShape(shape).is_compatible_with(found.shape)
        if not fits or (dtype is not None and wish != found.dtype):
            raise ValueError(
                f"get_variable: trying to share {found!r} as one of shape {TensorShape(shape)} "
                f"and dtype {wish.name}"
            )
        return found
    initial = _initial(
        full, shape, wish, dtype, scope.initializer if initializer is None else initializer
    )
    with graph.name_scope(None):
        made = Variable(
            initial, trainable, collections, validate_shape, name=full, constraint=constraint
        )
    if not eager:
        graph.variable_store[full] = made
    return made


def _initial(full: str, shape: Any, wish: Any, dtype: Any, initializer: Any) -> Any:
    if initializer is None:
        initializer = glorot_uniform_initializer if wish.is_floating else zeros_initializer
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError(
                f"get_variable: {full}: give a shape or a value as initializer, not both"
            )
        return convert_to_tensor(initializer, None if dtype is None else wish)
    if shape is None:
        raise ValueError(f"get_variable: the variable {full} needs a shape or an initial value")
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(f"get_variable: the shape {TensorShape(shape)} of {full} is not known")
    return lambda: initializer([int(d) for d in TensorShape(shape)], wish)


__all__ = public_names(globals(), "AUTO_REUSE")
