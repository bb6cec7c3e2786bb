"""Derivatives beyond a gradient: a Jacobian, a Hessian, products with one, gradients by example.

A new row is an entry of TASKS: `draw` makes NumPy arrays, and a function for each library takes its
own arrays of these. What a library does best is compiled as a whole where it can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .case import CPP_MOST, PEERS, Case, Goal, Make, Row


@dataclass(frozen=True)
class Task:
    about: str
    draw: Callable[[Any, bool], list[Any]]  # of a random generator and `small`
    pullback: Callable[..., Any]  # of the arrays; so are those of the others
    jax: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    autograd: Callable[..., Any] | None = None
    numpy: Callable[..., Any] | None = None
    # A function of bench/native/by_hand, and of the arrays the sizes and the results that it takes.
    cpp: tuple[str, Callable[..., tuple[list[int], list[Any]]]] | None = None
    tolerance: float = 1e-3
    # The result is a loss and the first arrays, so many, after a step: their moves are compared.
    moved: int = 0


# --- a network of two hidden layers: its parameters, a direction for these, a batch


def _network(random: Any, small: bool) -> list[Any]:
    sizes = [20, 8, 8, 10] if small else [784, 256, 256, 10]
    rows = 4 if small else 128

    def draw(*shape: int) -> Any:
        return random.standard_normal(shape).astype(np.float32) * np.float32(0.05)

    shapes = [shape for a, b in pairwise(sizes) for shape in ((a, b), (b,))]
    parameters = [draw(*shape) for shape in shapes]
    directions = [draw(*shape) for shape in shapes]
    return [*parameters, *directions, 20 * draw(rows, sizes[0]), random.integers(0, 10, rows)]


def _parts(arrays: Any) -> tuple[list[Any], list[Any], Any, Any]:
    return list(arrays[:6]), list(arrays[6:12]), arrays[12], arrays[13]


def _hidden(relu: Any, p: Any, x: Any) -> Any:
    return relu(relu(x @ p[0] + p[1]) @ p[2] + p[3]) @ p[4] + p[5]


def _loss_pullback(p: Any, example: Any) -> Any:
    import pullback as pb

    x, label = example
    return pb.mean(pb.sparse_softmax_cross_entropy(_hidden(pb.nn.relu, p, x), label))


def _loss_jax(p: Any, example: Any) -> Any:
    import jax
    import jax.numpy as jnp

    x, label = example
    logits = jax.nn.log_softmax(_hidden(jax.nn.relu, p, x))
    return -jnp.mean(jnp.take_along_axis(logits, label[..., None], -1))


def _loss_torch(p: Any, example: Any) -> Any:
    import torch

    x, label = example
    return torch.nn.functional.cross_entropy(_hidden(torch.relu, p, x), label)


def _loss_autograd(p: Any, example: Any) -> Any:
    import autograd.numpy as anp

    x, label = example
    z = _hidden(lambda x: anp.maximum(x, 0), p, x)
    z = z - anp.max(z, axis=1, keepdims=True)
    total = anp.log(anp.sum(anp.exp(z), axis=1))
    return anp.mean(total - z[np.arange(len(label)), label])


def _gradient_pullback(*arrays: Any) -> Any:
    import pullback as pb

    p, _, *example = _parts(arrays)
    return pb.grad(_loss_pullback)(p, example)


def _hvp_pullback(*arrays: Any) -> Any:
    import pullback as pb

    p, v, *example = _parts(arrays)
    return pb.hvp(lambda p: _loss_pullback(p, example), (p,), (v,))[0]


def _hvp_jax(*arrays: Any) -> Any:
    import jax

    p, v, *example = _parts(arrays)
    return jax.jvp(lambda p: jax.grad(_loss_jax)(p, example), (p,), (v,))[1]


def _hvp_torch(*arrays: Any) -> Any:
    from torch.func import grad, jvp

    p, v, *example = _parts(arrays)
    return jvp(lambda p: grad(_loss_torch)(p, example), (p,), (v,))[1]


def _hvp_autograd(*arrays: Any) -> Any:
    from autograd import grad

    p, v, *example = _parts(arrays)

    def moved(p: Any) -> Any:
        slopes = grad(_loss_autograd)(p, example)
        return sum((g * d).sum() for g, d in zip(slopes, v, strict=True))

    return grad(moved)(p)


def _each_pullback(norms: bool, *arrays: Any) -> Any:
    import pullback as pb

    p, _, *batch = _parts(arrays)
    each = pb.per_example_gradient_norms if norms else pb.per_example_gradients
    return each(_loss_pullback, p, batch)


def _each_jax(norms: bool, *arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    p, _, *batch = _parts(arrays)
    slopes = jax.vmap(jax.grad(_loss_jax), (None, 0))(p, batch)
    if not norms:
        return slopes
    return jnp.sqrt(sum(jnp.sum((g * g).reshape(len(g), -1), 1) for g in slopes))


def _each_torch(norms: bool, *arrays: Any) -> Any:
    from torch.func import grad, vmap

    p, _, *batch = _parts(arrays)
    slopes = vmap(grad(_loss_torch), (None, 0))(p, batch)
    if not norms:
        return slopes
    return sum((g * g).reshape(len(g), -1).sum(1) for g in slopes).sqrt()


# --- whole derivatives


def _matrix(random: Any, small: bool) -> list[Any]:
    rows, columns = (4, 10) if small else (100, 1000)
    return [random.standard_normal((rows, columns)) / 30, random.standard_normal(columns)]


def _jacobian_pullback(a: Any, x: Any) -> Any:
    import pullback as pb

    return pb.jacobian(lambda x: pb.tanh(a @ x))(x)


def _jacobian_jax(a: Any, x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.jacrev(lambda x: jnp.tanh(a @ x))(x)


def _jacobian_torch(a: Any, x: Any) -> Any:
    import torch

    return torch.func.jacrev(lambda x: torch.tanh(a @ x))(x)


def _jacobian_autograd(a: Any, x: Any) -> Any:
    import autograd
    import autograd.numpy as anp

    return autograd.jacobian(lambda x: anp.tanh(a @ x))(x)


def _jacobian_numpy(a: Any, x: Any) -> Any:
    return a * (1 - np.tanh(a @ x) ** 2)[:, None]


def _rosenbrock(x: Any) -> Any:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def _hessian_pullback(x: Any) -> Any:
    import pullback as pb

    return pb.hessian(_rosenbrock)(x)


def _hessian_jax(x: Any) -> Any:
    import jax

    return jax.hessian(_rosenbrock)(x)


def _hessian_torch(x: Any) -> Any:
    import torch

    return torch.func.hessian(_rosenbrock)(x)


def _hessian_autograd(x: Any) -> Any:
    import autograd

    return autograd.hessian(_rosenbrock)(x)


TASKS = {
    "mlp-gradient": Task(
        "gradient of the mlp 784-256-256-10, batch 128, float32, beside the rows below",
        _network,
        _gradient_pullback,
    ),
    "mlp-hvp": Task(
        "Hessian-vector product of the mlp 784-256-256-10, batch 128, float32",
        _network,
        _hvp_pullback,
        _hvp_jax,
        _hvp_torch,
        _hvp_autograd,
    ),
    "per-example-norms": Task(
        "norms of the gradients of each of the mlp's 128 examples",
        _network,
        partial(_each_pullback, True),
        partial(_each_jax, True),
        partial(_each_torch, True),
    ),
    "per-example-gradients": Task(
        "gradients of each of the mlp's 128 examples, 137 MB",
        _network,
        partial(_each_pullback, False),
        partial(_each_jax, False),
        partial(_each_torch, False),
    ),
    "jacobian": Task(
        "Jacobian of tanh(A x), 100×1000 float64",
        _matrix,
        _jacobian_pullback,
        _jacobian_jax,
        _jacobian_torch,
        _jacobian_autograd,
        _jacobian_numpy,
        tolerance=1e-7,
    ),
    "hessian": Task(
        "Hessian of Rosenbrock's function of 100 float64",
        lambda random, small: [random.standard_normal(8 if small else 100)],
        _hessian_pullback,
        _hessian_jax,
        _hessian_torch,
        _hessian_autograd,
        tolerance=1e-7,
    ),
}


def _numbers(result: Any) -> list[float]:
    if isinstance(result, (list, tuple)):
        return [number for part in result for number in _numbers(part)]
    return [float(np.abs(np.asarray(result, np.float64)).sum())]


def _check(task: Task, small: bool) -> Callable[[Any], list[float]]:
    if not task.moved:
        return _numbers
    before = _arrays(task, small)[: task.moved]

    def moves(result: Any) -> list[float]:
        loss, *after = result
        return _numbers([loss, *(np.asarray(a) - b for a, b in zip(after, before, strict=True))])

    return moves


def _arrays(task: Task, small: bool) -> list[Any]:
    return task.draw(np.random.default_rng(0), small)


def _pullback(task: Task, small: bool) -> Case:
    import pullback as pb

    arrays = [pb.constant(x) for x in _arrays(task, small)]
    f = pb.function(task.pullback)

    def run() -> Any:
        result = f(*arrays)
        pb.evaluate(result)
        return result

    return Case(run, check=_check(task, small))


def _jax(task: Task, small: bool) -> Case:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    arrays = [jnp.asarray(x) for x in _arrays(task, small)]
    assert task.jax is not None
    f = jax.jit(task.jax)
    return Case(lambda: jax.block_until_ready(f(*arrays)), check=_check(task, small))


def _torch(task: Task, compiled: bool, small: bool) -> Case:
    import torch

    arrays = [torch.from_numpy(np.array(x)) for x in _arrays(task, small)]
    assert task.torch is not None
    f = torch.compile(task.torch) if compiled else task.torch
    return Case(lambda: f(*arrays), check=_check(task, small))


def _with_numpy(call: Callable[..., Any], task: Task, small: bool) -> Case:
    arrays = _arrays(task, small)
    return Case(lambda: call(*arrays), check=_check(task, small))


def _cpp(task: Task, small: bool) -> Case:
    from .by_cpp import prepare

    arrays = _arrays(task, small)
    assert task.cpp is not None
    name, outputs_of = task.cpp
    sizes, results = outputs_of(*arrays)
    call = prepare(name, sizes, [*arrays, *results])
    return Case(lambda: (call(), results)[1], check=_numbers)


def row_of(task: Task, goal: Goal, compiled: bool = True) -> Row:
    make: dict[tuple[str, str], Make] = {("pullback", "function"): partial(_pullback, task)}
    if task.jax:
        make["jax", "jit"] = partial(_jax, task)
    if task.torch:
        make["torch", "eager"] = partial(_torch, task, False)
    if task.torch and compiled:
        make["torch", "compile"] = partial(_torch, task, True)
    if task.autograd:
        make["autograd", ""] = partial(_with_numpy, task.autograd, task)
    if task.numpy:
        make["numpy", "by hand"] = partial(_with_numpy, task.numpy, task)
    if task.cpp:
        make["C++", "by hand"] = partial(_cpp, task)
    return Row(
        task.about,
        "µs",
        make,
        slow=frozenset({("torch", "compile")}) & {*make},
        goal=goal if len(make) > 1 else None,
        cpp_most=CPP_MOST if task.cpp else None,
        tolerance=task.tolerance,
    )


ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
