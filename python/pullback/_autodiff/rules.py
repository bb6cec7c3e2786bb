"""Gradient rules written in Python, as the core takes them.

The core calls a rule as f(op name, inputs, outputs, cotangents) and takes one tensor or None for
each input; it checks their number, dtypes and shapes. `op_rule` adapts a user's f(op, *cotangents)
to that. `rule_map` does so for a mapping of overrides, after it has checked all entries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from inspect import signature
from os.path import dirname, sep
from types import CodeType, FunctionType
from typing import Any

import numpy

from .. import _core
from .._base.hints import did_you_mean
from .._base.locations import location
from .._core import Rule, Tensor
from .override_names import ALIASES, SHAPED

_FOLDER = dirname(dirname(__file__)) + sep  # pathlib would take 5 ms of the import

registered: set[str] = set()  # names for messages; the core stores the rules


class Op:
    """The operation that a gradient rule receives.

    Attributes
    ----------
    type : str
        Name of the operation in the library; also `name`.
    inputs : list of Tensor
        Its inputs.
    outputs : list of Tensor
        Its outputs. Of several, those that have no influence on the ys may be None.
    """

    __slots__ = ("inputs", "outputs", "type")

    def __init__(self, type: str, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        self.type = type
        self.inputs = inputs
        self.outputs = outputs

    @property
    def name(self) -> str:
        """Return the name of the operation."""
        return self.type

    def get_attr(self, name: str) -> Any:
        """Return an attribute of the operation by its name in the public function.

        Reductions have `axis`, a tuple of non-negative integers, and `keepdims`; softmax,
        log_softmax, concat and take have `axis`, an integer; transpose has `axes`.

        Parameters
        ----------
        name : str
            Name of the attribute.

        Returns
        -------
        object
            Value of the attribute.

        Raises
        ------
        ValueError
            If the operation has no such attribute.
        """
        known = _core.attributes_of(self.outputs[0]) if len(self.outputs) == 1 else {}
        if name not in known:
            options = ", ".join(map(repr, known)) or "none"
            raise ValueError(
                f"get_attr: name must be one of the attributes of {self.type}, {options}; got "
                f"{name!r}"
            )
        return known[name]

    def __repr__(self) -> str:
        return f"<op {self.type}: {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def place(fn: Any) -> str:
    """Return the name of a function and its location: `clip (train.py:12)`.

    Wrappers, such as decorators of this library, are skipped. A function of this library has its
    public name alone: `pb.sin`.
    """
    for _ in range(64):  # a limit for objects that wrap themselves
        inner = fn.func if isinstance(fn, partial) else getattr(fn, "__wrapped__", None)
        if not callable(inner):
            break
        fn = inner
    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    code = getattr(fn, "__code__", None)
    if isinstance(code, CodeType):
        # A cell has another number each time it runs, so nothing is cached beside IPython.
        find = _of_program.__wrapped__ if "IPython" in sys.modules else _of_program
        if found := find(name, code.co_filename, code.co_firstlineno):
            return found
    module = str(getattr(fn, "__module__", None))
    public = module.partition(".")[0] == "pullback" and "._" not in module
    return f"pb{module.removeprefix('pullback')}.{name}" if public else str(name)


@lru_cache(1024)  # each call of a function with a custom gradient names its rule
def _of_program(name: str, file: str, line: int) -> str | None:
    """Return the name and location of a function; None for one of this library."""
    return None if file.startswith(_FOLDER) else f"{name} ({location(file, line)})"


def called(f: Callable[..., Any], who: str, form: str, *args: Any) -> Any:
    """Return `f(*args)`; raise a TypeError that names `f` if it does not take these arguments."""
    try:
        return f(*args)
    except TypeError as error:
        try:
            signature(f, follow_wrapped=False).bind(*args)
        except TypeError as mismatch:
            raise TypeError(
                f"{who}: expected a function of {form}, got {place(f)}: {mismatch}"
            ) from error
        except ValueError:  # some functions written in C have no signature
            pass
        raise


def parameter_names(f: Any) -> list[str]:
    """Return the names of the parameters of a function, [] if it has no signature."""
    try:
        return list(signature(f).parameters)
    except (TypeError, ValueError):  # some functions written in C have none
        return []


def as_cotangents(answers: Sequence[Any], inputs: Sequence[Tensor]) -> list[Any]:
    """Return the answers of a rule with its numbers as tensors like their inputs."""
    out = list(answers)
    for i, (answer, x) in enumerate(zip(answers, inputs, strict=False)):
        if isinstance(answer, (int, float, complex, numpy.number)):
            out[i] = _core.full(x.shape, answer, x.dtype)
    return out


def op_rule(fn: Callable[..., Any], who: str) -> Rule:
    """Return the rule of `fn(op, *cotangents)` for the core."""
    if not callable(fn):
        raise TypeError(f"{who}: expected a function f(op, *cotangents), got {fn!r}")

    def apply(type: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        answer = called(fn, who, "(op, *cotangents)", Op(type, inputs, outputs), *cotangents)
        answers = answer if isinstance(answer, (list, tuple)) else [answer]
        return as_cotangents(answers, inputs)

    return Rule(apply, place(fn))


def operation(key: Any, who: str) -> str | None:
    """Return the core's name of an operation, given by its public function or by a name.

    The result is None for an unknown name. A function that cannot have a rule, and a name of
    several operations, raise an error.
    """
    name = key if isinstance(key, str) else str(getattr(key, "__name__", ""))
    known = {
        f"pb{space.__name__.removeprefix('pullback')}.{name}": getattr(space, name)
        for space in _spaces()
        if name in space.__all__ and callable(getattr(space, name))
    }
    functions = list(known.values())
    if not isinstance(key, str):
        if not any(function is key for function in functions):
            raise TypeError(
                f"{who}: expected operations by name or by public function, got {_core.shown(key)}"
            )
        functions = [key]
    keys = {_key_of(function) for function in functions}
    if len(keys) > 1:
        raise LookupError(
            f"{who}: {name!r} is the name of {' and '.join(known)}; pass the function itself"
        )
    found = keys.pop() if keys else name
    if name in SHAPED:
        raise LookupError(
            f"{who}: {name!r} defines its own gradient; call it in a function with custom_gradient"
        )
    if found in _core.discrete_op_names():
        raise ValueError(f"{who}: {name} has no gradient, since its results are integers or bool")
    if functions and found is None:
        raise LookupError(f"{who}: {name!r} is not an operation with a gradient")
    return found if found and _core.is_operation_name(found) else None


def _key_of(function: Any) -> str | None:
    """Return the core's name of the operation that a public function makes.

    Composites have their own. Methods of a generator draw with several operations.
    """
    key = _core.composite_key(function)
    if key or not isinstance(function, FunctionType):
        return key
    name = ALIASES.get(function.__name__, function.__name__)
    return name if name in _core.op_names() else None


def rule_map(overrides: Any, who: str) -> dict[str, Rule]:
    """Check a mapping from operation names to functions or registered names."""
    if not isinstance(overrides, Mapping):
        raise TypeError(f"{who}: expected a dict {{operation: rule}}, got {_core.shown(overrides)}")
    rules = {}
    for key, value in overrides.items():
        name = operation(key, who)
        if name is None:
            raise LookupError(f"{who}: {_unknown(key)}")
        if isinstance(value, str):
            rule = _core.registered_rule(operation(value, who) or value)
            if rule is None:
                raise LookupError(
                    f"{who}: no rule is registered as {value!r}{did_you_mean(value, registered)}; "
                    "register it with register_gradient, or pass the function itself"
                )
            rules[name] = rule
        else:
            shown = key if isinstance(key, str) else name
            rules[name] = op_rule(value, f"{who}: the rule of {shown!r}")
    return rules


def _spaces() -> tuple[Any, ...]:
    """Return the modules with public functions of tensors."""
    import pullback as pb

    return pb, pb.special, pb.random, pb.linalg, pb.fft, pb.nn


def _unknown(name: str) -> str:
    wish = name.rpartition(".")[2]  # also for "linalg.det"
    near = did_you_mean(wish, {*_core.op_names(), *_core.composite_names(), *ALIASES} - SHAPED)
    near = near or did_you_mean(wish, SHAPED)
    return f"{name!r} is not an operation{near}"
