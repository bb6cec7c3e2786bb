"""The formulas of networks.py, over the layers that a library gives as `ops` (LAYERS of its
by_*.py).

Images are (batch, rows, columns, channels), filters (taps, taps, channels, outputs), those of a
transposed convolution (taps, taps, outputs, channels), sequences (steps, batch, width).
"""

from __future__ import annotations

from typing import Any


def convolved(ops: Any, parameters: list[Any]) -> Any:
    x, w = parameters
    return ops.sum_of_squares(ops.conv(x, w, 1))


def pooled(ops: Any, parameters: list[Any]) -> Any:
    return ops.sum_of_squares(ops.max_pool(parameters[0]))


def images(ops: Any, parameters: list[Any], x: Any, digits: Any) -> Any:
    """Two convolutions with pools, then dense layers."""
    w1, b1, w2, b2, *dense = parameters
    x = ops.max_pool(ops.relu(ops.conv(x, w1, 1) + b1))
    x = ops.max_pool(ops.relu(ops.conv(x, w2, 1) + b2))
    x = ops.reshape(x, (x.shape[0], -1))
    for i in range(0, len(dense), 2):
        x = ops.matmul(ops.relu(x) if i else x, dense[i]) + dense[i + 1]
    return ops.cross_entropy(x, digits)


def _real(ops: Any, parameters: list[Any], x: Any) -> Any:
    """The score of images."""
    w1, b1, w2, scale, shift, w3, b3 = parameters
    x = ops.leaky_relu(ops.conv(x, w1, 2) + b1)
    x = ops.leaky_relu(ops.batch_norm(ops.conv(x, w2, 2), scale, shift))
    return ops.matmul(ops.reshape(x, (x.shape[0], -1)), w3) + b3


def _made(ops: Any, parameters: list[Any], noise: Any) -> Any:
    """Images of noise."""
    w1, scale1, shift1, w2, scale2, shift2, w3, b3 = parameters
    x = ops.reshape(ops.matmul(noise, w1), (noise.shape[0], 7, 7, -1))
    x = ops.relu(ops.batch_norm(x, scale1, shift1))
    x = ops.relu(ops.batch_norm(ops.conv_transpose(x, w2, 2), scale2, shift2))
    return ops.tanh(ops.conv_transpose(x, w3, 2) + b3)


def adversarial(ops: Any, parameters: list[Any], real: Any, noise: Any) -> Any:
    """The losses of both networks of a DCGAN, each of which moves its own parameters."""
    judge, maker = parameters[:7], parameters[7:]
    made = _made(ops, maker, noise)
    told = ops.decided(_real(ops, judge, real), 1.0)
    told = told + ops.decided(_real(ops, judge, ops.stop(made)), 0.0)
    fixed = [ops.stop(p) for p in judge]
    return told + ops.decided(_real(ops, fixed, made), 1.0)


def lstm_loop(ops: Any, parameters: list[Any], xs: Any, digits: Any) -> Any:
    w, b, out, bias = parameters
    n = out.shape[0]

    def step(state: Any, x: Any) -> Any:
        c, h = state
        z = ops.matmul(ops.concat([x, h]), w) + b
        gate, new, forget, shown = (z[:, i * n : (i + 1) * n] for i in range(4))
        c = ops.sigmoid(forget + 1.0) * c + ops.sigmoid(gate) * ops.tanh(new)
        return c, ops.sigmoid(shown) * ops.tanh(c)

    zeros = ops.zeros((xs.shape[1], n))
    return ops.cross_entropy(ops.matmul(ops.scan(step, (zeros, zeros), xs)[1], out) + bias, digits)


def gru_loop(ops: Any, parameters: list[Any], xs: Any, digits: Any) -> Any:
    gates, gate_bias, w, b, out, bias = parameters
    n = out.shape[0]

    def step(state: Any, x: Any) -> Any:
        (h,) = state
        z = ops.sigmoid(ops.matmul(ops.concat([x, h]), gates) + gate_bias)
        reset, keep = z[:, :n], z[:, n:]
        new = ops.tanh(ops.matmul(ops.concat([x, reset * h]), w) + b)
        return (keep * h + (1.0 - keep) * new,)

    zeros = ops.zeros((xs.shape[1], n))
    return ops.cross_entropy(ops.matmul(ops.scan(step, (zeros,), xs)[0], out) + bias, digits)
