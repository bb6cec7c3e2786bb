"""Names and signatures: what a module makes public, what is absent, and arguments as one string."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from inspect import Parameter, Signature
from typing import Any, TypeVar

__all__ = ["absent", "bind", "named", "near", "public_names", "signature_of", "taking"]


F = TypeVar("F")


def absent(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module: says where else a name is, which one is near, or that there is
    nothing of the kind."""
    where = module.removeprefix("pullback.")

    def missing(name: str) -> Any:
        root = module.split(".tf1")[0] + ".tf1"
        spaces = {
            n: vars(m)
            for n, m in sorted(sys.modules.items(), key=lambda entry: len(entry[0]))
            if n.startswith(root) and "__getattr__" in vars(m)
        }
        text = next(
            (f"; it is {n.removeprefix('pullback.')}.{name}" for n, v in spaces.items()
             if name in v.get("__all__", v) and name[0] != "_"), "",
        )  # fmt: skip
        if not text:
            close = near(name, [n for n in spaces.get(module, ()) if n[0] != "_"])
            text = f": it is not part of pullback{close}"
        raise AttributeError(f"{where} has no {name}{text}")

    return missing


def public_names(namespace: dict[str, Any], *others: str) -> list[str]:
    """The public names of a module: the functions and classes that it makes itself, and others."""
    own = namespace["__name__"]
    made = {
        name for name, value in namespace.items() if not name.startswith("_") and callable(value)
        and (getattr(value, "__module__", None) == own or hasattr(value, "type"))
    }  # fmt: skip
    return sorted(made.union(others))


def near(name: Any, known: Iterable[str]) -> str:
    """ "; did you mean …?" where names are near, in any case; else nothing."""
    lower = {entry.lower(): entry for entry in known}
    matches = [repr(lower[m]) for m in get_close_matches(str(name).lower(), lower, 3)]
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def signature_of(arguments: str) -> Signature:
    """The signature that `x y=None name='z'` describes; marks before names are ignored."""
    parameters = []
    for entry in arguments.split():
        name, _, default = entry.lstrip("#").partition("=")
        value = ast.literal_eval(default) if default else Parameter.empty
        parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return Signature(parameters)


def named(function: F, name: str, doc: str | None, signature: Signature | None = None) -> F:
    """The function under the name, docstring and signature that a program sees."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    if signature is not None:
        made.__signature__ = signature
    return function


def taking(name: str, arguments: str, doc: str | None) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function of keywords: it becomes `name`, with the arguments of one string."""
    signature = signature_of(arguments)

    def decorate(function: Callable[..., Any]) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            return function(**bind(signature, name, args, keywords))

        call.__module__ = function.__module__
        return named(call, name, doc, signature)

    return decorate


def bind(signature: Signature, who: str, args: Any, keywords: Any) -> dict[str, Any]:
    """The arguments of a call by name, defaults included."""
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{who}: {error}") from None
    bound.apply_defaults()
    return bound.arguments
