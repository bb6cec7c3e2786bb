"""`check_gradients`: compare gradients with finite differences of values.

`verify_rule` does so for the rule of a custom gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from warnings import warn

from .. import _core
from .._base.domains import NON_NEGATIVE, check_numbers
from .._base.pytree import flatten
from .recorded_call import is_floating
from .rules import place


class GradientError(AssertionError):
    """Error for a gradient that is not the derivative."""


def check_gradients(
    f: Callable[..., Any], *args: Any, order: int = 2, rtol: float = 1e-5, atol: float = 1e-7
) -> None:
    """Check the gradients of `f` against finite differences of its values.

    The differentiated quantity is the sum of all results with random weights. Up to 64 entries are
    checked one by one, more along random directions. The gradient must also be linear in the
    upstream gradient. Where finite differences are not conclusive, at or near a kink or if the
    values of `f` are dominated by noise, nothing is compared. A RuntimeWarning reports if nothing
    could be compared at all. Variables that `f` reads count as constants; pass them as arguments to
    check them.

    Parameters
    ----------
    f : callable
        Function that returns tensors or a pytree of them. It is called with float64 tensors or, if
        it raises TypeError for these, with the given dtypes.
    *args
        Arguments of `f`: floating arrays, tensors and numbers, or pytrees of them. Integers and all
        other leaves are passed unchanged.
    order : {1, 2}, optional
        1 checks gradients, 2 also gradients of gradients. Default: 2.
    rtol, atol : float, optional
        Relative and absolute tolerance, in addition to the uncertainty of the finite differences.
        That consists of the noise of the values, which is larger for float32 computations inside
        `f`, and of the change of the slope. Defaults: 1e-5 and 1e-7.

    Raises
    ------
    TypeError
        If `f` is not callable, or `rtol` or `atol` is not a number.
    ValueError
        If `order` is invalid, if `rtol` or `atol` is negative, if `f` returns another value when
        called again, if its values are not finite, or if no argument or no result is floating.
    pullback.testing.GradientError
        If a gradient is wrong. It is an AssertionError; the message contains the numbers, the
        argument and the entry.

    Examples
    --------
    >>> pb.testing.check_gradients(lambda x, y: x * pb.sin(y), 1.5, pb.constant([0.5, 0.25]))
    >>> doubled = pb.custom_gradient(lambda x: (x * x, lambda upstream: upstream * x))
    >>> pb.testing.check_gradients(doubled, 3.0)
    Traceback (most recent call last):
    pullback.testing.GradientError: check_gradients: <lambda> ...
    """
    if not callable(f):
        raise TypeError(f"check_gradients: expected a function for f, got {_core.shown(f)}")
    if order not in (1, 2):
        raise ValueError(f"check_gradients: order must be one of 1, 2; got {_core.shown(order)}")
    check_numbers("check_gradients", NON_NEGATIVE, rtol=rtol, atol=atol)
    from .gradient_comparison import Comparison  # a tool of tests, imported at the first use

    who = f"check_gradients: {place(f)}"
    check = Comparison(f, args, [str(i) for i in range(len(args))], rtol, atol, who)
    wrong = check.compare(check.value, check.gradient(check.at), "derivative")
    wrong = wrong or check.compare_linearity()
    if order == 2 and not wrong:
        mix = check.random.normal(size=check.at.size)
        slope = check.curvature(check.at, mix)
        wrong = check.compare(lambda x: float(check.gradient(x) @ mix), slope, "second derivative")
        wrong = wrong or check.compare_derivative_by_upstream()
    if wrong:
        raise GradientError(wrong)
    if not check.decided:
        warn(
            f"{who}: nothing could be compared: finite differences are not conclusive here, as at "
            "a kink, at the end of a domain or in noise; check it at another point",
            RuntimeWarning,
            stacklevel=2,
        )


def verify_rule(
    call: Callable[..., Any], arguments: Mapping[str, Any], who: str, rule: Callable[..., Any]
) -> None:
    """Raise GradientError if the rule of a custom_gradient is not the derivative here.

    One random direction is compared. Only if it differs is the worst entry searched.
    """
    args = tuple(arguments.values())
    if not any(is_floating(x) and x.size for x in flatten(args)[0]):
        return
    from .gradient_comparison import Comparison

    names = [repr(name) for name in arguments]
    try:
        check = Comparison(call, args, names, 1e-4, 1e-6, who, is_floating)
    except ValueError:
        return  # not finite or random: nothing can be compared
    slope = check.gradient(check.at)
    direction = check.random.uniform(0.5, 1.5, check.at.size)  # signs alone may cancel
    direction *= check.random.choice([-1.0, 1.0], check.at.size)
    if check.difference(check.value, slope, direction) is None:
        return
    wrong = check.compare(check.value, slope, "derivative")
    wrong = wrong or (
        f"{who}: the derivative along a random direction differs from finite differences"
    )
    raise GradientError(
        f"{wrong}; the rule is {place(rule)}. Pass intentional=True if it is meant to differ"
    )
