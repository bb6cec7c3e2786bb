"""Values of a case against its reference: every dtype, every shape, every layout in memory, and
every position of an array. Each check takes a case and reports to a `Check`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import pullback as pb

from .cases import FORMATS, NAMES, Case, numpy_of, same_bits, tensor, ulp_errors
from .check import Check
from .expected import stored
from .layouts import layouts, repeated


def reference_value(case: Case, xs: list[Any], exact: bool) -> Any:
    """The value of the reference, in long double if `exact`."""
    arguments = case.exact(xs) if exact else xs
    with np.errstate(all="ignore"):
        if not exact or not getattr(case.reference, "is_slow", False):
            return np.asarray(case.reference(*arguments))
        shape = np.broadcast_shapes(*[x.shape for x in xs])
        return stored(f"{case} value", xs, [shape], lambda: [case.reference(*arguments)])[0]


def expect_all(case: Case) -> None:
    """Evaluate every stored value."""
    for dtype in case.dtypes + case.stored:
        for shapes in case.shapes:
            reference_value(case, case.arrays(shapes, dtype), case.result_dtype(dtype) in FORMATS)


def check_value(check: Check, case: Case, xs: list[Any], got: Any, dtype: str, label: str) -> None:
    want = case.result_dtype(dtype)
    check.that(got.dtype == NAMES[want], f"{label}: dtype {got.dtype}, expected {NAMES[want]}")
    value = numpy_of(got)
    expected = reference_value(case, xs, want in FORMATS)
    shapes = f"{label}: shapes {value.shape} and {got.shape}, expected {expected.shape}"
    check.that(value.shape == got.shape == expected.shape, shapes)
    if value.shape != expected.shape:
        return
    if want in FORMATS:
        with np.errstate(all="ignore"):
            size = case.size(*case.exact(xs)) if case.size else None
        worst = float(np.max(ulp_errors(value, expected, want, size), initial=0))
        if not worst <= case.ulp:
            check.that(False, f"{label}: {worst:.4g} ulp off: {value} for {expected}")
    elif not np.array_equal(value, expected):
        check.that(False, f"{label}: {value}, expected {expected}")


def inputs(case: Case, xs: list[Any], dtype: str) -> list[Any]:
    pairs = zip(xs, case.domains, strict=True)
    return [tensor(x, domain.dtype or dtype) for x, domain in pairs]


def number_of(case: Case, text: str = "") -> int:
    """A constant for a case that varies from case to case: what is sampled covers all of them."""
    return zlib.crc32(f"{case} {text}".encode())


def values(case: Case, check: Check, thorough: bool = False) -> None:
    """Every dtype of the row, and those that are stored in another: narrow and unsigned integers,
    and halves. Unless `thorough`, the latter with two of the shapes."""
    for dtype in case.dtypes + case.stored:
        every = thorough or dtype in case.dtypes
        one = case.shapes[number_of(case, dtype) % len(case.shapes)]
        for shapes in case.shapes if every else {case.largest, one}:
            xs = case.arrays(shapes, dtype)
            got = case.run(*inputs(case, xs, dtype))
            check_value(check, case, xs, got, dtype, f"{NAMES[dtype]} {shapes}")


def values_in_layouts(case: Case, check: Check, thorough: bool = False) -> None:
    """A view, or an array from unusual memory, gives the bits that its row-major copy gives: in one
    dtype for every call, in others for the largest. Unless `thorough`, these are two."""
    main = "f" if "f" in case.dtypes else case.dtypes[0]
    others = (case.dtypes + case.stored).replace(main, "")
    if others and not thorough:
        first = number_of(case) % len(others)
        others = (others[first:] + others[:first])[:2]
    for dtype in main + others:
        for shapes in case.shapes if dtype == main else [case.largest]:
            xs = case.arrays(shapes, dtype)
            compared = list(in_layouts(case, xs, dtype))
            pb.evaluate([y for _, got, plain in compared for y in (got, plain)])
            for label, got, plain in compared:
                text = f"{NAMES[dtype]} {label} of {shapes}"
                if case.op == "matmul":  # the BLAS may add in another order
                    check_value(check, case, xs, got, dtype, text)
                elif not same_bits(numpy_of(got), numpy_of(plain)):
                    check.that(False, f"{text}: {got}, not {plain}")


def in_layouts(case: Case, xs: list[Any], dtype: str) -> Iterator[tuple[str, Any, Any]]:
    plain_inputs = inputs(case, xs, dtype)
    plain = case.run(*plain_inputs)
    for k, x in enumerate(xs):
        own = case.domains[k].dtype or dtype
        for layout in layouts(x):
            view = layout.view(tensor(layout.store(x), own), x)
            got = case.run(*(view if i == k else t for i, t in enumerate(plain_inputs)))
            yield f"argument {k} {layout.name}", got, plain
        if x.ndim and len(x) and case.elementwise:
            flat = repeated(x)
            memory, view = tensor(flat, own), pb.broadcast_to(tensor(x[:1], own), x.shape)
            copy, *both = (
                case.run(*(t if i == k else other for i, other in enumerate(plain_inputs)))
                for t in (tensor(np.array(flat), own), memory, view)
            )
            yield f"argument {k} in memory of stride 0", both[0], copy
            yield f"argument {k} as a view of stride 0", both[1], copy


def values_at_every_position(case: Case, check: Check, thorough: bool = False) -> None:
    """The tail of a vector loop computes what its body computes: the length of an array and the
    offset of an element change no bit. Unless `thorough`, every other pair of lengths is a view of
    the whole array, the others are copies; in the second dtype the other way round."""
    if not case.elementwise:
        return
    for dtype in [one for one in "fd" if one in case.dtypes] or [case.dtypes[-1]]:
        shapes = tuple((150,) for _ in case.domains)
        xs = case.arrays(shapes, dtype)
        tensors = [pb.constant(x) for x in xs]
        whole = case.run(*tensors).numpy()
        results, expected = [], []
        for length in range(1, 68):
            start = 150 - 2 * length if length % 3 else length
            window = slice(start, start + length)
            is_view = (length // 2 + (dtype == "d")) % 2
            if thorough or is_view:
                results.append(case.run(*(t[window] for t in tensors)))
            if thorough or not is_view:
                results.append(case.run(*(pb.constant(x[window]) for x in xs)))
            expected += [whole[window]] * (len(results) - len(expected))
        pb.evaluate(*results)
        for got, want in zip(results, expected, strict=True):
            if not same_bits(got.numpy(), want):
                check.that(False, f"{NAMES[dtype]}, length {len(want)}: {got}, not {want}")
