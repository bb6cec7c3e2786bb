// Shape and Strides: one number per axis, and the only arithmetic on sizes (checked_mul,
// checked_add).
//
// A shape is unchecked while it is built. make_node (graph/make.cpp) passes it to check_shape,
// which refuses more than kMaxRank axes and more than kMaxBytes. After that check, products of
// dimensions fit in 64 bits, even if one dimension is zero and the others are large.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace pullback {

constexpr int kMaxRank = 16;
// Limit for one tensor (at 8 bytes per element) and for all temporaries of a plan: a quarter of the
// 64-bit range, so that sums of a few such sizes cannot wrap.
constexpr int64_t kMaxBytes = int64_t{1} << 61;

// Raise ValueError (with `who` in the text) on overflow.
int64_t checked_mul(int64_t a, int64_t b, const char* who);
int64_t checked_add(int64_t a, int64_t b, const char* who);

// One number per axis, in 40 bytes: up to four inline, more on the heap.
class PerAxis {
  // The rank. It converts to a number and can be changed only by PerAxis.
  class Rank {
   public:
    operator int64_t() const { return value_; }

   private:
    friend class PerAxis;
    int64_t value_ = 0;
  };

 public:
  Rank rank;

  PerAxis() = default;
  PerAxis(std::initializer_list<int64_t> values) {
    for (int64_t value : values) append(value);
  }
  PerAxis(const PerAxis& other) : rank(other.rank), values_(other.values_) {
    if (spilled()) copy_spilled(other);
  }
  PerAxis(PerAxis&& other) noexcept : rank(other.rank), values_(other.values_) {
    other.rank.value_ = 0;
  }
  PerAxis& operator=(const PerAxis& other) {
    if (spilled() || other.spilled()) return this == &other ? *this : *this = PerAxis(other);
    rank = other.rank;
    values_ = other.values_;
    return *this;
  }
  PerAxis& operator=(PerAxis&& other) noexcept {
    std::swap(rank, other.rank);
    std::swap(values_, other.values_);
    return *this;
  }
  ~PerAxis() {
    if (spilled()) delete[] values_.outside;
  }

  int64_t operator[](int64_t axis) const {
    assert(axis >= 0 && axis < rank);
    return begin()[axis];
  }
  int64_t& operator[](int64_t axis) {
    assert(axis >= 0 && axis < rank);
    return begin()[axis];
  }
  const int64_t* begin() const { return spilled() ? values_.outside : values_.inside.data(); }
  const int64_t* end() const { return begin() + rank; }
  int64_t* begin() { return spilled() ? values_.outside : values_.inside.data(); }
  int64_t* end() { return begin() + rank; }

  void append(int64_t value) {
    resize(rank + 1);
    end()[-1] = value;
  }
  // New entries are zero.
  void resize(int64_t count) {
    if (count > kInside || spilled()) return resize_spilled(count);
    for (int64_t i = rank; i < count; ++i) values_.inside[i] = 0;
    rank.value_ = count;
  }

  bool operator==(const PerAxis& other) const {
    if (rank != other.rank) return false;
    const int64_t* a = begin();
    const int64_t* b = other.begin();
    for (int64_t i = 0; i < rank; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kInside = 4;

  bool spilled() const { return rank > kInside; }
  void copy_spilled(const PerAxis& other);
  void resize_spilled(int64_t count);

  union Values {
    std::array<int64_t, kInside> inside{};
    int64_t* outside;  // if more than four
  } values_;
};

struct Shape : PerAxis {
  using PerAxis::PerAxis;

  // Number of elements; requires check_shape().
  int64_t size() const {
    int64_t n = 1;
    for (int64_t dim : *this) n *= dim;
    return n;
  }
};

// Distances between neighbours, in elements.
struct Strides : PerAxis {
  using PerAxis::PerAxis;
};
static_assert(sizeof(Shape) == 40);

// "(3, 4)", "(3,)", "()": as Python prints a tuple. With more than kMaxRank axes, only the first
// few and the count.
std::string to_text(const Shape& shape);

// Raises ValueError for a negative dimension, for too many axes, or for more than kMaxBytes. Zero
// dimensions count as one, so they do not hide an overflow of the others.
void check_shape_fully(const Shape& shape, const char* who);
inline void check_shape(const Shape& shape, const char* who) {
  // Every node passes here. Fast path: few axes, each so short that the product has at most 58
  // bits, and no negative dimension (the sign bit would be set in `bits`).
  constexpr std::array<uint8_t, 5> kBits = {58, 58, 29, 19, 14};
  if (shape.rank >= static_cast<int64_t>(kBits.size())) return check_shape_fully(shape, who);
  uint64_t bits = 0;
  for (int64_t dim : shape) bits |= static_cast<uint64_t>(dim);
  if (bits >> kBits[shape.rank]) check_shape_fully(shape, who);
}
static_assert(kMaxBytes >> 58 == 8, "eight bytes an element");

Strides row_major(const Shape& shape);

// NumPy broadcasting. Returns false if the shapes do not fit.
bool broadcast(const Shape& a, const Shape& b, Shape* out);

// True if `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

// Maps a possibly negative axis to 0 … rank-1; raises AxisError with `who` in the text.
int64_t normal_axis(int64_t axis, int64_t rank, const char* who);

}  // namespace pullback
