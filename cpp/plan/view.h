// Strided views into memory, and the effect of reshape, transpose, broadcast and slice on them.
//
// Strided is shape, strides and offset. The View of a plan adds its slot; while planning, a Read
// (plan/passes/strided_views.h) has the node that owns the memory. Plain data, no locking.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/dtype.h"
#include "base/shape.h"

namespace pullback {

struct AxisOrder;  // graph/attr.h
struct StridedSlice;

// Element (i, j, …) of `shape` lies at offset + i * strides[0] + j * strides[1] …, in elements.
struct Strided {
  int64_t offset = 0;
  Shape shape;
  Strides strides;  // 0 along a broadcast axis; of no meaning along one of length 1

  bool operator==(const Strided& other) const = default;
};

// A strided view of a slot of a plan. Reshape, transpose, slice and broadcast are views, never
// steps.
struct View : Strided {
  int32_t slot = -1;  // not set: verify() refuses it
  DType dtype = DType::Float32;

  View() = default;
  View(int32_t slot_, DType dtype_, Strided strided)
      : Strided(std::move(strided)), slot(slot_), dtype(dtype_) {}
  View(int32_t slot_, DType dtype_, int64_t offset_, Shape shape_, Strides strides_)
      : View(slot_, dtype_, Strided{offset_, std::move(shape_), std::move(strides_)}) {}
};

// The view of a whole row-major array.
Strided whole(const Shape& shape);
// True if it is row-major from its offset on, without gaps.
bool is_row_major(const Strided& view);
// The same with offset 0.
bool is_flat(const Strided& view);

// True if all of its elements are the same one.
bool is_one_number(const Strided& view);

// True if it contains each element once, in the order of memory.
bool in_order(const Strided& view);
// True if two views of one memory are shown by their strides to have no common element.
bool disjoint(const Strided& x, const Strided& y);

// nullopt if no strides describe it.
std::optional<Strided> reshaped(const Strided& view, const Shape& shape);
// By NumPy's rules.
Strided broadcasted(const Strided& view, const Shape& shape);
Strided transposed(const Strided& view, const AxisOrder& order);
// `shape` is the shape of the slice.
Strided sliced(const Strided& view, const Shape& shape, const StridedSlice& where);

}  // namespace pullback
