"""Queries about the gradients of a graph, for `pb.explain`, `pb.draw` and `pb.gradient_paths`.

The existence of a gradient is tested with `gradients` itself, in a trial whose records are removed.
Values and cotangents are fetches of a copy of the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from .... import _core
from ...._explain.ancestry import Ancestry, Place, Step
from ...._explain.finding import Finding
from ...._explain.query import Question
from ...._explain.query_kinds import register
from ...._explain.unconnected import not_seen
from .._gradients.backprop import pull_back
from .._graph.create import convert_to_tensor
from .._graph.operation import Operation, get_default_session
from .._graph.tensor import SymbolicTensor as Tensor
from .._ops.indexed_slices import IndexedSlices
from .._run.fetches import feed_pairs
from .._run.session import Session
from .._variables.variables import Variable
from .loops import unrolled_below
from .steps import GraphAncestry, assigns, number_of, op_of, place_of, rule_of, steps_of
from .unconnected import why_apart

__all__: list[str] = []  # imported to register classes


def _checked(who: str, which: str, value: Any) -> Tensor:
    """Return a tensor of a graph; for a variable its handle."""
    found = getattr(value, "handle", value)
    if isinstance(found, Tensor):
        return found
    advice = ""
    if isinstance(value, Operation):
        advice = "; pass a tensor, such as the loss or an output of the operation"
    elif isinstance(value, IndexedSlices):
        advice = "; pass its values, or tf.convert_to_tensor of it"
    elif isinstance(value, (_core.Tensor, _core.Variable)):
        advice = ", of which a graph only uses the value"
    raise TypeError(
        f"{who}: expected a tensor or a variable of a graph for {which}, got {value!r:.100}{advice}"
    )


class GraphQuestion(Question):
    """One query about a gradient of symbolic tensors."""

    unknown = (
        "expected session= and feed_dict= for values of a run, got None; a graph has no values"
    )
    y: Tensor

    def __init__(
        self, who: str, y: Any, x: Any, *, seed: Any = None, tape: Any = None, stops: Any = None,
        session: Any = None, feed_dict: Any = None,
    ) -> None:  # fmt: skip
        target, self.source = _checked(who, "y", y), _checked(who, "x", x)
        if isinstance(y, Variable):
            target = y.value()
        cuts = [_checked(who, "a stop_gradient", stop) for stop in stops or []]
        self.who = who
        super().__init__(target, x, seed=seed, stops=cuts)
        self.graph = target.graph
        self.session = _session_of(who, self.graph, session, feed_dict)
        self.feeds = dict(feed_pairs(self.graph, feed_dict))
        if tape is not None and not hasattr(tape, "edge"):
            raise TypeError(f"{who}: expected a tape of a graph for tape, got one of eager mode")
        self.seen = tape
        self.counts = tape is None or tape.counts(x, self.source)
        if tape is not None:
            self.stops += tape.edge([target], {self.source})

    @contextmanager
    def asking(self) -> Iterator[None]:
        with super().asking(), self.graph.trial(), self.graph.as_default():
            yield

    def gradients(
        self, xs: list[Any], y: Any = None, seed: Any = None, stops: Iterable[Any] = ()
    ) -> list[Any]:
        target, weight = (self.y, self.seed) if y is None else (y, seed)
        handles = [getattr(x, "handle", x) for x in xs]
        answers = pull_back([target], [weight], handles, [*self.stops, *stops])
        return [
            None if g is None or (handle is self.source and not self.counts)
            else convert_to_tensor(g) for handle, g in zip(handles, answers, strict=True)
        ]  # fmt: skip

    @cached_property
    def ancestry(self) -> Ancestry:
        steps = steps_of(self.y, self.stops, self.seen)
        self.locate(steps)
        return GraphAncestry(self.y, self.source, steps, self.counts, self.session is not None)

    def arrays_of(self, tensors: list[Any]) -> list[Any]:
        if self.session is None:
            raise ValueError(f"{self.who}: {self.unknown}")
        return list(self.session._rehearsed(tensors, {**self.feeds, **self._draws}))

    def _opened_below(self, steps: list[Step]) -> Any:
        if self.seen is not None:  # the tape would not have recorded it
            return self.y, {}, [], []
        values = None if self.session is None else self.arrays_of
        ends = [self.source, *self.stops]
        return unrolled_below(self.y, [op_of(step) for step in steps], ends, values)

    @cached_property
    def _draws(self) -> dict[Tensor, Any]:
        """Return the random numbers of all fetches: the same ones each time."""
        drawn = []
        for step in self.ancestry.steps.values():
            row = op_of(step).definition
            if (row.random or row.sampled) and step.tensor not in self.feeds:
                drawn.append(step.tensor)
        assert self.session is not None
        return dict(zip(drawn, self.session._rehearsed(drawn, self.feeds), strict=True))

    def ones(self) -> Any:
        return None

    @property
    def x_dtype(self) -> Any:
        return self.source.dtype.dtype

    def x_title(self) -> str:
        if isinstance(self.x, Variable):
            return f"Variable '{self.x.op.name}'"
        return str(steps_of(self.source)[number_of(self.source)])

    def x_place(self) -> Place | None:
        return place_of(self.source.op)

    def why_failed(self, error: Exception) -> Finding | None:
        if not isinstance(error, LookupError):
            return None
        for step in self.ancestry.descending():
            op = op_of(step)
            if f"'{op.name}'" in str(error):
                return Finding(
                    "not_registered",
                    f"gradients() raises a LookupError: {error.args[0]}",
                    "apply stop_gradient to it if no gradient should flow, or register a rule with "
                    "RegisterGradient, and use it in a block with gradient_override_map",
                    step,
                )
        return None

    def why_unseen(self) -> Finding | None:
        if self.seen is None:
            return None
        if not self.counts:
            return Finding(
                "not_watched", f"the tape does not watch {{x}}, {self.x_title()}",
                "call tape.watch() with it before it is used", place=self.x_place(),
            )  # fmt: skip
        return not_seen(self, self.ancestry, self.ancestry.descending())

    def why_apart(self) -> Finding | None:
        return why_apart(self, self.ancestry)

    def why_cut(self, step: Step) -> Finding | None:
        op = op_of(step)
        if step.stopped:
            return None
        if assigns(op):
            return Finding(
                "assignment",
                f"{step} assigns to variable '{op.attrs['variable'].op.name}', and no gradient "
                "passes an assignment, though its result is the new value",
                "make {y} from the value itself, and assign it beside that",
                step,
            )
        if op.type == "SymbolicGradient":
            return Finding(
                "linear", f"{step} is a gradient that does not depend on {{x}} any more: the "
                "differentiated tensor is linear in {x}, or has {x} as a constant",
                "a second derivative that is zero everywhere is None; stop_gradient in the first "
                "one, or in its grad_ys, has the same effect", step,
            )  # fmt: skip
        if op.rule is not None and "results" in op.attrs:
            return self._behind_custom(step, op)
        if step.rule is not None and rule_of(op) is None:
            return Finding(
                "not_differentiable",
                f"gradient_override_map gave {step} the rule {step.rule}, which is registered as "
                "not differentiable", "leave the override out, or map to a rule", step,
                rule=step.rule,
            )  # fmt: skip
        return None

    def _behind_custom(self, step: Step, op: Operation) -> Finding | None:
        arguments = set(op.inputs[op.attrs["results"] :])
        inside = [s for s in self.ancestry.inputs(step) if s.tensor in arguments]
        if inside:
            return None
        return Finding(
            "not_an_argument",
            f"{step} is of a custom_gradient whose function uses {{x}} without having it as an "
            f"argument; its rule {step.rule} speaks of the arguments",
            "pass {x} as an argument, and return a gradient for it", step, rule=step.rule,
        )  # fmt: skip


def _session_of(who: str, graph: Any, session: Any, feed_dict: Any) -> Session | None:
    if session is None and feed_dict is not None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"{who}: expected a session with feed_dict, got None and no default session; pass "
                "session="
            )
    if session is None:
        return None
    if not isinstance(session, Session):
        raise TypeError(f"{who}: expected a tf.Session for session, got {session!r:.60}")
    if session.graph is not graph:
        raise ValueError(f"{who}: expected a session of the graph of y, got one of another graph")
    if session._closed:
        raise ValueError(
            f"{who}: expected an open session, got a closed one; call it inside the `with`"
        )
    return session


register((Tensor, Variable, Operation, IndexedSlices), GraphQuestion)
