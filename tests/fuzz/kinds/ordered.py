"""Scans, sorts and what they are made into; statistics; reductions with masks and a start."""

from __future__ import annotations

import numpy as np

from ..program import listed
from .registry import Generator, axes_of, axis_of, kind

SCANS = ("cumulative_sum", "cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min",
         "cumulative_logsumexp")  # fmt: skip


@kind(2)
def scanned(g: Generator) -> None:
    name = g.pick(*SCANS)
    x = g.float(1) if name.endswith("exp") or g.chance(0.8) else g.any_number()
    if x is None or not g.array(x).ndim or (g.large and name == "cumulative_prod"):
        return
    if g.special and name.endswith("exp"):
        return
    more = ", include_initial=True" if name == "cumulative_sum" and g.chance(0.3) else ""
    g.add(f"pb.{name}({{0}}, axis={axis_of(g, x)}{more})", x)


@kind(2)
def sorted_(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.array(x).size == 0:
        return
    form = g.pick(
        "sort", "sort", "descending", "argsort", "topk", "partition", "lexsort", "argpart"
    )
    axis = axis_of(g, x)
    n = g.array(x).shape[axis]
    k = int(g.random.integers(0, n))
    if form == "sort":
        g.add(f"pb.sort({{0}}, axis={axis})", x)
    elif form == "descending" and not g.special:
        g.add(f"pb.sort({{0}}, axis={axis}, descending=True)", x)
    elif form == "argsort":
        g.add(f"pb.argsort({{0}}, axis={axis})", x)
    elif form == "topk" and not g.special:
        part = g.pick("[0]", "[0]", "[1]")
        g.add(f"pb.topk({{0}}, {k + 1}, axis={axis}){part}", x)
    elif form == "partition":
        g.add(f"pb.sort(pb.partition({{0}}, {k}, axis={axis}), axis={axis})", x,
              ref=f"pb.sort({{0}}, axis={axis})")  # fmt: skip
    elif form == "argpart":
        places = f"pb.argpartition({{0}}, {k}, axis={axis})"
        g.add(f"pb.sort(pb.take_along_axis({{0}}, {places}, axis={axis}), axis={axis})", x,
              ref=f"pb.sort({{0}}, axis={axis})")  # fmt: skip
    elif form == "lexsort":
        i = g.find(lambda i: i.dtype.kind == "i" and i.ndim > 0)
        g.add(
            "pb.lexsort(pb.stack([{0}, -{0}]))", i, ref="np.argsort(-{0}, axis=-1, kind='stable')"
        )


METHODS = ("linear", "lower", "higher", "midpoint", "hazen", "weibull", "median_unbiased")


@kind(1.2)
def quantiles(g: Generator) -> None:
    x = g.float()
    if x is None or g.special or g.array(x).size == 0:
        return
    axis = g.pick(None, axis_of(g, x)) if g.array(x).ndim else None
    more = f"axis={axis}, keepdims={g.chance(0.3)}"
    q = g.pick("0.37", "np.array([0.17, 0.83])", "0.53")
    form = g.pick("median", "quantile", "quantile", "percentile", "nanmedian", "nanquantile",
                  "nanpercentile")  # fmt: skip
    holes = "pb.where(pb.greater({0}, 0.9), nan, {0})"
    if form == "median":
        g.add(f"pb.median({{0}}, {more})", x, ref=f"pb.quantile({{0}}, 0.5, {more})")
    elif form == "nanmedian":
        g.add(f"pb.nanmedian({holes}, {more})", x, ref=f"pb.quantile({holes}, 0.5, {more})")
    elif form.endswith("quantile"):
        method = "linear" if form[0] == "n" else g.pick(*METHODS)
        of = holes if form[0] == "n" else "{0}"
        text = f"pb.{form}({of}, {q}, {more}, method='{method}')"
        g.add(text, x, ref=text.replace("nanq", "q"))
    else:
        of = holes if form[0] == "n" else "{0}"
        g.add(f"pb.{form}({of}, 100 * {q}, {more})", x, ref=f"pb.quantile({of}, {q}, {more})")


@kind(1.5)
def statistics(g: Generator) -> None:
    x = g.float()
    if x is None or g.special or g.array(x).size == 0:
        return
    axis = axes_of(g, x)
    keep = g.chance(0.3)
    more = f"axis={axis}, keepdims={keep}"
    form = g.pick("var", "var", "std", "ptp", "average", "cov", "corrcoef", "count_nonzero")
    array = g.array(x)
    if form == "var":
        by = g.pick("0", "0", "1")
        g.add(f"pb.var({{0}}, {more}, correction={by})", x, ref=f"np.var({{0}}, {more}, ddof={by})")
    elif form == "std" and np.all(np.std(array, axis=axis) > 0.2):
        g.add(f"pb.std({{0}}, {more})", x, ref=f"np.std({{0}}, {more})")
    elif form == "ptp":
        g.add(f"pb.ptp({{0}}, {more})", x,
              ref=f"pb.subtract(pb.max({{0}}, {more}), pb.min({{0}}, {more}))")  # fmt: skip
    elif form == "average":
        w = "pb.add(pb.square({1}), 0.3)"
        g.add(f"pb.average({{0}}, {axis}, {w})", x, g.like(x),
              ref=f"pb.divide(pb.sum(pb.multiply({{0}}, {w}), axis={axis}), "
              f"pb.sum({w}, axis={axis}))")  # fmt: skip
    elif form == "cov" and array.ndim == 2 and array.shape[1] > 1 and len(array) < 200:
        g.add("pb.cov({0})", x, ref="np.cov({0}, dtype={0}.dtype)")
    elif form == "corrcoef" and array.ndim == 2 and array.shape[1] > 2 and 1 < len(array) < 200:
        if np.all(np.std(array, axis=1) > 0.3):
            g.add("pb.corrcoef({0})", x)
    elif form == "count_nonzero":
        g.add(f"pb.count_nonzero({{0}}, axis={axis})", x,
              ref=f"np.sum(pb.not_equal({{0}}, 0), axis={axis})")  # fmt: skip


WITH_START = ("sum", "prod", "max", "min")
WITH_HOLES = ("nansum", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd")


@kind(2)
def masked(g: Generator) -> None:
    """where=, initial=, dtype= and holes."""
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    array = g.array(x)
    axis = axes_of(g, x)
    more = f"axis={axis}, keepdims={g.chance(0.3)}"
    name = g.pick(*WITH_START, "mean", "var", "std", "any", "dtype", *WITH_HOLES)
    constant = g.random.random(array.shape) < 0.6
    mask = g.pick(listed(constant), "pb.less({0}, 0.7)")
    if g.large and name == "prod":
        return
    if name in WITH_START:
        start = g.pick("0.5", "-0.25", "1.0")
        g.add(f"pb.{name}({{0}}, {more}, initial={start}, where={mask})", x)
    elif name in WITH_HOLES:
        hidden = array > 0.7
        of = "pb.where(pb.greater({0}, 0.7), nan, {0})"
        if name == "nanstd" and not np.all(np.std(array, axis=axis, where=~hidden) > 0.2):
            return
        if name in ("nanmax", "nanmin"):
            end = "-inf" if name == "nanmax" else "inf"
            ref = f"pb.{name[3:]}(pb.where(pb.greater({{0}}, 0.7), {end}, {{0}}), {more})"
        else:
            ref = f"np.{name}({of}, {more})"
        g.add(f"pb.{name}({of}, {more})", x, ref=ref)
    elif name == "dtype":
        to = g.pick("float64", "float32")
        g.add(f"pb.sum({{0}}, {more}, dtype='{to}')", x,
              ref=f"np.sum({{0}}, {more}, dtype=pb.dtype('{to}'))")  # fmt: skip
    elif name == "any":
        g.add(f"pb.{g.pick('any', 'all')}(pb.less({{0}}, 0.2), {more}, "
              f"where={listed(constant)})", x)  # fmt: skip
    elif name != "std" or np.all(np.std(array, axis=axis, where=constant) > 0.2):
        text = f"{name}({{0}}, {more}, where={listed(constant)})"
        g.add(f"pb.{text}", x, ref=f"np.{text}")
