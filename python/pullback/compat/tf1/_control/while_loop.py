"""while_loop, cond, case and switch_case.

In a graph `cond` and `body` are called once, and their records become the body of one operation
(body.py). In eager mode the loop is Python's; inside a `tf.function`, where tensors have no value
yet, it is the main namespace's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...._base.pytree import flatten_with_none as flatten
from ...._control import branches, loops
from .._graph import mode
from .._graph.create import argument_tensor, cast, convert_to_tensor, graph_of, scope_of
from .._graph.graph import _stack as modes
from .._graph.operation import Operation
from .._graph.shapes import TensorShape, as_dims, common_dims
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import as_core, as_eager
from .._ops.array_ops import identity, stop_gradient
from .._ops.check_ops import Assert
from .._ops.indexing_ops import stack
from .._ops.math_ops import argmax, equal, less, logical_and, logical_not, reduce_sum
from ..dtypes import bool as tf_bool
from ..dtypes import int32
from .body import Subgraph, argument_of, recorded, subgraph_of
from .loop_execution import Again, blank, is_blank
from .tensor_array import TensorTree, callable_or_raise


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
    shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    In a graph the loop is one operation, which has gradients of every order: by the initial values
    and by the captured tensors. Variables assigned in the body have the new value in the next
    iteration, in `cond` and in `body`. The other arguments have no effect.

    Parameters
    ----------
    cond, body : callable
        Functions of the loop variables, called once in a graph. `body` returns the same structure
        with the same dtypes and shapes.
    loop_vars : list
        Tensors, values, TensorArrays and pytrees of these.
    shape_invariants : pytree of shapes, optional
        The shapes that a loop variable may take; the loop then computes eagerly.
    back_prop : bool
        If False, the gradient by everything is None.
    maximum_iterations : int or tensor, optional
        Limit of the number of iterations.

    Returns
    -------
    list
        The last loop variables; a single one without its list, unless `return_same_structure`.

    Raises
    ------
    TypeError
        If `cond` or `body` is not a function.
    ValueError
        If there are no loop variables, or a structure, dtype or shape changes.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.placeholder(tf.float32, [])
    ...     y = tf.while_loop(lambda y: y < 100.0, lambda y: y * x, [x])
    ...     session.run([y, tf.gradients(y, x)[0]], {x: 2.0})
    [np.float32(128.0), np.float32(448.0)]
    """
    callable_or_raise(cond, "while_loop", "cond")
    callable_or_raise(body, "while_loop", "body")
    if parallel_iterations < 1:
        raise TypeError(
            "while_loop: expected a positive integer for parallel_iterations, got "
            f"{parallel_iterations!r}"
        )
    if not isinstance(loop_vars, (list, tuple)):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("while_loop: expected at least one loop variable, got none")
    if maximum_iterations is not None:
        limit, test, step = maximum_iterations, cond, body
        result = while_loop(
            lambda i, values: logical_and(less(i, limit), test(*values)),
            lambda i, values: (i + 1, _sequence(step(*values), values)),
            [convert_to_tensor(0, int32), loop_vars],
            None if shape_invariants is None else [TensorShape([]), shape_invariants],
            back_prop=back_prop, name=name,
        )[1]  # fmt: skip
    elif mode.executing_eagerly():
        result = _eager_loop(cond, body, loop_vars)
    else:
        result = _loop(cond, body, loop_vars, shape_invariants, back_prop, name)
    return result[0] if len(result) == 1 and not return_same_structure else result


def _sequence(result: Any, like: Any) -> Any:
    """Return the result of a body as a sequence of the same kind as its input."""
    if not isinstance(result, (list, tuple)):
        result = [result]
    elif hasattr(result, "_fields"):
        result = result if len(like) > 1 else [result]
    return type(like)(result) if type(like) in (list, tuple) else result


def _loop(
    cond: Any, body: Any, loop_vars: Any, invariants: Any, back_prop: bool, name: str | None
) -> Any:
    graph = graph_of(flatten(loop_vars)[0])
    with graph.as_default(), graph.name_scope(name or "while"):
        start = TensorTree(loop_vars)
        dims = _invariants(start, invariants)
        kinds = [(x.dtype, d) for x, d in zip(start.tensors, dims, strict=True)]
        with graph.body():

            def given(label: str) -> list[Tensor]:
                return [
                    argument_of(graph, dtype, d, label, x)
                    for (dtype, d), x in zip(kinds, start.tensors, strict=True)
                ]

            first = len(graph._operations)
            seen = given("Merge")
            test = convert_to_tensor(cond(*start.like(seen)), tf_bool)
            condition = subgraph_of(first, seen, [test])
            first = len(graph._operations)
            inside = given("Identity")
            after = TensorTree(_sequence(body(*start.like(inside)), loop_vars))
            start.check_like(after, "while_loop", "the result of body and loop_vars")
            for x, d, y, array in zip(
                start.tensors, dims, after.tensors, start.arrays, strict=True
            ):
                if not array and not TensorShape(d).is_compatible_with(y.dims):
                    raise ValueError(
                        f"while_loop: expected shape {TensorShape(d)} for '{x.name}' after an "
                        f"iteration, as before, got {y.shape}; give shape_invariants to allow the "
                        "shape to vary"
                    )
            subgraph = subgraph_of(first, inside, after.tensors)
        attrs = {"bodies": (subgraph, condition), "arrays": tuple(start.arrays)}
        inputs = [*start.tensors, *subgraph.captured, *condition.captured]
        controls = [*subgraph.controls, *condition.controls]
        outs = recorded(graph, "While", inputs, attrs, "Exit", kinds, controls)
        if not back_prop:
            outs = [stop_gradient(y) for y in outs]
        return start.like(outs, after)


def _invariants(start: TensorTree, invariants: Any) -> list[Any]:
    if invariants is None:
        # The body determines size and elements of an array.
        return [
            None if array else x.dims for x, array in zip(start.tensors, start.arrays, strict=True)
        ]
    given = _shapes(invariants)
    if len(given) != len(start.tensors):
        raise ValueError(
            "while_loop: expected shape_invariants in the structure of loop_vars, got "
            f"{invariants!r:.80}"
        )
    for x, shape, array in zip(start.tensors, given, start.arrays, strict=True):
        if not array and not TensorShape(shape).is_compatible_with(x.dims):
            raise ValueError(
                f"while_loop: expected a shape invariant compatible with {x.shape} for '{x.name}', "
                f"got {shape}"
            )
    return [None if a else as_dims(s) for s, a in zip(given, start.arrays, strict=True)]


def _shapes(tree: Any) -> list[Any]:
    if isinstance(tree, TensorShape) or tree is None:
        return [tree]
    entries = tree.values() if isinstance(tree, Mapping) else tree
    return [shape for entry in entries for shape in _shapes(entry)]


def _eager_loop(cond: Any, body: Any, loop_vars: Any) -> Any:
    if not modes.in_function:
        present = loop_vars
        while bool(cond(*present)):
            after = _sequence(body(*present), loop_vars)
            TensorTree(present).check_like(
                TensorTree(after), "while_loop", "the result of body and loop_vars"
            )
            present = after
        return TensorTree(present).like(TensorTree(present).tensors)
    start = TensorTree(loop_vars)
    state = [as_core(x) for x in start.tensors]

    def step(tensors: Any) -> Any:
        after = TensorTree(_sequence(body(*start.like(map(as_eager, tensors))), loop_vars))
        start.check_like(after, "while_loop", "the result of body and loop_vars")
        results = [as_core(y) for y in after.tensors]
        for k, y in enumerate(results):
            if start.arrays[k] and is_blank(state[k]) and y.shape != state[k].shape:
                state[k] = blank(state[k], y.shape)
                raise Again
        return results

    def holds(tensors: Any) -> Any:
        return as_core(convert_to_tensor(cond(*start.like(map(as_eager, tensors)))))

    while True:
        try:
            last = loops.while_loop(holds, step, state)
            return start.like([as_eager(x) for x in last])
        except Again:
            continue


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False,
    name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """Return true_fn() if pred holds, else false_fn().

    In a graph both functions are called once, and a run executes the operations of the chosen one;
    operations created outside run in any case. Both return the same structure of tensors with the
    same dtypes; an operation counts as a tensor that is True. A list of one tensor becomes that
    tensor, unless `strict`. The gradient by tensors that only the other function uses is zero.

    Raises
    ------
    TypeError
        If `pred` is a Python bool, or a function is not callable.
    ValueError
        If a function returns None, or the structures or dtypes differ.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.placeholder(tf.float32, [])
    ...     y = tf.cond(x > 0, lambda: tf.log(x), lambda: 2.0 * x)
    ...     [session.run([y, tf.gradients(y, x)[0]], {x: v}) for v in (1.0, 0.0)]
    [[np.float32(0.0), np.float32(1.0)], [np.float32(0.0), np.float32(2.0)]]
    """
    functions = []
    for what, function, older in (("true_fn", true_fn, fn1), ("false_fn", false_fn, fn2)):
        if function is not None and older is not None:
            raise TypeError(f"cond: expected {what} once, got it twice")
        function = older if function is None else function
        callable_or_raise(function, "cond", what)
        functions.append((what, function))
    if mode.executing_eagerly() and not modes.in_function:
        test = bool(as_core(convert_to_tensor(pred)).numpy())
        return _plain(functions[0 if test else 1][1](), strict)
    if isinstance(pred, bool):
        raise TypeError(
            f"cond: expected a bool tensor for pred, got the Python bool {pred}; use Python's `if`"
        )
    with scope_of(name or "cond", pred):
        test = argument_tensor(pred, "cond", "pred", tf_bool)
        return _branched(cast(logical_not(test), int32), functions, strict, "cond")


def _plain(result: Any, strict: bool) -> Any:
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def _branched(index: Any, functions: Sequence[tuple[str, Any]], strict: bool, who: str) -> Any:
    """Return the result of the function that the index selects, in the operation's scope."""
    if mode.executing_eagerly():
        made: list[TensorTree] = []

        def plain(function: Any) -> list[Any]:
            made.append(TensorTree(function()))
            made[0].check_like(made[-1], who, "the results of the branches")
            return [as_core(y) for y in made[-1].tensors]

        outs = branches.switch(as_core(index), [lambda f=f: plain(f) for _, f in functions])
        return _plain(made[0].like([as_eager(y) for y in outs]), strict)
    graph, subgraphs, trees = index.graph, list[Subgraph](), list[TensorTree]()
    with graph.body():
        for what, function in functions:
            first = len(graph._operations)
            result = function()
            if result is None:
                raise ValueError(f"{who}: expected a result of {what}, got None")
            tree = TensorTree(_ran(_plain(result, strict)))
            if trees:
                trees[0].check_like(tree, who, "the results of the branches")
            trees.append(tree)
            subgraphs.append(subgraph_of(first, [], tree.tensors))
    kinds = []
    for xs in zip(*(tree.tensors for tree in trees), strict=True):
        kinds.append((xs[0].dtype, common_dims([x.dims for x in xs])))
    attrs = {"bodies": tuple(subgraphs), "arrays": tuple(trees[0].arrays)}
    inputs = [index, *(x for subgraph in subgraphs for x in subgraph.captured)]
    controls = [op for subgraph in subgraphs for op in subgraph.controls]
    return trees[0].like(recorded(graph, "If", inputs, attrs, "Merge", kinds, controls))


def _ran(tree: Any) -> Any:
    """Replace operations in a pytree by tensors whose value exists after they have run."""
    if isinstance(tree, Operation):
        with tree.graph.control_dependencies([tree]):
            return identity(convert_to_tensor(True))
    if isinstance(tree, (list, tuple)):
        entries = [_ran(entry) for entry in tree]
        return type(tree)(*entries) if hasattr(tree, "_fields") else type(tree)(entries)
    if isinstance(tree, Mapping):
        kind: Any = type(tree)
        return kind((key, _ran(entry)) for key, entry in tree.items())
    return tree


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
    name: str = "case",
) -> Any:  # fmt: skip
    """Return the function's result for the first predicate that holds, else default().

    The functions obey the rules of `cond`.

    Parameters
    ----------
    pred_fn_pairs : list or dict
        Pairs of a bool tensor and a function.
    default : callable, optional
        Function for the case that no predicate holds. Without it, such a run is an
        InvalidArgumentError, and the run computes eagerly.
    exclusive : bool
        Raise InvalidArgumentError in a run in which several predicates hold.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(3.0)
    ...     y = tf.case([(x > 5.0, lambda: x), (x > 1.0, lambda: x * x)], lambda: -x)
    ...     session.run([y, tf.gradients(y, x)[0]])
    [np.float32(9.0), np.float32(6.0)]
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    if not pairs:
        raise ValueError("case: expected pairs of a predicate and a function, got none")
    for k, pair in enumerate(pairs):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"case: expected a pair of a predicate and a function for entry {k}, got "
                f"{pair!r:.60}"
            )
        callable_or_raise(pair[1], "case", f"the function of pair {k}")
    functions = [(f"the function of pair {k}", f) for k, (_, f) in enumerate(pairs)]
    if default is not None:
        callable_or_raise(default, "case", "default")
        functions.append(("default", default))
    with scope_of(name, *(p for p, _ in pairs)):
        tests = [argument_tensor(p, "case", "pred_fn_pairs", tf_bool) for p, _ in pairs]
        held = cast(stack(tests), int32)
        checks = []
        if exclusive:
            text = "case: expected one true predicate with exclusive=True, got more"
            checks.append(Assert(less(reduce_sum(held), 2), [text, held]))
        if default is None:
            text = "case: expected a true predicate or a default, got neither"
            checks.append(Assert(less(0, reduce_sum(held)), [text, held]))
        else:
            held = cast(stack([*tests, convert_to_tensor(True)]), int32)
        index = cast(argmax(held), int32)
        if checks and not mode.executing_eagerly():
            with index.graph.control_dependencies(checks):
                index = identity(index)
        return _chosen(index, functions, strict, "case")


def _chosen(index: Any, functions: Sequence[tuple[str, Any]], strict: bool, who: str) -> Any:
    if mode.executing_eagerly() and not modes.in_function:
        return _plain(functions[int(as_core(index).numpy())][1](), strict)
    return _branched(index, functions, strict, who)


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """Return the result of the function with number `branch_index`.

    Without a function of this number the result is default(), or that of the last function.
    `branch_fns` is a list of functions, pairs of a number and a function, or a dict of these. The
    functions obey the rules of `cond` with `strict`.
    """
    pairs = list(branch_fns.items() if isinstance(branch_fns, Mapping) else branch_fns)
    if not pairs:
        raise ValueError("switch_case: expected functions for branch_fns, got none")
    if all(callable(f) for f in pairs):
        pairs = list(enumerate(pairs))
    numbered = dict(pairs)
    last = default if default is not None else numbered[max(numbered)]
    for k, f in [*numbered.items(), ("default", last)]:
        callable_or_raise(f, "switch_case", f"function {k}")
    with scope_of(name, branch_index):
        at = convert_to_tensor(branch_index, int32)
        tests = [equal(at, k) for k in numbered]
        index = cast(argmax(cast(stack([*tests, convert_to_tensor(True)]), int32)), int32)
        functions = [(f"function {k}", f) for k, f in numbered.items()]
        return _chosen(index, [*functions, ("default", last)], True, "switch_case")


__all__ = ["case", "cond", "switch_case", "while_loop"]
