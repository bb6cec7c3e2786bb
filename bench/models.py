"""Value and gradient, and whole training steps, of two classifiers on random digits.

softreg is one linear layer, mlp three with relu between; both end in the mean cross entropy of a
softmax. The data is where the library wants it before the clock runs, except that a Session is fed
arrays, as sessions are. A peer's training step is compared with training steps.
"""

from __future__ import annotations

from functools import partial

from .case import Row
from .classifier import Model
from .classifier_peers import jax_case, numpy_gradient, torch_case
from .classifier_pullback import (
    pullback_function,
    pullback_lazy,
    pullback_session,
    pullback_tape,
)
from .limits import products


def rows(name: str, about: str, model: Model) -> dict[str, Row]:
    slow = frozenset({("torch", "compile")})
    gemms = {
        ("limit", "GEMM, 1 thread"): partial(products, 1, *model),
        ("limit", "GEMM, all threads"): partial(products, 0, *model),
    }
    gradient = {
        ("pullback", "lazy"): partial(pullback_lazy, model),
        ("pullback", "function"): partial(pullback_function, model),
        ("torch", "eager"): partial(torch_case, model),
        ("torch", "compile"): partial(torch_case, model, compiled=True),
        ("jax", "jit"): partial(jax_case, model),
        ("numpy", "by hand"): partial(numpy_gradient, model),
    }
    train = {
        ("pullback", "tape"): partial(pullback_tape, model),
        ("pullback", "tape in function"): partial(pullback_tape, model, function=True),
        ("pullback", "Session.run"): partial(pullback_session, model),
        ("torch", "eager"): partial(torch_case, model, train=True),
        ("torch", "compile"): partial(torch_case, model, train=True, compiled=True),
        ("jax", "jit"): partial(jax_case, model, train=True),
    }
    return {
        name: Row(f"{about}: value and gradient", "µs", gradient | gemms, slow=slow),
        f"{name}-train": Row(f"{about}: training step", "µs", train | gemms, slow=slow),
    }


SOFTREG = Model((784, 10), 100)
MLP = Model((784, 256, 256, 10), 128)
ROWS = {
    **rows("softreg", "softmax regression 784-10, batch 100, float32", SOFTREG),
    **rows("mlp", "784-256-256-10 relu, cross entropy, batch 128, float32", MLP),
}
