"""`Layer`, the base class of layers and cells; and the functions that create and call a layer.

A layer stores the variable scope of its first call and reopens it in later calls. All variables
created in that scope belong to the layer. `arguments` of a class is its signature as one string;
the values become attributes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from .._graph import mode
from .._graph.create import cast, contains_tensor, convert_to_tensor, is_tensor
from .._graph.graph import GraphKeys, get_default_graph
from .._graph.shapes import TensorShape
from .._graph.tensor import mapped
from .._ops.array_ops import shape
from .._variables.variable_scope import get_variable, variable_scope
from ..dtypes import as_dtype, float32
from ..names import bind, signature_of, snake_case, taking


class Layer:
    """Base class of layers.

    A subclass creates its variables with `add_weight` in `build(input_shape)`, which runs once, and
    computes in `call(inputs, ...)`.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     layer = tf.layers.Dense(2, name="hidden")
    ...     y, z = layer(tf.ones([3, 4])), layer(tf.zeros([5, 4]))
    ...     z.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([5, 2], ['hidden/kernel:0', 'hidden/bias:0'])
    """

    arguments = ""
    activity_regularizer: Any = None
    update_collection: Any = GraphKeys.UPDATE_OPS
    built = False
    _scope: Any = None
    dtype: Any
    name: Any
    __signature__ = signature_of("trainable=True name=None dtype=None")
    if TYPE_CHECKING:  # the arguments

        def __getattr__(self, name: str) -> Any: ...

    def __init_subclass__(cls) -> None:
        if "arguments" in vars(cls):
            given = [entry.partition("=")[0] for entry in cls.arguments.split()]
            rest = ("trainable=True", "name=None", "dtype=None")
            more = " ".join(x for x in rest if x.partition("=")[0] not in given)
            cls.__signature__ = signature_of(f"{cls.arguments} {more}")

    def __init__(self, *args: Any, **keywords: Any) -> None:
        reuse, scope = keywords.pop("_reuse", None), keywords.pop("_scope", None)
        vars(self).update(bind(self.__signature__, type(self).__name__, args, keywords))
        self._reuse = vars(self).get("reuse", reuse)
        self._base_name = self.name or snake_case(type(self).__name__)
        if self.name is None:
            counts = vars(get_default_graph()).setdefault("layer_names", Counter[str]())
            n = counts[self._base_name]
            counts[self._base_name] += 1
            self.name = f"{self._base_name}_{n + 1}"
        self.dtype = None if self.dtype is None else as_dtype(self.dtype)
        self.updates: list[Any] = []
        self._weights: dict[str, Any] = {}
        if scope is not None:
            self._open(scope)

    def _open(self, scope: Any) -> None:
        name = self._base_name if self._reuse and scope is None else scope
        with variable_scope(name, self._base_name, custom_getter=self._kept) as self._scope:
            pass

    def _kept(self, getter: Callable[..., Any], name: str, **given: Any) -> Any:
        """Get the variable of this name and store it as the layer's own."""
        if not (mode.executing_eagerly() and name in self._weights):
            self._weights[name] = getter(name, **given)
        return self._weights[name]

    def __call__(self, inputs: Any, *args: Any, scope: Any = None, **keywords: Any) -> Any:
        if not isinstance(inputs, dict) and (is_tensor(inputs) or not contains_tensor(inputs)):
            inputs = convert_to_tensor(inputs, self.dtype)
        if self._scope is None:
            self._open(scope)
        with self._inside():
            if not self.built:
                if self.dtype is None and hasattr(inputs, "dtype"):
                    self.dtype = as_dtype(inputs.dtype)
                self.build(mapped(lambda x: TensorShape(getattr(x, "shape", ())), inputs))
                self.built = True
            out = self.call(inputs, *args, **keywords)
            if self.activity_regularizer is not None and not mode.executing_eagerly():
                loss = self.activity_regularizer(out) / cast(shape(out)[0], out.dtype)
                out.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return out

    apply = __call__

    @contextmanager
    def _inside(self) -> Iterator[None]:
        reuse = self.built or self._reuse
        names: AbstractContextManager[Any] = nullcontext()
        if not mode.executing_eagerly():
            names = get_default_graph().name_scope(self._scope.original_name_scope)
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False), names:
            yield

    def build(self, input_shape: Any) -> None:
        """Create the variables; called once, before the first `call`."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **keywords: Any) -> Any:
        """Compute the output of the layer."""
        return inputs

    def add_weight(
        self, name: str, shape: Any, dtype: Any = None, initializer: Any = None,
        regularizer: Any = None, trainable: bool | None = None, constraint: Any = None, **_: Any,
    ) -> Any:  # fmt: skip
        """Create or reuse a variable of the layer, as `get_variable` in its scope."""
        if self._scope is None:
            self._open(None)
        with self._inside():
            return get_variable(
                name, shape, dtype or self.dtype or float32, initializer, regularizer,
                trainable is not False and self.trainable, constraint=constraint,
            )  # fmt: skip

    add_variable = add_weight

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations to `GraphKeys.UPDATE_OPS`, or to `update_collection`."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self.updates.append(update)
            if self.update_collection is not None:
                update.graph.add_to_collection(self.update_collection, update)

    def _owned(self) -> list[Any]:
        return list(self._weights.values())

    @property
    def who(self) -> str:
        """The function of `tf.layers` that creates the layer, for messages."""
        function = snake_case(type(self).__name__)
        return f"{function} '{self.name}'" if self.name not in (None, function) else function

    @property
    def weights(self) -> list[Any]:
        """All variables, the trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that optimizers update."""
        return [v for v in self._owned() if v.trainable and self.trainable]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that optimizers leave unchanged."""
        return [v for v in self._owned() if not (v.trainable and self.trainable)]

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """The losses of the layer's regularizers."""
        return get_default_graph().get_collection(
            GraphKeys.REGULARIZATION_LOSSES, f"{self.scope_name}/"
        )

    @property
    def scope_name(self) -> str:
        """The name of the variable scope; ValueError before the first call."""
        if self._scope is None:
            raise ValueError(f"scope_name: expected a layer that was called, got '{self.name}'")
        name: str = self._scope.name
        return name


def layer_function(cls: type[Layer], arguments: str | None = None) -> Any:
    """Define the function of `tf.layers` that creates a layer and calls it.

    `arguments` is given if the function has other arguments than the class, such as `training`.
    """
    rest = arguments or f"{cls.arguments} reuse=None"

    @taking(f"inputs {rest}", snake_case(cls.__name__), getdoc(cls))
    def function(**given: Any) -> Any:
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        called = {"training": given.pop("training")} if "training" in given else {}
        return cls(**given, _scope=given["name"], _reuse=reuse)(inputs, **called)

    function.__module__ = cls.__module__
    return function
