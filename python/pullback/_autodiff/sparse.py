"""Sparse Jacobians and Hessians.

A sparse derivative takes as many products with the derivative as its pattern has colours, all of
them in one plan. The core reads the pattern from the graph and colours it. Start reading at
`_derivative`; `_entries` computes the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import ismethod
from math import prod
from typing import Any
from weakref import WeakKeyDictionary, WeakMethod, ref

import numpy as np

from .. import _core
from .._core import Tensor, Variable, shown
from .closed_graph import recorded_from
from .jacobian import unit
from .rules import place
from .transforms import check_value, differentiable_leaf

__all__ = ["sparse_hessian", "sparse_jacobian"]

# The traced functions of each function, by the derivative that they compute; those of a method are
# stored with its object. They keep neither alive: the function is looked up while it exists.
_traced: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def sparse_jacobian(f: Callable[..., Any], x: Any) -> Any:
    """Compute the Jacobian of `f` at `x` as a SciPy sparse array.

    The pattern of entries that may differ from zero is read from the operations of `f`: slices,
    gathers at known positions, elementwise functions, sums along axes, products. Values are not
    evaluated. Both branches of a `where` count, and a product with a constant matrix counts as
    dense even if the matrix contains zeros. Rules of `custom_gradient` and overrides are used as
    they are; they must be linear in their cotangent. Entries of the pattern that are zero at `x`
    are stored as zeros.

    Columns without a common row are computed together, or rows without a common column, whichever
    takes fewer products [1]_: 3 for a tridiagonal matrix of any size. A matrix with a full row and
    a full column takes as many products as it has rows.

    `f` runs once for each shape and dtype of `x`, as under `function`: globals and attributes that
    it reads keep the values of that time, while its argument and variables do not. Later calls with
    the same `f` run one plan. The result has no history, so no gradient passes through it.

    Parameters
    ----------
    f : callable
        Function of one tensor that returns one Tensor of a real floating dtype. Both have any
        shape.
    x : array_like, float32 or float64
        Point of evaluation. A Python or NumPy integer counts as a float.

    Returns
    -------
    scipy.sparse.csr_array
        Row i stands for entry i of the flattened result, column j for entry j of the flattened `x`;
        the dtype of `x`.

    Raises
    ------
    TypeError
        If `f` is not callable or does not return a real floating tensor, or if `x` has another
        dtype.
    ImportError
        If SciPy is not installed.
    MemoryError
        If the pattern is too dense to be treated as sparse.
    RuntimeError
        If it is called inside a traced function.

    See Also
    --------
    sparse_hessian, jacobian

    References
    ----------
    .. [1] A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring for
       computing derivatives", SIAM Review 47, 2005.

    Examples
    --------
    >>> slope = pb.sparse_jacobian(lambda u: u[1:] * u[:-1], np.array([2.0, 3.0, 5.0, 7.0]))
    >>> slope.shape, slope.nnz
    ((3, 4), 6)
    >>> slope.toarray()
    array([[3., 2., 0., 0.],
           [0., 5., 3., 0.],
           [0., 0., 7., 5.]])
    """
    return _derivative(f, x, "sparse_jacobian", _jacobian)


def sparse_hessian(f: Callable[..., Any], x: Any) -> Any:
    """Compute the Hessian of a scalar function at `x` as a SciPy sparse array.

    The Hessian is the sparse Jacobian of the gradient of `f`; see `sparse_jacobian` for the pattern
    and the traces. Of two entries that are equal by symmetry one may be computed for both, which
    takes fewer products: 2 for an arrow matrix, whose first row and column are full.

    Parameters
    ----------
    f : callable
        Function of one tensor that returns a Tensor of shape () and a real floating dtype.
    x : array_like, float32 or float64
        Point of evaluation, of any shape. A Python or NumPy integer counts as a float.

    Returns
    -------
    scipy.sparse.csr_array
        Shape (n, n) for an `x` with n entries; the dtype of `x`.

    Raises
    ------
    TypeError
        If `f` is not callable or does not return a real floating tensor, or if `x` has another
        dtype.
    ValueError
        If the result of `f` does not have shape ().
    ImportError
        If SciPy is not installed.
    MemoryError
        If the pattern is too dense to be treated as sparse.
    RuntimeError
        If it is called inside a traced function.

    See Also
    --------
    sparse_jacobian, hessian, hvp

    Examples
    --------
    >>> def rosenbrock(x):
    ...     return pb.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> pb.sparse_hessian(rosenbrock, np.array([1.0, 1.0, 2.0])).toarray()
    array([[ 802., -400.,    0.],
           [-400.,  602., -400.],
           [   0., -400.,  200.]])
    """
    return _derivative(f, x, "sparse_hessian", _hessian)


class _Structure:
    """The positions of the computed entries in CSR format."""

    def __init__(self, shape: tuple[int, int], starts: Any, columns: Any) -> None:
        self.shape, self.starts, self.columns = shape, starts, columns

    def filled(self, entries: Tensor, csr_array: Any) -> Any:
        # The caller may modify a matrix and its structure in place, so both are copied.
        data = _core.own_array(entries)
        return csr_array((data, self.columns.copy(), self.starts.copy()), shape=self.shape)


_Make = Callable[[Any, Tensor, Tensor, str], tuple[Tensor, _Structure]]


def _derivative(f: Any, x: Any, who: str, make: _Make) -> Any:
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {shown(f)}")
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ImportError(
            f"{who}: the result is an array of scipy.sparse, which requires SciPy; install scipy"
        ) from error
    at = differentiable_leaf(x, lambda _: f"{who}: x")
    if at.dtype not in (np.float32, np.float64):
        raise TypeError(f"{who}: expected float32 or float64 for x, got {at.dtype}; cast it")
    if _core.Trace.active():
        raise RuntimeError(
            f"{who}: the result is an array of scipy.sparse, which a traced function cannot "
            "contain; call it outside"
        )
    entries, structure = _traced_by(f, who, make)(at)
    return structure.filled(entries, csr_array)


def _traced_by(f: Any, who: str, make: _Make) -> Any:
    reference: Any  # returns f
    try:
        reference = WeakMethod(f) if ismethod(f) else ref(f)
        known = _traced.setdefault(f.__self__ if ismethod(f) else f, {})
    except TypeError:  # no weak reference or no hash
        known, reference = {}, lambda: f
    key = (f.__func__, who) if ismethod(f) else who
    if key not in known:

        def call(x: Tensor) -> tuple[Tensor, _Structure]:
            function = reference()
            # x is a constant where nothing is traced, as under overrides.
            with recorded_from([x], who):
                y = function(x)
                if not isinstance(y, (Tensor, Variable)):
                    raise TypeError(
                        f"{who}: expected a Tensor from {place(function)}, got {shown(y)}"
                    )
                return make(function, x, _core.identity(y), who)

        known[key] = _core.make_function(call, who, place(f), [], [], 256)
    return known[key]


def _jacobian(f: Any, x: Tensor, y: Tensor, who: str) -> tuple[Tensor, _Structure]:
    if y.dtype.kind != "f":
        raise TypeError(f"{who}: expected a floating dtype from {place(f)}, got {y.dtype}")
    return _entries(x, y, who, symmetric=False)


def _hessian(f: Any, x: Tensor, y: Tensor, who: str) -> tuple[Tensor, _Structure]:
    check_value(y, f, who)
    (slope,) = _core.gradients([y], [x])
    zeros = _core.full(x.shape, 0, x.dtype)
    return _entries(x, zeros if slope is None else slope, who, symmetric=True)


def _entries(x: Tensor, y: Tensor, who: str, symmetric: bool) -> tuple[Tensor, _Structure]:
    """Return the entries of the derivative of `y` by `x` that may differ from zero, row by row."""
    shape = prod(y.shape), prod(x.shape)
    g = _core.Trace(who).argument(y.dtype.name, y.shape, False)
    (back,) = _core.gradients([y], [x], [g])
    if back is None:
        starts = np.zeros(shape[0] + 1, np.int32)
        return _core.full((0,), 0, x.dtype), _Structure(shape, starts, starts[:0])
    # A cotangent of x is linear in the cotangent of y: its dependence on it is the pattern.
    pattern = _core.dependence(back, g, who).transposed()
    by_rows, count, colours, positions = _core.compression(
        pattern, symmetric, y.shape, x.shape, who
    )
    product = _row_product if by_rows else _column_product
    chosen = _core.equal(
        _core.constant(colours), _core.reshape(_core.arange(0, count, 1, "int32"), (count, 1))
    )
    products = None
    if not _core.checking_numbers():  # check_numerics needs values
        where = _core.Trace(who).argument("bool", colours.shape, False)
        found = _core.batched_or_each([product(y, x, where)], [where], [chosen], count)
        products = found[0] if found else None
    if products is None:
        products = _core.stack([product(y, x, chosen[k]) for k in range(count)], 0)
    flat = _core.reshape(products, (-1,))
    entries = _core.take(flat, _core.constant(positions), 0)
    return _core.cast(entries, x.dtype), _Structure(shape, pattern.starts, pattern.entries)


def _row_product(y: Tensor, x: Tensor, where: Tensor) -> Tensor:
    ones, mask = _masked_unit(y, where)
    (row,) = _core.gradients([y], [x], [ones], masks=[mask])
    assert row is not None  # y depends on x
    return _core.reshape(row, (-1,))


def _column_product(y: Tensor, x: Tensor, where: Tensor) -> Tensor:
    ones, mask = _masked_unit(x, where)
    [moved] = _core.tangents([y], [x], [ones], masks=[mask])
    if moved is None:
        raise ValueError(
            "tangents: expected gradient rules that are linear in their cotangent, got one that is "
            "not"
        )
    return _core.reshape(moved, (-1,))


def _masked_unit(like: Tensor, where: Tensor) -> tuple[Tensor, Tensor]:
    """Return ones at these entries, and their mask.

    The zeros elsewhere are structural: they are not multiplied by an infinite slope.
    """
    mask = _core.reshape(where, like.shape)
    return unit(mask, like), mask
