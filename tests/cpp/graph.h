// Small graphs for the tests of rules and of the reverse pass: float64 tensors from lists, their
// numbers back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "check.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "ops/ops.h"

namespace pullback::test {

using Numbers = std::vector<double>;

inline NodeRef tensor(const Shape& shape, const Numbers& numbers) {
  Ref<Buffer> buffer = make_buffer(static_cast<int64_t>(numbers.size() * sizeof(double)));
  std::memcpy(buffer->host(), numbers.data(), numbers.size() * sizeof(double));
  return make_value(DType::Float64, shape, std::move(buffer));
}

// The same, as a tensor that keeps its history: a gradient may ask about it.
inline NodeRef tracked(const Shape& shape, const Numbers& numbers) {
  NodeRef node = tensor(shape, numbers);
  node->flags |= kTracked;
  return node;
}

inline NodeRef indices(const std::vector<int64_t>& numbers) {
  Ref<Buffer> buffer = make_buffer(static_cast<int64_t>(numbers.size() * sizeof(int64_t)));
  std::memcpy(buffer->host(), numbers.data(), numbers.size() * sizeof(int64_t));
  return make_value(DType::Int64, {static_cast<int64_t>(numbers.size())}, std::move(buffer));
}

inline Numbers numbers_of(const NodeRef& node) {
  const NodeRef value = as_value(cast(node, DType::Float64));
  evaluate(value.get());
  Numbers out(static_cast<size_t>(value->shape.size()));
  std::memcpy(out.data(), read_back(value.get())->host(), out.size() * sizeof(double));
  return out;
}

// NaN equals NaN.
inline bool near(const Numbers& a, const Numbers& b, double tolerance = 1e-12) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance;
  });
}

inline std::string text_of(const Numbers& numbers) {
  std::string out = "[";
  for (double x : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(x);
  return out + "]";
}

inline void check_numbers(const NodeRef& got, const Numbers& expected, const std::string& what) {
  const Numbers numbers = numbers_of(got);
  check(near(numbers, expected),
        what + ": expected " + text_of(expected) + ", got " + text_of(numbers));
}

}  // namespace pullback::test
