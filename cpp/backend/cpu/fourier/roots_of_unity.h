// RootsOfUnity: the powers of exp(-2πi / n).
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace pullback {

// Power i, from an angle in the first eighth of the circle, where its rounding error is small.
inline std::complex<double> root_of_unity(int64_t i, int64_t n) {
  i %= n;
  int64_t eighth = 8 * i / n;
  const int64_t odd = eighth % 2;
  // The distance from the nearest axis, in units of a full circle / (8 n).
  const int64_t rest = odd ? (eighth + 1) * n - 8 * i : 8 * i - eighth * n;
  const double angle = std::numbers::pi / 4 * static_cast<double>(rest) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (odd) std::swap(c, s);
  double x = c, y = s;
  for (int64_t quarter = eighth / 2; quarter > 0; --quarter) x = std::exchange(y, x), x = -x;
  return {x, -y};
}

// All powers, each the product of two stored ones: about sqrt(n) of each kind.
class RootsOfUnity {
 public:
  explicit RootsOfUnity(int64_t n) : n_(n) {
    while (int64_t{1} << 2 * shift_ < n) ++shift_;
    const int64_t low = int64_t{1} << shift_;
    for (int64_t i = 0; i < low; ++i) low_.push_back(root_of_unity(i, n));
    for (int64_t i = 0; i < n; i += low) high_.push_back(root_of_unity(i, n));
  }
  int64_t points() const { return n_; }
  int64_t bytes() const {
    return static_cast<int64_t>((low_.size() + high_.size()) * sizeof(low_[0]));
  }
  // Requires 0 ≤ i < n.
  std::complex<double> operator[](int64_t i) const {
    const std::complex<double> a = low_[i & ((int64_t{1} << shift_) - 1)], b = high_[i >> shift_];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  // Powers first … first + count - 1 as products of low[0 … count - 1] and one number. `count` may
  // be smaller than the requested number.
  struct Run {
    int64_t count;
    const std::complex<double>* low;
    std::complex<double> high;
  };
  Run run(int64_t first, int64_t count) const {
    const int64_t size = int64_t{1} << shift_, from = first & (size - 1);
    return {std::min(count, size - from), low_.data() + from, high_[first >> shift_]};
  }

 private:
  int64_t n_;
  int shift_ = 10;  // log2 of the number of successive powers in low_
  std::vector<std::complex<double>> low_, high_;
};

}  // namespace pullback
