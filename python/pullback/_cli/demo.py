"""`python -m pullback demo`: softmax regression on digits, with and without a custom gradient.

RUNS lists the trainings of each `--gradient`, plain and custom. `train` is the training loop, and
`_verdict` describes the difference in a sentence. Start reading at `demo`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

import pullback as pb

from ..datasets import Mnist, load_mnist

BATCH = 100


@pb.custom_gradient
def binarise(w: Any) -> Any:
    """Return sign(w) with the gradient of the identity; its derivative is zero."""
    return pb.sign(w), lambda upstream: upstream


@pb.custom_gradient
def reverse(x: Any) -> Any:
    """Return x with a negated gradient: parameters below maximise the cost."""
    return pb.identity(x), lambda upstream: -upstream


def _linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w + b


class Run(NamedTuple):
    """One training: the name of its gradient and its options."""

    name: str = "plain"
    logits: Callable[[Any, Any, Any], Any] = _linear
    rate: float = 0.1
    clip: float | None = None  # global norm
    deviation: float = 0.0  # of the initial weights


RUNS = {
    None: [Run()],
    # The weights are -0.1 or +0.1, one bit each.
    "straight-through": [
        Run("plain", lambda x, w, b: x @ (0.1 * pb.sign(w)) + b, deviation=0.01),
        Run("straight-through", lambda x, w, b: x @ (0.1 * binarise(w)) + b, deviation=0.01),
    ],
    "reversed": [Run(), Run("reversed", lambda x, w, b: reverse(x @ w + b))],
    # The learning rate is far too high for the plain gradient.
    "clipped": [Run(rate=5.0), Run("clipped", rate=5.0, clip=0.1)],
}


class History(NamedTuple):
    run: Run
    costs: list[float]  # one per step
    norms: list[float]  # of the weights' gradient, before any clipping
    lengths: list[float]  # of the update, weights and bias
    epochs: list[tuple[float, float]]  # mean cost, accuracy on the test images
    seconds: float  # per step, median
    weights: Any  # (784, 10)
    moved: float  # distance of the weights from their initial values


def train(digits: Mnist, run: Run, epochs: int) -> History:
    random = np.random.default_rng(0)
    start = random.normal(0.0, run.deviation, (784, 10)).astype(np.float32)
    w = pb.Variable(start, name="w")
    b = pb.Variable(np.zeros(10, np.float32), name="b")
    optimizer = pb.optimizers.GradientDescent(run.rate)
    costs: list[float] = []
    norms: list[float] = []
    lengths: list[float] = []
    times: list[float] = []
    table: list[tuple[float, float]] = []

    def step(x: Any, labels: Any) -> None:
        loss = pb.mean(pb.softmax_cross_entropy(run.logits(x, w, b), labels))
        gradients = pb.gradients(loss, [w, b])
        norm = pb.global_norm(gradients[:1])
        if run.clip is not None:
            gradients, _ = pb.clip_by_global_norm(gradients, run.clip)
        length = run.rate * pb.global_norm(gradients)
        optimizer.apply_gradients(list(zip(gradients, [w, b], strict=True)))
        pb.evaluate(loss, norm, length)  # evaluates everything above as one plan
        costs.append(float(loss))
        norms.append(float(norm))
        lengths.append(float(length))

    batches = len(digits.train_images) // BATCH
    with tqdm(total=epochs * batches, desc=run.name, unit="step", leave=False) as bar:
        for _ in range(epochs):
            order = random.permutation(len(digits.train_images))
            for i in range(batches):
                rows = order[i * BATCH : (i + 1) * BATCH]
                x, labels = digits.train_images[rows], digits.train_labels[rows]
                began = time.perf_counter()
                step(pb.constant(x), pb.constant(labels))
                times.append(time.perf_counter() - began)
                bar.update()
            guesses = pb.argmax(run.logits(pb.constant(digits.test_images), w, b), axis=1).numpy()
            accuracy = float(np.mean(guesses == np.argmax(digits.test_labels, axis=1)))
            table.append((float(np.mean(costs[-batches:])), accuracy))
            bar.set_postfix(cost=f"{table[-1][0]:.3f}", accuracy=f"{accuracy:.1%}")

    moved = float(np.linalg.norm(w.numpy() - start))
    return History(run, costs, norms, lengths, table, float(np.median(times)), w.numpy(), moved)


def _print_table(histories: list[History]) -> None:
    print("       " + "".join(f"{h.run.name:>20}" for h in histories))
    print("epoch  " + f"{'cost':>10}  accuracy" * len(histories))
    for epoch, rows in enumerate(zip(*(h.epochs for h in histories), strict=True), start=1):
        print(f"{epoch:5}  " + "".join(f"{cost:10.3f}{acc:10.1%}" for cost, acc in rows))
    steps = "".join(f"{h.seconds * 1e6:17.0f} µs" for h in histories)
    print(f"step   {steps}")


def _verdict(gradient: str | None, histories: list[History]) -> str:
    plain, custom = histories[0], histories[-1]
    (cost, accuracy), (first_cost, _) = custom.epochs[-1], custom.epochs[0]
    if gradient == "straight-through":
        return (
            "Weights are rounded to one bit. The slope of rounding is zero, so the plain gradient\n"
            f"moved them by {plain.moved:g} and only the bias learned: accuracy "
            f"{plain.epochs[-1][1]:.1%}. Passed straight through\n"
            f"the rounding, the gradient moved them by {custom.moved:.2f}: accuracy {accuracy:.1%}."
        )
    if gradient == "reversed":
        return (
            f"The forward pass is the same: both start at a cost of {custom.costs[0]:.3f}. Through "
            f"the reversal layer\nevery step goes uphill: {first_cost:.3f} over the first epoch, "
            f"{cost:.3f} over the last, where the\nplain gradient reaches "
            f"{plain.epochs[-1][0]:.3f}."
        )
    if gradient == "clipped":
        return (
            f"With a rate of {plain.run.rate:g} the longest plain update was "
            f"{max(plain.lengths):.2f} long and the first epoch cost {plain.epochs[0][0]:.2f}.\n"
            f"Clipped to a global norm of {custom.run.clip:g}, gradients of up to "
            f"{max(custom.norms):.2f} gave updates of at most {max(custom.lengths):.2f},\n"
            f"and the first epoch cost {first_cost:.2f}; at the end {plain.epochs[-1][0]:.3f} "
            f"plain, {cost:.3f} clipped."
        )
    return f"Accuracy on the test images: {accuracy:.1%}."


def _draw(histories: list[History], path: Path) -> None:
    from matplotlib.figure import Figure  # without pyplot: no windows, no global state

    figure = Figure(figsize=(9, 5), layout="constrained")
    parts = figure.subplot_mosaic([["cost", "norm"], ["weights", "weights"]], height_ratios=[2, 1])
    for history in histories:
        parts["cost"].plot(history.costs, label=history.run.name, linewidth=0.8)
        parts["norm"].plot(history.norms, label=history.run.name, linewidth=0.8)
    parts["cost"].set(title="cost", xlabel="step", yscale="log")
    parts["norm"].set(title="norm of the weights' gradient", xlabel="step")
    parts["cost"].legend()

    last = histories[-1]
    pictures = last.weights.T.reshape(10, 28, 28)
    limit = float(np.abs(pictures).max()) or 1.0
    strip = np.concatenate(list(pictures), axis=1)
    parts["weights"].imshow(strip, cmap="RdBu", vmin=-limit, vmax=limit)
    parts["weights"].set(title=f"weights of the digits 0 to 9 ({last.run.name})", yticks=[])
    parts["weights"].set_xticks(np.arange(10) * 28 + 14, [str(digit) for digit in range(10)])
    figure.savefig(path, dpi=120)


def demo(data: str | None, epochs: int, out: str, gradient: str | None) -> list[History]:
    """Train, print the table and the effect, and plot if matplotlib is installed."""
    if Path(out).is_dir() or not Path(out).parent.is_dir():  # checked before the training
        raise FileNotFoundError(f"--out: expected a file in an existing folder, got {out}")
    digits = load_mnist(data, one_hot=True)
    print(
        f"softmax regression on {len(digits.train_images)} digits"
        f"{' (the sample in the package)' if data is None else ''}, batches of {BATCH}, "
        f"rate {RUNS[gradient][0].rate:g}"
    )
    histories = [train(digits, run, epochs) for run in RUNS[gradient]]
    _print_table(histories)
    print(_verdict(gradient, histories))
    try:
        _draw(histories, Path(out))
    except ImportError:
        print("No picture: matplotlib is not installed (pip install matplotlib).")
    else:
        print(f"Picture: {out}")
    return histories
