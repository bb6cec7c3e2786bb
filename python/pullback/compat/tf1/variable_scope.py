"""variable_scope and get_variable: variables that are found again by name.

A variable scope prefixes the names of variables made by `get_variable` and says whether they are
new (`reuse=False`), exist already (True) or either (AUTO_REUSE). It opens a name scope too, which
prefixes operations and does not matter for variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import mode
from .create import convert_to_tensor
from .dtypes import as_dtype, float32
from .graph import get_default_graph
from .random_ops import glorot_uniform_initializer, zeros_initializer
from .shapes import TensorShape
from .tensor import SymbolicTensor as Tensor
from .variables import Variable

__all__ = [
    "AUTO_REUSE",
    "VariableScope",
    "get_variable",
    "get_variable_scope",
    "variable_scope",
]


class _AutoReuse:
    def __repr__(self) -> str:
        return "tf.AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


class VariableScope:
    """A prefix of variable names and what holds inside it."""

    def __init__(
        self,
        name: str,
        reuse: Any = False,
        initializer: Any = None,
        dtype: Any = float32,
        original_name_scope: str = "",
    ) -> None:
        self.name = name
        self.reuse = reuse
        self.initializer = initializer
        self.dtype = dtype
        self.original_name_scope = original_name_scope

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
    name_or_scope: Any,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
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
    graph = get_default_graph()
    outer = get_variable_scope()
    settings = outer
    if isinstance(name_or_scope, VariableScope):
        settings = name_or_scope
        full, short = settings.name, settings.name.rpartition("/")[2]
    elif isinstance(name_or_scope, str) or name_or_scope is None:
        short = name_or_scope or _unique(graph, outer, str(default_name))
        full = f"{outer.name}/{short}" if outer.name else short
    else:
        raise TypeError(f"variable_scope: expected a name or a scope, got {name_or_scope!r}")
    scope = VariableScope(
        full,
        reuse or outer.reuse or settings.reuse,
        settings.initializer if initializer is None else initializer,
        settings.dtype if dtype is None else as_dtype(dtype),
    )
    graph.variable_scopes.append(scope)
    try:
        if auxiliary_name_scope and short and not mode.executing_eagerly():
            with graph.name_scope(short) as name_scope:
                scope.original_name_scope = name_scope
                yield scope
        else:
            yield scope
    finally:
        graph.variable_scopes.pop()


def _unique(graph: Any, outer: VariableScope, name: str) -> str:
    prefix = f"{outer.name}/" if outer.name else ""
    taken = graph.variable_scope_names
    unique, count = name, 0
    while prefix + unique in taken:
        count += 1
        unique = f"{name}_{count}"
    taken.add(prefix + unique)
    return unique


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
) -> Any:
    """The variable of this name in the present variable scope, made or found as it says.

    The initial value comes from `initializer` (a function of shape and dtype, or a value), else the
    scope's; else Glorot's uniform distribution for floats and zeros for integers. ValueError where
    the scope does not allow what would happen, or shape and dtype contradict.
    """
    if regularizer is not None or partitioner is not None or custom_getter is not None:
        raise NotImplementedError("get_variable: regularizer, partitioner and custom_getter")
    scope = get_variable_scope()
    graph = get_default_graph()
    full = f"{scope.name}/{name}" if scope.name else name
    wish = as_dtype(scope.dtype if dtype is None else dtype)
    found = None if mode.executing_eagerly() else graph.variable_store.get(full)
    if found is not None:
        return _shared(found, full, scope.reuse, shape, None if dtype is None else wish)
    if scope.reuse is True and not mode.executing_eagerly():
        raise ValueError(
            f"get_variable: the variable {full} does not exist, and the scope says reuse=True; "
            "use reuse=tf.AUTO_REUSE, or make it first"
        )
    initial = _initial(
        full, shape, wish, dtype, scope.initializer if initializer is None else initializer
    )
    with graph.name_scope(None):
        made = Variable(
            initial,
            trainable=trainable,
            collections=collections,
            validate_shape=validate_shape,
            name=full,
            constraint=constraint,
        )
    if not mode.executing_eagerly():
        graph.variable_store[full] = made
    return made


def _shared(found: Any, full: str, reuse: Any, shape: Any, dtype: Any) -> Any:
    if not reuse:
        raise ValueError(
            f"get_variable: the variable {full} already exists; did you mean reuse=True or "
            "reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(
            f"get_variable: trying to share the variable {full} of shape {found.shape} as one of "
            f"shape {TensorShape(shape)}"
        )
    if dtype is not None and dtype != found.dtype:
        raise ValueError(
            f"get_variable: trying to share the variable {full} of dtype {found.dtype.name} as one "
            f"of dtype {dtype.name}"
        )
    return found


def _initial(full: str, shape: Any, wish: Any, dtype: Any, initializer: Any) -> Any:
    if isinstance(initializer, type):
        initializer = initializer()
    if initializer is None:
        initializer = glorot_uniform_initializer() if wish.is_floating else zeros_initializer()
        if wish.is_bool:
            initializer = zeros_initializer()
    if callable(initializer) and not isinstance(initializer, Tensor):
        if shape is None:
            raise ValueError(f"get_variable: the variable {full} needs a shape or an initial value")
        if not TensorShape(shape).is_fully_defined():
            raise ValueError(f"get_variable: the shape {TensorShape(shape)} of {full} is not known")
        make, dims = initializer, [int(d) for d in TensorShape(shape)]
        return lambda: make(dims, wish)
    if shape is not None:
        raise ValueError(f"get_variable: {full}: give a shape or a value as initializer, not both")
    return convert_to_tensor(initializer, None if dtype is None else wish)
