"""custom_gradient: a function that says itself what its gradient is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from .. import _core
from .._core import Rule, Tensor, Variable
from .._runtime.settings import check_verification
from .nests import flatten, unflatten
from .rules import as_cotangents, place
from .verification import Verification

P = ParamSpec("P")
R = TypeVar("R")


Verify = Literal["first_call", "always", "never"]


@overload
def custom_gradient(
    f: Callable[P, tuple[R, Callable[..., Any]]],
    *,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    f: None = None, *, verify: Verify | None = None, intentional: bool = False
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
@overload
def custom_gradient(
    f: Callable[P, R],
    *,
    jvp: Callable[..., Any],
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    f: None = None,
    *,
    jvp: Callable[..., Any],
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def custom_gradient(
    f: Any = None,
    *,
    jvp: Callable[..., Any] | None = None,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Any:
    """Decorator: f(*args) returns (result, rule), and rule(*upstream) says what the gradient is.

    f computes as usual, also outside of this library; its result may be a nest of tensors, and what
    is a floating array or number in it becomes one. Whenever a gradient passes, in
    `gradients`, tapes, `grad` or `function`, rule(*upstream) is called with one upstream gradient
    for each tensor of the result, and returns one gradient for each tensor or variable among the
    arguments, in the order of the parameters: a tensor of its dtype and shape, a number, or None.
    Arguments may be given by keyword and may be nests; what is not a tensor or a variable is
    passed through and has no gradient. A rule may say None for these, too: one entry for each
    argument, as the same f may be given a number here and a tensor there (a number that a
    `function` was given is a tensor inside of it). Second derivatives differentiate the rule's own
    operations.

    Trainable variables that f reads, beyond its arguments, get their ordinary gradients; unless the
    rule takes `variables`: then it is called with `variables=[...]` and returns a pair, the
    gradients of the arguments and those of the variables.

    jvp: a rule the other way round; then f returns the result alone. jvp(primals, tangents) gets
        two tuples, the tensors and floats among the arguments and a tangent for each, and returns
        the tangent of the result, in its structure. It is linear in the tangents, and transposed.
    verify: "first_call" compares the rule with differences of f's values at the first call for each
        kind of arguments, "always" at every call, "never" not; without it
        `set_gradient_verification` says when. f is called some dozens of times for that. Nothing is
        compared where values are still to come, inside a `function` that is traced, where they are
        not finite, and where f gives another value when called again.
    intentional: the rule is meant to be another one than the derivative; it is never verified.

    Raises TypeError where f does not return a pair, ValueError where the rule returns another
    number of gradients or another shape, TypeError for another dtype; the text names the rule.
    `testing.GradientError` for a rule that does not pass its verification.

    >>> @pb.custom_gradient
    ... def log1pexp(x):
    ...     e = pb.exp(x)
    ...     return pb.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = pb.Variable(100.0)
    >>> pb.gradients(log1pexp(x), x)
    [Tensor(1., dtype=float32)]

    >>> def cube_jvp(primals, tangents):
    ...     return 3 * primals[0] ** 2 * tangents[0]
    >>> cube = pb.custom_gradient(lambda x: x**3, jvp=cube_jvp)
    >>> x = pb.Variable(2.0)
    >>> pb.gradients(cube(x), x)
    [Tensor(12., dtype=float32)]
    """
    if f is None:
        return partial(custom_gradient, jvp=jvp, verify=verify, intentional=intentional)
    if not callable(f):
        raise TypeError(f"custom_gradient: expected a function, got {f!r}")
    if jvp is not None and not callable(jvp):
        raise TypeError(f"custom_gradient: jvp: expected a function, got {jvp!r}")
    if verify is not None:
        check_verification(verify, "custom_gradient: verify")
    from inspect import signature

    try:
        parameters = signature(f)
    except ValueError:  # some functions written in C do not say
        parameters = None

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if parameters is None:
            arguments: Any = {"args": args, "kwargs": kwargs}
        else:
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"custom_gradient: {place(f)}: {error}") from None
            arguments = bound.arguments
        given_leaves = flatten(list(arguments.values()))[0]
        inputs = [x for x in given_leaves if _is_tensor(x)]
        tape = _core.Tape(True)
        tape.start()
        try:
            returned = f(*args, **kwargs)
        finally:
            tape.stop()
        if jvp is not None:
            result, fn = returned, transposed(jvp, given_leaves, f)
        elif not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise TypeError(f"custom_gradient: {place(f)} must return (result, rule)")
        else:
            result, fn = returned
        if not callable(fn):
            raise TypeError(f"custom_gradient: the rule that {place(f)} returned is {fn!r}")
        leaves, structure = flatten(result)
        leaves = [_as_tensor(y, inputs) for y in leaves]
        inside = [y if isinstance(y, Tensor) else y.read() for y in leaves if _is_tensor(y)]
        variables = [v for v in tape.watched_variables() if not any(v is x for x in inputs)]
        plain = undecorated(fn)

        def ordinary(cotangents: list[Any]) -> list[Any]:
            return _core.gradients(inside, variables, cotangents, tape=tape)

        rule = CustomRule(f, plain, [_kind(x) for x in given_leaves], variables, ordinary)
        # constant() settles a Python float that a `function` was given in its dtype.
        given = [_core.constant(x) for x in (*inputs, *variables)]
        if not intentional:
            verification.at_call(call, arguments, given_leaves, fn)
        outputs = iter(_core.custom(inside, given, Rule(rule, place(fn))))
        return unflatten(structure, [next(outputs) if _is_tensor(y) else y for y in leaves])

    verification = Verification(f, parameters, verify)

    def plain_call(*args: Any, **kwargs: Any) -> Any:
        returned = f(*args, **kwargs)
        return returned if jvp is not None else returned[0]

    call._decoration = Decoration(call, plain_call)  # type: ignore[attr-defined]
    return call


def transposed(
    jvp: Callable[..., Any], leaves: list[Any], f: Callable[..., Any]
) -> Callable[..., Any]:
    """The rule that a jvp is the transpose of: the gradient of what is linear in the tangents, by
    the tangents."""

    # Floats are tensors inside of a `function`: they have their place in both.
    primals = tuple(x for x in leaves if _is_tensor(x) or isinstance(x, float))

    @wraps(jvp)
    def rule(*upstream: Tensor) -> list[Any]:
        zeros = [_core.constant(0.0 if isinstance(x, float) else _core.full(x.shape, 0, x.dtype))
                 for x in primals]  # fmt: skip
        tangents = [t for t, x in zip(zeros, primals, strict=True) if _is_tensor(x)]
        tape = _core.Tape(False)
        tape.start()
        try:
            for tangent in tangents:
                tape.watch(tangent)
            out = [t for t in flatten(jvp(primals, tuple(zeros)))[0] if _is_tensor(t)]
        finally:
            tape.stop()
        if [t.shape for t in out] != [g.shape for g in upstream]:
            raise ValueError(
                f"custom_gradient: {place(f)}: the jvp {place(jvp)} returned tangents of shapes "
                f"{[t.shape for t in out]} for results of {[g.shape for g in upstream]}"
            )
        return list(_core.gradients(out, tangents, list(upstream), tape=tape))

    return rule


class Decoration(NamedTuple):
    """What a decorated function is without its rule. It names the function that it belongs to: a
    wrapper made with functools.wraps has its attributes, and is another function."""

    of: Callable[..., Any]
    plain: Callable[..., Any]


def _as_tensor(y: Any, inputs: list[Any]) -> Any:
    """What f may have computed with another library: it would pass without its rule."""
    if isinstance(y, (np.ndarray, np.floating)) and y.dtype.kind == "f":
        return _core.constant(y)
    if isinstance(y, float):
        return _core.constant(y, next((x.dtype for x in inputs if x.dtype.kind == "f"), None))
    return y


def undecorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The rule to differentiate: one that is decorated itself is differentiated like any other."""
    own = getattr(fn, "__func__", fn)
    decoration = getattr(own, "_decoration", None)
    if not isinstance(decoration, Decoration) or decoration.of is not own:
        return fn
    return decoration.plain if own is fn else partial(decoration.plain, fn.__self__)  # type: ignore[attr-defined]


# What an argument may be: a tensor or a variable; a tensor that stands for a number which a
# `function` was given; a number or an array; anything else.
TENSOR, TRACED_NUMBER, NUMBER, OTHER = range(4)


def _kind(x: Any) -> int:
    if _is_tensor(x):
        return TRACED_NUMBER if _core.is_number(x) else TENSOR
    return NUMBER if isinstance(x, (int, float, np.ndarray, np.generic)) else OTHER


class CustomRule:
    """The rule of one call: the gradients of the arguments, then of the variables.

    `kinds` are those of the arguments. `ordinary` gives the gradients of the variables where the
    rule does not ask for them.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        fn: Callable[..., Any],
        kinds: list[int],
        variables: list[Any],
        ordinary: Callable[[list[Any]], list[Any]],
    ) -> None:
        self.f = f
        self.fn = fn
        self.kinds = kinds
        self.variables = variables
        self.asked = bool(variables) and _takes_variables(fn)
        # It holds what was computed, which a rule that asks for the variables does not need.
        self.ordinary = ordinary if variables and not self.asked else None

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        answers = self.answers(cotangents)
        # What a number's dtype is, only its neighbours know; where it is one, an answer may be of
        # their shape, as a rule says it for numbers that are not traced, which have none.
        kinds = [kind for kind in self.kinds if kind <= TRACED_NUMBER]
        for i, kind in enumerate(kinds):
            if kind == TRACED_NUMBER and isinstance(answers[i], Tensor):
                answers[i] = _core.cast(_core.sum(answers[i]), inputs[i].dtype)
        return as_cotangents(answers, inputs)

    def answers(self, cotangents: list[Any]) -> list[Any]:
        if self.asked:
            pair = self.fn(*cotangents, variables=list(self.variables))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(
                    f"{self._name()} takes `variables`, so it must return a pair: the gradients of "
                    "the arguments and those of the variables"
                )
            answers = self._of_arguments(pair[0])
            answers += self._counted(flatten(pair[1])[0], len(self.variables), "variables")
        else:
            answers = self._of_arguments(self.fn(*cotangents))
        if self.ordinary:
            answers += self.ordinary(cotangents)
        return answers

    def _of_arguments(self, answer: Any) -> list[Any]:
        """One for each tensor. The rule may leave out what is no tensor, and numbers that are
        tensors only because they are traced; or it has an entry for everything."""
        answers: Sequence[Any] = flatten(answer)[0]
        tensors = sum(kind <= TRACED_NUMBER for kind in self.kinds)
        for last in (TRACED_NUMBER, NUMBER, OTHER, TENSOR):
            asked = [i for i, kind in enumerate(self.kinds) if kind <= last]
            entries = dict(zip(asked, answers, strict=False))
            extra = [entries.get(i) for i, kind in enumerate(self.kinds) if kind == OTHER]
            if len(asked) == len(answers) and all(entry is None for entry in extra):
                return [entries.get(i) for i, k in enumerate(self.kinds) if k <= TRACED_NUMBER]
        return self._counted(answers, tensors, "arguments")

    def _counted(self, answers: Sequence[Any], expected: int, what: str) -> list[Any]:
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
