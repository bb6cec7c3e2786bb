"""custom_gradient: a function that says itself what its gradient is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload
from weakref import ref

import numpy as np

from .. import _core
from .._base.pytree import flatten, unflatten
from .._base.settings import check_verification
from .._core import Rule, Tensor, Variable
from .custom_rule import TENSOR, CustomRule, RuleWithSecond, is_tensor, kind_of, transposed
from .rules import place
from .verification import Verification

__all__ = ["custom_gradient"]

P = ParamSpec("P")
R = TypeVar("R")


Verify = Literal["first_call", "always", "never"]


@overload
def custom_gradient(
    f: Callable[P, tuple[R, Callable[..., Any]]],
    *,
    second: Callable[..., Any] | None = None,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    f: None = None,
    *,
    second: Callable[..., Any] | None = None,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
@overload
def custom_gradient(
    f: Callable[P, R],
    *,
    jvp: Callable[..., Any],
    second: Callable[..., Any] | None = None,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    f: None = None,
    *,
    jvp: Callable[..., Any],
    second: Callable[..., Any] | None = None,
    verify: Verify | None = None,
    intentional: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def custom_gradient(
    f: Any = None,
    *,
    jvp: Callable[..., Any] | None = None,
    second: Callable[..., Any] | None = None,
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
    operations. A rule that is given what the decorated function returned (by a list that both fill,
    say) keeps it, and itself, until the process ends: Python's garbage collector does not see that
    cycle.

    Trainable variables that f reads, beyond its arguments, get their ordinary gradients; unless the
    rule takes `variables`: then it is called with `variables=[...]` and returns a pair, the
    gradients of the arguments and those of the variables.

    jvp: a rule the other way round; then f returns the result alone. jvp(primals, tangents) gets
        two tuples, the tensors and floats among the arguments and a tangent for each, and returns
        the tangent of the result, in its structure. It is linear in the tangents, and transposed.
    second: the gradient of the rule, for second derivatives. second(primals, upstream, directions)
        gets three tuples: the tensors among the arguments, as of the call; what the rule got; and a
        cotangent for each gradient that it returned (None where it said None). It returns a pair: a
        gradient for each of the primals, and one for each upstream gradient. Not for a rule that
        takes `variables`.
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
    options = {"jvp": jvp, "second": second, "verify": verify, "intentional": intentional}
    if f is None:
        return partial(custom_gradient, **options)
    if not callable(f):
        raise TypeError(f"custom_gradient: expected a function, got {f!r}")
    for name in ("jvp", "second"):
        if options[name] is not None and not callable(options[name]):
            raise TypeError(f"custom_gradient: {name}: expected a function, got {options[name]!r}")
    if verify is not None:
        check_verification(verify, "custom_gradient: verify")
    from inspect import BoundArguments, signature

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
            bound.apply_defaults()  # a rule may have an entry for what was left out, too
            arguments = bound.arguments
        given_leaves, given_structure = flatten(list(arguments.values()))
        inputs = [x for x in given_leaves if is_tensor(x)]
        # As they are now: f may set items of them. constant() settles a Python float that a
        # `function` was given in its dtype.
        before = [x if isinstance(x, Variable) else _core.constant(x) for x in inputs]
        tape = _core.Tape(True)
        if _core.Tape.any_recording():  # the rule supplies the derivative by these
            tape.exempt([x for x in inputs if isinstance(x, Tensor)])
        tape.start()
        try:
            returned = f(*args, **kwargs)
        finally:
            tape.stop()
        result, fn = _parts(f, jvp, returned, given_leaves)
        leaves, structure = flatten(result)
        leaves = [_as_tensor(y, inputs) for y in leaves]
        inside = [y if isinstance(y, Tensor) else y.read() for y in leaves if is_tensor(y)]
        known = [*inputs, *getattr(f, "known_variables", ())]
        variables = [v for v in tape.watched_variables() if not any(v is x for x in known)]
        plain = undecorated(fn)

        def ordinary(cotangents: list[Any]) -> list[Any]:
            return _core.gradients(inside, variables, cotangents, tape=tape)

        kinds = [kind_of(x) for x in given_leaves]
        rule: Any = CustomRule(f, plain, kinds, variables, ordinary)
        if second is not None:

            def rule_at(primals: Sequence[Any]) -> CustomRule:
                left = iter(primals)
                leaves = [next(left) if kind_of(x) == TENSOR else x for x in given_leaves]
                others = dict(zip(arguments, unflatten(given_structure, leaves), strict=True))
                if parameters is None:
                    made = f(*others["args"], **others["kwargs"])
                else:
                    bound = BoundArguments(parameters, others)
                    made = f(*bound.args, **bound.kwargs)
                return CustomRule(f, undecorated(_parts(f, jvp, made, leaves)[1]), kinds, [])

            decorate = partial(custom_gradient, verify=verify, intentional=intentional)
            own = [x for x in inputs if isinstance(x, Variable)]
            rule = RuleWithSecond(rule, second, own, rule_at, decorate)
        given = [_core.constant(x) for x in (*before, *variables)]
        if not intentional:
            verification.at_call(itself(), arguments, given_leaves, fn)
        outputs = iter(_core.custom(inside, given, Rule(rule, place(fn))))
        return unflatten(structure, [next(outputs) if is_tensor(y) else y for y in leaves])

    verification = Verification(f, parameters, verify)

    def plain_call(*args: Any, **kwargs: Any) -> Any:
        returned = f(*args, **kwargs)
        return returned if jvp is not None else returned[0]

    itself: Any = ref(call)  # a function that is made for one call goes with it
    call._decoration = Decoration(itself, plain_call)  # type: ignore[attr-defined]
    return call


def _parts(
    f: Callable[..., Any], jvp: Callable[..., Any] | None, returned: Any, leaves: list[Any]
) -> tuple[Any, Callable[..., Any]]:
    """The result and the rule of one call of f with these arguments."""
    if jvp is not None:
        return returned, transposed(jvp, leaves, f)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError(f"custom_gradient: {place(f)} must return (result, rule)")
    result, fn = returned
    if not callable(fn):
        raise TypeError(f"custom_gradient: the rule that {place(f)} returned is {fn!r}")
    return result, fn


class Decoration(NamedTuple):
    """What a decorated function is without its rule. It names the function that it belongs to: a
    wrapper made with functools.wraps has its attributes, and is another function."""

    of: Callable[[], Any]  # weakly
    plain: Callable[..., Any]


def _as_tensor(y: Any, inputs: list[Any]) -> Any:
    """What f may have computed with another library: it would pass without its rule."""
    if isinstance(y, (np.ndarray, np.inexact)) and y.dtype.kind in "fc":
        return _core.constant(y)
    if isinstance(y, float):
        return _core.constant(y, next((x.dtype for x in inputs if x.dtype.kind == "f"), None))
    return y


def undecorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The rule to differentiate: one that is decorated itself is differentiated like any other."""
    own = getattr(fn, "__func__", fn)
    decoration = getattr(own, "_decoration", None)
    if not isinstance(decoration, Decoration) or decoration.of() is not own:
        return fn
    return decoration.plain if own is fn else partial(decoration.plain, fn.__self__)  # type: ignore[attr-defined]
