"""`draw`: the graph of a tensor, or the steps of a plan, as SVG."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.html import scrolled
from .._base.pytree import flatten

__all__ = ["Drawing", "draw"]


class Drawing:
    """Result of `draw`: an SVG picture. Notebooks show it.

    Attributes
    ----------
    svg : str
        The text of the picture.

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> pb.draw(x * x)
    <Drawing of 2 operations; save('graph.svg') writes it>
    """

    def __init__(self, svg: str, what: str) -> None:
        self.svg = svg
        self._what = what

    def save(self, path: Any) -> None:
        """Write the SVG file.

        Parameters
        ----------
        path : str or Path
            File to write.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> x = pb.Variable(3.0)
        >>> with TemporaryDirectory() as folder:
        ...     pb.draw(x * x, x).save(f"{folder}/graph.svg")
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return scrolled(self.svg)

    def __repr__(self) -> str:
        return f"<Drawing of {self._what}; save('graph.svg') writes it>"


def draw(y: Any, xs: Any = None, *, session: Any = None, feed_dict: Any = None) -> Drawing:
    """Draw the operations that a tensor was computed from, and where its gradient flows.

    A box shows the operation, its dtype and shape, its cost (bytes of the result; for a product
    also its multiplications and additions) and, while `set_debug(True)` is set, the line that
    created it. Of more than 400 operations the 400 newest are drawn.

    Parameters
    ----------
    y : Tensor, Variable or str
        Tensor to draw; or the text of a plan, as `function(f).plan(*args)` returns it. Then each
        box is a step with its operations.
    xs : Tensor, Variable or pytree of them, optional
        Sources. The operations that depend on them are coloured by the gradient of `y`, which
        flows, is zero, is stopped or is not finite; values are evaluated for that. Without it, only
        the operations are drawn.
    session, feed_dict : optional
        Session and feeds that give values to a graph of `compat.tf1`. Without them, the drawing
        only shows where the gradient is stopped.

    Returns
    -------
    Drawing
        The picture; `save` writes it to a file.

    Raises
    ------
    TypeError
        If `y` is neither a tensor nor the text of a plan, or if an entry of `xs` is not a tensor.

    See Also
    --------
    explain, gradient_paths

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0], name="x")
    >>> drawing = pb.draw(pb.sum(pb.stop_gradient(x) * x), x)
    >>> drawing
    <Drawing of 4 operations; save('graph.svg') writes it>
    >>> drawing.svg.startswith("<svg")
    True
    """
    if isinstance(y, str) and y.startswith("plan:"):
        from .plan_drawing import draw_plan

        return Drawing(*draw_plan(y)[:2])
    from .graph_drawing import draw_graph
    from .query_kinds import is_askable

    if not is_askable(y):
        raise TypeError(
            f"draw: expected a Tensor or the text of a plan for y, got {_core.shown(y)}"
        )
    sources = [] if xs is None else flatten(xs)[0]
    for x in sources:
        if not is_askable(x):
            raise TypeError(f"draw: expected a Tensor or a Variable in xs, got {_core.shown(x)}")
    return Drawing(*draw_graph(y, sources, session, feed_dict))
