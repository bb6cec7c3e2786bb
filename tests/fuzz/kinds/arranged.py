"""Arrangements that NumPy has under the same name: views, joins, padding, diagonals, grids."""

from __future__ import annotations

from ..program import listed
from .registry import Generator, axis_of, kind

# Of one tensor of any shape; AXIS, OTHER and K are drawn.
OF_ONE = (
    "moveaxis({0}, AXIS, OTHER)",
    "swapaxes({0}, AXIS, OTHER)",
    "rollaxis({0}, AXIS)",
    "flip({0}, axis=AXIS)",
    "flip({0})",
    "flipud({0})",
    "fliplr({0})",
    "roll({0}, K, axis=AXIS)",
    "roll({0}, K)",
    "rot90({0}, K)",
    "tile({0}, 2)",
    "tile({0}, (2, 1))",
    "repeat({0}, 2, axis=AXIS)",
    "ravel({0})",
    "atleast_1d({0})",
    "atleast_2d({0})",
    "atleast_3d({0})",
    "tril({0}, k=K)",
    "triu({0}, k=K)",
    "diag({0}, K)",
    "diagflat({0}, K)",
    "pad({0}, 1)",
    "pad({0}, ((2, 1),))",
    "pad({0}, 1, 'edge')",
    "pad({0}, 2, 'reflect')",
    "pad({0}, 1, 'symmetric')",
    "pad({0}, 2, 'wrap')",
    "pad({0}, 1, 'mean')",
    "pad({0}, 2, 'linear_ramp')",
    "array_split({0}, 2, axis=AXIS)[1]",
    "hsplit({0}, [1])[1]",
    "vsplit({0}, [1])[0]",
    "dsplit({0}, [1])[0]",
    "unstack({0}, axis=AXIS)[0]",
    "diff({0}, axis=AXIS)",
    "diff({0}, 2, axis=AXIS)",
    "ediff1d({0})",
    "trapezoid({0}, dx=0.3, axis=AXIS)",
)
AXES = ("AXIS", "OTHER", "K")
FLOATS = ("diff", "ediff1d", "trapezoid", "pad({0}, 1, 'mean'", "pad({0}, 2, 'linear")
FIRST, SECOND = "pb.mean({0})", "pb.mean({1})"  # grids are between numbers
# Of two of one shape and dtype.
OF_TWO = (
    "hstack([{0}, {1}])",
    "vstack([{0}, {1}])",
    "dstack([{0}, {1}])",
    "column_stack([{0}, {1}])",
    "append({0}, {1})",
    "append({0}, {1}, axis=AXIS)",
    "kron({0}, {1})",
    "broadcast_arrays({0}, {1}[:1])[1]",
    "meshgrid({0}, {1})[1]",
    "trapezoid({0}, {1})",
    "diff({0}, axis=AXIS, append={1})",
    "fill_diagonal({0}, 0.5)",
    f"linspace({FIRST}, {SECOND}, 4)",
    f"logspace({FIRST}, {SECOND}, 3, base=2.0)",
    f"geomspace(pb.exp({FIRST}), pb.exp({SECOND}), 3)",
)
# What NumPy does otherwise: in place, in double, or by another name.
OTHERWISE = {
    "unstack({0}, axis=AXIS)[0]": "np.moveaxis({0}, AXIS, 0)[0]",
    "fill_diagonal({0}, 0.5)": "np.where(np.eye(*{0}.shape, dtype=bool), {0}.dtype.type(0.5), {0})",
    OF_TWO[-3]: f"np.stack([{FIRST} + ({SECOND} - {FIRST}) / 3 * k for k in range(4)])",
    OF_TWO[-2]: f"np.exp2(np.stack([({FIRST} * (2 - k) + {SECOND} * k) / 2 for k in range(3)]))",
    OF_TWO[-1]: f"np.exp(np.stack([({FIRST} * (2 - k) + {SECOND} * k) / 2 for k in range(3)]))",
    "trapezoid({0}, dx=0.3, axis=AXIS)": "pb.multiply(0.3, np.trapezoid({0}, "
    "dx={0}.dtype.type(1), axis=AXIS))",
}


def _too_large(g: Generator, x: int, text: str) -> bool:
    """NumPy would fill gigabytes before it is known."""
    return text.startswith(("diag", "kron", "meshgrid")) and g.array(x).size > 200


def _reference(text: str) -> str:
    return OTHERWISE.get(text, f"np.{text}")


@kind(4)
def arranged(g: Generator) -> None:
    x = g.find(lambda x: True)
    text = g.pick(*OF_ONE)
    if x is None or (text.startswith(FLOATS) and g.array(x).dtype.kind != "f"):
        return
    ref = _reference(text)
    if "AXIS" in text and not g.array(x).ndim:
        return
    for name in AXES:
        drawn = int(g.random.integers(-2, 3)) if name == "K" else None
        if name in text:
            drawn = axis_of(g, x) if drawn is None else drawn
            text, ref = text.replace(name, str(drawn)), ref.replace(name, str(drawn))
    if (text.startswith("tri") and g.array(x).ndim < 2) or _too_large(g, x, text):
        return
    g.add(f"pb.{text}", x, ref=ref)


@kind(1.5)
def arranged_pairs(g: Generator) -> None:
    x = g.float()
    if x is None:
        return
    text = g.pick(*OF_TWO)
    ndim = g.array(x).ndim
    ref = _reference(text)
    if ("space" in text and g.special) or _too_large(g, x, text):
        return
    if "AXIS" in text:
        if not ndim:
            return
        axis = str(axis_of(g, x))
        text, ref = text.replace("AXIS", axis), ref.replace("AXIS", axis)
    if (text.startswith("meshgrid") and ndim > 1) or (text.startswith("fill") and ndim != 2):
        return
    g.add(f"pb.{text}", x, g.like(x), ref=ref)


# --- choices by constants

POINTS = "np.array([-1.63, -0.71, 0.93, 2.21])"


@kind(1)
def chosen(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.array(x).size == 0:
        return
    shape, n = g.array(x).shape, len(g.array(x))
    mask = listed(g.random.random(shape) < 0.5)
    rows = listed(g.random.random(n) < 0.6)
    form = g.pick("choose", "select", "piecewise", "compress", "extract", "bincount", "interp",
                  "search", "digitize", "histogram", "values", "one_hot", "tri")  # fmt: skip
    if form == "choose":
        places = listed(g.random.integers(0, 2, shape))
        g.add(f"pb.choose({places}, [{{0}}, {{1}}])", x, g.like(x),
              ref=f"np.where({places} == 0, {{0}}, {{1}})")  # fmt: skip
    elif form == "select":
        g.add(f"pb.select([{mask}, pb.less({{0}}, 0.4)], [{{1}}, pb.square({{0}})], 0.0)", x,
              g.like(x), ref=f"pb.where({mask}, {{1}}, pb.where(pb.less({{0}}, 0.4), "
              "pb.square({0}), 0.0))")  # fmt: skip
    elif form == "piecewise":
        g.add("pb.piecewise({0}, [pb.less({0}, 0.1), pb.greater_equal({0}, 0.1)], [lambda t: -t, "
              "pb.square])", x,
              ref="pb.where(pb.less({0}, 0.1), -{0}, pb.where(pb.greater_equal({0}, 0.1), "
              "pb.square({0}), 0))")  # fmt: skip
    elif form == "compress":
        g.add(f"pb.compress({rows}, {{0}}, axis=0)", x, ref=f"np.compress({rows}, {{0}}, axis=0)")
    elif form == "extract":
        g.add(f"pb.extract({mask}, {{0}})", x, ref=f"np.extract({mask}, {{0}})")
    elif form == "bincount" and len(shape) == 1:
        places = listed(g.random.integers(0, 4, shape))
        g.add(f"pb.bincount({places}, {{0}}, minlength=4)", x,
              ref=f"pb.at(np.zeros(4, {{0}}.dtype), {places}, 'add', {{0}})")  # fmt: skip
    elif form == "interp" and not g.special and g.array(x).dtype == "float64":
        g.add(f"pb.interp({{0}}, {POINTS}, np.array([0.5, -1.0, 2.0, 1.0]))", x)
    elif form == "search":
        g.add(f"pb.searchsorted({POINTS}, {{0}})", x)
    elif form == "digitize":
        g.add(f"pb.digitize({{0}}, {POINTS})", x,
              ref=f"pb.searchsorted({POINTS}, {{0}}, 'right')")  # fmt: skip
    elif form == "values":
        g.add("pb.isin({0}, [0.5, 1.0])", x,
              ref="np.logical_or(pb.equal({0}, 0.5), pb.equal({0}, 1.0))")  # fmt: skip
    elif form == "tri":
        g.add(f"pb.multiply({{0}}, pb.tri({shape[-1]}, k=-1, dtype='{g.array(x).dtype}'))", x,
              ref=f"{{0}} * np.tri({shape[-1]}, k=-1, dtype={{0}}.dtype)")  # fmt: skip
