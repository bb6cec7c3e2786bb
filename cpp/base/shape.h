// Shapes, strides and the only arithmetic on sizes.
//
// Every element count, byte count and offset goes through checked_mul, so that a hostile shape is a
// ValueError and never a wrapped number.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace pullback {

constexpr int kMaxRank = 8;

// Raises ValueError (with `who` in the text) on overflow.
int64_t checked_mul(int64_t a, int64_t b, const char* who);

// Dimensions past `rank` are zero, so shapes compare and hash as plain bytes.
struct Shape {
  int64_t rank = 0;
  std::array<int64_t, kMaxRank> dim{};

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);

  int64_t operator[](int64_t axis) const { return dim[axis]; }
  int64_t& operator[](int64_t axis) { return dim[axis]; }
  bool operator==(const Shape& other) const = default;

  // Number of elements; checked when the shape was made (see check_shape).
  int64_t size() const {
    int64_t n = 1;
    for (int64_t i = 0; i < rank; ++i) n *= dim[i];
    return n;
  }
  void append(int64_t d) { dim[rank++] = d; }
};

using Strides = std::array<int64_t, kMaxRank>;

// "(3, 4)", "(3,)", "()": as Python prints a tuple.
std::string to_text(const Shape& shape);

// Raises ValueError for a negative dimension, or when the byte count at 8 bytes overflows.
void check_shape(const Shape& shape, const char* who);

// Row-major strides in elements.
Strides row_major(const Shape& shape);

// NumPy broadcasting. False where the shapes do not fit.
bool broadcast(const Shape& a, const Shape& b, Shape* out);

// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

// Maps a possibly negative axis to 0 … rank-1; IndexError-free callers pass `who` for the text.
int64_t normal_axis(int64_t axis, int64_t rank, const char* who);

}  // namespace pullback
