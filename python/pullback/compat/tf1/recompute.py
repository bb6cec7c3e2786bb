"""recompute_grad: what a function computes inside is computed again for its gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pullback

from ..._autodiff.checkpoint import one_after, times
from ..._core import flatten, unflatten
from . import mode
from .backprop import pull_back
from .create import apply, convert_to_tensor, is_tensor
from .custom import custom_gradient
from .graph import get_default_graph
from .opdef import define
from .tensor import as_core, as_eager

__all__ = ["recompute_grad"]


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """f, whose inside is computed again on the way back instead of being kept.

    Values and gradients are those of f, by its arguments (keywords and nests of them included) and
    by the variables that it reads. In eager mode it is `pullback.checkpoint`. In a graph, f is
    called once more when a gradient is built, with the random numbers of its first call; a variable
    that it makes itself would be made twice.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(2.0)
    ...     session.run(tf.gradients(tf.recompute_grad(lambda x: x * x * x)(x), x))
    [np.float32(12.0)]
    """
    if not callable(f):
        raise TypeError(f"recompute_grad: expected a function, got {f!r}")

    def on_core(*args: Any, **keywords: Any) -> Any:
        args, keywords = _mapped(as_eager, (args, keywords))
        return _mapped(as_core, f(*args, **keywords))

    eager = pullback.checkpoint(functools.wraps(f)(on_core))

    @functools.wraps(f)
    def call(*args: Any, **keywords: Any) -> Any:
        if not mode.executing_eagerly():
            return in_graph(*args, **keywords)
        args, keywords = _mapped(as_core, (args, keywords))
        return _mapped(as_eager, eager(*args, **keywords))

    @custom_gradient
    @functools.wraps(f)
    def in_graph(*args: Any, **keywords: Any) -> Any:
        graph = get_default_graph()
        first = len(graph._operations)
        result = f(*args, **keywords)
        drawn = [op for op in graph._operations[first:] if op.definition.draws]
        leaves, structure = flatten((args, keywords))

        def again(*upstream: Any, variables: Any = None) -> Any:
            xs = {i: convert_to_tensor(x) for i, x in enumerate(leaves) if is_tensor(x)}
            # Copies that are known only when the cotangent is, so that nothing is computed before.
            later = {i: apply("After", x, upstream[0]) for i, x in xs.items()}
            with graph.drawing_again(drawn):
                given, named = unflatten(structure, [later.get(i, x) for i, x in enumerate(leaves)])
                made = flatten(f(*given, **named))[0]
            handles = [v.handle for v in variables or ()]
            ys = [convert_to_tensor(y) for y in made]
            copies = [*later.values()]  # where the gradients of what f reads itself end
            answers = pull_back(ys, list(upstream), [*copies, *handles], copies)
            own, others = answers[: len(later)], answers[len(later) :]
            return (own, others) if variables else own

        return result, again

    return call


def _mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    leaves, structure = flatten(nest)
    return unflatten(structure, [function(x) for x in leaves])


define(
    "After", lambda x, g: times(x, one_after([g])) if x.dtype.kind == "f" else x,
    shape=lambda x, g: x.dims,
)  # fmt: skip
