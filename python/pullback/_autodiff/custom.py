"""`custom_gradient`: a function with a user-defined gradient rule.

The decorated call runs the function under a tape, makes its results one node of the graph, and
gives the node the rule. `CustomRule` (custom_rule.py) is what the core calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, overload
from weakref import ref

import numpy as np

from .. import _core
from .._base.checks import flag
from .._base.pytree import flatten, unflatten
from .._base.settings import check_verification
from .._core import Variable
from .._typing import Verify
from .custom_rule import (
    TENSOR,
    CustomRule,
    RuleWithSecond,
    is_tensor,
    kind_of,
    takes_variables,
    transposed,
)
from .rules import place
from .variable_reads import VariableReads
from .verification import Verification

if TYPE_CHECKING:
    from inspect import Signature

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
    arguments, and the gradients of the variables. Other tensors that `f` reads beyond its arguments
    have no gradient, and `grad` by them is zero: pass them as arguments.

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

    names = _positional(parameters)

    paired = f if jvp is None else _with_rule(f, jvp)
    pair_of = partial(_pair_of, f)
    verification = Verification(f, parameters, verify)

    def rule_of(
        fn: Callable[..., Any],
        keys: Sequence[str],
        values: Sequence[Any],
        leaves: list[Any],
        recorded: Any,  # the arguments of VariableReads, if f reads variables beyond its arguments
    ) -> tuple[Any, str, Sequence[Any], Any]:
        """Return the rule, its name, its inputs after the arguments, and the results inside.

        None for the results if they are those that f returned.
        """
        if jvp is not None:
            fn = transposed(jvp, leaves, f)
        plain = undecorated(fn)
        kinds = [kind_of(x) for x in leaves]
        rule: Any
        more: Sequence[Any] = ()
        results = None
        if recorded is None:
            rule = CustomRule(f, plain, kinds, [])
        elif takes_variables(plain):
            variables = list(recorded[0])
            rule, more = CustomRule(f, plain, kinds, variables), variables
        else:
            reads = VariableReads(*recorded)
            more, results = reads.inputs, reads.results
            rule = CustomRule(f, plain, kinds, reads.variables, reads.gradients)
        if second is not None:

            def rule_at(primals: Sequence[Any]) -> CustomRule:
                left = iter(primals)
                others = [next(left) if kind_of(x) == TENSOR else x for x in leaves]
                structure = flatten(list(values), none_is_leaf=True)[1]
                given = dict(zip(keys, unflatten(structure, others), strict=True))
                if parameters is None:
                    made = paired(*given["args"], **given["kwargs"])
                else:
                    bound = BoundArguments(parameters, given)
                    made = paired(*bound.args, **bound.kwargs)
                own = pair_of(made)[1] if jvp is None else transposed(jvp, others, f)
                return CustomRule(f, undecorated(own), kinds, [])

            decorate = partial(custom_gradient, verify=verify, intentional=intentional)
            variables_given = [x for x in leaves if isinstance(x, Variable)]
            rule = RuleWithSecond(rule, second, variables_given, rule_at, decorate)
        if not intentional:
            verification.at_call(itself(), keys, values, leaves, fn)
        return rule, place(fn), more, results

    # Not referenced by rule_of: a function that is created for one call is released with it.
    known = getattr(f, "known_variables", ())
    decorated = Decorated(paired, known, pair_of, _as_tensor, rule_of)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        keys: Sequence[str]
        values: Sequence[Any]
        if not kwargs and names is not None and len(args) == len(names):
            keys, values = names, args  # as bind() returns, in a tenth of its time
        elif parameters is None:
            keys, values = ("args", "kwargs"), (args, kwargs)
        else:
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"custom_gradient: {place(f)}: {error}") from None
            bound.apply_defaults()  # a rule may have an entry for an omitted argument too
            keys, values = tuple(bound.arguments), tuple(bound.arguments.values())
        return _core.call_with_rule(decorated, args, kwargs, keys, values)

    def plain_call(*args: Any, **kwargs: Any) -> Any:
        returned = f(*args, **kwargs)
        return returned if jvp is not None else returned[0]

    itself: Any = ref(call)  # weak: a function that is created for one call is released with it
    call._decoration = Decoration(itself, plain_call)  # type: ignore[attr-defined]
    return call


def _positional(parameters: Signature | None) -> tuple[str, ...] | None:
    """Return the names of the parameters if all arguments can be given by position."""
    if parameters is None:
        return None
    every = parameters.parameters.values()
    given = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in every)
    return tuple(parameters.parameters) if given else None


class Decorated(NamedTuple):
    """The parts of one decorated function that `call_with_rule` of the core uses."""

    f: Callable[..., Any]  # returns (result, rule)
    known: tuple[Variable, ...]  # variables whose gradients are those of arguments
    pair_of: Callable[[Any], Any]  # raises an error if it is not a pair with a rule
    as_tensor: Callable[[Any, list[Any]], Any]
    rule_of: Callable[..., tuple[Any, str, Sequence[Any], Any]]  # see rule_of above


def _with_rule(f: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: (f(*args, **kwargs), rule)


def _pair_of(f: Callable[..., Any], returned: Any) -> Any:
    """Return the (result, rule) of a call of `f`; raise an error for anything else."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        hint = "; return both at its end" if returned is None else ""
        raise TypeError(
            f"custom_gradient: expected a pair (result, rule) from {place(f)}, got "
            f"{_core.shown(returned)}{hint}"
        )
    if not callable(returned[1]):
        raise TypeError(
            f"custom_gradient: expected a function for the rule of {place(f)}, got "
            f"{_core.shown(returned[1])}"
        )
    return returned


class Decoration(NamedTuple):
    """The function that a decorated one wraps, without its rule.

    `of` identifies the decorated function: a wrapper made with functools.wraps copies the attribute
    but is another function.
    """

    of: Callable[[], Any]  # a weak reference
    plain: Callable[..., Any]


def _as_tensor(y: Any, leaves: list[Any]) -> Any:
    """Return a floating result that another library computed as a tensor.

    Otherwise it would pass without its rule.
    """
    if isinstance(y, (np.ndarray, np.inexact)) and y.dtype.kind in "fc":
        return _core.constant(y)
    if isinstance(y, float):
        floats = (x.dtype for x in leaves if is_tensor(x) and x.dtype.kind == "f")
        return _core.constant(y, next(floats, None))
    return y


def undecorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function to differentiate if `fn` is decorated with `custom_gradient` itself."""
    own = getattr(fn, "__func__", fn)
    decoration = getattr(own, "_decoration", None)
    if not isinstance(decoration, Decoration) or decoration.of() is not own:
        return fn
    return decoration.plain if own is fn else partial(decoration.plain, fn.__self__)  # type: ignore[attr-defined]
