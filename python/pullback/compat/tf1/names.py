"""Names and signatures: public and absent names of modules, and arguments as one string."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ..._base.hints import did_you_mean

F = TypeVar("F")


ROOT = __name__.rpartition(".")[0]


@cache
def table() -> list[tuple[str, str]]:
    """Return patterns of well-known absent names, each with an alternative."""
    lines = Path(__file__).with_name("absent.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.split(" :: ") for line in lines if line and line[0] != "#")
    return [(pattern, advice) for names, advice in entries for pattern in names.split()]


def advice_of(path: str) -> str | None:
    """Return the advice for a name below `tf.`; None if it is not well known."""
    return next((advice for pattern, advice in table() if fnmatchcase(path, pattern)), None)


def _kind(thing: Any) -> str:
    if isinstance(thing, ModuleType):  # only namespaces are public
        return "module" if "__getattr__" in vars(thing) else "internal"
    return "class" if isinstance(thing, type) else ""


def absent(module: str, kinds: Sequence[str] = ("", "module")) -> Callable[[str], Any]:
    """Create the `__getattr__` of a module: an error with an alternative for the name.

    The alternative is the advice for a well-known name, the module that has the name, or a similar
    name of the same kind.
    """
    where = module.removeprefix("pullback.")

    def missing(name: str) -> Any:
        advice = advice_of(f"{module}.{name}".removeprefix(f"{ROOT}."))
        spaces = {
            n: vars(m)
            for n, m in sorted(sys.modules.items(), key=lambda entry: len(entry[0]))
            if n.startswith(ROOT) and "__getattr__" in vars(m)
        }
        text = f": it is not part of pullback{(advice and f'; {advice}') or ''}"
        for n, v in spaces.items() if advice is None else ():
            if name in v.get("__all__", v) and name[0] != "_":
                text = f"; it is {n.removeprefix('pullback.')}.{name}"
                break
        else:
            wanted = kinds if name[:1].islower() else ("class",)
            known = spaces.get(module, {}) if advice is None else {}
            text += did_you_mean(
                name, [n for n, v in known.items() if n[0] != "_" and _kind(v) in wanted]
            )
        raise AttributeError(f"{where} has no {name}{text}")

    return missing


def explain_absent(*spaces: ModuleType) -> None:
    """Make modules namespaces: an absent name raises an error with an alternative."""
    for space in spaces:
        vars(space)["__getattr__"] = absent(space.__name__)


class _Finder:
    """The last finder of `import`: a module that does not exist is an error with alternatives."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith(f"{ROOT}."):
            module, _, last = name.rpartition(".")
            try:
                absent(module, ("module",))(last)
            except AttributeError as error:
                raise ModuleNotFoundError(f"import: no module named '{name}': {error}") from None


sys.meta_path.append(_Finder)


def public_names(namespace: dict[str, Any], *others: str) -> list[str]:
    """Return the public names of a module: functions and classes defined in it, and others."""
    own = namespace["__name__"]
    made = {
        name for name, value in namespace.items() if not name.startswith("_") and callable(value)
        and (getattr(value, "__module__", None) == own or hasattr(value, "type"))
    }  # fmt: skip
    return sorted(made.union(others))


def snake_case(name: str) -> str:
    """Convert a class name: Conv2D to conv2d, BasicLSTMCell to basic_lstm_cell."""
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def signature_of(arguments: str) -> Signature:
    """Parse a signature such as `x y=None name='z'`; marks before names are ignored."""
    parameters = []
    for entry in arguments.split():
        name, _, default = entry.lstrip("#").partition("=")
        value = ast.literal_eval(default) if default else Parameter.empty
        parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return Signature(parameters)


def named(function: F, name: str, doc: str | None, signature: Signature | None = None) -> F:
    """Set name, docstring and signature of a function."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    if signature is not None:
        made.__signature__ = signature
    return function


def taking(
    arguments: str, name: str = "", doc: str | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function of keywords with a signature in one string.

    A name and a docstring may be given too.
    """
    signature = signature_of(arguments)

    def decorate(function: Callable[..., Any]) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            return function(**bind(signature, who, args, keywords))

        who = name or function.__name__
        call.__module__ = function.__module__
        return named(call, who, doc or function.__doc__, signature)

    return decorate


def bind(signature: Signature, who: str, args: Any, keywords: Any) -> dict[str, Any]:
    """Return the arguments of a call by name, defaults included."""
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{who}: {error}") from None
    bound.apply_defaults()
    return bound.arguments
