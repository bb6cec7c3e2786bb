"""`custom_gradient`: a function with a user-defined gradient rule.

The decorated call runs the function under a tape, makes its results one node of the graph, and
gives the node the rule. `CustomRule` (custom_rule.py) is what the core calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload
from weakref import ref

import numpy as np

from .. import _core
from .._base.checks import flag
from .._base.pytree import flatten, unflatten
from .._base.settings import check_verification
from .._core import Rule, Tensor, Variable
from .._typing import Verify
from .custom_rule import TENSOR, CustomRule, RuleWithSecond, is_tensor, kind_of, transposed
from .rules import place
from .verification import Verification

__all__ = ["custom_gradient"]

P = ParamSpec("P")
R = TypeVar("R")


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
    """Return a function whose gradient is given by a rule.

    `f(*args)` returns (result, rule). `f` computes as usual, also with other libraries; a floating
    array or number in its result becomes a tensor. Whenever a gradient passes, `rule(*upstream)` is
    called with one upstream gradient for each tensor of the result. It returns one gradient for
    each tensor or variable among the arguments, in the order of the parameters: a tensor of its
    dtype and shape, a number, or None.

    Arguments may be passed by keyword and may be pytrees. Anything else than a tensor or a variable
    is passed through and has no gradient. The rule may return None for these arguments too, with
    one entry for each argument: the same `f` may receive a number in one call and a tensor in
    another. A number that is passed to a `function` is a tensor inside it.

    Second derivatives differentiate the operations of the rule. Trainable variables that `f` reads
    beyond its arguments receive their ordinary gradients, unless the rule has a parameter
    `variables`. Then it is called with `variables=[...]` and returns a pair: the gradients of the
    arguments, and the gradients of the variables.

    A rule that refers to the output of the decorated function, for example through a list that both
    fill, is kept alive until the process ends: the garbage collector of Python does not see this
    cycle.

    Parameters
    ----------
    f : callable, optional
        Function that returns (result, rule), or only its result if `jvp` is given. The result is a
        tensor or a pytree. Without `f`, a decorator is returned.
    jvp : callable, optional
        Forward-mode rule. `jvp(primals, tangents)` receives two tuples: the tensors and floats
        among the arguments, and a tangent for each. It returns the tangent of the result in its
        structure. It must be linear in the tangents; it is transposed for reverse mode.
    second : callable, optional
        Gradient of the rule, for second derivatives. `second(primals, upstream, directions)`
        receives three tuples: the tensors among the arguments of the call, the upstream gradients,
        and a cotangent for each gradient that the rule returned (None if it returned None). It
        returns a pair: a gradient for each of the primals, and one for each upstream gradient. It
        cannot be combined with a rule that takes `variables`.
    verify : {"first_call", "always", "never"}, optional
        When the rule is compared with finite differences of `f`: at the first call for each kind of
        arguments, at every call, or never. A verification calls `f` some dozens of times. It is
        skipped inside a `function` that is traced, where values are not known yet; at values that
        are not finite; and if `f` returns another value when called again. Default: as set by
        `set_gradient_verification`.
    intentional : bool, optional
        If True, the rule is meant to differ from the derivative and is never verified. Default:
        False.

    Returns
    -------
    callable
        Function with the arguments and the result of `f`, without the rule.

    Raises
    ------
    TypeError
        If `f`, `jvp` or `second` is not callable, or `intentional` is not a bool. At the call: if
        `f` does not return a pair with a callable rule. When a gradient passes: if the rule returns
        another dtype. The message names the rule.
    ValueError
        If `verify` is invalid. When a gradient passes: if the rule returns another number of
        gradients or another shape, or if `jvp` is not linear in the tangents.
    pullback.testing.GradientError
        If the rule does not pass its verification.

    See Also
    --------
    with_gradient, gradient_override_map, numpy_function

    Examples
    --------
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
    intentional = flag(intentional, "custom_gradient", "intentional")
    options = {"jvp": jvp, "second": second, "verify": verify, "intentional": intentional}
    if f is None:
        return partial(custom_gradient, **options)
    if not callable(f):
        raise TypeError(f"custom_gradient: expected a function for f, got {_core.shown(f)}")
    for name in ("jvp", "second"):
        if options[name] is not None and not callable(options[name]):
            raise TypeError(
                f"custom_gradient: expected a function for {name}, got {_core.shown(options[name])}"
            )
    if verify is not None:
        check_verification(verify, "custom_gradient: verify")
    from inspect import BoundArguments, signature

    try:
        parameters = signature(f)
    except ValueError:  # some functions written in C have no signature
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
            bound.apply_defaults()  # a rule may have an entry for an omitted argument too
            arguments = bound.arguments
        given_leaves, given_structure = flatten(list(arguments.values()))
        inputs = [x for x in given_leaves if is_tensor(x)]
        # The inputs before the call: f may assign items of them. constant() resolves the dtype of a
        # Python float that was passed to a `function`.
        before = [x if isinstance(x, Variable) else _core.constant(x) for x in inputs]
        tape = _core.Tape(True)
        if _core.Tape.any_recording():  # the rule gives their derivative
            tape.exempt([x for x in inputs if isinstance(x, Tensor)])
        tape.start()
        try:
            returned = f(*args, **kwargs)
        finally:
            tape.stop()
        result, fn = _result_and_rule(f, jvp, returned, given_leaves)
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
                return CustomRule(
                    f, undecorated(_result_and_rule(f, jvp, made, leaves)[1]), kinds, []
                )

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

    itself: Any = ref(call)  # weak: a function that is created for one call is released with it
    call._decoration = Decoration(itself, plain_call)  # type: ignore[attr-defined]
    return call


def _result_and_rule(
    f: Callable[..., Any], jvp: Callable[..., Any] | None, returned: Any, leaves: list[Any]
) -> tuple[Any, Callable[..., Any]]:
    """Return the result and the rule of one call of `f` with these arguments."""
    if jvp is not None:
        return returned, transposed(jvp, leaves, f)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError(
            f"custom_gradient: expected a pair (result, rule) from {place(f)}, got "
            f"{_core.shown(returned)}"
        )
    result, fn = returned
    if not callable(fn):
        raise TypeError(
            f"custom_gradient: expected a function for the rule of {place(f)}, got "
            f"{_core.shown(fn)}"
        )
    return result, fn


class Decoration(NamedTuple):
    """The function that a decorated one wraps, without its rule.

    `of` identifies the decorated function: a wrapper made with functools.wraps copies the attribute
    but is another function.
    """

    of: Callable[[], Any]  # a weak reference
    plain: Callable[..., Any]


def _as_tensor(y: Any, inputs: list[Any]) -> Any:
    """Return a floating result that another library computed as a tensor.

    Otherwise it would pass without its rule.
    """
    if isinstance(y, (np.ndarray, np.inexact)) and y.dtype.kind in "fc":
        return _core.constant(y)
    if isinstance(y, float):
        return _core.constant(y, next((x.dtype for x in inputs if x.dtype.kind == "f"), None))
    return y


def undecorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function to differentiate if `fn` is decorated with `custom_gradient` itself."""
    own = getattr(fn, "__func__", fn)
    decoration = getattr(own, "_decoration", None)
    if not isinstance(decoration, Decoration) or decoration.of() is not own:
        return fn
    return decoration.plain if own is fn else partial(decoration.plain, fn.__self__)  # type: ignore[attr-defined]
