"""Single operations of the vocabulary, each in one call: scans, sorts, special functions, rows
gathered and scattered, masks, narrow and complex numbers. Values, and of most the gradient of the
sum of the result's cubes, which is another at every entry.

A new row is an entry of OPERATIONS. `call` is what pullback, jax.numpy and NumPy spell alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Make, Row

MILLION = 1_000_000


@dataclass(frozen=True)
class Operation:
    about: str
    draw: Callable[[Any, bool], list[Any]]  # of a random generator and `small`: NumPy arrays
    call: Callable[..., Any]  # of the library's namespace and the arrays
    torch: Callable[..., Any] | None = None  # where torch spells it differently
    gradient: bool = False  # by the first array
    dtype: str = ""  # what the arrays are made into, where that is none of NumPy's
    sized: bool = True  # False: the result's shape depends on values, so nothing compiles it
    tolerance: float = 1e-3


def _normal(random: Any, small: bool, *shape: int, dtype: Any = np.float32) -> Any:
    cut = [min(n, 64) if small else n for n in shape]
    return random.standard_normal(cut).astype(dtype)


def _vector(random: Any, small: bool) -> list[Any]:
    return [_normal(random, small, MILLION)]


def _rows(random: Any, small: bool) -> list[Any]:
    """A table and which of its rows are taken, each some five times."""
    table = _normal(random, small, 10_000, 64)
    return [table, random.integers(0, len(table), 5 * len(table))]


def _complex(random: Any, small: bool) -> list[Any]:
    return [
        (_normal(random, small, MILLION) + 1j * _normal(random, small, MILLION)).astype("complex64")
        for _ in range(2)
    ]


def _bytes(random: Any, small: bool) -> list[Any]:
    size = 64 if small else 4 * MILLION
    return [random.integers(-100, 100, size).astype(np.int8) for _ in range(2)]


def special_function(name: str) -> Callable[..., Any]:
    """A function of pullback.special, jax.scipy.special or SciPy."""

    def call(xp: Any, x: Any) -> Any:
        if xp.__name__ == "pullback":
            return getattr(xp.special, name)(x)
        if xp is np:
            from scipy import special
        else:
            from jax.scipy import special
        return getattr(special, name)(x)

    return call


def _layer_norm(xp: Any, x: Any) -> Any:
    if xp.__name__ == "pullback":
        return xp.nn.layer_norm(x)
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(xp.square(centred), axis=-1, keepdims=True)
    return centred / xp.sqrt(variance + 1e-5)


def _torch_layer_norm(torch: Any, x: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _picture(random: Any, small: bool, *weights: int) -> list[Any]:
    """Pictures as inside of a ResNet, and weights of shape (height, width, in / groups, out)."""
    batch, side = (2, 8) if small else (32, 56)
    x = random.standard_normal((batch, side, side, 64)).astype(np.float32)
    return [x, *([random.standard_normal(weights).astype(np.float32) / 24] if weights else [])]


def _conv(xp: Any, x: Any, w: Any) -> Any:
    """Padded so that the lengths stay, in as many groups as the shapes say."""
    groups = x.shape[-1] // w.shape[2]
    if xp.__name__ == "pullback":
        return xp.nn.conv2d(x, w, padding="SAME", groups=groups)
    if xp is np:
        wide = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
        seen = np.lib.stride_tricks.sliding_window_view(wide, w.shape[:2], (1, 2))
        if groups > 1:
            return np.einsum("nhwcij,ijc->nhwc", seen, w[:, :, 0])
        return np.tensordot(seen, w, ((4, 5, 3), (0, 1, 2)))
    from jax import lax

    names = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=names, feature_group_count=groups
    )


def _torch_conv(torch: Any, x: Any, w: Any) -> Any:
    groups = x.shape[-1] // w.shape[2]
    x, w = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)
    return torch.nn.functional.conv2d(x, w, padding=1, groups=groups).permute(0, 2, 3, 1)


def _pool(xp: Any, x: Any) -> Any:
    """Of windows of 3×3, two apart."""
    if xp.__name__ == "pullback":
        return xp.nn.max_pool(x, 3, stride=2)
    if xp is np:
        seen = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
        return seen[:, ::2, ::2].max((-2, -1))
    from jax import lax

    return lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")


def _torch_pool(torch: Any, x: Any) -> Any:
    pooled = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2)
    return pooled.permute(0, 2, 3, 1)


def _narrow(xp: Any, x: Any, y: Any) -> Any:
    return xp.tanh(x * y + 0.5) * x - y


def _of_bytes(xp: Any, x: Any, y: Any) -> Any:
    return (x + y) * x - (x & y)


def _of_complex(xp: Any, x: Any, y: Any) -> Any:
    return xp.exp(x * y) / (1.5 + y)


def _halves(random: Any, small: bool) -> list[Any]:
    return [_normal(random, small, MILLION) for _ in range(2)]


def _cubes(result: Any) -> Any:
    return (result * result * result).sum()


def _signals(random: Any, small: bool) -> list[Any]:
    return [_normal(random, small, MILLION), _normal(random, small, 10_000)]


def _by_transforms(xp: Any, x: Any, y: Any) -> Any:
    n = 1_012_500 if x.shape[0] == MILLION else 128
    return xp.fft.irfft(xp.fft.rfft(x, n) * xp.fft.rfft(y, n), n)


def _image(random: Any, small: bool, *shape: int) -> list[Any]:
    parts = [_normal(random, small, *shape) for _ in range(2)]
    return [(parts[0] + 1j * parts[1]).astype("complex64")]


OPERATIONS = {
    "fft": Operation(
        "Fourier transform of 2²⁰ complex64",
        lambda random, small: _image(random, small, 1 << 20),
        lambda xp, z: xp.fft.fft(z),
    ),
    "fft2": Operation(
        "Fourier transform of 512×512 complex64",
        lambda random, small: _image(random, small, 512, 512),
        lambda xp, z: xp.fft.fft2(z),
    ),
    "power": Operation(
        "power spectrum of 2²⁰ float32",
        lambda random, small: [_normal(random, small, 1 << 20)],
        lambda xp, x: xp.abs(xp.fft.rfft(x, norm="ortho")) ** 2,
        gradient=True,
    ),
    "fftconvolve": Operation(
        "convolution of 10⁶ by 10⁴ float32 by transforms",
        _signals,
        _by_transforms,
        gradient=True,
    ),
    "layer-norm-call": Operation(
        "layer norm of 2048×1024 float32 by one call",
        lambda random, small: [_normal(random, small, 2048, 1024)],
        _layer_norm,
        _torch_layer_norm,
        gradient=True,
    ),
    "variance": Operation(
        "variance of 4096×1024 float32 over axis 0",
        lambda random, small: [_normal(random, small, 4096, 1024)],
        lambda xp, x: xp.var(x, axis=0),
        lambda torch, x: torch.var(x, 0, correction=0),
        gradient=True,
    ),
    "conv2d": Operation(
        "convolution of 32×56×56×64 with 64 filters of 3×3, float32",
        lambda random, small: _picture(random, small, 3, 3, 64, 64),
        _conv,
        _torch_conv,
        gradient=True,
    ),
    "conv2d-weights": Operation(
        "convolution of 32×56×56×64 with 64 filters of 3×3, float32, by the weights",
        lambda random, small: _picture(random, small, 3, 3, 64, 64)[::-1],
        lambda xp, w, x: _conv(xp, x, w),
        lambda torch, w, x: _torch_conv(torch, x, w),
        gradient=True,
    ),
    "conv2d-depthwise": Operation(
        "depthwise convolution of 32×56×56×64 with 3×3, float32",
        lambda random, small: _picture(random, small, 3, 3, 1, 64),
        _conv,
        _torch_conv,
        gradient=True,
    ),
    "max-pool": Operation(
        "largest of windows of 3×3, two apart, of 32×56×56×64 float32",
        _picture,
        _pool,
        _torch_pool,
        gradient=True,
    ),
    "cumsum": Operation(
        "cumulative sum of 1000×1000 float32 over its last axis",
        lambda random, small: [_normal(random, small, 1000, 1000)],
        lambda xp, x: xp.cumsum(x, axis=-1),
        lambda torch, x: torch.cumsum(x, -1),
        gradient=True,
    ),
    "sort": Operation(
        "sort of 10⁶ float32",
        _vector,
        lambda xp, x: xp.sort(x),
        lambda torch, x: torch.sort(x).values,
        gradient=True,
    ),
    "gather": Operation(
        "50 000 rows of 64 taken of 10 000, float32",
        _rows,
        lambda xp, table, rows: xp.take(table, rows, axis=0),
        lambda torch, table, rows: torch.index_select(table, 0, rows),
        gradient=True,  # a scatter with repeated rows
    ),
    "erf": Operation(
        "erf of 10⁶ float32",
        _vector,
        special_function("erf"),
        lambda torch, x: torch.erf(x),
        gradient=True,
    ),
    "gammaln": Operation(
        "gammaln of 10⁶ float32 between 0 and 10",
        lambda random, small: [np.abs(3 * _normal(random, small, MILLION)) + np.float32(0.01)],
        special_function("gammaln"),
        lambda torch, x: torch.lgamma(x),
        gradient=True,
    ),
    "float16": Operation(
        "tanh(x y + 1/2) x - y, 10⁶ float16", _halves, _narrow, dtype="float16", tolerance=0.03
    ),
    "bfloat16": Operation(
        "tanh(x y + 1/2) x - y, 10⁶ bfloat16", _halves, _narrow, dtype="bfloat16", tolerance=0.2
    ),
    "complex": Operation("exp(x y) / (1.5 + y), 10⁶ complex64", _complex, _of_complex),
    "mask": Operation(
        "x[x > 0], 10⁶ float32", _vector, lambda xp, x: x[x > 0], gradient=True, sized=False
    ),
    "int8": Operation("(x + y) x - (x & y), 4·10⁶ int8", _bytes, _of_bytes),
}


def _numbers(result: Any) -> list[float]:
    """Of a value, or a gradient, what a permutation or another rounding hardly changes."""
    values = np.asarray(result)
    if values.dtype.kind in "iu":
        return [float(values.astype(np.int64).sum())]
    flat = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    return [float(flat.mean()), float(np.sqrt((flat * flat).mean()))]


def _arrays(operation: Operation, small: bool) -> list[Any]:
    return operation.draw(np.random.default_rng(0), small)


def _pullback(operation: Operation, gradient: bool, small: bool) -> Case:
    import pullback as pb

    inputs = [pb.constant(x) for x in _arrays(operation, small)]
    if operation.dtype:
        inputs = [pb.astype(x, operation.dtype) for x in inputs]
    f = partial(operation.call, pb)
    if gradient:
        f = pb.grad(lambda *inputs: _cubes(operation.call(pb, *inputs)))
    if operation.sized:
        f = pb.function(f)

    def run() -> Any:
        result = f(*inputs)
        pb.evaluate(result)
        return result

    return Case(run, check=lambda result: _numbers(pb.astype(result, "float64") if operation.dtype
                                                   else result))  # fmt: skip


def _torch(operation: Operation, gradient: bool, compiled: bool, small: bool) -> Case:
    import torch

    inputs = [torch.from_numpy(x) for x in _arrays(operation, small)]
    if operation.dtype:
        inputs = [x.to(getattr(torch, operation.dtype)) for x in inputs]
    inputs[0].requires_grad_(gradient)
    call = partial(operation.torch or operation.call, torch)

    f = (lambda *inputs: _cubes(call(*inputs))) if gradient else call
    if compiled:
        f = torch.compile(f)

    def run() -> Any:
        result = f(*inputs)
        return torch.autograd.grad(result, inputs[:1])[0] if gradient else result

    return Case(run, check=lambda result: _numbers(result.double() if operation.dtype else result))


def _jax(operation: Operation, gradient: bool, small: bool) -> Case:
    import jax
    import jax.numpy as jnp

    inputs = [jnp.asarray(x, operation.dtype or None) for x in _arrays(operation, small)]
    f = partial(operation.call, jnp)
    if gradient:
        f = jax.grad(lambda *inputs: _cubes(operation.call(jnp, *inputs)))
    if operation.sized:
        f = jax.jit(f)
    return Case(
        lambda: jax.block_until_ready(f(*inputs)),
        check=lambda result: _numbers(result.astype("float32") if operation.dtype else result),
    )


def _numpy(operation: Operation, small: bool) -> Case:
    inputs = _arrays(operation, small)
    if operation.dtype:
        inputs = [x.astype(operation.dtype) for x in inputs]
    return Case(partial(operation.call, np, *inputs), check=_numbers)


def case_of(library: str, operation: Operation, gradient: bool, small: bool) -> Case:
    """The operation by a library: pullback and jax compiled, torch not."""
    if library == "torch":
        return _torch(operation, gradient, False, small)
    if library == "numpy":
        return _numpy(operation, small)
    return (_pullback if library == "pullback" else _jax)(operation, gradient, small)


def _row(operation: Operation, gradient: bool) -> Row:
    make: dict[tuple[str, str], Make] = {}
    make["pullback", "function" if operation.sized else "lazy"] = partial(
        _pullback, operation, gradient
    )
    make["torch", "eager"] = partial(_torch, operation, gradient, False)
    if operation.sized:
        make["torch", "compile"] = partial(_torch, operation, gradient, True)
    make["jax", "jit" if operation.sized else "eager"] = partial(_jax, operation, gradient)
    if not gradient and operation.dtype != "bfloat16":  # which NumPy has not
        make["numpy", ""] = partial(_numpy, operation)
    return Row(
        operation.about + (", the gradient of its cubes" if gradient else ""),
        "µs",
        make,
        slow=frozenset({("torch", "compile")}) & {*make},
        tolerance=operation.tolerance,
        goal=Goal(1.0, (*PEERS, "numpy"), "function" if operation.sized else "lazy"),
    )


def rows_of(operations: dict[str, Operation]) -> dict[str, Row]:
    return {
        name + ("-gradient" if gradient else ""): _row(operation, gradient)
        for name, operation in operations.items()
        for gradient in ((False, True) if operation.gradient else (False,))
    }


ROWS = rows_of(OPERATIONS)
