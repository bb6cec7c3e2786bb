// Ranges of the integers in buffers of accelerators, so that a run need not check indices that are
// known to be inside of an axis. Copies from the host have one, and results of runs that determine
// it, until their bytes change.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "runtime/buffer.h"

namespace pullback {

struct IntegerRange {
  int64_t low = INT64_MIN, high = INT64_MAX;  // both inclusive
  bool operator==(const IntegerRange&) const = default;
};

// Stores the range of a buffer whose bytes are those of a buffer of the host, read as int32 or
// int64. Nothing for other dtypes and for a buffer that has a range.
void note_integers(const Buffer& copy, DType dtype, const Buffer& host);
// Stores the range of the integers at the address of a buffer. Any thread may call it.
void note_range(const void* address, DType dtype, const IntegerRange& range);
// From now on another library may write to the buffer: it has no range, and none is stored.
void share_integers(const Buffer& buffer);
// Before the bytes of a buffer change.
void forget_integers(const Buffer& buffer) noexcept;
// At the end of a buffer.
void drop_integers(const Buffer& buffer) noexcept;
// The range of a buffer with this address; all integers if it is not known. Any thread may call it.
IntegerRange integers_at(const void* address, DType dtype);

}  // namespace pullback
