"""variable_scope and get_variable: variables that are shared by name.

A variable scope prefixes the names of variables created by `get_variable`. Its `reuse` requires new
variables (False), existing ones (True) or allows both (AUTO_REUSE). It also opens a name scope,
which prefixes the names of operations and has no effect on variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import count
from typing import Any

from .._graph import mode
from .._graph.create import convert_to_tensor
from .._graph.graph import GraphKeys, get_default_graph
from .._graph.shapes import TensorShape
from .._ops.random_ops import glorot_uniform_initializer, zeros_initializer
from ..dtypes import as_dtype, float32
from ..names import public_names
from .variables import Variable, VariableAggregation, VariableSynchronization


class _AutoReuse:
    def __repr__(self) -> str:
        return "tf.AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


@dataclass(eq=False)
class VariableScope:
    """A prefix of variable names with the defaults of the variables created inside."""

    name: str
    reuse: Any = False
    initializer: Any = None
    dtype: Any = float32
    original_name_scope: str = ""
    regularizer: Any = None
    constraint: Any = None
    custom_getter: Any = None

    def set_initializer(self, initializer: Any) -> None:
        """Set the default initializer of the variables created here."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Set the default regularizer of the variables created here."""
        self.regularizer = regularizer

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Set a function that `get_variable` calls here, with itself as the first argument."""
        self.custom_getter = custom_getter

    def global_variables(self) -> list[Any]:
        """Return the variables of this scope."""
        return _collected(GraphKeys.GLOBAL_VARIABLES, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        """Return the trainable variables of this scope."""
        return _collected(GraphKeys.TRAINABLE_VARIABLES, f"{self.name}/" if self.name else "")

    def reuse_variables(self) -> None:
        """Require that variables exist from here on."""
        self.reuse = True


def _collected(key: str, prefix: str) -> list[Any]:
    return [v for v in get_default_graph().get_collection(key) if v.name.startswith(prefix)]


def get_variable_scope() -> VariableScope:
    """Return the innermost variable scope of the default graph."""
    scopes = get_default_graph().variable_scopes
    if not scopes:
        scopes.append(VariableScope(""))
    scope: VariableScope = scopes[-1]
    return scope


@contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, values: Any = None,
    initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
    partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
    use_resource: bool | None = None, constraint: Any = None, auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:  # fmt: skip
    """Open a variable scope by name, or reopen one; yields it.

    `default_name` is made unique and used if the name is None. `reuse=True` is inherited and cannot
    be reset inside. `initializer`, `regularizer`, `constraint` and `custom_getter` are the defaults
    of the variables created inside; a custom getter is called in place of `get_variable`, with the
    original as its first argument.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     with tf.variable_scope("main"):
    ...         w = tf.get_variable("w", [2])
    ...     with tf.variable_scope("main", reuse=True):
    ...         tf.get_variable("w") is w, w.name
    (True, 'main/w:0')
    """
    if name_or_scope is None and default_name is None:
        raise TypeError("variable_scope: expected name_or_scope or default_name, got None for both")
    if reuse not in (None, True, False, AUTO_REUSE):
        raise ValueError(
            f"variable_scope: reuse must be one of True, False, None, tf.AUTO_REUSE; got {reuse!r}"
        )
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
        regularizer=settings.regularizer if regularizer is None else regularizer,
        constraint=settings.constraint if constraint is None else constraint,
        custom_getter=_nested(settings.custom_getter, custom_getter),
    )
    names = auxiliary_name_scope and short and not mode.executing_eagerly()
    graph.variable_scopes.append(scope)
    before = set(graph.variable_scope_names)
    try:
        with graph.name_scope(short) if names else nullcontext("") as opened:
            again = settings is name_or_scope
            scope.original_name_scope = settings.original_name_scope if again else opened
            yield scope
    finally:
        graph.variable_scopes.pop()
        # The scopes below have the same names when it is reopened.
        if settings is name_or_scope:
            graph.variable_scope_names = before
        else:
            below = f"{full}/"
            graph.variable_scope_names = {
                entry for entry in graph.variable_scope_names if not entry.startswith(below)
            }


def _nested(outer: Any, inner: Any) -> Any:
    """Combine two getters: the outer one is the original of the inner one."""
    if inner is None or outer is None:
        return outer if inner is None else inner
    return lambda getter, *args, **given: inner(
        lambda *a, **g: outer(getter, *a, **g), *args, **given
    )


def _inside(scope: VariableScope, name: str) -> str:
    return f"{scope.name}/{name}" if scope.name else name


def _unique(graph: Any, outer: VariableScope, name: str) -> str:
    candidates = (f"{name}_{i}" if i else name for i in count())
    unique = next(x for x in candidates if _inside(outer, x) not in graph.variable_scope_names)
    graph.variable_scope_names.add(_inside(outer, unique))
    return unique


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
    unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Wrap a function: the first call creates variables in a scope, later calls reuse them.

    `kwargs` are arguments of `func_`.
    """
    scope, called = None, False

    def opened() -> Any:
        getter, reuse = (custom_getter_ if scope is None else None), (True if called else None)
        return variable_scope(scope or unique_name_, name_, custom_getter=getter, reuse=reuse)

    def template(*args: Any, **keywords: Any) -> Any:
        nonlocal scope, called
        with opened() as inside:
            scope, called = scope or inside, True
            return func_(*args, **kwargs, **keywords)

    if create_scope_now_:
        with opened() as scope:
            pass
    return template


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool | None = None, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:  # fmt: skip
    """Create or reuse the variable of this name in the current variable scope.

    The initial value comes from `initializer` (a function of shape and dtype, or a value), else
    from the scope's. The default is Glorot's uniform distribution for floats and zero for integers.
    The value of a regularizer is added to `GraphKeys.REGULARIZATION_LOSSES` when the variable is
    created. A partitioner has no effect.

    Raises
    ------
    ValueError
        If the scope's `reuse` forbids the call, or shape or dtype differ from the variable's.
    """
    if not isinstance(name, str):
        raise TypeError(f"get_variable: expected a str for name, got {name!r:.60}")
    scope = get_variable_scope()
    getter = _nested(scope.custom_getter, custom_getter)
    given = {
        "shape": shape, "dtype": scope.dtype if dtype is None else dtype,
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "trainable": trainable is not False, "collections": collections,
        "validate_shape": validate_shape,
        "constraint": scope.constraint if constraint is None else constraint,
    }  # fmt: skip
    made = partial(_get, scope, dtype is not None)
    return (made if getter is None else partial(getter, made))(_inside(scope, name), **given)


def get_local_variable(*args: Any, **keywords: Any) -> Any:
    """Create or reuse a variable in `GraphKeys.LOCAL_VARIABLES` that is not trainable."""
    given = _LOCAL.bind(*args, **keywords).arguments
    where = [GraphKeys.LOCAL_VARIABLES, *(given.pop("collections", None) or ())]
    return get_variable(**{**given, "trainable": False, "collections": where})


_LOCAL = signature(get_variable)
_LOCAL = _LOCAL.replace(parameters=[
    p.replace(default=False) if p.name == "trainable" else p for p in _LOCAL.parameters.values()
])  # fmt: skip
get_local_variable.__signature__ = _LOCAL  # type: ignore[attr-defined]


def _get(
    scope: VariableScope, own_dtype: bool, full: str, shape: Any = None, dtype: Any = float32,
    initializer: Any = None, regularizer: Any = None, trainable: bool = True,
    collections: Any = None, validate_shape: bool = True, constraint: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """Create or reuse a variable without calling a custom getter."""
    graph, eager, wish = get_default_graph(), mode.executing_eagerly(), as_dtype(dtype)
    found = None if eager else graph.variable_store.get(full)
    if found is None and scope.reuse is True and not eager:
        raise ValueError(
            f"get_variable: the variable {full} does not exist, and the scope has reuse=True; "
            "use reuse=tf.AUTO_REUSE, or make it first"
        )
    if found is not None and not scope.reuse:
        raise ValueError(
            f"get_variable: the variable {full} already exists; did you mean reuse=True or "
            "reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    if found is not None:
        fits = shape is None or TensorShape(shape).is_compatible_with(found.shape)
        if not fits or (own_dtype and wish != found.dtype):
            raise ValueError(
                f"get_variable: trying to share variable {full}: expected shape "
                f"{TensorShape(shape)} and dtype {wish.name}, got {found!r}"
            )
        return found
    initial = _initial(full, shape, wish, dtype if own_dtype else None, initializer)
    with graph.name_scope(None):
        made = Variable(
            initial, trainable, collections, validate_shape, name=full, constraint=constraint
        )
    if not eager:
        graph.variable_store[full] = made
        if regularizer is not None:
            with graph.name_scope(f"{full}/Regularizer/"):
                loss = regularizer(made.value())
            if loss is not None:
                graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _initial(full: str, shape: Any, wish: Any, dtype: Any, initializer: Any) -> Any:
    if initializer is None:
        initializer = glorot_uniform_initializer if wish.is_floating else zeros_initializer
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError(
                f"get_variable: expected a shape or a value as initializer for {full}, got both"
            )
        return convert_to_tensor(initializer, None if dtype is None else wish)
    if shape is None:
        raise ValueError(f"get_variable: expected a shape or an initial value for {full}, got None")
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"get_variable: expected a known shape for {full}, got {TensorShape(shape)}"
        )
    return lambda: initializer([int(d) for d in TensorShape(shape)], wish)


__all__ = public_names(globals(), "AUTO_REUSE")
