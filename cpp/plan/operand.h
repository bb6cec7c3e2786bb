// Operands of steps: views of slots and scalars of the run, and how a step uses them. Every kind of
// step lists its own (plan/steps.h); plan/step_views.h enumerates them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/view.h"

namespace pullback {

// A number that a run provides, by its position in RunArguments::scalars.
struct RunScalar {
  int32_t position;
};

// How a step uses an operand. Views are row-major unless `strided`.
struct Use {
  bool read = false;
  bool write = false;
  bool strided = false;
  bool indexed = false;  // it reads no more elements than it writes
};
constexpr Use kWriteStrided{.write = true, .strided = true};

// An operand as a step lists it. It refers to a member of the step.
template <class T>
struct Operand {
  const T& value;
  Use use;
};
template <class T>
Operand(const T&, Use) -> Operand<T>;

// Operands that are read: row-major; with any strides; with any strides, at indices. And one that
// is written.
template <class T>
Operand<T> dense(const T& value) {
  return {value, {.read = true}};
}
template <class T>
Operand<T> strided(const T& value) {
  return {value, {.read = true, .strided = true}};
}
template <class T>
Operand<T> indexed(const T& value) {
  return {value, {.read = true, .strided = true, .indexed = true}};
}
template <class T>
Operand<T> written(const T& value) {
  return {value, {.write = true}};
}

// Bytes of a list.
template <class T>
int64_t bytes_of(const std::vector<T>& items) {
  return static_cast<int64_t>(items.capacity() * sizeof(T));
}

// What a step checks of its own shapes: raises the error of verify() if a requirement is violated.
struct Require {
  size_t step;

  void operator()(bool holds, const char* what) const;
  // Raises if the product does not fit in 64 bits.
  int64_t product(int64_t a, int64_t b) const;
};

}  // namespace pullback
