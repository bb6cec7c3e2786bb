"""Training steps of whole programs: a transformer, a language model, a U-Net, contrastive learning,
diffusion, and differentially private descent.

A new row is an entry of PROGRAMS: a loss over the layers of program_layers.py. The result of a step
is the loss and the parameters after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .program_layers import layers
from .transforms import Task, row_of

RATE = 0.05


@dataclass(frozen=True)
class Program:
    about: str
    draw: Callable[[Any, bool], tuple[list[Any], list[Any]]]  # parameters and inputs
    loss: Callable[..., Any]  # of the layers, the parameters and the inputs
    each: bool = False  # bound the gradient of each example


def _normal(random: Any, *shapes: tuple[int, ...]) -> list[Any]:
    """Return matrices and filters that keep the size of their inputs; vectors are zeros."""
    return [
        (random.standard_normal(s) * np.prod(s[:-1]) ** -0.5 if len(s) > 1 else np.zeros(s))
        .astype(np.float32)
        for s in shapes
    ]  # fmt: skip


# --- a transformer with two blocks, that predicts the next of 64 characters


def _transformer_data(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    batch, steps, width = (2, 8, 16) if small else (8, 64, 128)
    kinds = 64
    block = [(width,), (width,), (width, 3 * width), (width, width), (width,), (width,)]
    block += [(width, 4 * width), (4 * width, width)]
    shapes = [(kinds, width), (steps, width), *block, *block, (width,), (width,)]
    text = random.integers(0, kinds, (batch, steps + 1))
    return _normal(random, *shapes), [text[:, :-1].copy(), text[:, 1:].copy()]


def _transformer(ops: Any, p: list[Any], text: Any, following: Any) -> Any:
    table, places, *blocks, scale, shift = p
    batch, steps = text.shape
    heads = 4

    def mixed(x: Any, qkv: Any, out: Any) -> Any:
        parts = (x @ qkv).reshape(batch, steps, 3, heads, -1)
        q, k, v = (ops.xp.moveaxis(parts[:, :, k], 1, 2) for k in range(3))
        return ops.xp.moveaxis(ops.attention(q, k, v), 1, 2).reshape(batch, steps, -1) @ out

    x = ops.embedding(table, text) + places
    for k in range(0, len(blocks), 8):
        scale1, shift1, qkv, out, scale2, shift2, up, down = blocks[k : k + 8]
        x = x + mixed(ops.layer_norm(x, 1 + scale1, shift1), qkv, out)
        x = x + ops.gelu(ops.layer_norm(x, 1 + scale2, shift2) @ up) @ down
    return ops.cross_entropy(ops.layer_norm(x, 1 + scale, shift) @ table.T, following)


# --- a language model with one LSTM


def _language_data(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    steps, batch, width, units = (6, 2, 8, 8) if small else (64, 16, 64, 128)
    kinds = 64
    shapes = [(kinds, width), (4 * units, width), (4 * units, units), (4 * units,), (4 * units,)]
    text = random.integers(0, kinds, (steps + 1, batch))
    zero = np.zeros((batch, units), np.float32)
    parameters = _normal(random, *shapes, (units, kinds), (kinds,))
    return parameters, [text[:-1].copy(), text[1:].copy(), zero]


def _language(ops: Any, p: list[Any], text: Any, following: Any, zero: Any) -> Any:
    table, *weights, w, b = p
    y = ops.lstm(ops.embedding(table, text), zero, *weights)
    return ops.cross_entropy(y @ w + b, following)


# --- a U-Net that marks the pixels of an object


def _images(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    batch, side, channels = (1, 8, (2, 2, 2)) if small else (4, 64, (16, 32, 64))
    a, b, c = channels
    pairs = [(1, a), (a, a), (a, b), (b, b), (b, c), (c, c)]
    pairs += [(c + b, b), (b, b), (b + a, a), (a, a), (a, 1)]
    shapes = [shape for i, o in pairs for shape in ((3, 3, i, o), (o,))]
    x = random.standard_normal((batch, side, side, 1)).astype(np.float32)
    return _normal(random, *shapes), [x, (x > 0.5).astype(np.float32)]


def _unet(ops: Any, p: list[Any], x: Any, marks: Any) -> Any:
    filters = iter(p)

    def twice(x: Any) -> Any:
        for _ in range(2):
            x = ops.relu(ops.conv(x, next(filters), next(filters)))
        return x

    levels = [twice(x)]
    for _ in range(2):
        levels.append(twice(ops.max_pool(levels[-1])))
    x = levels.pop()
    while levels:
        x = twice(ops.xp.concatenate([ops.upsample(x), levels.pop()], -1))
    return ops.sigmoid_cross_entropy(ops.conv(x, *filters), marks)


# --- InfoNCE: two views of each example, found among those of the batch


def _views(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    batch, width, units, out = (4, 6, 8, 4) if small else (256, 256, 256, 64)
    x = random.standard_normal((batch, width)).astype(np.float32)
    first, second = (x + 0.3 * random.standard_normal(x.shape) for _ in range(2))
    views = [first.astype(np.float32), second.astype(np.float32), np.arange(batch)]
    return _normal(random, (width, units), (units,), (units, out)), views


def _contrastive(ops: Any, p: list[Any], first: Any, second: Any, same: Any) -> Any:
    def unit(x: Any) -> Any:
        z = ops.relu(x @ p[0] + p[1]) @ p[2]
        return z / ops.xp.sqrt((z * z).sum(-1)[:, None] + 1e-8)

    alike = unit(first) @ unit(second).T / 0.1
    return (ops.cross_entropy(alike, same) + ops.cross_entropy(alike.T, same)) / 2


# --- diffusion: the noise in a point, at one of 1000 levels


def _noisy(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    batch, width, units = (4, 6, 8) if small else (256, 64, 256)
    kept = np.cumprod(1 - np.linspace(1e-4, 0.02, 1000)).astype(np.float32)
    x, noise = (random.standard_normal((batch, width)).astype(np.float32) for _ in range(2))
    shapes = [(2 * width, units), (units,), (units, units), (units,), (units, width), (width,)]
    rates = np.exp(-np.linspace(0, 9, width // 2)).astype(np.float32)
    return _normal(random, *shapes), [x, noise, random.integers(0, 1000, batch), kept, rates]


def _diffusion(
    ops: Any, p: list[Any], x: Any, noise: Any, level: Any, kept: Any, rates: Any
) -> Any:
    xp = ops.xp
    share = kept[level][:, None]
    angles = level[:, None] * rates
    x = xp.sqrt(share) * x + xp.sqrt(1 - share) * noise
    x = xp.concatenate([x, xp.sin(angles), xp.cos(angles)], -1)
    for k in range(0, len(p), 2):
        x = (ops.silu(x) if k else x) @ p[k] + p[k + 1]
    return xp.mean(xp.square(x - noise))


# --- descent along gradients of single examples, each of norm 1 at most, with noise


def _private(random: Any, small: bool) -> tuple[list[Any], list[Any]]:
    batch, width, units = (4, 6, 8) if small else (64, 784, 64)
    parameters = _normal(random, (width, units), (units,), (units, 10), (10,))
    x = random.standard_normal((batch, width)).astype(np.float32)
    noise = [0.01 * random.standard_normal(p.shape).astype(np.float32) for p in parameters]
    return parameters, [x, random.integers(0, 10, batch), *noise]


def _classifier(ops: Any, p: list[Any], example: Any) -> Any:
    x, label = example
    return ops.cross_entropy((ops.relu(x @ p[0] + p[1]) @ p[2] + p[3])[None], label[None])


def _bounded(ops: Any, p: list[Any], loss: Any, x: Any, labels: Any, noise: tuple[Any, ...]) -> Any:
    xp = ops.xp
    slopes = ops.each_slopes(loss, p, (x, labels))
    sizes = xp.sqrt(sum((g * g).reshape(len(x), -1).sum(1) for g in slopes))
    factors = 1 / xp.maximum(sizes, xp.ones_like(sizes))
    sums = [xp.tensordot(factors, g, 1) for g in slopes]
    return sizes, [(g + n) / len(x) for g, n in zip(sums, noise, strict=True)]


PROGRAMS = {
    "transformer-train": Program(
        "transformer of 2 blocks of 128, 8 texts of 64 characters, float32: training step",
        _transformer_data,
        _transformer,
    ),
    "language-model-train": Program(
        "language model of an LSTM of 128, 16 texts of 64 characters, float32: training step",
        _language_data,
        _language,
    ),
    "unet-train": Program(
        "U-Net of 16, 32 and 64 channels, 4 images of 64×64, float32: training step",
        _images,
        _unet,
    ),
    "contrastive-train": Program(
        "InfoNCE of 256 pairs, 256-256-64 network, float32: training step",
        _views,
        _contrastive,
    ),
    "diffusion-train": Program(
        "diffusion of 256 points of 64, network of two layers of 256, float32: training step",
        _noisy,
        _diffusion,
    ),
    "private-train": Program(
        "784-64-10 network, 64 examples with bounded gradients and noise, float32: training step",
        _private,
        _classifier,
        each=True,
    ),
}


def _step(library: str, program: Program, count: int, *arrays: Any) -> Any:
    ops = layers(library)
    p, inputs = list(arrays[:count]), arrays[count:]
    loss = partial(program.loss, ops)
    if program.each:
        value, slopes = _bounded(ops, p, loss, *inputs[:2], inputs[2:])
    else:
        value, slopes = ops.slopes(loss, p, *inputs)
    return [value, *(x - RATE * g for x, g in zip(p, slopes, strict=True))]


def _task(program: Program) -> Task:
    def draw(random: Any, small: bool) -> list[Any]:
        parameters, inputs = program.draw(random, small)
        return [*parameters, *inputs]

    count = len(program.draw(np.random.default_rng(0), True)[0])
    step = partial(partial, _step)
    return Task(
        program.about,
        draw,
        *(step(library, program, count) for library in ("pullback", "jax", "torch")),
        moved=count,
    )


ROWS = {
    name: row_of(_task(program), Goal(1.0, PEERS), compiled=name != "language-model-train")
    for name, program in PROGRAMS.items()
}
