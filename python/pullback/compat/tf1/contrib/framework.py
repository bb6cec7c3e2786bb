"""`tf.contrib.framework`: default arguments by `arg_scope`, and variables by scope.

`arg_scope` sets keyword arguments of functions that `add_arg_scope` has decorated, such as the
layers of `tf.contrib.layers`. The innermost value of an argument is used, and the call's own first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from .._graph.graph import GraphKeys, get_default_graph
from .._variables.variable_scope import VariableScope
from ..names import public_names
from ..train import create_global_step as create_global_step
from ..train import get_global_step as get_global_step
from ..train import get_or_create_global_step as get_or_create_global_step

F = TypeVar("F", bound=Callable[..., Any])
Scope = dict[Callable[..., Any], dict[str, Any]]


class _Stack(threading.local):
    """The scopes of this thread, innermost last."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [{}]


_stack = _Stack()


def add_arg_scope(func: F) -> F:
    """Decorate a function so that `arg_scope` can set its keyword arguments."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**_stack.scopes[-1].get(call, {}), **kwargs})

    decorated: Any = call
    decorated.has_arg_scope = True
    return decorated  # type: ignore[no-any-return]


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Test whether `add_arg_scope` has decorated a function."""
    return hasattr(func, "has_arg_scope")


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Set keyword arguments of the listed functions inside; or use a scope again.

    The value of the `with` statement is the scope, a dict.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(f"arg_scope: expected no arguments beside a scope, got {kwargs}")
        scope = dict(list_ops_or_scope)
    elif not isinstance(list_ops_or_scope, (list, tuple)):
        raise TypeError(
            f"arg_scope: expected a list of functions or a scope, got {list_ops_or_scope!r:.60}"
        )
    else:
        scope = dict(_stack.scopes[-1])
        for func in list_ops_or_scope:
            if not has_arg_scope(func):
                raise ValueError(f"arg_scope: expected functions of add_arg_scope, got {func!r}")
            scope[func] = {**scope.get(func, {}), **kwargs}
    scopes = _stack.scopes  # the generator may be closed in another thread
    scopes.append(scope)
    try:
        yield scope
    finally:
        scopes.pop()


def get_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None,
    collection: str = GraphKeys.GLOBAL_VARIABLES,
) -> list[Any]:  # fmt: skip
    """Return the variables of a collection whose names begin with `scope` and end in `suffix`."""
    at = scope.name if isinstance(scope, VariableScope) else scope
    if suffix is not None:
        at = f"{at or ''}.*{suffix if ':' in suffix else suffix + ':'}"
    return get_default_graph().get_collection(collection, at)


def get_model_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None
) -> list[Any]:
    """Return the variables of GraphKeys.MODEL_VARIABLES, as `get_variables` does."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_trainable_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None
) -> list[Any]:
    """Return the trainable variables, as `get_variables` does."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


__all__ = public_names(
    globals(), "create_global_step", "get_global_step", "get_or_create_global_step"
)
