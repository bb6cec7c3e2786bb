"""A program over all namespaces: mypy --strict accepts it, and test_typed_program.py runs it.

It trains a small network, fits a curve, solves equations, and checks what it computes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import pullback as pb

Array = npt.NDArray[np.float32]


class Batch(NamedTuple):
    images: pb.Tensor
    labels: pb.Tensor


@dataclass
class Layer:
    weight: pb.Variable
    bias: pb.Variable

    def __call__(self, x: pb.Tensor) -> pb.Tensor:
        return pb.matmul(x, self.weight) + self.bias


class Network:
    def __init__(self, sizes: list[int]) -> None:
        self.layers: list[Layer] = []
        for n, m in pairwise(sizes):
            weight = pb.Variable(pb.initializers.glorot_uniform((n, m)), name=f"w{n}")
            self.layers.append(Layer(weight, pb.Variable(pb.zeros(m), name=f"b{n}")))

    @property
    def variables(self) -> list[pb.Variable]:
        return [v for layer in self.layers for v in (layer.weight, layer.bias)]

    def __call__(self, x: pb.Tensor) -> pb.Tensor:
        *hidden, last = self.layers
        for layer in hidden:
            x = pb.nn.layer_norm(pb.relu(layer(x)))
        return last(x)


def batches(count: int) -> Iterator[Batch]:
    generator = pb.random.Generator(1)
    for _ in range(count):
        images = generator.normal((16, 4))
        labels = pb.cast(pb.sum(images, axis=1) > 0, "int64")
        yield Batch(images, labels)


def train() -> list[float]:
    pb.random.seed(0)
    network = Network([4, 8, 2])
    rate = pb.optimizers.Exponential(0.05, 10, 0.9)
    optimizer = pb.optimizers.Adam(rate)
    losses: list[float] = []

    @pb.function
    def step(images: pb.Tensor, labels: pb.Tensor) -> pb.Tensor:
        with pb.GradientTape() as tape:
            loss = pb.mean(pb.sparse_softmax_cross_entropy(network(images), labels))
        gradients = tape.gradient(loss, network.variables)
        clipped, norm = pb.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(list(zip(clipped, network.variables, strict=True)))
        return loss + 0.0 * norm

    for batch in batches(40):
        losses.append(float(step(batch.images, batch.labels)))
    return losses


@pb.custom_gradient
def clipped_identity(x: pb.Tensor) -> tuple[pb.Tensor, Callable[[pb.Tensor], pb.Tensor]]:
    return pb.identity(x), lambda g: pb.clip(g, -1.0, 1.0)


def shaped() -> Array:
    round_through = pb.straight_through(pb.round)
    w = pb.Variable([0.3, 2.6])
    y: pb.Tensor = pb.sum(round_through(w) * 2.0) + pb.sum(clipped_identity(w.read() * 5.0))
    (g,) = pb.gradients(y, w)
    found: Array = g.numpy()
    return found


def derivatives() -> dict[str, pb.Tensor]:
    def energy(p: dict[str, pb.Tensor], scale: float) -> pb.Tensor:
        return scale * pb.sum(p["x"] ** 3)

    params = {"x": pb.constant([1.0, 2.0])}
    value, slope = pb.value_and_grad(energy)(params, 2.0)
    rows = pb.vmap(pb.grad(lambda x: pb.sum(pb.sin(x))))(pb.ones((3, 2)))
    out, tangent = pb.jvp(pb.exp, (pb.constant(0.0),), (1.0,))
    matrix = pb.hessian(lambda x: pb.sum(x**4))(params["x"])
    return {"value": value, "slope": slope["x"], "rows": rows, "tangent": tangent * out,
            "matrix": matrix}  # fmt: skip


def loops() -> tuple[pb.Tensor, pb.Tensor]:
    def body(carry: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
        return carry + x, carry * x

    total, products = pb.scan(body, 0.0, pb.arange(5, dtype="float32"))
    doubled = pb.while_loop(lambda s: s < 100.0, lambda s: s * 2.0, total)
    return doubled, pb.cond(pb.any(products > 5.0), pb.sum, pb.mean, products)


def science() -> dict[str, float]:
    a = pb.constant([[4.0, 1.0], [1.0, 3.0]], dtype="float64")
    b = pb.constant([1.0, 2.0], dtype="float64")
    values, vectors = pb.linalg.eigh(a)
    spectrum = pb.fft.rfft(pb.sin(pb.arange(8, dtype="float64")))
    area, error = pb.integrate.quad(lambda x: pb.exp(-x * x), 0.0, 1.0)
    path = pb.integrate.odeint(lambda y, t: -y, pb.constant(1.0), np.linspace(0.0, 1.0, 5))
    spline = pb.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0])
    best = pb.optimize.minimize(lambda x: pb.sum((x - 3.0) ** 2), pb.zeros(2, "float64"))
    root = pb.implicit.root(lambda x, c: x * x - c, lambda f, x0, c: pb.sqrt(c))
    moved, slope = pb.jvp(lambda c: root(1.0, c), (pb.constant(4.0),), (1.0,))
    return {
        "solve": float(pb.sum(a @ pb.linalg.solve(a, b) - b)),
        "eigen": float(pb.linalg.det(vectors) ** 2 + pb.sum(values)),
        "spectrum": float(pb.max(pb.abs(spectrum))),
        "area": float(area - error * 0),
        "path": float(path[-1]),
        "spline": float(spline(1.5)),
        "minimum": float(best.x[0]),
        "root": float(moved) + float(slope),
        "erf": float(pb.special.erf(0.5) - pb.special.ndtr(0.0)),
        "density": float(pb.stats.norm.logpdf(0.0, loc=0.0, scale=1.0)),
    }


def trees(folder: Path) -> float:
    tree = {"w": pb.ones((2, 2)), "b": [pb.zeros(2)]}
    flat, rebuild = pb.tree.ravel(pb.tree.map(lambda x: x + 1.0, tree))
    pb.save(folder / "tree.npz", rebuild(flat))
    loaded = pb.load(folder / "tree.npz")
    leaves = pb.tree.leaves(loaded)
    return float(pb.sum(pb.stack([pb.sum(leaf) for leaf in leaves])))


def report() -> str:
    w = pb.Variable([1.0, 2.0], name="w")
    y = pb.sum(pb.round(w))
    why = pb.explain(y, w)
    step = pb.profile(pb.exp, w).steps[0]
    memory = pb.profile_memory(pb.exp, w.read())
    pb.testing.check_gradients(pb.sin, np.array([0.1, 0.2]))
    drawing: pb.Drawing = pb.draw(y, w)
    return f"{why.status} {step.kind} {memory.lines[0].bytes} {drawing.svg[:4]} {y:.1f}"


def main() -> None:
    losses = train()
    assert sum(losses[-10:]) < sum(losses[:10]), losses
    assert shaped().tolist() == [7.0, 7.0]
    found = derivatives()
    assert found["slope"].tolist() == [6.0, 24.0] and found["value"].item() == 18.0
    assert found["matrix"].shape == (2, 2) and found["rows"].shape == (3, 2)
    doubled, last = loops()
    assert float(doubled) == 160.0 and float(last) > 5.0
    numbers = science()
    assert abs(numbers["area"] - 0.746824) < 1e-5 and abs(numbers["root"] - 2.25) < 1e-6
    assert abs(numbers["minimum"] - 3.0) < 1e-5 and abs(numbers["spline"] - 2.25) < 1e-6
    with tempfile.TemporaryDirectory() as folder:
        assert trees(Path(folder)) == 10.0
    assert report() == "zero tiles 8 <svg 3.0"


if __name__ == "__main__":
    main()
