"""Bodies: the subgraphs that the functions of loops and branches record, and their run.

A loop or branch is one operation of the graph. The operations of its functions are recorded in the
same graph before it: from the inputs of the body, `LoopArgument` records without a value in any
session, to the results. A `Subgraph` stores which records these are and which outer tensors they
use. These `captured` tensors are inputs of the operation, so every pass over a graph sees an
ordinary operation.

In a run the core's loops and branches call a function on abstract values, as they do for a user's
function, and the function instantiates the subgraph on them: a `BodyRun`. Variables assigned inside
become loop variables, and are assigned at the end. The core cannot run a body if shapes change
between iterations or an operation needs values. Then `WantsValues` is raised, the run computes
eagerly (host_run.py), and loops are Python's.

The core differentiates loops by the operations inside. An operation inside that has a user-defined
gradient therefore carries that rule as a subgraph.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .... import _core
from .._gradients.backprop import answers_of, carries, differentiable_inputs
from .._graph.conversion import as_static
from .._graph.create import convert_to_tensor
from .._graph.graph import Graph
from .._graph.inference import FAILURES, as_python
from .._graph.opdef import OPS, caller_of, define
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors, opaque, stands_for
from .._run.host_run import HostRun
from .._run.instantiate import Run, Slot, Unwritten, WantsValues, identity_rule
from ..errors import InvalidArgumentError

# Operations that exist once in a graph.
_OUTSIDE = {"VariableV2", "Placeholder"}


def _missing(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    raise InvalidArgumentError(
        op,
        f"run: expected a tensor outside of loops, got '{op.name}', which has a different value in "
        "each iteration; return it from the body",
    )


define("LoopArgument", execute=_missing)


def argument_of(graph: Graph, dtype: Any, dims: Any, name: str, initial: Any = None) -> Tensor:
    """Create an input of a body; `initial` is the outer tensor that it starts from."""
    made: Tensor = graph.record(
        "LoopArgument", [], {"initial": initial}, name, (dtype, dims)
    ).outputs[0]
    return made


@dataclass(eq=False)
class Subgraph:
    """Some records with their arguments and results, and the outer tensors that they use."""

    arguments: list[Tensor]
    results: list[Tensor]
    ops: list[Operation]
    captured: list[Tensor]
    controls: list[Operation]  # outer operations that its operations wait for
    rules: dict[Operation, Any] = field(default_factory=dict)

    @property
    def host(self) -> bool:
        """Test whether an operation inside needs values."""
        return any(op.definition.host or any(p.host for p in bodies_of(op)) for op in self.ops)


def bodies_of(op: Operation) -> Sequence[Subgraph]:
    """Return the bodies of an operation."""
    found: Sequence[Subgraph] = op.attrs.get("bodies", ())
    return found


def subgraph_of(
    first: int, arguments: Sequence[Tensor], results: Sequence[Tensor],
    also: frozenset[Operation] = frozenset(),
) -> Subgraph:  # fmt: skip
    """Return the records on which the results depend: those from number `first` on, and `also`."""
    own = {x.op for x in arguments}
    ops: set[Operation] = set()
    captured: dict[Tensor, None] = {}
    controls: dict[Operation, None] = {}

    def inside(op: Operation) -> bool:
        return (op.number >= first and op.type not in _OUTSIDE) or op in also

    pending = list[Operation]()

    def use(tensors: Sequence[Tensor]) -> None:
        for x in tensors:
            if inside(x.op):
                pending.append(x.op)
            else:
                captured[x] = None

    use(results)
    while pending:
        op = pending.pop()
        if op in ops or op in own:
            continue
        ops.add(op)
        use(op.inputs)
        for control in op.control_inputs:
            if inside(control):
                pending.append(control)
            else:
                controls[control] = None
    ordered = sorted(ops, key=lambda op: op.number)
    return Subgraph(list(arguments), list(results), ordered, list(captured), list(controls))


@dataclass(eq=False)
class BodyRun(HostRun):
    """One instantiation of a body within a run."""

    outer: Any = None
    base: frozenset[Any] = frozenset()  # variables assigned before the loop
    start: dict[Any, Any] = field(default_factory=dict)  # variables when the iteration starts
    rules: dict[Operation, Any] = field(default_factory=dict)

    @staticmethod
    def within(outer: Run, op: Operation, subgraph: Subgraph, has_values: bool) -> BodyRun:
        run = (outer.kind or BodyRun)(
            outer.slot_of, trace=outer.trace, watcher=outer.watcher,
            values=ChainMap({}, outer.values),
            fed=outer.fed, strict=set(subgraph.ops) if op in outer.strict else set(),
            hollow=outer.hollow, snapshots=outer.snapshots, behind=ChainMap({}, outer.behind),
            cut=list(outer.cut), outer=outer, base=outer.behind.get(op, frozenset()),
            rules=subgraph.rules, kind=outer.kind,
        )  # fmt: skip
        run.has_values = has_values
        if has_values:
            run.effects = outer.effects
        if isinstance(outer, HostRun):
            run.outside = outer.outside
        return run

    def on(
        self,
        subgraph: Subgraph,
        arguments: Sequence[Any],
        captured: Sequence[Any],
        assigned: Any = (),
    ) -> list[Any]:
        """Compute the results for these arguments; `assigned` maps variables to current values."""
        self.start = dict(assigned)
        pairs = zip(subgraph.captured, captured, strict=True)
        self.values.update((x, self._captured(x, value)) for x, value in pairs)
        self.values.update(zip(subgraph.arguments, arguments, strict=True))
        self.assigned = dict(self.start)
        for op in subgraph.ops:
            self._instantiate(op)
        if self.effects and not self.has_values:
            raise WantsValues
        return [self.values[y] for y in subgraph.results]

    def _captured(self, x: Tensor, value: Any) -> Any:
        """Return the value of an outer tensor: a variable may change between iterations."""
        variable: Any = x.op.attrs.get("variable")
        if variable not in self.start or x is not variable._graph_element:
            return value
        if not self.fed.keys().isdisjoint((x, variable.handle)):
            return value
        return _core.custom([self.start[variable]], [value], identity_rule(x.op))[0]

    def _behind(self, op: Operation) -> frozenset[Any]:
        return super()._behind(op) | self.base

    def _latest(self, variable: Any) -> Any:
        found = self.assigned.get(variable)
        return self.outer.current(variable) if found is None else found

    def current(self, variable: Any) -> Any:
        return self._latest(variable)

    def at_start(self, variable: Any) -> Any:
        found = self.start.get(variable)
        return self.outer.at_start(variable) if found is None else found

    def _arguments(self, op: Operation, inputs: list[Any]) -> list[Any]:
        try:
            return super()._arguments(op, inputs)
        except RuntimeError:  # a size that each iteration sets
            if self.has_values:
                raise
            raise WantsValues from None

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        if op.definition.sampled is not None:
            raise NotImplementedError(
                f"{caller_of(op.definition, op.type)}: expected an operation outside of loops and "
                f"branches, got {op.type} '{op.name}' inside, where it cannot draw; create it "
                "before"
            )
        try:
            outs = super()._outputs(op, inputs)
        except Unwritten:
            if self.has_values:
                raise
            raise WantsValues from None  # the run may write it before it reads here
        if not op.has_own_rule or not any(carries(x) for x in op.outputs):
            return outs
        outs = self._with_rule(op, outs)
        self.cut.extend(outs)
        return outs

    def _have(self, tensors: Sequence[Tensor]) -> None:
        """Compute tensors that only a rule uses."""
        missing = [x for x in tensors if x not in self.values]
        for op in ancestors(missing) if missing else ():
            if not all(y in self.values for y in op.outputs):
                self.strict.add(op)
                self._instantiate(op)

    def _with_rule(self, op: Operation, outs: list[Any]) -> list[Any]:
        """Attach the user-defined gradient, or an undefined one, to the outputs."""
        if op not in self.rules:
            self.rules[op] = own_rule_of(op)
        own, run = self.rules[op], self
        if own is None:
            return outs
        live = [op.inputs[i] for i in differentiable_inputs(op)]
        # A rule may be called in another instance of this body, so all its tensors are arguments.
        used = [] if isinstance(own, Exception) else own.subgraph.captured
        given = [*dict.fromkeys([*live, *(x for x in used if x not in op.outputs)])]
        self._have(given)
        values = [self.values[x] for x in given]

        def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
            if isinstance(own, Exception):
                raise own
            inner = BodyRun.within(run, op, own.subgraph, run.has_values)
            for x, value, before in zip(given, ins, values, strict=True):
                inner.values[x] = before if _core.is_computed(before) else value
            inner.values.update(zip(op.outputs, outs, strict=True))
            upstream = [
                _core.full(y.shape, _core.constant(0, y.dtype)) if g is None else g
                for g, y in zip(cotangents, outs, strict=True)
            ]
            captured = [inner.values[x] for x in own.subgraph.captured]
            found = dict(zip(own.answered, inner.on(own.subgraph, upstream, captured), strict=True))
            answers: list[Any] = [None] * len(given)
            for i, g in found.items():
                at = given.index(op.inputs[i])
                answers[at] = g if answers[at] is None else answers[at] + g
            return answers

        made: list[Any] = _core.custom(outs, values, _core.Rule(rule, str(op.rule or op.type)))
        return made


@dataclass(frozen=True, eq=False)
class OwnRule:
    """The rule of an operation as a subgraph, whose arguments are the upstream gradients."""

    subgraph: Subgraph
    answered: list[int]  # inputs that have a gradient


def own_rule_of(op: Operation) -> OwnRule | Exception | None:
    """Return the recorded rule of an operation, or None without a gradient.

    Errors are raised when a gradient is requested. The records do not stay in the graph.
    """
    graph = op.graph
    with graph.as_default(), graph.trial():
        first = len(graph._operations)
        upstream = [argument_of(graph, y.dtype, y.dims, "upstream") for y in op.outputs]
        try:
            answers = answers_of(op, upstream)
        except Exception as error:
            return error
        live = [i for i in differentiable_inputs(op) if answers and answers[i] is not None]
        results = [convert_to_tensor(answers[i]) for i in live]
        subgraph = subgraph_of(first, upstream, results)
        # The tensors that a rule uses are its inputs, so it could not differentiate between them.
        again = _differentiated(subgraph)
        if again:
            subgraph = subgraph_of(first, upstream, results, again)
        return OwnRule(subgraph, live) if live else None


def _differentiated(subgraph: Subgraph) -> frozenset[Operation]:
    """Return the outer operations that the gradients among some records differentiate."""
    found: set[Operation] = set()
    for op in subgraph.ops:
        if op.type != "SymbolicGradient":
            continue
        n, m = op.attrs["ys"], op.attrs["xs"]
        above = set(op.inputs[n : n + m])
        for one in ancestors(op.inputs[:n]):
            if not above.isdisjoint(one.inputs):
                above.update(one.outputs)
                found.add(one)
    return frozenset(found)


class _RecordedValues(dict[Tensor, Any]):
    """The abstract values that were created with the graph."""

    def __missing__(self, x: Tensor) -> Any:
        return x.abstract


class AbstractBody(BodyRun):
    """A body on abstract values, for queries about gradients."""

    def _have(self, tensors: Sequence[Tensor]) -> None:
        made = set[Operation]()  # operations that depend on the inputs
        for op in ancestors(x for x in tensors if x not in self.values):
            if op.type == "LoopArgument" or any(x.op in made for x in op.inputs):
                made.add(op)
                if op.type != "LoopArgument" and op.outputs[0] not in self.values:
                    self._instantiate(op)

    def _arguments(self, op: Operation, inputs: list[Any]) -> list[Any]:
        static = op.definition.which_static(inputs)
        args = []
        for x, value, fixed in zip(op.inputs, inputs, static, strict=True):
            args.append(as_python(x.known) if fixed and x.known is not None else value)
        return [as_static(a) if f else a for a, f in zip(args, static, strict=True)]

    def read(self, variable: Any, op: Operation) -> Any:
        return _core.identity(self.values[variable.handle])

    def peek(self, variable: Any) -> Any:
        return variable.handle.abstract

    def _latest(self, variable: Any) -> Any:
        return self.assigned.get(variable, variable.handle.abstract)


def outputs_of(op: Operation, kinds: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return the outputs of a loop or branch with abstract values built as in a run."""
    abstracts = [x.abstract for x in op.inputs]
    run = AbstractBody(lambda variable: Slot(), strict={op}, behind={op: frozenset()})
    run.values = _RecordedValues(zip(op.inputs, abstracts, strict=True))
    run.kind, run.has_values = AbstractBody, False
    try:
        made = op.definition.execute(run, op, abstracts)  # type: ignore[misc]
    except (TypeError, NotImplementedError, WantsValues, *FAILURES):
        made = [None] * len(kinds)
    outs = []
    for (dtype, dims), y in zip(kinds, made, strict=True):
        fits = y is not None and stands_for(y, dims)
        flows = abstracts if dtype.is_inexact else []  # integers have no gradient
        outs.append((dtype, dims, y if fits else opaque(flows, dtype, dims)))
    return outs


def recorded(
    graph: Graph, type: str, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str,
    kinds: Sequence[tuple[Any, Any]], controls: Sequence[Operation],
) -> list[Tensor]:  # fmt: skip
    """Record a loop or branch with outputs of these dtypes and dimensions."""
    op = graph.create(OPS[type], inputs, attrs, name, type, controls)
    return list(graph.complete(op, outputs_of(op, kinds)).outputs)
