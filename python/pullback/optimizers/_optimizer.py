"""The base class of the optimizers: steps, their checks, and the state.

An optimizer consists of an update rule (_update_rules.py) and its state for each variable
(_slots.py), which is created at the first update of the variable. `minimize(f)` is
`apply_gradients(compute_gradients(f))`. A step is atomic: its arguments are checked before the
first assignment. Updates are lazy, so an error that only the evaluation can find, such as an index
out of range in a gradient, is raised when a variable is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._base.domains import NON_NEGATIVE, check_domain
from .._base.hints import with_hints
from .._base.pytree import flatten, leaves_like
from .._core import Tensor, Variable
from ._gradient_pairs import (
    check_fits,
    checked_pair,
    gradients_of_loss,
    no_gradients_message,
    reason_of_none,
)
from ._row_updates import update_rows
from ._slots import Slots

New: TypeAlias = dict[Variable, Any]  # assignments of a step, to slots and variables
Pair: TypeAlias = tuple[Tensor, Variable]


def kept(**start: float | str) -> Mapping[str, float | str]:
    """Declare the state of a rule for each variable: names and initial values.

    An initial value is a number, or the name of an attribute of the optimizer.
    """
    return MappingProxyType(start)


class Optimizer:
    """Update variables by their gradients; the base class of all optimizers.

    `minimize(f)` is `apply_gradients(compute_gradients(f))`; a program may change the gradients
    between the two calls. An optimizer creates its state for a variable at the first update of that
    variable. Threads may share an optimizer; their steps are serialised.

    A schedule is a function of the number of finished steps, such as `pb.optimizers.Cosine(…)`, or
    any function whose first parameter has no default or is named `step`. Its argument is a float64
    tensor.

    Inside `pb.function` a step is traced once. The trace calls a function without arguments once,
    and a schedule with a tensor that continues to count. A later assignment to `learning_rate` has
    no effect on the trace. If the rate changes from outside, use a Variable and `rate.assign(…)`.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate: a scalar of at least 0, a schedule, or a function without arguments, which
        each step calls.

    Raises
    ------
    ValueError
        If `learning_rate` is a negative number.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None.

    Examples
    --------
    >>> optimizer = pb.optimizers.GradientDescent(0.5)
    >>> isinstance(optimizer, pb.optimizers.Optimizer), optimizer.learning_rate
    (True, 0.5)
    """

    _hyper: tuple[str, ...] = ()  # names of attributes that are numbers
    _state = kept()
    _counts = False  # True if the rule depends on the number of the step
    _zero_stays = False  # True if a gradient of 0 changes neither an entry nor its state

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__init__" in vars(cls):
            cls.__init__ = with_hints(cls.__init__)  # type: ignore[method-assign]

    @with_hints
    def __init__(self, learning_rate: Any) -> None:
        self._slots = Slots(self._name)
        self.learning_rate = learning_rate

    @property
    def learning_rate(self) -> Any:
        """Return the learning rate, as given: a scalar, a schedule or a function.

        It can be assigned.

        Returns
        -------
        float, Tensor, Variable or callable
            The value that was passed to the optimizer or assigned last.

        Raises
        ------
        ValueError
            If the assigned value is a negative number.
        TypeError
            If the assigned value is a string, a list, a tuple, a dict, a set or None.
        """
        return self._rate[0]

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if isinstance(value, (str, type(None), list, tuple, dict, set)):
            raise TypeError(
                f"{self._name}: expected a number, tensor, variable or function for learning_rate, "
                f"got {_core.shown(value)}; pass variables to minimize or apply_gradients"
            )
        remedy = "; negate the loss to maximise it"
        check_domain(value, NON_NEGATIVE, self._name, "learning_rate", remedy)
        # One assignment, because another thread may take a step.
        self._rate = value, callable(value) and _takes_step(value)

    def __repr__(self) -> str:
        given = {"learning_rate": self.learning_rate, **vars(self)}
        shown = ", ".join(f"{k}={v!r}" for k, v in given.items() if not k.startswith("_"))
        return f"<{self._name} at {id(self):#x}: {shown}>"

    def minimize(self, loss: Callable[[], Any], var_list: Any = None) -> None:
        """Perform one step: evaluate the loss, compute gradients, update variables.

        Parameters
        ----------
        loss : callable
            Function without arguments that returns the loss, a floating tensor. The elements of a
            loss that is not scalar are summed.
        var_list : Variable or pytree of Variable, optional
            Variables to update. Default: the trainable variables that `loss` reads.

        Raises
        ------
        ValueError
            If the loss is not floating, if there is no variable, or if no variable has a gradient.
            The message names the variables and the reasons. Also if `apply_gradients` raises it.
        TypeError
            If `loss` is not callable or does not return a Tensor, if `var_list` contains another
            object than a Variable, or if a variable with a gradient is not floating.

        Examples
        --------
        >>> v = pb.Variable([1.0, 2.0], name="v")
        >>> pb.optimizers.GradientDescent(0.25).minimize(lambda: pb.sum(v * v))
        >>> v
        Variable('v', [0.5, 1. ], dtype=float32)
        """
        pairs, value = gradients_of_loss(loss, var_list, self, f"{self._name}.minimize")
        if all(g is None for g, _ in pairs):
            from .._explain.explain import why_none_of

            reasons = why_none_of(value, [v for _, v in pairs])
            raise ValueError(no_gradients_message(f"{self._name}.minimize", reasons))
        self.apply_gradients(pairs)

    def compute_gradients(
        self, loss: Callable[[], Any], var_list: Any = None
    ) -> list[tuple[Tensor | None, Variable]]:
        """Compute the gradient of a loss with respect to each variable.

        Parameters
        ----------
        loss : callable
            Function without arguments that returns the loss, a floating tensor. The elements of a
            loss that is not scalar are summed.
        var_list : Variable or pytree of Variable, optional
            Variables to differentiate by. Default: the trainable variables that `loss` reads.

        Returns
        -------
        list of tuple
            Pairs of gradient and variable. A gradient has the shape and dtype of its variable. It
            is None if the loss does not depend on the variable.

        Raises
        ------
        TypeError
            If `loss` is not callable or does not return a Tensor, or if `var_list` contains another
            object than a Variable.
        ValueError
            If the loss is not floating, or if there is no variable.

        Examples
        --------
        >>> v = pb.Variable(3.0, name="v")
        >>> pb.optimizers.GradientDescent(0.1).compute_gradients(lambda: v * v)
        [(Tensor(6., dtype=float32), Variable('v', 3., dtype=float32))]
        """
        who = f"{self._name}.compute_gradients"
        return gradients_of_loss(loss, var_list, self, who)[0]

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Variable]] | Any, variables: Any = None
    ) -> None:
        """Update each variable by its gradient.

        A variable whose gradient is None is not changed. All arguments are checked before the first
        assignment. An error in the evaluation of a gradient occurs after the step, because updates
        are lazy.

        Parameters
        ----------
        grads_and_vars : iterable of tuple, or pytree of array_like
            Pairs of gradient and variable; or, with `variables`, the gradients alone, such as the
            result of `value_and_grad` for a dict of variables. A gradient is None or has the shape
            of its variable; a tensor must also have its dtype.
        variables : Variable or pytree of Variable, optional
            Variables in the structure of the gradients. Default: None, which means that
            `grads_and_vars` contains pairs.

        Raises
        ------
        ValueError
            If a gradient has another shape than its variable, the learning rate is not a scalar,
            there is no variable, or all gradients are None.
        TypeError
            If a gradient has another dtype than its variable, a variable is not floating, or an
            object is not a Variable or not a pair.

        Examples
        --------
        >>> v = pb.Variable([1.0, 2.0], name="v")
        >>> pb.optimizers.GradientDescent(0.5).apply_gradients([([2.0, 2.0], v)])
        >>> v
        Variable('v', [0., 1.], dtype=float32)
        >>> parameters = {"v": v}
        >>> loss, slopes = pb.value_and_grad(lambda p: pb.sum(p["v"]))(parameters)
        >>> pb.optimizers.GradientDescent(0.5).apply_gradients(slopes, parameters)
        >>> v
        Variable('v', [-0.5,  0.5], dtype=float32)
        """
        who = f"{self._name}.apply_gradients"
        if variables is not None:
            owners = flatten(variables)[0]
            gradients = leaves_like(variables, grads_and_vars, f"{who}: gradients")
            grads_and_vars = zip(gradients, owners, strict=True)
        pairs = [checked_pair(pair, i, who) for i, pair in enumerate(grads_and_vars)]
        if not pairs:
            raise ValueError(f"{who}: expected at least one pair (gradient, variable), got none")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            reasons = [(v, reason_of_none(v)) for _, v in pairs]
            raise ValueError(no_gradients_message(who, reasons))
        new: New = {}
        rate = self._current_rate()  # outside of the lock: it may wait for a step of another thread
        with self._slots.whole():
            self._step(present, rate, new)
            for variable, value in new.items():
                check_fits(value, variable, who)
            for variable, value in new.items():
                variable.assign(value)

    def variables(self) -> list[Variable]:
        """Return the state of the optimizer as variables.

        The list contains the variables that were created so far: first those for the updated
        variables, then those of all steps. It does not contain the updated variables.

        Returns
        -------
        list of Variable
            Variables with names such as 'v/momentum'.

        Examples
        --------
        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.variables()
        [Variable('v/momentum', 2., dtype=float32)]
        """
        return self._slots.variables()

    def state_dict(self) -> dict[str, Any]:
        """Return the state as NumPy arrays, by name.

        A name is, for example, 'v/momentum'. A second variable with the name 'v' is called 'v_1',
        in the order of the first updates. Loaded state of a variable that was not updated yet is
        included.

        Returns
        -------
        dict of str to numpy.ndarray
            Read-only arrays.

        Examples
        --------
        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.state_dict()
        {'v/momentum': array(2., dtype=float32)}
        """
        return self._slots.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state of another optimizer of this class, or of a class with the same state.

        The states of `Adam`, `AdamW`, `Nadam` and `Lamb` have the same entries, as have those of
        `Adagrad` and `ProximalAdagrad`; the state of another class raises an error.

        Variables are identified by name, and may be updated for the first time later. Name the
        variables: default names count through a process. A variable that is updated and has no
        entry in the state causes a RuntimeWarning.

        Parameters
        ----------
        state : mapping of str to array_like
            Result of `state_dict`.

        Raises
        ------
        TypeError
            If `state` is not a mapping.
        ValueError
            If an entry is unknown or not numeric, an entry is missing, or a shape differs from that
            of its variable. The latter is raised when the variable is known.

        Examples
        --------
        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.load_state_dict({"v/momentum": 2.0})
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.state_dict()
        {'v/momentum': array(3., dtype=float32)}
        """
        self._slots.load(state, self._slot_sets(), {"steps": self._counts})

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def steps(self) -> int:
        """Return the number of finished steps, including those of a loaded state.

        Steps are counted if the rule depends on their number, as for `Adam`, or if the learning
        rate is a schedule; otherwise the result is 0. A schedule that is assigned later starts with
        its step 0, unless the rule has counted.

        Returns
        -------
        int
            Number of steps.
        """
        count = self._slots.shared("steps")
        return 0 if count is None else int(count)

    @staticmethod
    def _rule(v: Any, g: Any, state: Mapping[str, Any], hyper: Mapping[str, Any]) -> Any:
        raise NotImplementedError(
            "Optimizer: a subclass must implement _rule(value, gradient, state, hyper)"
        )

    def _current_rate(self) -> Any:
        """Return the learning rate of a step, or the schedule."""
        rate, scheduled = self._rate
        return rate() if callable(rate) and not scheduled else rate

    def _step(self, pairs: list[Pair], rate: Any, new: New) -> None:
        """Put the assignments of a step into `new`."""
        step = None
        if self._counts or callable(rate):
            finished = self._slots.get(None, "steps")
            if callable(rate):
                rate = rate(_core.cast(finished, "float64"))
            # After the reads, so that it can reuse their memory.
            new[finished] = step = finished + 1
        for g, v in pairs:
            self._update(v, g, rate, step, new)

    def _update(self, v: Variable, g: Tensor, rate: Any, step: Any, new: New) -> None:
        """Put the new values of `v` and its slots into `new`.

        `new` contains the values of earlier updates in the same step.
        """
        hyper = {name: self._scalar(getattr(self, name), v, name) for name in self._hyper}
        hyper["learning_rate"] = self._scalar(rate, v, "learning_rate")
        if self._counts:
            hyper["step"] = _core.cast(step, v.dtype)
        slots = {name: self._slot(v, name) for name in self._slots_of(v)}
        state = {name: new.get(slot, slot) for name, slot in slots.items()}
        if (rows := self._few_rows(g, hyper)) is not None:
            new[v], values = update_rows(self._rule, new.get(v, v), rows[0], rows[1], state, hyper)
        else:
            new[v], values = self._rule(new.get(v, v), g, state, hyper)
        new.update({slots[name]: value for name, value in values.items()})

    def _few_rows(self, g: Tensor, hyper: Mapping[str, Any]) -> Any:
        """Return the rows of a gradient and their indices, or None.

        None means that an update of the whole variable differs or costs less. A rate that is not
        finite changes an entry with the gradient 0 to NaN.
        """
        rate = hyper["learning_rate"]
        if not self._zero_stays or (isinstance(rate, (int, float)) and not isfinite(rate)):
            return None
        rows = _core.rows_of(g, as_added=True)
        return rows if rows is not None and 2 * rows[1].shape[0] <= g.shape[0] else None

    def _slot(self, v: Variable, name: str) -> Variable:
        start = self._state[name]
        initial = getattr(self, start) if isinstance(start, str) else start
        return self._slots.get(v, name, initial, self._slot_shape(v, name))

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the slots, in one set for each kind of variable."""
        return (tuple(self._state),)

    def _slots_of(self, v: Variable) -> tuple[str, ...]:
        return self._slot_sets()[0]

    def _slot_shape(self, v: Variable, name: str) -> tuple[int, ...]:
        return v.shape

    def _scalar(self, value: Any, v: Variable, name: str) -> Any:
        """Convert a hyperparameter to a Python number or a scalar of the dtype of `v`."""
        if isinstance(value, (bool, int, float, np.number)):
            return value.item() if isinstance(value, np.number) else value
        tensor = _core.constant(value, v.dtype, f"{self._name}: {name}")
        if tensor.shape != ():
            raise ValueError(
                f"{self._name}: expected a scalar for {name}, got shape {tensor.shape}"
            )
        return tensor


def _takes_step(rate: Callable[..., Any]) -> bool:
    """Return True if a learning rate is a function of the step."""
    from inspect import Parameter, signature

    try:
        first = next(iter(signature(rate).parameters.values()), None)
    except ValueError:  # some functions written in C have no signature
        return False
    if first is None or first.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
        return False
    variadic = first.kind is Parameter.VAR_POSITIONAL
    return first.name == "step" or (first.default is Parameter.empty and not variadic)
