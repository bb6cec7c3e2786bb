"""Value and gradient, and whole training steps, of two classifiers on random digits.

softreg is one linear layer, mlp three with relu between; both end in the mean cross entropy of a
softmax. The data is where the library wants it before the clock runs, except that a Session is fed
arrays, as sessions are. A peer's training step is compared with training steps.
"""

from __future__ import annotations

from functools import partial

from .case import OPENBLAS, PEERS, Goal, Row, by
from .limits import network_products, products
from .workloads import (
    MLP_BATCH,
    MLP_LAYERS,
    SOFTREG_BATCH,
    SOFTREG_LAYERS,
    WORKLOADS,
)

SLOW = frozenset({("torch", "compile")})


def rows(
    name: str,
    about: str,
    layers: tuple[int, ...],
    batch: int,
    goal: float,
    lazy_most: float | None,
) -> dict[str, Row]:
    work = WORKLOADS[name]
    gemms = network_products(layers, batch)
    products_alone = {
        (OPENBLAS, "1 thread"): partial(products, gemms, "float32", 1),
        (OPENBLAS, "all threads"): partial(products, gemms, "float32", 0),
    }
    gradient = {
        ("pullback", "lazy"): by("pullback", "lazy", work),
        ("pullback", "function"): by("pullback", "function", work),
        ("pullback", "value"): by("pullback", "value", work),
        ("torch", "eager"): by("torch", "eager", work),
        ("torch", "compile"): by("torch", "compile", work),
        ("jax", "jit"): by("jax", "jit", work),
        ("tensorflow", "function"): by("tensorflow", "function", work),
        ("tensorflow", "XLA"): by("tensorflow", "xla", work),
        ("autograd", ""): by("autograd", "value_and_grad", work),
        ("numpy", "by hand"): by("numpy", "by_hand", work),
    }
    train = {
        ("pullback", "tape"): by("pullback", "tape", work),
        ("pullback", "tape in function"): by("pullback", "tape_in_function", work),
        ("pullback", "Session.run"): by("pullback", "session", work),
        ("torch", "eager"): by("torch", "train", work),
        ("torch", "compile"): by("torch", "train_compiled", work),
        ("jax", "jit"): by("jax", "train", work),
        ("tensorflow", "function"): by("tensorflow", "train", work),
        ("tensorflow", "XLA"): by("tensorflow", "train_xla", work),
    }
    return {
        name: Row(
            f"{about}: value and gradient",
            "µs",
            gradient | products_alone,
            slow=SLOW,
            goal=Goal(goal, PEERS),
            lazy_most=lazy_most,
        ),
        f"{name}-train": Row(
            f"{about}: training step",
            "µs",
            train | products_alone,
            slow=SLOW,
            goal=Goal(goal, PEERS, "tape in function"),
        ),
    }


ROWS = {
    **rows(
        "softreg",
        "softmax regression 784-10, batch 100, float32",
        SOFTREG_LAYERS,
        SOFTREG_BATCH,
        goal=0.5,
        lazy_most=None,
    ),
    **rows(
        "mlp",
        "784-256-256-10 relu, cross entropy, batch 128, float32",
        MLP_LAYERS,
        MLP_BATCH,
        goal=0.8,
        lazy_most=1.3,
    ),
}
