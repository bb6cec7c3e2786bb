// Winograd's transforms for float32 convolutions by 3 x 3 taps: 2 x 2 results from each 4 x 4 patch
// with 16 products instead of 36 (S. Winograd, Arithmetic Complexity of Computations, 1980; for
// convolutions A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016,
// F(2x2, 3x3)). Compiled once per instruction set.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using L = PULLBACK_KERNELS::Lanes<float>;

constexpr int kEdge = 4;  // of a patch

// V: a float, or a vector of floats; Loose: the same without alignment.
template <class V, class Loose>
void spread_patch(const PatchCall& x, const float* from, float* to) noexcept {
  V d[kEdge][kEdge], t[kEdge][kEdge];
  for (int a = 0; a < kEdge; ++a) {
    for (int b = 0; b < kEdge; ++b) {
      d[a][b] = *reinterpret_cast<const Loose*>(from + a * x.x_line + b * x.channels);
    }
  }
  for (int b = 0; b < kEdge; ++b) {
    t[0][b] = d[0][b] - d[2][b];
    t[1][b] = d[1][b] + d[2][b];
    t[2][b] = d[2][b] - d[1][b];
    t[3][b] = d[1][b] - d[3][b];
  }
  for (int a = 0; a < kEdge; ++a, to += kEdge * x.v_matrix) {
    *reinterpret_cast<Loose*>(to) = t[a][0] - t[a][2];
    *reinterpret_cast<Loose*>(to + x.v_matrix) = t[a][1] + t[a][2];
    *reinterpret_cast<Loose*>(to + 2 * x.v_matrix) = t[a][2] - t[a][1];
    *reinterpret_cast<Loose*>(to + 3 * x.v_matrix) = t[a][1] - t[a][3];
  }
}

void spread(const PatchCall& x) noexcept {
  const float* from = x.x;
  float* to = x.v;
  for (int64_t i = 0; i < x.patches; ++i, from += 2 * x.channels, to += x.channels) {
    int64_t c = 0;
    for (; c + L::kCount <= x.channels; c += L::kCount) {
      spread_patch<L::Vector, L::Loose>(x, from + c, to + c);
    }
    for (; c < x.channels; ++c) spread_patch<float, float>(x, from + c, to + c);
  }
}

bool gather(const PatchSumCall& x) noexcept {
  using Vector = L::Vector;
  constexpr int64_t kCount = L::kCount;
  Vector strange = {};  // NaN if a result is not finite
  for (int64_t c = 0; c < x.channels; c += kCount) {
    const int64_t some = x.channels - c < kCount ? x.channels - c : kCount;
    for (int64_t i = 0; i < x.patches; ++i) {
      const float* from = x.m + i * x.m_patch + c;
      Vector s[2][kEdge];
      for (int b = 0; b < kEdge; ++b) {
        Vector m[kEdge];
        for (int a = 0; a < kEdge; ++a) m[a] = L::load(from + (a * kEdge + b) * x.m_matrix);
        s[0][b] = m[0] + m[1] + m[2];
        s[1][b] = m[1] - m[2] - m[3];
      }
      for (int64_t a = 0; a < x.rows; ++a) {
        float* to = x.y + a * x.y_row + 2 * i * x.y_entry + c;
        const Vector y[2] = {s[a][0] + s[a][1] + s[a][2], s[a][1] - s[a][2] - s[a][3]};
        for (int64_t b = 0; b < 2 && 2 * i + b < x.entries; ++b, to += x.y_entry) {
          strange += y[b] - y[b];
          if (some == kCount) {
            L::store(to, y[b]);
          } else {
            for (int64_t j = 0; j < some; ++j) to[j] = y[b][j];
          }
        }
      }
    }
  }
  bool finite = true;
  for (int64_t j = 0; j < kCount; ++j) finite = finite && strange[j] == 0;
  return finite;
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const WinogradTable kWinogradTable = {&spread, &gather};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
