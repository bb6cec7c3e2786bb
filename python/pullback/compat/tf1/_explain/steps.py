"""A graph's operations as the steps of an explanation.

`pb.explain` reads symbolic tensors as it reads those of the main namespace; the records are the
history. Every tensor is a step. A read of a variable is a leaf: programs refer to the variable,
not to the read. Constant shapes and axes are left out.
"""

from __future__ import annotations

from typing import Any

from ...._explain.ancestry import Ancestry, Place, Step
from .._gradients.backprop import carries
from .._graph.opdef import OpDef
from .._graph.operation import Operation
from .._graph.registry import Rule, find_rule
from .._graph.tensor import SymbolicTensor as Tensor

_OUTPUTS = 20  # bits of a step number that select the output

# Names of operations in reasons, equal to the main namespace's for the same computation.
# An average is not `mean`, which the core builds from a sum and a division.
KINDS = {
    "AddN": "add", "AddV2": "add", "BatchMatMulV2": "matmul", "BiasAdd": "add",
    "BroadcastTo": "broadcast_to", "Cast": "cast", "ConcatV2": "concat", "Const": "constant",
    "Einsum": "einsum", "Elu": "exp", "Entry": "take", "Erf": "erf", "Exp": "exp",
    "ExpandDims": "reshape", "GatherNd": "take", "GatherV2": "take",
    "GradientOutput": "identity", "Identity": "identity",
    "Log": "log", "Log1p": "log1p", "LogSoftmax": "log_softmax", "MatMul": "matmul", "Max": "max",
    "Maximum": "maximum", "Mean": "average", "Min": "min", "Minimum": "minimum", "Mul": "multiply",
    "Neg": "negative", "Pack": "stack", "Placeholder": "argument", "Pow": "pow",
    "ReadVariableOp": "read", "RealDiv": "divide", "Relu": "relu", "Reshape": "reshape",
    "Rsqrt": "rsqrt", "Select": "where", "Sigmoid": "sigmoid",
    "SigmoidCrossEntropyWithLogits": "sigmoid_cross_entropy", "Sign": "sign",
    "Softmax": "softmax", "SoftmaxCrossEntropyWithLogits": "softmax_cross_entropy",
    "Softplus": "softplus", "SparseSoftmaxCrossEntropyWithLogits": "sparse_softmax_cross_entropy",
    "Sqrt": "sqrt", "Square": "square", "Squeeze": "reshape", "StopGradient": "stop_gradient",
    "Slice": "slice", "SliceFrom": "slice", "StridedSlice": "slice", "Sub": "subtract",
    "Sum": "sum", "TakeAlongAxis": "take_along_axis",
    "Tanh": "tanh", "Transpose": "transpose",
}  # fmt: skip


def number_of(x: Tensor) -> int:
    """Return the number of a tensor's step, which increases as the graph is built."""
    return (x.op.number + 1 << _OUTPUTS) + x.index


def place_of(op: Operation) -> Place | None:
    """Return the source line of an operation; None unless it was created while debugging."""
    return None if op.place is None else Place(*op.place)


def assigns(op: Operation) -> bool:
    """Test whether an operation is an assignment of the program, not of an optimizer."""
    return op.type.startswith(("Assign", "Scatter")) and "variable" in op.attrs


class GraphStep(Step):
    """A tensor of a graph."""

    symbol: Tensor

    def __init__(self, tensor: Tensor, also: list[Tensor], stopped: bool, recorded: bool) -> None:
        op = tensor.op
        self.symbol = tensor
        self.number = number_of(tensor)
        self.name = f"{op.name}:{tensor.index}" if tensor.index else op.name
        self.kind = "read" if is_read(op) else KINDS.get(op.type, op.type)
        self.label = f"operation '{op.name}'"
        self.dtype = tensor.dtype.dtype
        self.sources = [*sources_of(op), *also]
        self.inputs = [number_of(x) for x in self.sources]
        self.passes = not stopped and (op.definition.flows or rule_of(op) is not None)
        self.stopped = stopped
        self.recorded = recorded
        self.rule = _rule_text(op)
        self.custom = op.rule is not None
        self.scalar = None
        variable = op.attrs["variable"] if self.kind == "read" else None
        self.variable = number_of(variable.handle) if variable else 0
        self.variable_name = variable.op.name if variable else ""
        self.place = place_of(op)
        self.tensor = None if tensor.dtype.name == "string" else tensor
        self.tracked = bool(op.inputs)
        self.traced = False
        self.origin = ""
        self.operation = number_of(op.outputs[0]) if "bodies" in op.attrs else 0

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.symbol.dims  # type: ignore[return-value]  # None where it is not known

    @property
    def size(self) -> int | None:
        return self.symbol.shape.num_elements() if self.symbol.is_static else None

    @property
    def carries(self) -> bool:
        return self.tensor is not None and carries(self.symbol)

    @property
    def form(self) -> str:
        return f"{self.dtype}{_dims_text(self.symbol)}"

    def __str__(self) -> str:
        op = self.symbol.op
        if op.type in ("ReadVariableOp", "VariableV2"):
            return f"variable '{op.attrs['variable'].op.name}' {self.form}"
        return f"{self.name}: {op.type} {self.form}"


def op_of(step: Step) -> Operation:
    """Return the operation that computes a step of a graph."""
    assert isinstance(step, GraphStep)
    return step.symbol.op


def _dims_text(x: Tensor) -> str:
    if x.dims is None:
        return "[…]"
    return "[" + ", ".join("?" if d is None else str(d) for d in x.dims) + "]"


def is_read(op: Operation) -> bool:
    return op.type == "ReadVariableOp" and not op.has_own_rule


def sources_of(op: Operation) -> list[Tensor]:
    """Return the inputs of an operation that matter for a gradient or a reader."""
    if is_read(op) or op.type == "UnitCotangent":  # ones of the shape of its input
        return []
    static = op.definition.which_static(op.inputs)
    pairs = zip(op.inputs, static, strict=True)
    return [x for x, fixed in pairs if not (fixed and x.op.type in ("AllAxes", "Const"))]


def rule_of(op: Operation) -> Rule | OpDef | None:
    """Return the user-defined or overriding rule; None also if it does not exist."""
    if op.rule is not None or not op.has_own_rule:
        return op.rule  # type: ignore[no-any-return]
    try:
        return find_rule(op.type, op.name, op.override)
    except LookupError:
        return None


def _rule_text(op: Operation) -> str | None:
    if not op.has_own_rule:
        return None
    rule = rule_of(op)
    if isinstance(rule, Rule):
        label = f"'{rule.name}' " if rule.name else ""
        return f"{label}({rule.own} at {rule.where})"
    return None if rule is None and op.override is None else f"'{op.override or op.type}'"


def steps_of(
    y: Tensor, stops: Any = (), tape: Any = None, assignments: bool = False
) -> dict[int, Step]:
    """Return the steps on which y depends, by number.

    With `assignments` a read also depends on the values assigned to its variable.
    """
    found: dict[int, Step] = {}
    pending = [y]
    stored: dict[Any, list[Tensor]] = {}
    if assignments:
        for op in filter(assigns, y.graph.get_operations()):
            stored.setdefault(op.attrs["variable"], []).extend(op.inputs)
    while pending:
        x = pending.pop()
        if number_of(x) in found:
            continue
        also = stored.get(x.op.attrs["variable"], []) if is_read(x.op) else []
        recorded = tape is None or not x.op.inputs or tape.recorded(x.op)
        step = GraphStep(x, also, x in stops, recorded)
        found[step.number] = step
        pending += step.sources
    return dict(sorted(found.items()))


class GraphAncestry(Ancestry):
    """The tensors on which y depends, with those that depend on x."""

    def __init__(
        self, y: Tensor, x: Tensor, steps: dict[int, Step], counts: bool, valued: bool
    ) -> None:
        self.steps = steps
        self.x, self.y = number_of(x), number_of(y)
        self.variable = self.x if x.op.type == "VariableV2" else 0
        self.x_tracked, self.x_since = counts, None
        self.top.traced = not valued
        self.depends = self._dependents() if x.graph is y.graph else set()

    def _dependents(self) -> set[int]:
        users: dict[int, list[int]] = {}  # an assigned value may be newer than the read
        for step in self.steps.values():
            for number in step.inputs:
                users.setdefault(number, []).append(step.number)
        pending = [step.number for step in self.steps.values() if self.is_x(step)]
        out: set[int] = set()
        while pending:
            number = pending.pop()
            if number not in out:
                out.add(number)
                pending += users.get(number, [])
        return out

    def is_x(self, step: Step) -> bool:
        return step.number == self.x or (step.variable == self.variable != 0)
