"""Rules of `custom_gradient` as the core calls them.

`CustomRule` counts and orders the answers of a rule and adds those for variables. `transposed`
makes a rule from a forward-mode rule. `RuleWithSecond` is a rule whose own gradient is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import counted
from .._base.pytree import flatten
from .._core import Tensor, Variable
from .rules import as_cotangents, called, place

# Kinds of arguments: a tensor or a variable; a tensor for a number that was passed to a `function`;
# a number or an array; anything else.
TENSOR, TRACED_NUMBER, NUMBER, OTHER = range(4)


def kind_of(x: Any) -> int:
    if is_tensor(x):
        return TRACED_NUMBER if _core.is_number(x) else TENSOR
    return NUMBER if isinstance(x, (int, float, complex, np.ndarray, np.generic)) else OTHER


def transposed(
    jvp: Callable[..., Any], leaves: list[Any], f: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the transpose of a forward-mode rule.

    The forward-mode rule is linear in the tangents; its gradient by the tangents is the rule.
    """

    # Floats are tensors inside a `function`, so they have an entry in both cases.
    primals = tuple(x for x in leaves if is_tensor(x) or isinstance(x, float))

    @wraps(jvp)
    def rule(*upstream: Tensor) -> list[Any]:
        zeros = [_core.constant(0.0 if isinstance(x, float) else _core.full(x.shape, 0, x.dtype))
                 for x in primals]  # fmt: skip
        tangents = [t for t, x in zip(zeros, primals, strict=True) if is_tensor(x)]
        tape = _core.Tape(False)
        tape.start()
        try:
            for tangent in tangents:
                tape.watch(tangent)
            out = [t for t in flatten(jvp(primals, tuple(zeros)))[0] if is_tensor(t)]
        finally:
            tape.stop()
        if [t.shape for t in out] != [g.shape for g in upstream]:
            raise ValueError(
                f"custom_gradient: {place(f)}: expected tangents of shapes "
                f"{[g.shape for g in upstream]} from the jvp {place(jvp)}, got "
                f"{[t.shape for t in out]}"
            )
        answers = _core.gradients(out, tangents, list(upstream), tape=tape)
        if any(_core.computed_from([g for g in answers if g is not None], tangents)):
            raise ValueError(
                f"custom_gradient: {place(f)}: expected a jvp that is linear in the tangents, got "
                f"{place(jvp)}, whose derivative depends on them"
            )
        return list(answers)

    return rule


class CustomRule:
    """The rule of one call: the gradients of the arguments, then of the variables.

    `kinds` are the kinds of the arguments. `ordinary` computes the gradients of the variables, from
    the cotangents and the inputs for them, if the rule does not take `variables`.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        fn: Callable[..., Any],
        kinds: list[int],
        variables: list[Any],
        ordinary: Callable[[list[Any], list[Any]], list[Any]] | None = None,
    ) -> None:
        self.f = f
        self.fn = fn
        self.kinds = kinds
        self.variables = variables
        self.asked = bool(variables) and takes_variables(fn)
        # It keeps computed values alive, which a rule that takes `variables` does not need.
        self._ordinary = ordinary if variables and not self.asked else None

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        return self.finished(self.answers(cotangents, inputs), inputs)

    def finished(self, answers: list[Any], inputs: list[Any]) -> list[Any]:
        """Return the answers in the form that the core takes."""
        # The dtype of a traced number is resolved from its neighbours. The gradient of a number may
        # have their shape, because a rule is also called for numbers that are not traced.
        kinds = [kind for kind in self.kinds if kind <= TRACED_NUMBER]
        for i, kind in enumerate(kinds):
            if kind == TRACED_NUMBER and isinstance(answers[i], Tensor):
                answers[i] = _core.cast(_core.sum(answers[i]), inputs[i].dtype)
        return as_cotangents(answers, inputs)

    def cotangents_by_rule(self, cotangents: Sequence[Any]) -> Any:
        who = f"custom_gradient: {place(self.f)}"
        return called(self.fn, who, "one cotangent for each output", *cotangents)

    def answers(self, cotangents: list[Any], inputs: list[Any]) -> list[Any]:
        if self.asked:
            pair = self.fn(*cotangents, variables=list(self.variables))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(
                    f"{self.name()}: expected a pair, the gradients of the arguments and those of "
                    f"the variables, because it takes `variables`; got {_core.shown(pair)}"
                )
            answers = self.of_arguments(pair[0])
            answers += self._counted(
                flatten(pair[1], none_is_leaf=True)[0], len(self.variables), "variables"
            )
        else:
            answers = self.of_arguments(self.cotangents_by_rule(cotangents))
        return answers + self.ordinary(cotangents, inputs)

    def ordinary(self, cotangents: list[Any], inputs: list[Any]) -> list[Any]:
        """Return the gradients of the inputs after the arguments.

        None if the rule takes `variables`.
        """
        if not self._ordinary:
            return []
        arguments = sum(kind <= TRACED_NUMBER for kind in self.kinds)
        return self._ordinary(cotangents, inputs[arguments:])

    def of_arguments(self, answer: Any) -> list[Any]:
        """Return one answer for each tensor among the arguments.

        The rule may omit arguments that are not tensors, and numbers that are tensors only because
        they are traced; or it has one entry for each argument.
        """
        answers: Sequence[Any] = flatten(answer, none_is_leaf=True)[0]
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
                f"{self.name()}: expected {counted(expected, 'gradient')} for its {what}, got "
                f"{len(answers)}; return one for each tensor and variable, in order"
            )
        return list(answers)

    def name(self) -> str:
        return f"custom_gradient: {place(self.f)}: the rule {place(self.fn)}"


def is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def takes_variables(fn: Callable[..., Any]) -> bool:
    try:
        parameters = signature(fn).parameters.values()
    except ValueError:  # some functions written in C have no signature
        return False
    return any(p.name == "variables" or p.kind is Parameter.VAR_KEYWORD for p in parameters)


class RuleWithSecond:
    """A rule whose own gradient is given by `second`.

    `rule_at` returns the rule for other tensors among the arguments; only a verification calls it.
    `decorate` makes a custom gradient. `variables` are arguments that are variables: the rule may
    read them, but their gradients are those of the arguments.
    """

    def __init__(
        self,
        first: CustomRule,
        second: Callable[..., Any],
        variables: Sequence[Any],
        rule_at: Callable[[Sequence[Any]], CustomRule],
        decorate: Callable[..., Any],
    ) -> None:
        if first.asked:
            raise ValueError(
                f"{first.name()}: a rule that takes `variables` cannot have a `second`; pass the "
                "variables as arguments"
            )
        self.first = first
        self.second = second
        self.variables = tuple(variables)
        self.rule_at = rule_at
        self.decorate = decorate

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        kinds = [kind for kind in self.first.kinds if kind <= TRACED_NUMBER]
        places = [k for k, kind in enumerate(kinds) if kind == TENSOR]
        return self._gradients(cotangents, inputs, places) + self.first.ordinary(cotangents, inputs)

    def _gradients(
        self, cotangents: Sequence[Any], inputs: list[Any], places: list[int]
    ) -> list[Any]:
        """Return the answers of the first rule, whose derivative is `second`.

        `places` are those of the primals among the inputs.
        """
        mine = tuple(inputs[k] for k in places)
        answers: list[Any] = []  # answers of the last call of `slope`
        live: list[int] = []  # indices of the primals with a gradient

        def slope(primals: Any, upstream: Any) -> Any:
            rule = self.first if primals is mine else self.rule_at(primals)
            answers[:] = self.first.finished(
                rule.of_arguments(rule.cotangents_by_rule(upstream)), inputs
            )
            found = [answers[k] for k in places]
            live[:] = [i for i, g in enumerate(found) if g is not None]

            @wraps(self.second)
            def pulled(*directions: Any) -> list[Any]:
                given = dict(zip(live, directions, strict=True))
                every = tuple(given.get(i) for i in range(len(found)))
                of_primals, of_upstream = self._by_second(primals, upstream, every)
                tangents = [t for t in of_upstream if is_tensor(t)]
                if primals is mine and not any(_core.computed_from(tangents, list(upstream))):
                    of_upstream = self._tangents(of_upstream, every, upstream, inputs, places)
                return of_primals + of_upstream

            return [found[i] for i in live], pulled

        self._name(slope, ("primals", "upstream"))
        found = self.decorate(slope)(mine, tuple(cotangents))
        out = list(answers)  # a copy: the rule of its entries refers to the original
        for i, g in zip(live, found, strict=True):
            out[places[i]] = g
        return out

    def _tangents(
        self,
        tangents: list[Any],
        directions: tuple[Any, ...],
        upstream: Sequence[Any],
        inputs: list[Any],
        places: list[int],
    ) -> list[Any]:
        """Return the tangents of the results for `directions`, with `second` as their derivative.

        `tangents` are what `second` returned for the upstream gradients, J d. The derivative of
        c·(J d) by the primals is what `second` returns for them if c is the upstream gradient, and
        its derivative by d is Jᵀ c, what the first rule returns.
        """
        live = [k for k, t in enumerate(tangents) if is_tensor(t)]

        def along(primals: Any, directions: Any) -> Any:
            def rule(*cotangents: Any) -> Any:
                given = dict(zip(live, cotangents, strict=True))
                every = tuple(
                    given[k] if k in given else _core.full(g.shape, 0, g.dtype)
                    for k, g in enumerate(upstream)
                )
                answers = self._gradients(every, inputs, places)
                of_primals = self._by_second(primals, every, directions)[0]
                of_directions = [
                    None if d is None else answers[k]
                    for d, k in zip(directions, places, strict=True)
                ]
                return of_primals, of_directions

            return [tangents[k] for k in live], rule

        self._name(along, ("primals", "directions"))
        mine = tuple(inputs[k] for k in places)
        out = list(tangents)
        made = self.decorate(along, intentional=True)(mine, directions)
        for k, t in zip(live, made, strict=True):
            out[k] = t
        return out

    def _name(self, f: Any, parameters: tuple[str, ...]) -> None:
        """Let errors name `second`, and let variables be arguments only."""
        f.__wrapped__ = self.second
        f.__signature__ = Signature(
            [Parameter(name, Parameter.POSITIONAL_ONLY) for name in parameters]
        )
        f.known_variables = self.variables

    def _by_second(
        self, primals: Any, upstream: Any, directions: Any
    ) -> tuple[list[Any], list[Any]]:
        answer = self.second(primals, upstream, directions)
        who = f"custom_gradient: {place(self.first.f)}: its second rule {place(self.second)}"
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise ValueError(
                f"{who}: expected a pair, the gradients of the primals and those of upstream; got "
                f"{_core.shown(answer)}"
            )
        out: list[list[Any]] = []
        pairs = zip(answer, (primals, upstream), ("primals", "upstream gradients"), strict=True)
        for part, asked, what in pairs:
            entries = flatten(part, none_is_leaf=True)[0]
            if len(entries) != len(asked):
                raise ValueError(
                    f"{who}: expected {counted(len(asked), 'gradient')} for the {what}, got "
                    f"{len(entries)}"
                )
            out.append(entries)
        return out[0], out[1]
