"""custom_gradient: a function that says itself what its gradient is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

from .. import _core
from .._core import Rule, Tensor, Variable
from .nests import flatten, unflatten
from .rules import as_cotangents, place

P = ParamSpec("P")
R = TypeVar("R")


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]: ...
@overload
def custom_gradient(
    f: None = None,
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
def custom_gradient(f: Any = None) -> Any:
    """Decorator: f(*args) returns (result, rule), and rule(*upstream) says what the gradient is.

    f computes as usual; its result may be a nest of tensors. Whenever a gradient passes, in
    `gradients`, tapes, `grad` or `function`, rule(*upstream) is called with one upstream gradient
    for each tensor of the result, and returns one gradient for each tensor or variable among the
    arguments, in the order of the parameters: a tensor of its dtype and shape, a number, or None.
    Arguments may be given by keyword and may be nests; what is not a tensor or a variable is
    passed through and has no gradient. Second derivatives differentiate the rule's own operations.

    Trainable variables that f reads, beyond its arguments, get their ordinary gradients; unless the
    rule takes `variables`: then it is called with `variables=[...]` and returns a pair, the
    gradients of the arguments and those of the variables.

    Raises TypeError where f does not return a pair, ValueError where the rule returns another
    number of gradients or another shape, TypeError for another dtype; the text names the rule.

    >>> @pb.custom_gradient
    ... def log1pexp(x):
    ...     e = pb.exp(x)
    ...     return pb.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = pb.Variable(100.0)
    >>> pb.gradients(log1pexp(x), x)
    [Tensor(1., dtype=float32)]
    """
    if f is None:
        return custom_gradient
    if not callable(f):
        raise TypeError(f"custom_gradient: expected a function, got {f!r}")
    from inspect import signature

    try:
        parameters = signature(f)
    except ValueError:  # some functions written in C do not say
        parameters = None

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if parameters is None:
            arguments: Any = (args, kwargs)
        else:
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"custom_gradient: {place(f)}: {error}") from None
            arguments = list(bound.arguments.values())
        inputs = [x for x in flatten(arguments)[0] if _is_tensor(x)]
        tape = _core.Tape(True)
        tape.start()
        try:
            returned = f(*args, **kwargs)
        finally:
            tape.stop()
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise TypeError(f"custom_gradient: {place(f)} must return (result, rule)")
        result, fn = returned
        if not callable(fn):
            raise TypeError(f"custom_gradient: the rule that {place(f)} returned is {fn!r}")
        leaves, structure = flatten(result)
        inside = [y if isinstance(y, Tensor) else y.read() for y in leaves if _is_tensor(y)]
        variables = [v for v in tape.watched_variables() if not any(v is x for x in inputs)]
        plain = undecorated(fn)

        def ordinary(cotangents: list[Any]) -> list[Any]:
            return _core.gradients(inside, variables, cotangents, tape=tape)

        rule = CustomRule(f, plain, len(inputs), variables, ordinary)
        # constant() settles a Python float that a `function` was given in its dtype.
        given = [_core.constant(x) for x in (*inputs, *variables)]
        outputs = iter(_core.custom(inside, given, Rule(rule, place(fn))))
        return unflatten(structure, [next(outputs) if _is_tensor(y) else y for y in leaves])

    def plain_call(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)[0]

    call._decoration = Decoration(call, plain_call)  # type: ignore[attr-defined]
    return call


class Decoration(NamedTuple):
    """What a decorated function is without its rule. It names the function that it belongs to: a
    wrapper made with functools.wraps has its attributes, and is another function."""

    of: Callable[..., Any]
    plain: Callable[..., Any]


def undecorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The rule to differentiate: one that is decorated itself is differentiated like any other."""
    own = getattr(fn, "__func__", fn)
    decoration = getattr(own, "_decoration", None)
    if not isinstance(decoration, Decoration) or decoration.of is not own:
        return fn
    return decoration.plain if own is fn else partial(decoration.plain, fn.__self__)  # type: ignore[attr-defined]


class CustomRule:
    """The rule of one call: the gradients of the arguments, then of the variables.

    `ordinary` gives those of the variables where the rule does not ask for them.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        fn: Callable[..., Any],
        arguments: int,
        variables: list[Any],
        ordinary: Callable[[list[Any]], list[Any]],
    ) -> None:
        self.f = f
        self.fn = fn
        self.arguments = arguments
        self.variables = variables
        self.asked = bool(variables) and _takes_variables(fn)
        # It holds what was computed, which a rule that asks for the variables does not need.
        self.ordinary = ordinary if variables and not self.asked else None

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        return as_cotangents(self.answers(cotangents), inputs)

    def answers(self, cotangents: list[Any]) -> list[Any]:
        if self.asked:
            pair = self.fn(*cotangents, variables=list(self.variables))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(
                    f"{self._name()} takes `variables`, so it must return a pair: the gradients of "
                    "the arguments and those of the variables"
                )
            answers = self._counted(pair[0], self.arguments, "arguments")
            answers += self._counted(pair[1], len(self.variables), "variables")
        else:
            answers = self._counted(self.fn(*cotangents), self.arguments, "arguments")
        if self.ordinary:
            answers += self.ordinary(cotangents)
        return answers

    def _counted(self, answer: Any, expected: int, what: str) -> list[Any]:
        answers: Sequence[Any] = flatten(answer)[0]
        if expected == 0 and answers == [None]:
            return []
        if len(answers) != expected:
            raise ValueError(
                f"{self._name()} returned {len(answers)} gradients for {expected} {what}; "
                "it answers for tensors and variables, in order"
            )
        return list(answers)

    def _name(self) -> str:
        return f"custom_gradient: {place(self.f)}: the rule {place(self.fn)}"


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def _takes_variables(fn: Callable[..., Any]) -> bool:
    from inspect import Parameter, signature

    try:
        parameters = signature(fn).parameters.values()
    except ValueError:  # some functions written in C do not say
        return False
    return any(p.name == "variables" or p.kind is Parameter.VAR_KEYWORD for p in parameters)
