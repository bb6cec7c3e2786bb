"""Recurrent networks, `rnn`, `lstm` and `gru`: a `scan` along the first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .. import _core
from .._base.checks import choice, flag, lengths_of, made_floating
from .._base.composite import composite
from .._control.loops import scan
from .._core import Tensor
from .._numpy.ranges import arange
from .._typing import TensorLike

__all__ = ["gru", "lstm", "rnn"]

_State = tuple[Tensor, ...]


@composite
def rnn(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    *,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
    lengths: TensorLike | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Evaluate an Elman network along the first axis.

    A step computes h = tanh(x w_ihᵀ + b_ih + h w_hhᵀ + b_hh) [1]_. The products x w_ihᵀ of all
    steps are one matrix product. Differentiable in all floating inputs. The layout of the weights
    is that of PyTorch.

    Parameters
    ----------
    x : array_like, real
        Inputs of shape (time, batch, features).
    h : array_like, real
        Initial state of shape (batch, units), or one that broadcasts to it, such as 0.0.
    w_ih : array_like, real
        Input weights of shape (units, features).
    w_hh : array_like, real
        Recurrent weights of shape (units, units).
    b_ih, b_hh : array_like, real, optional
        Biases of shape (units,). Default: no bias.
    nonlinearity : {"tanh", "relu"}, optional
        Activation. Default: "tanh".
    lengths : array_like, int, optional
        Number of steps of each entry of the batch, of shape (batch,). After them its state does not
        change, and its outputs are 0. Default: all steps.
    reverse : bool, optional
        Process the steps from the last to the first; an output has the position of its input. An
        entry with a length starts with its own last step. Default: False.

    Returns
    -------
    y : Tensor
        States of all steps, of shape (time, batch, units).
    h : Tensor
        The last state, of shape (batch, units).

    Raises
    ------
    ValueError
        If the shapes do not match, a length is out of range, or `nonlinearity` is unknown.
    TypeError
        If an input is complex, or `reverse` is not a bool.

    References
    ----------
    .. [1] J. L. Elman, "Finding structure in time", Cogn. Sci. 14, 1990.

    Examples
    --------
    >>> y, h = pb.nn.rnn(pb.ones((3, 1, 2)), 0.0, pb.ones((4, 2)), pb.zeros((4, 4)))
    >>> y.shape, h.shape
    ((3, 1, 4), (1, 4))
    """
    if reverse is not False:
        reverse = flag(reverse, "rnn", "reverse")
    kind = choice(nonlinearity, ("tanh", "relu"), "rnn", "nonlinearity")
    act = _core.tanh if kind == "tanh" else _core.relu

    def step(state: _State, inputs: Tensor, products: Tensor) -> _State:
        return (act(_core.add(inputs, products)),)

    y, (last,) = _recurrent("rnn", 1, step, x, (h,), (w_ih, w_hh, b_ih, b_hh), lengths, reverse)
    return y, last


@composite
def lstm(
    x: TensorLike,
    state: tuple[TensorLike, TensorLike],
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    *,
    lengths: TensorLike | None = None,
    reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Evaluate an LSTM network along the first axis.

    A step computes c = f c + i g and h = o tanh(c) [1]_ [2]_. The gates i, f and o are the sigmoid,
    and g is the tanh, of their rows of x w_ihᵀ + b_ih + h w_hhᵀ + b_hh. Differentiable in all
    floating inputs. The layout of the weights is that of PyTorch.

    Parameters
    ----------
    x : array_like, real
        Inputs of shape (time, batch, features).
    state : tuple of array_like
        Initial state (h, c), each of shape (batch, units), or one that broadcasts to it.
    w_ih : array_like, real
        Input weights of shape (4 units, features). The rows of i come first, then those of f, g and
        o.
    w_hh : array_like, real
        Recurrent weights of shape (4 units, units).
    b_ih, b_hh : array_like, real, optional
        Biases of shape (4 units,). Default: no bias.
    lengths : array_like, int, optional
        Number of steps of each entry of the batch, of shape (batch,). After them its state does not
        change, and its outputs are 0. Default: all steps.
    reverse : bool, optional
        Process the steps from the last to the first; an output has the position of its input. An
        entry with a length starts with its own last step. Default: False.

    Returns
    -------
    y : Tensor
        States h of all steps, of shape (time, batch, units).
    state : tuple of Tensor
        The last state (h, c), each of shape (batch, units).

    Raises
    ------
    ValueError
        If the shapes do not match, or a length is out of range.
    TypeError
        If `state` is not a pair, an input is complex, or `reverse` is not a bool.

    See Also
    --------
    rnn

    References
    ----------
    .. [1] S. Hochreiter, J. Schmidhuber, "Long short-term memory", Neural Comput. 9, 1997.
    .. [2] F. A. Gers, J. Schmidhuber, F. Cummins, "Learning to forget: continual prediction with
       LSTM", Neural Comput. 12, 2000.

    Examples
    --------
    >>> w_ih, w_hh = pb.zeros((8, 3)), pb.zeros((8, 2))
    >>> y, (h, c) = pb.nn.lstm(pb.ones((5, 1, 3)), (0.0, 1.0), w_ih, w_hh)
    >>> y.shape, c
    ((5, 1, 2), Tensor([[0.03125, 0.03125]], dtype=float32))
    """

    if reverse is not False:
        reverse = flag(reverse, "lstm", "reverse")

    def step(state: _State, inputs: Tensor, products: Tensor) -> _State:
        i, f, g, o = _parts(_core.add(inputs, products), 4)
        kept = _core.multiply(_core.sigmoid(f), state[1])
        c = _core.add(kept, _core.multiply(_core.sigmoid(i), _core.tanh(g)))
        return _core.multiply(_core.sigmoid(o), _core.tanh(c)), c

    if not isinstance(state, (tuple, list)) or len(state) != 2:
        raise TypeError(f"lstm: expected a pair (h, c) for state, got {_core.shown(state)}")
    weights = (w_ih, w_hh, b_ih, b_hh)
    y, (h, c) = _recurrent("lstm", 4, step, x, tuple(state), weights, lengths, reverse)
    return y, (h, c)


@composite
def gru(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    *,
    lengths: TensorLike | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Evaluate a GRU network along the first axis.

    A step computes h = (1 - z) n + z h [1]_. The gates r and z are the sigmoid of their rows of x
    w_ihᵀ + b_ih + h w_hhᵀ + b_hh, and n = tanh(x w_ihᵀ + b_ih + r (h w_hhᵀ + b_hh)). Differentiable
    in all floating inputs. The layout of the weights is that of PyTorch.

    Parameters
    ----------
    x : array_like, real
        Inputs of shape (time, batch, features).
    h : array_like, real
        Initial state of shape (batch, units), or one that broadcasts to it, such as 0.0.
    w_ih : array_like, real
        Input weights of shape (3 units, features). The rows of r come first, then those of z and n.
    w_hh : array_like, real
        Recurrent weights of shape (3 units, units).
    b_ih, b_hh : array_like, real, optional
        Biases of shape (3 units,). Default: no bias.
    lengths : array_like, int, optional
        Number of steps of each entry of the batch, of shape (batch,). After them its state does not
        change, and its outputs are 0. Default: all steps.
    reverse : bool, optional
        Process the steps from the last to the first; an output has the position of its input. An
        entry with a length starts with its own last step. Default: False.

    Returns
    -------
    y : Tensor
        States of all steps, of shape (time, batch, units).
    h : Tensor
        The last state, of shape (batch, units).

    Raises
    ------
    ValueError
        If the shapes do not match, or a length is out of range.
    TypeError
        If an input is complex, or `reverse` is not a bool.

    See Also
    --------
    rnn

    References
    ----------
    .. [1] K. Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical
       machine translation", EMNLP 2014.

    Examples
    --------
    >>> y, h = pb.nn.gru(pb.ones((5, 1, 3)), 1.0, pb.zeros((6, 3)), pb.zeros((6, 2)))
    >>> h
    Tensor([[0.03125, 0.03125]], dtype=float32)
    """

    if reverse is not False:
        reverse = flag(reverse, "gru", "reverse")

    def step(state: _State, inputs: Tensor, products: Tensor) -> _State:
        of_x, of_h = _parts(inputs, 3), _parts(products, 3)
        r, z = (_core.sigmoid(_core.add(of_x[k], of_h[k])) for k in (0, 1))
        n = _core.tanh(_core.add(of_x[2], _core.multiply(r, of_h[2])))
        return (_core.add(n, _core.multiply(z, _core.subtract(state[0], n))),)

    y, (last,) = _recurrent("gru", 3, step, x, (h,), (w_ih, w_hh, b_ih, b_hh), lengths, reverse)
    return y, last


def _parts(x: Tensor, count: int) -> list[Tensor]:
    return _core.split(x, [x.shape[-1] // count] * count, -1)


def _recurrent(
    who: str,
    gates: int,
    step: Callable[[_State, Tensor, Tensor], _State],
    x: TensorLike,
    state: tuple[TensorLike, ...],
    weights: tuple[Any, ...],
    lengths: TensorLike | None,
    reverse: bool,
) -> tuple[Tensor, _State]:
    """Apply `step` along the first axis of `x`; return all first states and the last state.

    `step` takes the state, the part from `x`, and the product of h; it returns the next state.
    """
    sequence, w_ih, w_hh = (made_floating(v, who) for v in (x, *weights[:2]))
    if len(sequence.shape) != 3:
        raise ValueError(
            f"{who}: expected shape (time, batch, features) for x, got {sequence.shape}"
        )
    time, batch, features = sequence.shape
    if len(w_hh.shape) != 2 or w_hh.shape[0] != gates * w_hh.shape[1]:
        raise ValueError(
            f"{who}: expected shape ({f'{gates} * ' if gates > 1 else ''}units, units) for w_hh, "
            f"got {w_hh.shape}"
        )
    units = w_hh.shape[1]
    if w_ih.shape != (gates * units, features):
        raise ValueError(
            f"{who}: expected shape {(gates * units, features)} for w_ih, got {w_ih.shape}"
        )
    for name, bias in zip(("b_ih", "b_hh"), weights[2:], strict=True):
        if bias is None:
            continue
        if (shape := _core.constant(bias, who=who).shape) != (gates * units,):
            raise ValueError(f"{who}: expected shape {(gates * units,)} for {name}, got {shape}")
    inputs = _core.matmul(sequence, _core.transpose(w_ih, None))
    if weights[2] is not None:
        inputs = _core.add(inputs, weights[2])
    turned = _core.transpose(w_hh, None)
    dtype = _core.promote(inputs.dtype, w_hh.dtype)
    if weights[3] is not None:
        dtype = _core.promote(dtype, _core.constant(weights[3], who=who).dtype)
    first = tuple(_core.broadcast_to(_core.cast(s, dtype), (batch, units)) for s in state)
    along: Any = inputs
    if lengths is not None:
        counts = lengths_of(lengths, batch, time, who, "lengths")
        steps = _core.expand_dims(arange(time), 1)
        along = inputs, _core.expand_dims(_core.less(steps, counts), -1)

    def body(carry: _State, at: Any) -> tuple[_State, Tensor]:
        given, here = at if lengths is not None else (at, None)
        product = _core.matmul(carry[0], turned)
        if weights[3] is not None:
            product = _core.add(product, weights[3])
        after = step(carry, given, product)
        if here is None:
            return after, after[0]
        kept = tuple(_core.where(here, new, old) for new, old in zip(after, carry, strict=True))
        return kept, _core.where(here, after[0], 0)

    last, y = scan(body, first, along, reverse=reverse)
    return y, last
