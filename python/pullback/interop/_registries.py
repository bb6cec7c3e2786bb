"""Registrations with libraries that compute with arrays or pytrees of any class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import _core
from .._core import Tensor, Variable
from .._numpy.einsum import einsum
from ..tree import register
from ._flat import library


def register_einops() -> None:
    """Make the functions of einops accept tensors and variables.

    Functions such as `einops.rearrange`, `einops.reduce` and `einops.einsum` then return tensors,
    with gradients. Those of `einops.array_api` accept tensors without a registration.

    Raises
    ------
    ImportError
        If einops cannot be imported.

    Examples
    --------
    >>> import einops  # doctest: +SKIP
    >>> pb.interop.register_einops()  # doctest: +SKIP
    >>> einops.rearrange(pb.ones((2, 3, 4)), "a b c -> c (a b)").shape  # doctest: +SKIP
    (4, 6)
    """
    backends: Any = library("einops._backends", "register_einops")
    base = backends.AbstractBackend
    if any(one.framework_name == "pullback" for one in base.__subclasses__()):
        return

    # einops finds subclasses of its base class; the methods are those that it calls.
    class PullbackBackend(base):  # type: ignore[misc, valid-type]
        framework_name = "pullback"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, (Tensor, Variable))

        def from_numpy(self, x: Any) -> Tensor:
            return _core.constant(x)

        def to_numpy(self, x: Any) -> Any:
            return x.numpy()

        def arange(self, start: int, stop: int) -> Tensor:
            return _core.arange(start, stop - start, 1, "int64")

        def shape(self, x: Any) -> tuple[int, ...]:
            return tuple(x.shape)

        def add_axis(self, x: Any, new_position: int) -> Tensor:
            return _core.expand_dims(x, new_position)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Tensor:
            return _core.stack(tensors, 0)

        def tile(self, x: Any, repeats: Any) -> Tensor:
            sizes = tuple(n * m for n, m in zip(x.shape, repeats, strict=True))
            return _core.broadcast_to(x, sizes)  # an axis that is repeated has size 1

        def concat(self, tensors: list[Any], axis: int) -> Tensor:
            return _core.concat(tensors, axis)

        def is_float_type(self, x: Any) -> bool:
            return x.dtype.kind in "fcV"

        def einsum(self, pattern: str, *x: Any) -> Tensor:
            return einsum(pattern, *x)


def register_threadpoolctl() -> None:
    """Make threadpoolctl limit the threads of pullback.

    `threadpool_info` then lists pullback, and `threadpool_limits` sets what `set_num_threads` sets.
    pullback calls OpenBLAS with one thread in each of its own threads; a limit above 1 of the API
    "blas" changes that, and the rounding of matrix products with it. Pass `user_api="pullback"` to
    leave OpenBLAS as it is.

    Raises
    ------
    ImportError
        If threadpoolctl cannot be imported.

    See Also
    --------
    set_num_threads

    Examples
    --------
    >>> import threadpoolctl  # doctest: +SKIP
    >>> pb.interop.register_threadpoolctl()  # doctest: +SKIP
    >>> with threadpoolctl.threadpool_limits(1):  # doctest: +SKIP
    ...     pb.get_num_threads()
    1
    """
    threadpoolctl: Any = library("threadpoolctl", "register_threadpoolctl")
    base = threadpoolctl.LibController
    if any(one.internal_api == "pullback" for one in base.__subclasses__()):
        return

    # threadpoolctl finds libraries by their file names and creates a controller for each.
    class PullbackController(base):  # type: ignore[misc, valid-type]
        user_api = internal_api = "pullback"
        filename_prefixes = (Path(_core.__file__).name.lower(),)

        def get_num_threads(self) -> int:
            return _core.num_threads()

        def set_num_threads(self, num_threads: int) -> None:
            _core.set_num_threads(num_threads)

        def get_version(self) -> str | None:
            if not Path(self.filepath).samefile(_core.__file__):
                raise OSError(f"{self.filepath} is the extension of another package")
            return None

    threadpoolctl.register(PullbackController)


def register_optree(namespace: str = "") -> None:
    """Register the classes in the registry of optree as pytrees.

    Classes that are registered with optree later need another call.

    Parameters
    ----------
    namespace : str, optional
        Namespace of optree whose classes are registered beside the global ones. Default: only the
        global ones.

    Raises
    ------
    ImportError
        If optree cannot be imported.
    TypeError
        If `namespace` is not a string.

    See Also
    --------
    pullback.tree.register

    Examples
    --------
    >>> import optree  # doctest: +SKIP
    >>> pb.interop.register_optree("models")  # doctest: +SKIP
    """
    if not isinstance(namespace, str):
        raise TypeError(
            f"register_optree: expected a string for namespace, got {_core.shown(namespace)}"
        )
    optree = library("optree", "register_optree")
    custom = optree.PyTreeKind.CUSTOM
    for cls, entry in optree.register_pytree_node.get(namespace=namespace).items():
        if entry.kind == custom and isinstance(cls, type):
            register(cls, _flattening(entry.flatten_func), entry.unflatten_func)


def _flattening(flatten: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    def pair(tree: Any) -> tuple[Any, Any]:
        children, metadata, *_ = flatten(tree)
        return children, metadata

    return pair
