"""The classifiers of classifier.py in the libraries that pullback is compared with.

Each in the form it is fastest in here: torch with digits as labels, jax with one-hot rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import Case
from .classifier import RATE, Model, network, step_summary, summary


def numpy_gradient(model: Model) -> Case:
    """By hand: what the others must agree with, and no peer."""
    x, labels, parameters = model.data()

    def run() -> Any:
        inputs = [x]
        for i in range(0, len(parameters), 2):
            below = np.maximum(inputs[-1], 0) if i else inputs[-1]
            inputs[-1] = below
            inputs.append(below @ parameters[i] + parameters[i + 1])
        shifted = inputs[-1] - inputs[-1].max(axis=1, keepdims=True)
        scores = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        loss = -np.mean((labels * scores).sum(axis=1))
        g = (np.exp(scores) - labels) / len(x)
        gradients = []
        for i in reversed(range(0, len(parameters), 2)):
            gradients[:0] = [inputs[i // 2].T @ g, g.sum(axis=0)]
            if i:
                g = (g @ parameters[i].T) * (inputs[i // 2] > 0)
        return loss, gradients

    return Case(run, check=lambda result: summary(*result))


def torch_case(model: Model, train: bool = False, compiled: bool = False) -> Case:
    import torch

    x, labels, arrays = model.data()
    images, digits = torch.from_numpy(x), torch.from_numpy(labels.argmax(axis=1))
    parameters = [torch.tensor(p, requires_grad=True) for p in arrays]

    def loss_of(images: Any, digits: Any, parameters: list[Any]) -> Any:
        return torch.nn.functional.cross_entropy(network(images, parameters, torch.relu), digits)

    forward = torch.compile(loss_of) if compiled else loss_of
    if not train:

        def run() -> Any:
            loss = forward(images, digits, parameters)
            return loss.detach(), torch.autograd.grad(loss, parameters)

        return Case(run, check=lambda result: summary(*result))

    optimizer = torch.optim.SGD(parameters, lr=RATE)

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward(images, digits, parameters)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Case(
        step, check=lambda loss: step_summary(loss, arrays, [p.detach() for p in parameters])
    )


def jax_case(model: Model, train: bool = False) -> Case:
    import jax

    data = model.data()
    x, labels, parameters = jax.device_put(data)

    def loss_of(parameters: list[Any], x: Any, labels: Any) -> Any:
        scores = jax.nn.log_softmax(network(x, parameters, jax.nn.relu))
        return -(labels * scores).sum(axis=1).mean()

    if not train:
        both = jax.jit(jax.value_and_grad(loss_of))
        return Case(
            lambda: jax.block_until_ready(both(parameters, x, labels)),
            check=lambda result: summary(*result),
        )

    @partial(jax.jit, donate_argnums=0)
    def step(parameters: list[Any], x: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, labels)
        return loss, [p - RATE * g for p, g in zip(parameters, gradients, strict=True)]

    def run() -> Any:
        nonlocal parameters
        loss, parameters = jax.block_until_ready(step(parameters, x, labels))
        return loss

    return Case(run, check=lambda loss: step_summary(loss, data[2], parameters))
