"""The layers of training_programs.py in each library: `layers("jax")`.

Images are (batch, rows, columns, channels), filters (3, 3, channels, outputs), sequences (steps,
batch, width).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def layers(library: str) -> Any:
    """Return the layers of pullback, jax or torch."""
    return {"pullback": _pullback, "jax": _jax, "torch": _torch}[library]()


def _pullback() -> Any:
    import pullback as pb

    def slopes(loss: Any, parameters: list[Any], *inputs: Any) -> Any:
        return pb.value_and_grad(loss)(parameters, *inputs)

    return SimpleNamespace(
        xp=pb,
        slopes=slopes,
        each_slopes=pb.per_example_gradients,
        embedding=pb.nn.embedding,
        layer_norm=pb.nn.layer_norm,
        gelu=pb.nn.gelu,
        relu=pb.nn.relu,
        silu=pb.nn.silu,
        attention=lambda q, k, v: pb.nn.scaled_dot_product_attention(q, k, v, is_causal=True),
        cross_entropy=lambda z, k: pb.mean(pb.nn.sparse_softmax_cross_entropy(z, k)),
        sigmoid_cross_entropy=lambda z, y: pb.mean(pb.nn.sigmoid_cross_entropy(z, y)),
        lstm=lambda x, zero, *weights: pb.nn.lstm(x, (zero, zero), *weights)[0],
        conv=lambda x, w, b: pb.nn.conv2d(x, w, b, padding="SAME"),
        max_pool=lambda x: pb.nn.max_pool(x, 2),
        upsample=lambda x: pb.nn.upsample(x, 2),
    )


def _jax() -> Any:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def slopes(loss: Any, parameters: list[Any], *inputs: Any) -> Any:
        return jax.value_and_grad(loss)(parameters, *inputs)

    def each_slopes(loss: Any, parameters: list[Any], batch: Any) -> Any:
        return jax.vmap(jax.grad(loss), (None, 0))(parameters, batch)

    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * scale + shift

    def attention(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
        return jax.nn.dot_product_attention(q, k, v, is_causal=True).swapaxes(1, 2)

    def cross_entropy(z: Any, k: Any) -> Any:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), k[..., None], -1))

    def sigmoid_cross_entropy(z: Any, y: Any) -> Any:
        return jnp.mean(jax.nn.softplus(z) - z * y)

    def lstm(x: Any, zero: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        def step(state: Any, inputs: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(inputs + h @ w_hh.T, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        return lax.scan(step, (zero, zero), x @ w_ih.T + b_ih + b_hh)[1]

    def conv(x: Any, w: Any, b: Any) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names) + b

    def max_pool(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return SimpleNamespace(
        xp=jnp,
        slopes=slopes,
        each_slopes=each_slopes,
        embedding=lambda table, rows: table[rows],
        layer_norm=layer_norm,
        gelu=lambda x: jax.nn.gelu(x, approximate=False),
        relu=jax.nn.relu,
        silu=jax.nn.silu,
        attention=attention,
        cross_entropy=cross_entropy,
        sigmoid_cross_entropy=sigmoid_cross_entropy,
        lstm=lstm,
        conv=conv,
        max_pool=max_pool,
        upsample=lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2),
    )


def _torch() -> Any:
    import torch
    from torch.nn import functional

    def slopes(loss: Any, parameters: list[Any], *inputs: Any) -> Any:
        if torch.compiler.is_compiling():  # it cannot compile the other form
            return torch.func.grad_and_value(loss)(parameters, *inputs)[::-1]
        parameters = [p.detach().requires_grad_() for p in parameters]
        value = loss(parameters, *inputs)
        return value.detach(), torch.autograd.grad(value, parameters)

    def each_slopes(loss: Any, parameters: list[Any], batch: Any) -> Any:
        return torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, batch)

    def on_channels(f: Any) -> Any:
        """Return `f`, which takes (batch, channels, rows, columns), for images of this module."""
        return lambda x, *rest: f(x.permute(0, 3, 1, 2), *rest).permute(0, 2, 3, 1)

    def lstm(x: Any, zero: Any, *weights: Any) -> Any:
        state = (zero[None], zero[None])
        return torch.lstm(x, state, weights, True, 1, 0.0, True, False, False)[0]

    def conv(x: Any, w: Any, b: Any) -> Any:
        return functional.conv2d(x, w.permute(3, 2, 0, 1).contiguous(), b, padding=1)

    return SimpleNamespace(
        xp=torch,
        slopes=slopes,
        each_slopes=each_slopes,
        embedding=lambda table, rows: functional.embedding(rows, table),
        layer_norm=lambda x, scale, shift: functional.layer_norm(x, x.shape[-1:], scale, shift),
        gelu=functional.gelu,
        relu=torch.relu,
        silu=functional.silu,
        attention=lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        cross_entropy=lambda z, k: functional.cross_entropy(z.flatten(0, -2), k.flatten()),
        sigmoid_cross_entropy=functional.binary_cross_entropy_with_logits,
        lstm=lstm,
        conv=on_channels(conv),
        max_pool=on_channels(lambda x: functional.max_pool2d(x, 2)),
        upsample=on_channels(lambda x: functional.interpolate(x, scale_factor=2)),
    )
