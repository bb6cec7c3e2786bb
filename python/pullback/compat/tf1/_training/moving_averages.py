"""Exponential moving averages of variables over the steps of training."""

from __future__ import annotations

from typing import Any

from .._graph import mode
from .._graph.create import cast, convert_to_tensor, in_dtype, scope_of
from .._graph.graph import GraphKeys, get_default_graph
from .._ops.array_ops import zeros
from .._ops.grouping import group
from .._ops.math_ops import minimum
from .._ops.math_ops import pow as power
from .._variables.variable_scope import get_variable, variable_scope
from .._variables.variables import moving_average_variables, trainable_variables
from ..dtypes import as_dtype
from .optimizer_hooks import slot_variable


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Assign variable -= (1 - decay) (variable - value); the output is the new average.

    With `zero_debias` the variable, which starts at zero, becomes the average of the values so far.
    The sum is stored in a variable `biased` and divided by the weight of the `local_step` values in
    it.
    """
    with scope_of(name or "AssignMovingAvg", variable, value) as scope:
        dtype = as_dtype(variable.dtype)
        value = convert_to_tensor(value, dtype)
        rate = in_dtype(1.0 - decay, dtype)
        if not zero_debias:
            return variable.assign_sub((variable - value) * rate, name=scope)
        biased, step = _debiasing(variable)
        new = biased.assign_sub((biased - value) * rate)
        count = step.assign_add(1.0)
        if mode.executing_eagerly():
            new, count = biased.value(), step.value()
        return variable.assign(new / (1 - power(1 - rate, cast(count, dtype))), name=scope)


def _debiasing(variable: Any) -> tuple[Any, Any]:
    """Return the two variables of a debiased average, created by its first assignment."""
    found = getattr(variable, "_debiasing", None)
    if found is None:
        name, dtype = variable.name.partition(":")[0], as_dtype(variable.dtype)
        with get_default_graph().control_dependencies(None), variable_scope(name):
            found = variable._debiasing = tuple(
                get_variable(key, initializer=zeros(shape, dtype), trainable=False)
                for key, shape in (("biased", variable.shape), ("local_step", []))
            )
    pair: tuple[Any, Any] = found
    return pair


class ExponentialMovingAverage:
    """Update an average of each variable: average -= (1 - decay) (average - variable).

    With `num_updates`, a number or tensor of the steps so far, the decay is at most (1 +
    num_updates) / (10 + num_updates), so that averages change faster at first.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     v = tf.Variable(0.0, name="v")
    ...     averages = tf.train.ExponentialMovingAverage(decay=0.75)
    ...     update = averages.apply([v])
    ...     session.run(tf.global_variables_initializer())
    ...     v.load(4.0, session)
    ...     session.run(update)
    ...     session.run(averages.average(v)), averages.average_name(v)
    (np.float32(1.0), 'v/ExponentialMovingAverage')
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:  # fmt: skip
        self._decay, self._updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """Create the operation that updates the averages of variables and tensors.

        By default it averages the trainable variables. The averages are created here and start with
        the variables' initial values, or with zeros for tensors. Inside control dependencies, such
        as on a step of an optimizer, the variables are read after these. TypeError for a dtype that
        is not floating.
        """
        if mode.executing_eagerly() and var_list is None:
            raise ValueError(
                "ExponentialMovingAverage.apply: expected var_list in eager mode, got None"
            )
        items = trainable_variables() if var_list is None else list(var_list)
        for x in items:
            if not as_dtype(x.dtype).is_floating:
                raise TypeError(f"ExponentialMovingAverage: expected floats, got {x!r}")
            if self._key(x) not in self._averages:
                self._averages[self._key(x)] = self._made(x)
        graph = get_default_graph()
        with graph.name_scope(self._name) as scope:
            decay = self._decay_now()
            updates = [
                assign_moving_average(
                    self.average(x), _current_value(x), decay,
                    self._zero_debias and not _is_variable(x),
                )
                for x in items
            ]  # fmt: skip
            return group(*updates, name=scope)

    def _decay_now(self) -> Any:
        if self._updates is None:
            return self._decay
        n = in_dtype(_current_value(self._updates), "float32")
        return minimum(in_dtype(self._decay, as_dtype("float32")), (1.0 + n) / (10.0 + n))

    def _made(self, x: Any) -> Any:
        graph = get_default_graph()
        with graph.control_dependencies(None):
            if not _is_variable(x):
                return slot_variable(x, zeros(x.shape, as_dtype(x.dtype)), self._name)
            start = x.value() if mode.executing_eagerly() else x.initialized_value()
            made = slot_variable(x, start, self._name)
        if not mode.executing_eagerly():
            graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, x)
        return made

    @staticmethod
    def _key(x: Any) -> Any:
        return x if _is_variable(x) or hasattr(x, "op") else id(x)

    def average(self, var: Any) -> Any:
        """Return the variable with the average of a variable or tensor, or None."""
        return self._averages.get(self._key(var))

    def average_name(self, var: Any) -> str:
        """Return the name of that variable, even if it does not exist."""
        known = self.average(var)
        own = known.name if known is not None else f"{var.name.partition(':')[0]}/{self._name}"
        return str(own).partition(":")[0]

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Return the `var_list` of a `Saver` that restores variables from their averages.

        It maps the names of averages to the variables, and all other names to their own variables.
        """
        averaged = trainable_variables() if moving_avg_variables is None else moving_avg_variables
        averaged = dict.fromkeys([*averaged, *moving_average_variables()])
        names = {self.average_name(v): v for v in averaged}
        own = {a.name for a in self._averages.values()}
        for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
            if v not in averaged and v.name not in own:
                names.setdefault(v.op.name, v)
        return names


def _is_variable(x: Any) -> bool:
    return hasattr(x, "assign_sub")


def _current_value(x: Any) -> Any:
    """Read a variable after the current control dependencies; other values are unchanged."""
    return x.read_value() if _is_variable(x) else x
