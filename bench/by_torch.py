"""The formulas of workloads.py in torch, eager and compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from . import everyday_formulas, network_formulas
from .case import Case
from .workloads import (
    BITS,
    GAMMA,
    MOMENTUM,
    PRIOR_M,
    RATE,
    Workload,
    below_diagonal,
    gmm_constant,
    step_summary,
    summary,
)

cross_entropy = torch.nn.functional.cross_entropy


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = torch.addmm(parameters[i + 1], torch.relu(x) if i else x, parameters[i])
    return cross_entropy(x, digits)


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    return (torch.tanh(1.5 * x + 0.3) * torch.exp(-x * x)).sum()


def xent(parameters: list[Any], digits: Any) -> Any:
    return cross_entropy(parameters[0], digits)


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    for _ in range(steps):
        x = 1.01 * torch.sin(x) + 0.1
    return x.sum()


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, len(x)
    rows, columns = map(torch.from_numpy, below_diagonal(d))
    big_q = torch.diag_embed(torch.exp(q))
    big_q[:, rows, columns] = l
    distances = (x - mu[:, None, :]) @ big_q.mT
    beta = (alpha + q.sum(1))[:, None] - 0.5 * distances.square().sum(2)
    likelihood = torch.logsumexp(beta, 0).sum() - n * torch.logsumexp(alpha, 0)
    prior = PRIOR_M * q.sum() - GAMMA**2 / 2 * big_q.square().sum()
    return likelihood + prior + gmm_constant(n, d, k)


def lse(parameters: list[Any]) -> Any:
    return torch.logsumexp(parameters[0], 0)


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    return 0.5 * (s - torch.vander(t, len(x), increasing=True) @ x).square().sum()


def llsq_horner(parameters: list[Any], t: Any, s: Any) -> Any:
    coefficients = parameters[0].unbind()
    polynomial = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        polynomial = torch.addcmul(coefficient, polynomial, t)
    return 0.5 * (s - polynomial).square().sum()


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape
    w, b = weights.flatten(1).unbind(), biases.flatten(1).unbind()  # all gates of a layer at once
    h, c = (list(part.unbind()) for part in state.unbind(1))
    outputs = []
    for a in (text[:-1] * extra[0]).unbind():
        for i in range(layers):
            gates = torch.cat((a, h[i], a, h[i])) * w[i] + b[i]
            forget, ingate, outgate = torch.sigmoid(gates[: 3 * width]).chunk(3)
            c[i] = c[i] * forget + ingate * torch.tanh(gates[3 * width :])
            a = h[i] = outgate * torch.tanh(c[i])
        outputs.append(a)
    y = torch.stack(outputs) * extra[1] + extra[2]
    log_p = y - torch.log(2 + y.exp().sum(1, keepdim=True))
    return -(text[1:] * log_p).sum() / (width * len(outputs))


def batch_norm(parameters: list[Any], t: Any) -> Any:
    x, scale, shift = parameters
    y = torch.nn.functional.batch_norm(x, None, None, scale, shift, training=True, eps=1e-5)
    return (t * y).sum()


def layer_norm(parameters: list[Any], t: Any) -> Any:
    x, scale, shift = parameters
    y = torch.nn.functional.layer_norm(x, x.shape[1:], scale, shift, eps=1e-5)
    return (t * y).sum()


def columns(parameters: list[Any]) -> Any:
    x, y, z = parameters[0].unbind(1)
    return (x * x + y * y + z * z).sqrt().sum()


def rows_added(parameters: list[Any], rows: Any, table: Any) -> Any:
    return table.index_add(0, rows, parameters[0]).square().sum()


def embedding(parameters: list[Any], rows: Any, wanted: Any, sparse: bool = True) -> Any:
    taken = torch.nn.functional.embedding(rows, parameters[0], sparse=sparse)
    return (taken - wanted).square().sum()


embedding_with_dense_gradient = partial(embedding, sparse=False)


def _network(parameters: list[Any], x: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = torch.addmm(parameters[i + 1], torch.tanh(x) if i else x, parameters[i])
    return x[:, 0]


def physics(parameters: list[Any], points: Any) -> Any:
    points = points.detach().requires_grad_()
    u = _network(parameters, points)
    (first,) = torch.autograd.grad(u.sum(), points, create_graph=True)
    (second,) = torch.autograd.grad(first[:, 1].sum(), points, create_graph=True)
    return (first[:, 0] + u * first[:, 1] - 0.01 * second[:, 1]).square().mean()


def quantized(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    def fewer_bits(w: Any) -> Any:
        step = w.abs().max() / (2 ** (BITS - 1) - 1)
        most = 2 ** (BITS - 1) - 1
        return w + (torch.clip(torch.round(w / step), -most, most) * step - w).detach()

    for i in range(0, len(parameters), 2):
        weights = fewer_bits(parameters[i])
        x = torch.addmm(parameters[i + 1], torch.relu(x) if i else x, weights)
    return torch.nn.functional.cross_entropy(x, digits)


def _first(x: Any) -> Any:
    """Channels first, as torch counts axes; in memory they stay last."""
    return x.permute(0, 3, 1, 2)


class LAYERS:
    """Of network_formulas.py."""

    relu, tanh, sigmoid, stop = torch.relu, torch.tanh, torch.sigmoid, torch.detach
    matmul, reshape, zeros = torch.matmul, torch.reshape, torch.zeros
    cross_entropy = cross_entropy
    sum_of_squares = staticmethod(lambda x: x.square().sum())
    leaky_relu = staticmethod(lambda x: torch.nn.functional.leaky_relu(x, 0.2))
    max_pool = staticmethod(lambda x: torch.max_pool2d(_first(x), 2).permute(0, 2, 3, 1))
    concat = staticmethod(lambda xs: torch.cat(xs, 1))

    @staticmethod
    def conv(x: Any, w: Any, stride: int) -> Any:
        missing = w.shape[0] - stride  # of lengths that the stride divides
        low, high = missing // 2, missing - missing // 2
        padded = torch.nn.functional.pad(_first(x), (low, high, low, high))
        return torch.conv2d(padded, w.permute(3, 2, 0, 1), stride=stride).permute(0, 2, 3, 1)

    @staticmethod
    def conv_transpose(x: Any, w: Any, stride: int) -> Any:
        low, n = (w.shape[0] - stride) // 2, x.shape[1] * stride
        y = torch.conv_transpose2d(_first(x), w.permute(3, 2, 0, 1), stride=stride)
        return y[:, :, low : low + n, low : low + n].permute(0, 2, 3, 1)

    @staticmethod
    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        y = torch.nn.functional.batch_norm(_first(x), None, None, scale, shift, training=True)
        return y.permute(0, 2, 3, 1)

    @staticmethod
    def decided(z: Any, truth: float) -> Any:
        wanted = torch.full_like(z, truth)
        return torch.nn.functional.binary_cross_entropy_with_logits(z, wanted)

    @staticmethod
    def scan(step: Any, state: Any, xs: Any) -> Any:
        for x in xs:
            state = step(state, x)
        return state


def _program(
    work: Workload, small: bool, compiled: bool, name: str = ""
) -> tuple[Any, list[Any], list[Any]]:
    data = work.data(small)
    name = name or work.formula
    formula = globals().get(name)
    if not formula and hasattr(network_formulas, name):
        formula = partial(getattr(network_formulas, name), LAYERS)
    formula = formula or partial(getattr(everyday_formulas, name), torch)

    def f(parameters: list[Any], *inputs: Any) -> Any:
        return formula(parameters, *inputs, **data.static)

    parameters = [torch.tensor(p, requires_grad=True) for p in data.parameters]
    inputs = [torch.from_numpy(x) for x in data.inputs]
    return torch.compile(f) if compiled else f, parameters, inputs


def eager(work: Workload, small: bool, compiled: bool = False, name: str = "") -> Case:
    f, parameters, inputs = _program(work, small, compiled, name)

    def run() -> Any:
        value = f(parameters, *inputs)
        return value.detach(), torch.autograd.grad(value, parameters)

    return Case(run, check=lambda result: summary(*result))


def compile(work: Workload, small: bool) -> Case:
    return eager(work, small, compiled=True)


def horner(work: Workload, small: bool) -> Case:
    return eager(work, small, name="llsq_horner")


def horner_compiled(work: Workload, small: bool) -> Case:
    return eager(work, small, compiled=True, name="llsq_horner")


def train(work: Workload, small: bool, compiled: bool = False, name: str = "") -> Case:
    f, parameters, inputs = _program(work, small, compiled, name)
    before = [p.detach().clone().numpy() for p in parameters]
    optimizer = torch.optim.SGD(parameters, lr=RATE, momentum=MOMENTUM.get(work.formula, 0))

    def run() -> Any:
        optimizer.zero_grad()
        loss = f(parameters, *inputs)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Case(
        run, check=lambda loss: step_summary(loss, before, [p.detach() for p in parameters])
    )


def train_compiled(work: Workload, small: bool) -> Case:
    return train(work, small, compiled=True)


def embedding_dense(work: Workload, small: bool) -> Case:
    return train(work, small, name="embedding_with_dense_gradient")
