"""Variable in eager mode: pullback's own, under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _core

__all__ = ["EagerVariable"]


class EagerVariable(_core.Variable):
    """A value that assignments replace; takes part in expressions as its present value."""

    constraint: Any = None

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        collections: Sequence[str] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
    ) -> None:
        from .convert import convert_to_tensor

        if initial_value is None:
            raise ValueError(f"Variable '{name or 'Variable'}': initial_value must be given")
        value = initial_value() if callable(initial_value) else initial_value
        super().__init__(
            convert_to_tensor(value, dtype), trainable=trainable, name=f"{name or 'Variable'}:0"
        )
        self.constraint = constraint

    def assign(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        return self._change(super().assign, value)

    def assign_add(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        return self._change(super().assign_add, value)

    def assign_sub(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        return self._change(super().assign_sub, value)

    def _change(self, method: Any, value: Any) -> EagerVariable:
        from .convert import convert_to_tensor

        tensor = convert_to_tensor(value, self.dtype)
        if tensor.shape != self.shape:
            raise ValueError(
                f"variable '{self.name}' has shape {self.shape}, the value has {tensor.shape}"
            )
        method(tensor)
        return self

    def read_value(self) -> Any:
        """The present value as a tensor."""
        return self.read()

    def value(self) -> Any:
        """The present value as a tensor."""
        return self.read()

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype}, "
            f"numpy={self.numpy()!s}>"
        )
