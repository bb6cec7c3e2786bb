"""`GradientTape`: records operations inside its block for later gradients.

The tape itself stores an interval of time and the watched tensors; the operations are in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, overload

from .. import _core
from .._base import last_query
from .._base.checks import flag
from .._base.pytree import flatten, unflatten
from .._core import Tensor, Variable
from .._typing import Gradient, Key, NamedTupleLike, Source, Unconnected
from .gradients import seed_list, wants_zeros, warn_of_integers, with_zeros
from .jacobian import check_batches, jacobian

__all__ = ["GradientTape"]

NEVER_ENTERED = "the tape was never entered; use `with GradientTape() as tape:`"


class GradientTape:
    """Record operations on trainable variables and watched tensors, for `gradient`.

    Use it as a context manager. A tape can be entered again and then continues to record. Tapes
    nest: the gradient of an inner tape, computed inside the block of an outer tape, can be
    differentiated by the outer tape.

    A tape records in the context (`contextvars`) that entered it and in copies of that context: in
    asyncio tasks created inside the block and in `asyncio.to_thread`, but not in other tasks or
    threads. A generator has no context of its own: while it is suspended inside the block of a
    tape, the tape records the operations of its caller. Leave the block before `yield`.

    Parameters
    ----------
    persistent : bool, optional
        If True, gradients may be requested more than once. Default: False.
    watch_accessed_variables : bool, optional
        If True, trainable variables are watched when they are first read. If False, only tensors
        and variables passed to `watch` are. Default: True.

    Raises
    ------
    TypeError
        If an argument is not a bool.
    ValueError
        If the tape is entered while it records.

    See Also
    --------
    gradients, grad

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> with pb.GradientTape() as outer:
    ...     with pb.GradientTape() as inner:
    ...         y = x * x * x
    ...     first = inner.gradient(y, x)
    >>> first, outer.gradient(first, x)
    (Tensor(27., dtype=float32), Tensor(18., dtype=float32))
    """

    _rows = False  # whether gradients of rows taken at the same positions stay separate

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        watch = flag(watch_accessed_variables, "GradientTape", "watch_accessed_variables")
        self._tape = _core.Tape(watch)
        self._persistent = flag(persistent, "GradientTape", "persistent")
        self._entered = False
        self._used = False

    def __repr__(self) -> str:
        kind = "persistent " if self._persistent else ""
        if self._tape.recording:
            state = "recording"
        elif not self._entered:
            state = "not entered yet"
        else:
            state = "used" if self._used else "stopped"
        watched = len(self._tape.watched_variables())
        return f"<{kind}GradientTape at {id(self):#x}: {state}, {watched} variables>"

    def __enter__(self) -> GradientTape:
        if self._tape.recording:
            raise ValueError("GradientTape: the tape is still recording; leave its block first")
        if self._used:
            self._tape.reset()
            self._used = False
        self._entered = True
        self._tape.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._tape.recording:
            self._tape.stop()

    def watch(self, tensors: Any) -> None:
        """Watch tensors, so that operations on them are recorded from now on.

        Tensors of integers and bool have no gradient; watching them gives a warning.

        Parameters
        ----------
        tensors : Tensor, Variable or pytree of them
            Tensors to watch.

        Raises
        ------
        ValueError
            If an entry is not a tensor or a variable.
        RuntimeError
            If the tape was never entered.

        Examples
        --------
        >>> a = pb.constant(2.0)
        >>> with pb.GradientTape() as tape:
        ...     tape.watch(a)
        ...     y = a * a
        >>> tape.gradient(y, a)
        Tensor(4., dtype=float32)
        """
        if not self._entered:
            raise RuntimeError(f"watch: {NEVER_ENTERED}")
        for tensor in flatten(tensors, none_is_leaf=tensors is None)[0]:
            if not isinstance(tensor, (Tensor, Variable)):
                raise ValueError(
                    f"watch: expected a Tensor or a Variable for tensors, got "
                    f"{_core.shown(tensor)}; convert it with constant()"
                )
            if tensor.dtype.kind not in "fc":
                from warnings import warn

                warn(f"watch: a tensor of {tensor.dtype} has no gradient", stacklevel=2)
            self._tape.watch(tensor)

    @overload
    def gradient(
        self,
        target: Any,
        sources: NamedTupleLike,
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> Any: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Source,
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> Gradient: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: tuple[Source, ...],
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> tuple[Gradient, ...]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Sequence[Source],
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> list[Gradient]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Mapping[Key, Source],
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> dict[Key, Gradient]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> Any: ...
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Unconnected = "none",
    ) -> Any:
        """Compute the gradient of the sum of all elements of the targets.

        A tape that is not persistent stops recording and gives one answer. After an error of a type
        or shape gradients can still be requested.

        Parameters
        ----------
        target : Tensor, Variable or pytree of them
            Targets.
        sources : Tensor, Variable or pytree of them
            Sources: watched tensors and variables.
        output_gradients : pytree of array_like, optional
            Weights of the elements, in the structure of `target`, each of the dtype and shape of
            its target. A number counts for all elements, and None for ones. Default: ones.
        unconnected_gradients : {"none", "zero"}, optional
            Result for a source that the recorded operations do not connect with the target: None,
            or zeros. Default: "none".

        Returns
        -------
        Tensor, None or pytree of them
            Structure of `sources`; the dtype and shape of each source.

        Raises
        ------
        TypeError
            If a target or a source is not a tensor, or if an entry of `output_gradients` has
            another dtype.
        ValueError
            If `output_gradients` has another shape or structure, or if `unconnected_gradients` is
            invalid.
        RuntimeError
            If the tape was never entered, or if it is not persistent and has given its answer.

        Examples
        --------
        >>> v = pb.Variable([1.0, 2.0])
        >>> with pb.GradientTape() as tape:
        ...     y = v * v
        >>> tape.gradient(y, {"v": v}, output_gradients=10)
        {'v': Tensor([20., 40.], dtype=float32)}
        """
        zeros = wants_zeros(unconnected_gradients, "gradient")
        targets = _tensors(target, "target")
        xs = _tensors(sources, "sources")
        seeds = seed_list(output_gradients, target, targets, "gradient: output_gradients")
        self._check_unused("gradient")
        answers = _core.gradients(targets, xs, seeds, tape=self._tape, rows=self._rows)
        self._used = not self._persistent
        if not zeros:
            warn_of_integers(xs, answers, "gradient")
        found = unflatten(flatten(sources)[1], with_zeros(answers, xs) if zeros else answers)
        if last_query.noted:
            last_query.note((self, found), targets, xs, seeds, self._tape, answers=answers)
        return found

    @overload
    def jacobian(
        self, target: Source, sources: Source, unconnected_gradients: Unconnected = "none"
    ) -> Gradient: ...
    @overload
    def jacobian(
        self, target: Source, sources: Any, unconnected_gradients: Unconnected = "none"
    ) -> Any: ...
    def jacobian(
        self, target: Source, sources: Any, unconnected_gradients: Unconnected = "none"
    ) -> Any:
        """Compute the Jacobian of the target with respect to each source.

        All rows are computed at once, by one reverse pass with a cotangent for each element of the
        target. The memory is that of as many reverse passes. A rule written in Python is called
        once for all of them; if it reads the value of its cotangent, the rows are computed one
        after the other. A tape that is not persistent gives one answer, as for `gradient`.

        Parameters
        ----------
        target : Tensor or Variable
            Target.
        sources : Tensor, Variable or pytree of them
            Sources: watched tensors and variables.
        unconnected_gradients : {"none", "zero"}, optional
            Result for a source that the recorded operations do not connect with the target: None,
            or zeros. Default: "none".

        Returns
        -------
        Tensor, None or pytree of them
            Structure of `sources`, with tensors of shape `target.shape + source.shape` and of the
            dtype of the source.

        Raises
        ------
        TypeError
            If the target or a source is not a tensor.
        ValueError
            If `unconnected_gradients` is invalid, or if a derivative has more than 16 axes.
        RuntimeError
            If the tape was never entered, or if it is not persistent and has given its answer.

        Examples
        --------
        >>> x = pb.Variable([1.0, 2.0])
        >>> with pb.GradientTape() as outer:
        ...     with pb.GradientTape() as inner:
        ...         y = x[0] ** 2 * x[1]
        ...     slope = inner.gradient(y, x)
        >>> outer.jacobian(slope, x)
        Tensor([[4., 2.],
                [2., 0.]], dtype=float32)
        """
        y = _one_tensor(target, "jacobian: target")
        xs = _tensors(sources, "sources", "jacobian")
        zeros = wants_zeros(unconnected_gradients, "jacobian")
        self._check_unused("jacobian")
        answers = jacobian(y, xs, self._tape, zeros)
        warn_of_integers(xs, answers, "jacobian")
        found = unflatten(flatten(sources)[1], answers)
        self._used = not self._persistent
        if last_query.noted:
            last_query.note((self, found), [y], xs, None, self._tape)
        return found

    def batch_jacobian(
        self, target: Source, source: Source, unconnected_gradients: Unconnected = "none"
    ) -> Gradient:
        """Compute the Jacobian of each row of the target by the same row of the source.

        Row i of the target must depend on row i of the source alone; contributions of other rows
        are added to it. As many rows are computed as one row of the target has elements; see
        `jacobian`.

        Parameters
        ----------
        target, source : Tensor or Variable
            Tensors of rank 2 or more whose first axes have the same size b.
        unconnected_gradients : {"none", "zero"}, optional
            Result if the recorded operations do not connect the source with the target: None, or
            zeros. Default: "none".

        Returns
        -------
        Tensor or None
            Shape `(b, *target.shape[1:], *source.shape[1:])`; the dtype of the source.

        Raises
        ------
        TypeError
            If `target` or `source` is not a tensor.
        ValueError
            If a rank is below 2, if the first axes differ in size, or if `unconnected_gradients` is
            invalid.
        RuntimeError
            If the tape was never entered, or if it is not persistent and has given its answer.

        Examples
        --------
        >>> x = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with pb.GradientTape() as tape:
        ...     y = x * x
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 0.],
                 [0., 4.]],
        <BLANKLINE>
                [[6., 0.],
                 [0., 8.]]], dtype=float32)
        """
        y = _one_tensor(target, "batch_jacobian: target")
        x = _one_tensor(source, "batch_jacobian: source")
        zeros = wants_zeros(unconnected_gradients, "batch_jacobian")
        check_batches(y.shape, x.shape)
        self._check_unused("batch_jacobian")
        [found] = jacobian(y, [x], self._tape, zeros, batched=True)
        self._used = not self._persistent
        if last_query.noted:
            last_query.note((self, found), [y], [x], None, self._tape)
        return found

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context manager inside which this tape does not record.

        Other tapes continue to record.

        Returns
        -------
        context manager
            Context manager without a value.

        Raises
        ------
        RuntimeError
            If the tape was never entered.
        ValueError
            If the tape is not recording.

        Examples
        --------
        >>> x = pb.Variable(4.0)
        >>> with pb.GradientTape() as tape:
        ...     with tape.stop_recording():
        ...         y = x * x
        ...     z = x * y
        >>> tape.gradient(z, x)
        Tensor(16., dtype=float32)
        """
        self._check_recording("stop_recording")
        self._tape.pause()
        try:
            yield
        finally:
            self._tape.resume()

    def reset(self) -> None:
        """Forget everything recorded and watched, and continue to record.

        Raises
        ------
        RuntimeError
            If the tape was never entered.
        ValueError
            If the tape is not recording.

        Examples
        --------
        >>> x = pb.Variable(4.0)
        >>> with pb.GradientTape() as tape:
        ...     y = x * x
        ...     tape.reset()
        ...     z = y + 3 * x
        >>> tape.gradient(z, x)
        Tensor(3., dtype=float32)
        """
        self._check_recording("reset")
        self._tape.reset()

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables in the order of their creation.

        Returns
        -------
        tuple of Variable
            The variables.

        Examples
        --------
        >>> v = pb.Variable(1.0, name="v")
        >>> with pb.GradientTape() as tape:
        ...     y = v * v
        >>> tape.watched_variables()
        (Variable('v', 1., dtype=float32),)
        """
        return tuple(self._tape.watched_variables())

    def _check_unused(self, who: str) -> None:
        """Raise if gradients cannot be requested; else stop a tape that is not persistent."""
        if not self._entered:
            raise RuntimeError(f"{who}: {NEVER_ENTERED}")
        if self._used and not self._persistent:
            raise RuntimeError(
                f"{who}: a tape that is not persistent computes gradients once; use "
                "GradientTape(persistent=True), or pass all sources in one call"
            )
        if not self._persistent:
            self._stop()

    def _check_recording(self, who: str) -> None:
        if not self._entered:
            raise RuntimeError(f"{who}: {NEVER_ENTERED}")
        if not self._tape.recording:
            raise ValueError(f"{who}: the tape is not recording; call it inside its block")


def _tensors(nest: Any, name: str, who: str = "gradient") -> list[Any]:
    # None is an empty subtree, but alone, in a list of tensors, or as a target it is a mistake.
    mistake = nest is None or type(nest) in (list, tuple) or name == "target"
    leaves = flatten(nest, none_is_leaf=mistake)[0]
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, (Tensor, Variable)):
            raise TypeError(
                f"{who}: expected a Tensor or a Variable for entry {i} of {name}, got "
                f"{_core.shown(leaf)}"
            )
    return leaves


def _one_tensor(x: Any, who: str) -> Tensor:
    if not isinstance(x, (Tensor, Variable)):
        raise TypeError(f"{who}: expected one Tensor or Variable, got {_core.shown(x)}")
    return x if isinstance(x, Tensor) else x.read()
