"""The workloads of bench/ as programs that give arrays: the value, then the gradients; or, of a
training step, the losses of three steps and the parameters after them.

As a script: writes what every workload gives to the .npz file that is named.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import pullback as pb
from bench import by_pullback
from bench.workloads import WORKLOADS, Data

RATE = 0.1
TRAINED = ("softreg", "mlp")
NAMES = (*WORKLOADS, *(f"{name}-train" for name in TRAINED))


def data_of(name: str) -> Data:
    """At full size, but for the largest: 10,000,000 elements tell no more than 100,000."""
    data = WORKLOADS[name].data(False)
    if name == "elem":
        data.parameters[0] = data.parameters[0][:100_003]
    if name == "xent":
        data.parameters[0], data.inputs[0] = data.parameters[0][:301], data.inputs[0][:301]
    if name == "gmm":
        data.inputs[0] = data.inputs[0][:101]
    if name == "chain":
        data.static["steps"] = 150  # the slope of 1000 is less than the smallest float32
    if name == "lstm":
        data.inputs[0] = data.inputs[0][:65]
    return data


def formula_of(name: str, data: Data) -> Any:
    formula = getattr(by_pullback, WORKLOADS[name].formula)
    return lambda parameters, *inputs: formula(parameters, *inputs, **data.static)


def lazy(name: str) -> list[np.ndarray]:
    data = data_of(name)
    parameters = [pb.Variable(p) for p in data.parameters]
    value = formula_of(name, data)(parameters, *map(pb.constant, data.inputs))
    results = [value, *pb.gradients(value, parameters)]
    pb.evaluate(results)
    return [r.numpy() for r in results]


class Function:
    """The same as a function, which may be called again."""

    def __init__(self, name: str) -> None:
        data = data_of(name)
        self.run = pb.function(pb.value_and_grad(formula_of(name, data)))
        self.parameters = [pb.constant(p) for p in data.parameters]
        self.inputs = [pb.constant(x) for x in data.inputs]

    def __call__(self) -> list[np.ndarray]:
        value, gradients = self.run(self.parameters, *self.inputs)
        pb.evaluate(value, gradients)
        return [r.numpy() for r in (value, *gradients)]


def train(name: str, in_function: bool) -> list[np.ndarray]:
    data = data_of(name)
    formula = formula_of(name, data)
    parameters = [pb.Variable(p) for p in data.parameters]
    optimizer = pb.optimizers.GradientDescent(RATE)

    def step(*inputs: Any) -> Any:
        with pb.GradientTape() as tape:
            loss = formula(parameters, *inputs)
        gradients = tape.gradient(loss, parameters)
        optimizer.apply_gradients(zip(gradients, parameters, strict=True))
        return loss

    called = pb.function(step) if in_function else step
    inputs = [pb.constant(x) for x in data.inputs]
    losses = [called(*inputs).numpy() for _ in range(3)]
    return losses + [p.numpy() for p in parameters]


def results_of(name: str) -> list[np.ndarray]:
    if name.endswith("-train"):
        return train(name.removesuffix("-train"), in_function=True)
    return Function(name)()


if __name__ == "__main__":
    found = {f"{name} {k}": x for name in NAMES for k, x in enumerate(results_of(name))}
    np.savez(sys.argv[1], **found)
