"""`gradients`: a reverse pass over the records of a graph that appends records.

    collect    the operations below ys, by one loop
    connect    a scan forward: which tensors depend on an x, cut at stop_gradient, stop_gradients=,
               non-differentiable operations and dtypes. The only connectivity pass there is
    pull back  a scan backward: rules add contributions to tensors; they are summed once, just
               before the producer is differentiated
    answer     one entry per x, None where no path exists

A contribution may carry a mask (from `where`): it counts only where the mask holds, and is made
dense as late as possible, so that an infinite slope of the branch not taken never meets a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from . import mode
from .convert import convert_to_tensor, graph_of
from .create import apply
from .dtypes import int32
from .gradient_record import GRADIENT, flows_of, gradient_record, is_elementwise
from .opdef import OpDef
from .operation import Operation
from .registry import Rule, checked_results, find_rule, missing
from .shapes import TensorShape
from .tensor import Tensor, same_shape

__all__ = ["AggregationMethod", "UnconnectedGradients", "gradients", "set_integer_gradients"]


class UnconnectedGradients(Enum):
    """What stands for the gradient where there is no path: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """How contributions are summed; the values are the same for all."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_integer_gradients = True


def set_integer_gradients(on: bool) -> None:
    """Whether integers are differentiable through ring operations (the default, as until TF 1.8).

    With False they are constants, as since TF 1.9, and gradients with respect to them are None.
    """
    global _integer_gradients
    _integer_gradients = bool(on)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The sum over ys of their derivatives with respect to each x, as a list of tensors.

    An entry is None where no differentiable path exists, or zeros with
    `unconnected_gradients=UnconnectedGradients.ZERO`. `grad_ys` weighs the ys (ones where None),
    `stop_gradients` are constants with respect to every x. Colocation, gating and the aggregation
    method change no value here.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0])
    ...     print(session.run(tf.gradients(x * x, [x])))
    [array([2., 4.], dtype=float32)]
    """
    if mode.executing_eagerly():
        raise RuntimeError("tf.gradients does not work in eager mode; use tf.GradientTape")
    zero = unconnected(unconnected_gradients) is UnconnectedGradients.ZERO
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"unknown aggregation_method {aggregation_method!r}; see AggregationMethod"
        )
    targets = [_target(y, i) for i, y in enumerate(as_list(ys))]
    sources = [_source(x, "xs", i) for i, x in enumerate(as_list(xs))]
    stops = [_source(x, "stop_gradients", i) for i, x in enumerate(as_list(stop_gradients))]
    graph = graph_of([*targets, *sources])
    with graph.as_default(), graph.name_scope(name):
        seeds = _seeds(targets, grad_ys)
        answers = ReversePass(targets, seeds, sources, stops).run()
        if not zero:
            return answers
        return [
            apply("ZerosLike", [x], None, "zeros_like") if answer is None else answer
            for x, answer in zip(sources, answers, strict=True)
        ]


def unconnected(value: Any) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"unknown value for unconnected_gradients: {value!r}; expected 'none' or 'zero'"
        ) from None


def as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _target(y: Any, position: int) -> Tensor:
    if y is None or isinstance(y, (str, dict, list, tuple)):
        raise TypeError(f"gradients: ys[{position}] is {y!r}; expected a tensor or a variable")
    tensor: Tensor = convert_to_tensor(y)
    return tensor


def _source(x: Any, what: str, position: int) -> Tensor:
    """A variable stands for its handle: the sum over all its reads."""
    handle = getattr(x, "handle", x)
    if not isinstance(handle, Tensor):
        raise TypeError(
            f"gradients: {what}[{position}] is a {type(x).__name__}, {x!r:.60}; expected a tensor "
            "or a variable"
        )
    return handle


def _seeds(targets: list[Tensor], grad_ys: Any) -> list[Tensor | None]:
    """The checked cotangent of each y, or None for ones."""
    if grad_ys is None:
        return [None] * len(targets)
    given = as_list(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"gradients: length mismatch, {len(given)} grad_ys for {len(targets)} ys")
    seeds: list[Tensor | None] = []
    for i, (y, g) in enumerate(zip(targets, given, strict=True)):
        if g is None:
            seeds.append(None)
            continue
        seed = convert_to_tensor(g, y.dtype, name=f"grad_ys_{i}")
        shape = TensorShape(seed.dims)
        if shape.ndims == 0 and y.dims != ():
            seed = apply("BroadcastTo", [seed, _shape_of(y)], None, f"grad_ys_{i}")
        elif not shape.is_compatible_with(y.dims):
            raise ValueError(
                f"gradients: grad_ys[{i}] has shape {shape}, ys[{i}] '{y.name}' has {y.shape}"
            )
        seeds.append(seed)
    return seeds


def _shape_of(x: Tensor) -> Tensor:
    if x.is_static:
        tensor: Tensor = convert_to_tensor(list(x.dims or ()), int32, name="Shape")
        return tensor
    shape: Tensor = apply("Shape", [x], {"out_type": int32})
    return shape


class Contribution(NamedTuple):
    value: Tensor
    mask: Tensor | None = None  # bool: elsewhere it is an exact zero, whatever the value


class ReversePass:
    """One call of `gradients`; `within` says which operations a tape has recorded."""

    def __init__(
        self,
        targets: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        sources: Sequence[Tensor],
        stops: Sequence[Tensor],
        within: Any = None,
    ) -> None:
        self.targets = targets
        self.seeds = seeds
        self.sources = sources
        self.stops = set(stops)
        self.within = within
        self.live: set[Tensor] = set()
        self.found: dict[Tensor, list[Contribution]] = {}
        self.flows: dict[Operation, Sequence[int]] = {}

    def run(self) -> list[Tensor | None]:
        ops = self._collect()
        self._connect(ops)
        self._seed()
        for op in reversed(ops):
            self._pull_back(op)
        return [self._dense(self._total(x)) for x in self.sources]

    def _collect(self) -> list[Operation]:
        """Operations below ys that are not older than the oldest x, in the order of creation."""
        oldest = min((x.op.number for x in self.sources), default=float("inf"))
        seen: set[Operation] = set()
        pending = [y.op for y in self.targets]
        while pending:
            op = pending.pop()
            if op in seen or op.number < oldest:
                continue
            if self.within is not None and not self.within(op):
                continue
            seen.add(op)
            pending.extend(x.op for x in op.inputs)
        return sorted(seen, key=lambda op: op.number)

    # --- connectivity

    def _connect(self, ops: list[Operation]) -> None:
        self.live.update(self.sources)
        for op in ops:
            self.flows[op] = flows = self._flows(op)
            if not any(self._carries(op.inputs[i]) for i in flows):
                continue
            exact = op.definition.ring or op.definition is GRADIENT or self._own_rule(op)
            for out in op.outputs:
                integer = _integer_gradients and out.dtype.is_integer and exact
                if (out.dtype.is_floating or integer) and out not in self.stops:
                    self.live.add(out)

    def _carries(self, x: Tensor) -> bool:
        return x in self.live and (
            x.dtype.is_floating or (_integer_gradients and x.dtype.is_integer)
        )

    def _own_rule(self, op: Operation) -> bool:
        return op.rule is not None or op.override is not None

    def _flows(self, op: Operation) -> Sequence[int]:
        """The inputs that a gradient may reach. An unknown rule is an error where it is hit."""
        everything = range(len(op.inputs))
        if op.definition is GRADIENT:
            return flows_of(op)
        if op.override is not None and op.rule is None:
            try:
                return everything if find_rule(op.override) is not None else ()
            except LookupError:
                return everything
        return everything if op.flows is None else op.flows

    # --- contributions

    def _seed(self) -> None:
        for i, (y, seed) in enumerate(zip(self.targets, self.seeds, strict=True)):
            if y not in self.live:
                continue
            if seed is None:
                one = convert_to_tensor(1, name=f"grad_ys_{i}")
                if y.is_static:
                    one = convert_to_tensor(1, y.dtype, name=f"grad_ys_{i}")
                    seed = apply("Fill", [_shape_of(y), one], None, "Fill")
                else:
                    seed = apply("OnesLike", [y], None, f"grad_ys_{i}")
            self._add(y, Contribution(seed))

    def _add(self, x: Tensor, contribution: Contribution) -> None:
        self.found.setdefault(x, []).append(contribution)

    def _total(self, x: Tensor) -> Contribution | None:
        """The sum of what reached a tensor; kept, so that it is made once."""
        parts = self.found.get(x)
        if not parts:
            return None
        if len(parts) > 1:
            mask = parts[0].mask
            if mask is None or any(part.mask is not mask for part in parts):
                parts = [Contribution(self._dense(part)) for part in parts]  # type: ignore[arg-type]
                mask = None
            total = apply("AddN", [part.value for part in parts], {"N": len(parts)})
            self.found[x] = parts = [Contribution(total, mask)]
        return parts[0]

    def _dense(self, contribution: Contribution | None) -> Tensor | None:
        if contribution is None or contribution.mask is None:
            return contribution and contribution.value
        zeros = apply("ZerosLike", [contribution.value], None, "zeros")
        dense: Tensor = apply("SelectV2", [contribution.mask, contribution.value, zeros])
        return dense

    # --- rules

    def _pull_back(self, op: Operation) -> None:
        wanted = [i for i in self.flows[op] if self._carries(op.inputs[i])]
        if not wanted:
            return
        outs = [out for out in op.outputs if out in self.live and out not in self.stops]
        totals = {out.index: total for out in outs if (total := self._total(out)) is not None}
        if not totals:
            return
        with op.graph.name_scope(f"{op.name}_grad"):
            rule = self._rule(op)
            if rule is None:
                return
            if isinstance(rule, Rule):
                self._apply_rule(op, rule, totals, wanted)
            elif rule.passes:
                for i in wanted:
                    self._add(op.inputs[i], totals[0])
            elif rule.type == "SelectV2" and rule is op.definition:
                self._apply_select(op, totals[0], wanted)
            else:
                self._apply_row(op, rule, totals, wanted)

    def _rule(self, op: Operation) -> Rule | OpDef | None:
        if op.rule is not None:
            own: Rule = op.rule
            return own
        if op.override is not None:
            try:
                return find_rule(op.override)
            except LookupError:
                raise missing(op.override, op.type, op.name, True) from None
        if not op.definition.registered:
            raise missing(op.type, op.type, op.name, False)
        return op.definition

    def _apply_rule(
        self, op: Operation, rule: Rule, totals: dict[int, Contribution], wanted: Sequence[int]
    ) -> None:
        cotangents: list[Tensor | None] = []
        for out in op.outputs:
            g = self._dense(totals.get(out.index))
            if g is None and (
                out.dtype.is_floating or (_integer_gradients and out.dtype.is_integer)
            ):
                g = apply("ZerosLike", [out], None, "zeros_like")
            cotangents.append(g)
        answer = rule.function(op, *cotangents)
        results = checked_results(answer, op.inputs, rule, op.type, op.name)
        for i in wanted:
            result = results[i]
            if result is not None:
                self._add(op.inputs[i], Contribution(result))

    def _apply_row(
        self, op: Operation, row: OpDef, totals: dict[int, Contribution], wanted: Sequence[int]
    ) -> None:
        dense: dict[int, Tensor] = {}
        elementwise = row is op.definition and is_elementwise(op)
        for i in wanted:
            x, total = op.inputs[i], totals.get(0)
            masked = total is not None and total.mask is not None
            if total is not None and masked and elementwise and same_shape(x, op.outputs[0]):
                value = gradient_record(op, i, {0: total.value}, row)
                self._add(x, Contribution(value, total.mask))
                continue
            if not dense:
                dense = {k: self._dense(t) for k, t in totals.items()}  # type: ignore[misc]
            self._add(x, Contribution(gradient_record(op, i, dense, row)))

    def _apply_select(self, op: Operation, total: Contribution, wanted: Sequence[int]) -> None:
        """The gradient of a branch is masked where the branch was not taken."""
        condition = op.inputs[0]
        for i in wanted:
            x = op.inputs[i]
            if not same_shape(x, op.outputs[0]) or not same_shape(condition, x):
                dense = self._dense(total)
                assert dense is not None
                self._add(x, Contribution(gradient_record(op, i, {0: dense})))
                continue
            mask = condition if i == 1 else apply("LogicalNot", [condition])
            if total.mask is not None:
                mask = apply("LogicalAnd", [total.mask, mask])
            self._add(x, Contribution(total.value, mask))
