"""`jax_function` and `from_jax`: differentiable calls between pullback and JAX.

JAX's gradients of complex numbers are the conjugates of those of pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import numpy_function
from ._flat import Flat, FlatFunction, check_function, is_floating, library, shared, vjp_of


def jax_function(f: Callable[..., Any], /) -> Callable[..., Any]:
    """Return a function of JAX arrays that computes `f` and its gradients by pullback.

    It may be used in `jax.jit`, `jax.vmap` and, for every order, in reverse mode (`jax.grad`). It
    is a `jax.custom_vjp` with a `jax.pure_callback`, so forward mode is not available. Arguments
    share the memory of the arrays of JAX; results are copied into memory of JAX.

    Parameters
    ----------
    f : callable
        Function of tensors that returns a Tensor or a pytree of Tensors. It must return the same
        values for the same arguments, and is also called with zeros to find the shapes and dtypes
        of its results: these must not depend on values.

    Returns
    -------
    callable
        Function of JAX arrays, or of pytrees of them, in place of the tensors.

    Raises
    ------
    ImportError
        If JAX cannot be imported.
    TypeError
        If `f` is not callable. At the call: if `f` returns something else than tensors of pullback,
        or if a result has 64 bits and JAX is not configured for them.

    See Also
    --------
    from_jax, torch_function

    Examples
    --------
    >>> import jax  # doctest: +SKIP
    >>> f = pb.interop.jax_function(lambda x: pb.sum(x**3))  # doctest: +SKIP
    >>> jax.grad(f)(jax.numpy.array([1.0, 2.0]))  # doctest: +SKIP
    Array([ 3., 12.], dtype=float32)
    """
    who = "jax_function"
    check_function(f, who)
    jax = library("jax", who)

    @wraps(f)
    def call(*args: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)

        def unflatten(tensors: Sequence[Any]) -> Any:
            return jax.tree.unflatten(structure, tensors)

        flat = FlatFunction(f, unflatten, who)
        results = _call(flat, jax)(*map(jax.numpy.asarray, leaves))
        return _core.unflatten(flat.structure, list(results))

    return call


def _call(f: Flat, jax: Any) -> Any:
    """Return the function of JAX arrays that calls `f`, with its rule."""

    def types(xs: Sequence[Any]) -> tuple[Any, ...]:
        results = f(*[_core.full(x.shape, 0, np.dtype(x.dtype)) for x in xs])
        for y in results:
            _check_bits(y.dtype, jax, "jax_function")
        return tuple(jax.ShapeDtypeStruct(y.shape, y.dtype) for y in results)

    def on_host(*arrays: Any) -> tuple[Any, ...]:
        inputs = [shared(np.asarray(a), "jax_function") for a in arrays]
        return tuple(y.numpy() for y in f(*inputs))

    def run(*xs: Any) -> Any:
        return jax.pure_callback(on_host, types(xs), *xs, vmap_method="sequential")

    def forward(*xs: Any) -> Any:
        return with_rule(*xs), xs

    def backward(xs: Any, cotangents: Any) -> Any:
        at = [k for k, x in enumerate(xs) if is_floating(x)]
        answers: list[Any] = [None] * len(xs)
        seeds = [g for g in cotangents if is_floating(g)]
        if at and seeds:
            found = _call(vjp_of(f, len(xs), at, conjugate=True), jax)(*xs, *seeds)
            for k, g in zip(at, found, strict=True):
                answers[k] = g
        return tuple(answers)

    with_rule: Any = jax.custom_vjp(run)
    with_rule.defvjp(forward, backward)
    return with_rule


def _check_bits(dtype: Any, jax: Any, who: str) -> None:
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise TypeError(
            f"{who}: expected arrays of at most 32 bits, got {dtype}; convert them, or call "
            "jax.config.update('jax_enable_x64', True)"
        )


def from_jax(f: Callable[..., Any], /) -> Callable[..., Any]:
    """Return a differentiable function of tensors that computes `f` by JAX.

    `f` is called when the result is evaluated, and again for its gradient; `jax.eval_shape` finds
    the shapes and dtypes of its results. Gradients of every order pass through it in reverse mode.
    Arrays that `f` refers to are constants. Arguments and results are copied.

    Parameters
    ----------
    f : callable
        Function of JAX arrays that returns an array, or a tuple or list of arrays. It may be
        compiled by `jax.jit`.

    Returns
    -------
    callable
        Function of array_like arguments that returns a Tensor, or a tuple of Tensors for several
        results.

    Raises
    ------
    ImportError
        If JAX cannot be imported.
    TypeError
        If `f` is not callable. At the call: if an argument has 64 bits and JAX is not configured
        for them.

    See Also
    --------
    jax_function, from_torch, numpy_function

    Examples
    --------
    >>> import jax  # doctest: +SKIP
    >>> f = pb.interop.from_jax(jax.numpy.sinc)  # doctest: +SKIP
    >>> pb.grad(f)(0.5)  # doctest: +SKIP
    Tensor(-1.2732, dtype=float32)
    """
    check_function(f, "from_jax")
    return _operation(f, library("jax", "from_jax"))


def _operation(f: Callable[..., Any], jax: Any) -> Callable[..., Any]:
    def out(*xs: Any) -> Any:
        for x in xs:
            _check_bits(x.dtype, jax, "from_jax")
        made = jax.eval_shape(f, *[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in xs])
        return list(made) if isinstance(made, (tuple, list)) else made

    @wraps(f)
    def of_arrays(*arrays: Any) -> Any:
        results = f(*map(jax.numpy.asarray, arrays))
        if isinstance(results, (tuple, list)):
            return list(map(np.asarray, results))
        return np.asarray(results)

    def rule(primals: tuple[Any, ...], upstream: tuple[Any, ...]) -> list[Any]:
        at = [k for k, x in enumerate(primals) if is_floating(x)]
        answers: list[Any] = [None] * len(primals)
        if at:
            derivative = _jax_vjp(f, len(primals), at, jax)
            for k, g in zip(at, _operation(derivative, jax)(*primals, *upstream), strict=True):
                answers[k] = g
        return answers

    return numpy_function(of_arrays, out, vjp=rule)


def _jax_vjp(f: Callable[..., Any], count: int, at: Sequence[int], jax: Any) -> Any:
    def derivative(*arrays: Any) -> list[Any]:
        inputs, cotangents = list(arrays[:count]), arrays[count:]

        def floating(*xs: Any) -> list[Any]:
            for k, x in zip(at, xs, strict=True):
                inputs[k] = x
            results = f(*inputs)
            ys = results if isinstance(results, (tuple, list)) else [results]
            return [y for y in ys if is_floating(y)]

        _, pullback = jax.vjp(floating, *[inputs[k] for k in at])
        seeds = [jax.numpy.conj(g) for g in cotangents if is_floating(g)]
        return [jax.numpy.conj(g) for g in pullback(seeds)]

    return derivative
