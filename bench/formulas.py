"""Value and gradient of formulas without a training loop: small ones, large arrays, long chains.

The formulas are written in by_*.py. Beside the libraries stands "C++", the same by hand in plain
loops (native/by_hand), where somebody would write that.
"""

from __future__ import annotations

from functools import partial

from .case import CPP_MOST, OPENBLAS, PEERS, Goal, Make, Row, by
from .limits import copy_parameter, gmm_products, one_call, products
from .workloads import LLSQ_SIZES, LSE_SIZES, WORKLOADS

ALL = {
    ("pullback", "lazy"): "lazy",
    ("pullback", "function"): "function",
    ("pullback", "value"): "value",
    ("torch", "eager"): "eager",
    ("torch", "compile"): "compile",
    ("jax", "jit"): "jit",
    ("tensorflow", "function"): "function",
    ("tensorflow", "XLA"): "xla",
    ("autograd", ""): "value_and_grad",
    ("numpy", "by hand"): "by_hand",
}
BY_HAND = ("C++", "by hand")
SLOW = frozenset({("torch", "compile")})


def libraries(name: str) -> dict[tuple[str, str], Make]:
    return {key: by(key[0], style, WORKLOADS[name]) for key, style in ALL.items()}


def formula(
    name: str,
    about: str,
    goal: Goal,
    *,
    lazy_most: float | None = None,
    more: dict[tuple[str, str], Make] | None = None,
    without: tuple[tuple[str, str], ...] = (),
    slow: frozenset[tuple[str, str]] = SLOW,
    unrolled: bool = False,
) -> Row:
    make = {key: made for key, made in libraries(name).items() if key not in without}
    make |= more or {}
    tolerance = 1e-7 if WORKLOADS[name].float64 else 1e-3
    return Row(
        about,
        "µs",
        make,
        goal=goal,
        lazy_most=lazy_most,
        cpp_most=CPP_MOST if BY_HAND in make else None,
        slow=slow,
        tolerance=tolerance,
        unrolled=unrolled,
    )


def hand(name: str) -> dict[tuple[str, str], Make]:
    return {BY_HAND: by("cpp", "by_hand", WORKLOADS[name])}


def over_memory(name: str) -> dict[tuple[str, str], Make]:
    return {
        ("limit", "read, write, 1 thread"): partial(copy_parameter, WORKLOADS[name], 1),
        ("limit", "read, write, all threads"): partial(copy_parameter, WORKLOADS[name], 0),
    }


def lse_row(n: int) -> Row:
    return formula(
        f"lse-{n}",
        f"log-sum-exp of {n} float64",
        Goal(1.0, (*PEERS, "C++")),
        lazy_most=1.3 if n >= 1_000_000 else None,
        more=hand(f"lse-{n}") | over_memory(f"lse-{n}"),
    )


def llsq_row(n: int) -> Row:
    """By Horner's rule, or with the matrix of powers where a library is faster with it."""
    work = WORKLOADS[f"llsq-{n}"]
    torch = {
        ("torch", "eager, Horner"): by("torch", "horner", work),
        ("torch", "compile"): by("torch", "horner_compiled", work),
    }
    return formula(
        f"llsq-{n}",
        f"least squares of {n} signs by a polynomial of 128 float64 coefficients",
        Goal(1.0, PEERS),
        lazy_most=1.3 if n >= 10_000 else None,
        more=hand(f"llsq-{n}") | torch,
        unrolled=True,
    )


ROWS = {
    "rosen": formula(
        "rosen",
        "Rosenbrock, 10 float64",
        Goal(0.4, PEERS),
        more={("limit", "one NumPy call"): one_call},
    ),
    "elem": formula(
        "elem",
        "sum of tanh(1.5x+0.3)·exp(-x²), 10⁷ float32",
        Goal(0.5, PEERS),
        lazy_most=1.3,
        more=over_memory("elem"),
    ),
    "xent": formula(
        "xent",
        "mean cross entropy of 4096×1000 float32 logits, integer labels",
        Goal(0.6, PEERS),
        lazy_most=1.3,
        more=over_memory("xent"),
    ),
    "chain": formula(
        "chain",
        "x ← 1.01·sin(x)+0.1, 1000 times, 16 float32",
        Goal(0.4, PEERS),
        lazy_most=1.3,
        more={("jax", "jit, scan"): by("jax", "jit_scan", WORKLOADS["chain"])},
        unrolled=True,
    ),
    "gmm": formula(
        "gmm",
        "Gaussian mixture, d 64, k 100, n 1000, float64",
        Goal(0.3, PEERS),
        lazy_most=1.3,
        more=hand("gmm")
        | {
            (OPENBLAS, "1 thread"): partial(products, gmm_products, "float64", 1),
            (OPENBLAS, "all threads"): partial(products, gmm_products, "float64", 0),
        },
    ),
    **{f"lse-{n}": lse_row(n) for n in LSE_SIZES},
    **{f"llsq-{n}": llsq_row(n) for n in LLSQ_SIZES},
    "lstm": formula(
        "lstm",
        "character LSTM, diagonal weights, 2 layers, width 14, 1024 characters, float64",
        Goal(30_000),
        lazy_most=1.3,
        more=hand("lstm"),
        without=(("torch", "compile"),),  # unrolls 1023 steps: minutes
        unrolled=True,
    ),
}
