"""`torch_function` and `from_torch`: differentiable calls between pullback and PyTorch.

A tensor of PyTorch on the CPU is passed to pullback without a copy; PyTorch's own check of saved
tensors reports that it was modified before its gradient. What goes to PyTorch is copied, since
PyTorch may modify it in place. Both libraries have the same convention for gradients of complex
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any

from .. import _core
from .._autodiff.callback import numpy_function
from .._autodiff.vjp import vjp
from ._flat import (
    FlatFunction,
    check_function,
    floating_results,
    is_floating,
    library,
    shared,
    vjp_of,
)


def torch_function(f: Callable[..., Any], /) -> Callable[..., Any]:
    """Return a function of PyTorch tensors that computes `f` and its gradients by pullback.

    Gradients of every order pass through it in reverse mode (`torch.autograd.Function`). Results
    are on the device of the first tensor among the arguments.

    The tensors that `f` receives share the memory of contiguous tensors on the CPU, so `f` must not
    store them, for example in a variable. Results are copied. An argument that is modified in place
    before its gradient is computed is an error, as for functions of PyTorch; a modification
    through `.data` is not noticed.

    Parameters
    ----------
    f : callable
        Function of tensors that returns a Tensor or a pytree of Tensors. It must return the same
        values for the same arguments: derivatives of second and higher order call it again.

    Returns
    -------
    callable
        Function of the same arguments, in which tensors of PyTorch take the place of tensors of
        pullback, also inside of pytrees. Other arguments are passed as they are.

    Raises
    ------
    ImportError
        If PyTorch cannot be imported.
    TypeError
        If `f` is not callable. At the call: if `f` returns something else than tensors of pullback,
        or if no argument is a tensor of PyTorch.

    See Also
    --------
    from_torch, jax_function

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> f = pb.interop.torch_function(lambda x: pb.sum(x**3))  # doctest: +SKIP
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)  # doctest: +SKIP
    >>> f(x).backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([ 3., 12.])
    """
    who = "torch_function"
    check_function(f, who)
    torch = library("torch", who)

    @wraps(f)
    def call(*args: Any) -> Any:
        leaves, structure = _core.flatten(args)
        at = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        if not at:
            raise TypeError(f"{who}: expected at least one tensor of PyTorch among the arguments")

        def unflatten(tensors: Sequence[Any]) -> Any:
            whole = list(leaves)
            for k, x in zip(at, tensors, strict=True):
                whole[k] = x
            return _core.unflatten(structure, whole)

        flat = FlatFunction(f, unflatten, who)
        results = _function_class().apply(flat, *[leaves[k] for k in at])
        return _core.unflatten(flat.structure, list(results))

    return call


@lru_cache(None)
def _function_class() -> Any:
    """Return the subclass of torch.autograd.Function, which exists once PyTorch is imported."""
    torch = library("torch", "torch_function")
    base: Any = torch.autograd.Function

    class PullbackFunction(base):  # type: ignore[misc]
        """A call of a function of flat tensors."""

        @staticmethod
        def forward(ctx: Any, f: Any, *tensors: Any) -> Any:
            inputs = [_from_torch_tensor(t) for t in tensors]
            at = [k for k, x in enumerate(inputs) if is_floating(x) and ctx.needs_input_grad[k + 1]]
            ctx.f, ctx.at, ctx.pullback = f, at, None
            # The pullback belongs to the call whose values are returned.
            calls: list[Any] = []

            def recorded(*xs: Any) -> Any:
                calls.append(f(*xs))
                return calls[-1]

            if at:
                some = floating_results(recorded, inputs, at)
                _, ctx.pullback = vjp(some, *[inputs[k] for k in at])
            else:
                recorded(*inputs)
            (results,) = calls
            made = tuple(torch.tensor(y.numpy(), device=tensors[0].device) for y in results)
            ctx.floating = [k for k, y in enumerate(results) if is_floating(y)]
            ctx.mark_non_differentiable(*[t for k, t in enumerate(made) if k not in ctx.floating])
            ctx.save_for_backward(*tensors)
            return made

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            tensors, seeds = ctx.saved_tensors, [cotangents[k] for k in ctx.floating]
            if torch.is_grad_enabled():
                derivative = vjp_of(ctx.f, len(tensors), ctx.at)
                found = PullbackFunction.apply(derivative, *tensors, *seeds)
            else:
                found = ctx.pullback(tuple(_from_torch_tensor(g) for g in seeds))
                found = [torch.tensor(g.numpy(), device=tensors[0].device) for g in found]
            answers: list[Any] = [None] * (1 + len(tensors))
            for k, g in zip(ctx.at, found, strict=True):
                answers[k + 1] = g
            return tuple(answers)

    return PullbackFunction


def _from_torch_tensor(t: Any) -> Any:
    return shared(t.detach().resolve_conj().resolve_neg().cpu().numpy(), "torch_function")


def from_torch(f: Callable[..., Any], /, out: Any) -> Callable[..., Any]:
    """Return a differentiable function of tensors that computes `f` by PyTorch.

    `f` is called when the result is evaluated, and again for its gradient, on the CPU. Gradients of
    every order pass through it in reverse mode. Parameters that `f` refers to, such as those of a
    `torch.nn.Module`, are constants; pass them as arguments (`torch.func.functional_call`).
    Arguments and results are copied once.

    Parameters
    ----------
    f : callable
        Function of PyTorch tensors that returns a tensor, or a tuple or list of tensors.
    out : object or callable
        Shape and dtype of the result, as in `numpy_function`.

    Returns
    -------
    callable
        Function of array_like arguments that returns a Tensor, or a tuple of Tensors for several
        results.

    Raises
    ------
    ImportError
        If PyTorch cannot be imported.
    TypeError
        If `f` is not callable, or if `out` is invalid. When the result is evaluated: if it has
        another dtype than `out`.
    ValueError
        When the result is evaluated: if it has another shape than `out`.

    See Also
    --------
    torch_function, from_jax, numpy_function

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> f = pb.interop.from_torch(torch.special.erfcx, out=lambda x: x)  # doctest: +SKIP
    >>> pb.grad(f)(1.0)  # doctest: +SKIP
    Tensor(-0.2732, dtype=float32)
    """
    check_function(f, "from_torch")
    return _operation(f, out, library("torch", "from_torch"))


def _operation(f: Callable[..., Any], out: Any, torch: Any) -> Callable[..., Any]:
    @wraps(f)
    def of_arrays(*arrays: Any) -> Any:
        for array in arrays:  # copies of this call, which f may modify in place
            array.flags.writeable = True
        with torch.no_grad():
            results = f(*map(torch.from_numpy, arrays))
        if isinstance(results, (tuple, list)):
            return [y.detach().resolve_conj().resolve_neg().numpy() for y in results]
        return results.detach().resolve_conj().resolve_neg().numpy()

    def rule(primals: tuple[Any, ...], upstream: tuple[Any, ...]) -> list[Any]:
        at = [k for k, x in enumerate(primals) if is_floating(x)]
        answers: list[Any] = [None] * len(primals)
        if at:
            derivative = _torch_vjp(f, len(primals), at, torch)
            found = _operation(derivative, [primals[k] for k in at], torch)(*primals, *upstream)
            for k, g in zip(at, found, strict=True):
                answers[k] = g
        return answers

    return numpy_function(of_arrays, out, vjp=rule)


def _torch_vjp(f: Callable[..., Any], count: int, at: Sequence[int], torch: Any) -> Any:
    def derivative(*tensors: Any) -> list[Any]:
        inputs, cotangents = list(tensors[:count]), tensors[count:]
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            for k in at:
                if not inputs[k].requires_grad:
                    inputs[k] = inputs[k].detach().requires_grad_()
            # f may modify its arguments in place, which leaves of the graph do not allow.
            results = f(*[x.clone() for x in inputs])
            ys = results if isinstance(results, (tuple, list)) else [results]
            pairs = [(y, g) for y, g in zip(ys, cotangents, strict=True) if y.requires_grad]
            wanted = [inputs[k] for k in at]
            if not pairs:
                return [torch.zeros_like(x) for x in wanted]
            found = torch.autograd.grad(
                [y for y, _ in pairs], wanted, [g for _, g in pairs],
                create_graph=again, allow_unused=True,
            )  # fmt: skip
            return [
                torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)
            ]

    return derivative
