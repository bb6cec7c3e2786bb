// Fourier transforms against sums in long double, and the same bits alone and among others, of
// rows and columns, on every instruction set and with any number of threads.
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <string>

#include "backend/cpu/fourier/fourier_run.h"
#include "backend/cpu/kernels/fourier.h"
#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

using Wide = std::complex<long double>;

template <class T>
std::vector<T> draws(int64_t n) {
  std::vector<T> out(static_cast<size_t>(n));
  for (T& x : out) x = static_cast<T>(static_cast<double>(pick(2000001)) / 1e6 - 1);
  return out;
}

std::vector<Wide> wide_roots(int64_t n) {
  std::vector<Wide> out;
  for (int64_t i = 0; i < n; ++i) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(i) /
                              static_cast<long double>(n);
    out.push_back({std::cos(angle), -std::sin(angle)});
  }
  return out;
}

// One number of a transform.
Wide sum_of(const std::vector<Wide>& x, const std::vector<Wide>& roots, int64_t k, bool backward) {
  const int64_t n = static_cast<int64_t>(x.size());
  Wide out = 0;
  for (int64_t i = 0, at = 0; i < n; ++i, at = (at + k) % n) {
    out += x[i] * (backward ? std::conj(roots[at]) : roots[at]);
  }
  return out;
}

template <class T>
bool equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

const char* name_of(Transform transform) {
  return transform == Transform::Whole    ? "complex"
         : transform == Transform::HalfOf ? "real to half"
                                          : "half to real";
}

// `count` sequences of reals, or of pairs, in one of three ways; the results in rows.
enum class Way { Alone, Rows, Columns };

template <class T>
std::vector<T> transformed(Transform kind, int64_t points, const std::vector<T>& x, int64_t count,
                           bool backward, Way way) {
  const bool narrow = sizeof(T) == 4;
  const int64_t half = points / 2 + 1;
  const int64_t n_in = kind == Transform::RealFrom ? half : points;
  const int64_t n_out = kind == Transform::HalfOf ? half : points;
  const int64_t reals_in = kind == Transform::HalfOf ? 1 : 2;
  const int64_t reals_out = kind == Transform::RealFrom ? 1 : 2;
  const ShortFourier of = short_fourier(kind, points, narrow, way == Way::Alone);
  const int64_t lanes = way == Way::Alone ? 1 : round_up(count, vector_lanes(narrow));
  std::vector<char> memory(static_cast<size_t>(of.memory_bytes(lanes)));
  std::vector<T> in = x;
  std::vector<T> made(static_cast<size_t>(count * n_out * reals_out), T(-7));
  const bool columns = way == Way::Columns;
  const auto exchange = [](const std::vector<T>& from, int64_t rows, int64_t width, int64_t reals) {
    std::vector<T> out(from.size());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < width * reals; ++k) {
        out[(k / reals * rows + i) * reals + k % reals] = from[i * width * reals + k];
      }
    }
    return out;
  };
  if (columns) in = exchange(in, count, n_in, reals_in);
  for (int64_t at = 0; at < count; at += lanes) {
    transform(of,
              {.in = in.data() + at * n_in * reals_in,
               .in_point = columns ? count : 1,
               .in_sequence = columns ? 1 : n_in,
               .out = made.data() + at * n_out * reals_out,
               .out_point = columns ? count : 1,
               .out_sequence = columns ? 1 : n_out,
               .count = std::min(lanes, count - at),
               .backward = backward,
               .factor = 0.5,
               .ends = 2},
              lanes, memory.data());
  }
  return columns ? exchange(made, n_out, count, reals_out) : made;
}

// Largest error of sequence `row` of the results, relative to the root mean square of the results.
template <class T>
double error_of(Transform kind, int64_t points, const std::vector<T>& x, const std::vector<T>& y,
                int64_t row, bool backward) {
  const int64_t half = points / 2 + 1;
  std::vector<Wide> in(static_cast<size_t>(points));
  for (int64_t i = 0; i < points; ++i) {
    if (kind == Transform::HalfOf) in[i] = x[row * points + i];
    if (kind == Transform::Whole) {
      in[i] = {x[2 * (row * points + i)], x[2 * (row * points + i) + 1]};
    }
    if (kind == Transform::RealFrom) {
      const int64_t k = std::min(i, points - i);
      const T* at = x.data() + 2 * (row * half + k);
      const bool end = k == 0 || 2 * k == points;
      in[i] = end ? Wide(2 * at[0]) : i == k ? Wide(at[0], at[1]) : Wide(at[0], -at[1]);
    }
  }
  const int64_t made = kind == Transform::HalfOf ? half : points;
  long double worst = 0, size = 0;
  for (int64_t i = 0; i < points; ++i) size += std::norm(in[i]) / 4;
  const std::vector<Wide> roots = wide_roots(points);
  for (int64_t place = 0; place < std::min<int64_t>(made, 20); ++place) {
    const int64_t k = made <= 20 ? place : pick(made);
    Wide want = sum_of(in, roots, k, kind == Transform::RealFrom || backward) / 2.0L;
    Wide got;
    if (kind == Transform::RealFrom) {
      got = y[row * points + k];
      want = want.real();
    } else {
      got = {y[2 * (row * made + k)], y[2 * (row * made + k) + 1]};
      if (kind == Transform::HalfOf && (k == 0 || 2 * k == points)) want *= 2;
    }
    worst = std::max(worst, std::abs(got - want));
  }
  return static_cast<double>(worst / std::sqrt(size + 1e-300L));
}

template <class T>
void test_short() {
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 144; ++n) lengths.push_back(n);
  for (const int64_t n : {243, 256, 343, 360, 480, 500, 512, 625, 1000, 1009, 1024, 2187, 4096}) {
    lengths.push_back(n);
  }
  for (const int64_t n : lengths) {
    for (const Transform kind : {Transform::Whole, Transform::HalfOf, Transform::RealFrom}) {
      for (const bool backward : {false, true}) {
        if (backward && kind != Transform::Whole) continue;
        const std::string what = text(name_of(kind), " of ", n, sizeof(T) == 4 ? " float" : "");
        const int64_t reals = kind == Transform::HalfOf     ? n
                              : kind == Transform::RealFrom ? 2 * (n / 2 + 1)
                                                            : 2 * n;
        constexpr int64_t kCount = 19;
        const std::vector<T> x = draws<T>(kCount * reals);
        const std::vector<T> y = transformed(kind, n, x, kCount, backward, Way::Rows);
        check(equal_bits(y, transformed(kind, n, x, kCount, backward, Way::Columns)),
              what + ": columns");
        check(equal_bits(y, transformed(kind, n, x, kCount, backward, Way::Alone)),
              what + ": alone");
        const std::vector<T> few(x.begin(), x.begin() + 3 * reals);
        std::vector<T> first = transformed(kind, n, few, 3, backward, Way::Rows);
        check(equal_bits(first,
                         std::vector<T>(y.begin(), y.begin() + static_cast<int64_t>(first.size()))),
              what + ": a part of the rows");
        const double eps = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
        const bool chirp = !has_passes(kind != Transform::Whole && n % 2 == 0 ? n / 2 : n);
        const double bound = (chirp ? 14 : 5) * (2 + std::log2(static_cast<double>(n)));
        for (const int64_t row : {int64_t{0}, pick(kCount)}) {
          const double error = error_of(kind, n, x, y, row, backward) / eps;
          check(error < bound, what + ": error in units: " + std::to_string(error));
        }
      }
    }
  }
}

// Passes of every radix, in rows and with positions, for the table of a level.
template <class T>
std::vector<T> passes_of(const KernelTable& table, const std::vector<T>& x,
                         const std::vector<T>& roots, int64_t radix, int64_t groups, int64_t stride,
                         bool flat, const std::vector<T>& circle) {
  std::vector<T> out(x.size());
  const FourierPass pass{.radix = radix,
                         .groups = groups,
                         .stride = stride,
                         .flat = flat,
                         .roots = roots.data(),
                         .circle = circle.data(),
                         .from = x.data(),
                         .to = out.data(),
                         .parts = radix * groups * stride,
                         .outside = nullptr};
  table.fourier.pass[sizeof(T) == 4 ? 0 : 1](pass);
  return out;
}

template <class T>
void test_passes() {
  for (const int64_t radix : {2, 3, 4, 5, 7, 8, 11, 31, 113}) {
    std::vector<T> circle;
    for (int64_t j = 0; j < radix; ++j)
      circle.push_back(static_cast<T>(root_of_unity(j, radix).real()));
    for (int64_t j = 0; j < radix; ++j)
      circle.push_back(static_cast<T>(-root_of_unity(j, radix).imag()));
    for (const int64_t groups : {1, 2, 5, 16, 33}) {
      for (const int64_t stride : {1, 2, 3, 4, 8, 16, 21, 64}) {
        const std::vector<T> x = draws<T>(2 * radix * groups * stride);
        std::vector<T> by_group, by_position;
        for (int64_t p = 0; p < groups; ++p) {
          for (int64_t k = 1; k < radix; ++k) {
            const std::complex<double> root = root_of_unity(p * k, groups * radix);
            by_group.push_back(static_cast<T>(root.real()));
            by_group.push_back(static_cast<T>(root.imag()));
          }
        }
        for (int64_t k = 1; k < radix; ++k) {
          for (const bool imaginary : {false, true}) {
            for (int64_t j = 0; j < groups * stride; ++j) {
              by_position.push_back(by_group[(j / stride * (radix - 1) + k - 1) * 2 + imaginary]);
            }
          }
        }
        std::vector<T> first;
        for (const Level& level : levels()) {
          const KernelTable& table = kernels_of(level.level);
          const int64_t lanes = table.fourier.lanes[sizeof(T) == 4 ? 0 : 1];
          for (const bool flat : {false, true}) {
            // Rows need a vector unless they are the last pass; positions are used below that.
            if (flat ? groups == 1 || stride > 8 : groups > 1 && stride < lanes) continue;
            const std::vector<T> made = passes_of(table, x, flat ? by_position : by_group, radix,
                                                  groups, stride, flat, circle);
            if (first.empty()) first = made;
            check(equal_bits(made, first), text("radix ", radix, ", ", groups, " groups, stride ",
                                                stride, " on ", level.name()));
          }
        }
      }
    }
  }
}

// Loads and stores of every level, of sequences that fill the lanes and that do not.
template <class T>
void test_moves() {
  for (const bool adjacent : {false, true}) {
    for (const int64_t points : {1, 2, 5, 33}) {
      for (const int64_t count : {1, 3, 16, 21, 48}) {
        const int64_t lanes = round_up(count, 16);
        const std::vector<T> x = draws<T>(2 * points * count);
        for (const Level& level : levels()) {
          const FourierMoveTable& table = kernels_of(level.level).fourier_moves;
          std::vector<T> re(static_cast<size_t>(points * lanes), T(9)), im = re;
          std::vector<T> back(x.size());
          FourierMove move{.points = points,
                           .count = count,
                           .lanes = lanes,
                           .data = const_cast<T*>(x.data()),
                           .point = adjacent ? 1 : count,
                           .sequence = adjacent ? points : 1,
                           .re = re.data(),
                           .im = im.data(),
                           .factor = 1,
                           .twiddles = nullptr};
          table.load[sizeof(T) == 4 ? 0 : 1](move);
          bool right = true;
          for (int64_t i = 0; i < points; ++i) {
            for (int64_t k = 0; k < lanes; ++k) {
              const int64_t at = 2 * (i * move.point + k * move.sequence);
              right &= re[i * lanes + k] == (k < count ? x[at] : 0);
              right &= im[i * lanes + k] == (k < count ? x[at + 1] : 0);
            }
          }
          move.data = back.data();
          table.store[sizeof(T) == 4 ? 0 : 1](move);
          check(right && equal_bits(x, back),
                text("moves of ", count, " times ", points, adjacent ? " points, " : " rows, ",
                     level.name()));
        }
      }
    }
  }
}

template <class T>
void test_folds() {
  for (const int64_t half : {1, 2, 3, 16, 17, 40, 65}) {
    for (const int64_t lanes : {1, 16, 48}) {
      std::vector<T> roots(static_cast<size_t>(2 * (half / 2 + 1)));
      for (int64_t k = 0; k <= half / 2; ++k) {
        roots[k] = static_cast<T>(root_of_unity(k, 2 * half).real());
        roots[half / 2 + 1 + k] = static_cast<T>(root_of_unity(k, 2 * half).imag());
      }
      const int64_t size = (half + 1) * lanes;
      const std::vector<T> x = draws<T>(2 * size);
      for (const bool folds : {false, true}) {
        std::vector<T> first;
        for (const Level& level : levels()) {
          const FourierFoldTable& table = kernels_of(level.level).fourier_folds;
          std::vector<T> made(x.size());
          (folds ? table.fold : table.unfold)[sizeof(T) == 4 ? 0 : 1]({.half = half,
                                                                       .lanes = lanes,
                                                                       .roots = roots.data(),
                                                                       .from_re = x.data(),
                                                                       .from_im = x.data() + size,
                                                                       .re = made.data(),
                                                                       .im = made.data() + size,
                                                                       .factor = 0.75,
                                                                       .ends = 2});
          if (first.empty()) first = made;
          check(equal_bits(made, first), text("fold of ", half, " on ", level.name()));
        }
      }
    }
  }
}

// Matrices [batch, points, n] as a step of a plan.
void test_plan(DType dtype, Transform kind, int64_t batch, int64_t points, int64_t n,
               bool backward) {
  const int64_t half = points / 2 + 1;
  const int64_t n_in = kind == Transform::RealFrom ? half : points;
  const int64_t n_out = kind == Transform::HalfOf ? half : points;
  const int64_t reals_in = batch * n_in * n * (kind == Transform::HalfOf ? 1 : 2);
  const int64_t reals_out = batch * n_out * n * (kind == Transform::RealFrom ? 1 : 2);
  const std::string what = text(name_of(kind), " of ", points, ", ", batch, " by ", n);
  Array x = random_array(dtype, reals_in);
  Runner r;
  LibraryCall call;
  call.form.routine = Routine::fourier;
  call.form.is_complex = kind != Transform::HalfOf;
  call.form.m = n_in;
  call.form.n = n;
  call.form.fourier = {.backward = backward, .points = points, .factor = 0.5, .ends = 2};
  call.batch = batch;
  call.in.push_back(row_view(r.argument(x), dtype, {reals_in}));
  call.out.push_back(row_view(r.output(dtype, reals_out), dtype, {reals_out}));
  r.add(call);
  check(bool(r.run_threads(what)), what);
  if (batch * n == 0) return;
  const bool narrow = dtype == DType::Float32;
  // The last column of the last matrix.
  const auto column = [&](Array& from, int64_t length, int64_t reals, auto* out) {
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t c = 0; c < reals; ++c) {
        const int64_t at = (((batch - 1) * length + i) * n + n - 1) * reals + c;
        out->push_back(static_cast<std::decay_t<decltype((*out)[0])>>(from.get(at)));
      }
    }
  };
  const auto error = [&](auto zero) {
    std::vector<decltype(zero)> in, out;
    column(x, n_in, kind == Transform::HalfOf ? 1 : 2, &in);
    column(r.outputs[0], n_out, kind == Transform::RealFrom ? 1 : 2, &out);
    return error_of(kind, points, in, out, 0, backward) / (narrow ? 0x1p-24 : 0x1p-53);
  };
  const double units = narrow ? error(float()) : error(double());
  check(units < 14 * (2 + std::log2(static_cast<double>(points))),
        what + ": error in units: " + std::to_string(units));
}

void test_plans() {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (const Transform kind : {Transform::Whole, Transform::HalfOf, Transform::RealFrom}) {
      const bool backward = kind == Transform::RealFrom;
      test_plan(dtype, kind, 0, 8, 1, backward);
      test_plan(dtype, kind, 3, 8, 0, backward);
      for (const int64_t points : {1, 2, 12, 100, 1009}) {
        for (const int64_t n : {1, 2, 50}) test_plan(dtype, kind, 7, points, n, backward);
      }
      // Long ones and convolutions.
      for (const int64_t points : {16384, 30030, 65536, 65537, 131072, 131074, 177147}) {
        test_plan(dtype, kind, 2, points, 1, backward);
      }
      test_plan(dtype, kind, 1, 40000, 11, backward);
      test_plan(dtype, kind, 1, 294912, 11, backward);
      if (kind == Transform::Whole) test_plan(dtype, kind, 2, 16411, 1, true);
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_passes<float>();
  test_passes<double>();
  test_moves<float>();
  test_moves<double>();
  test_folds<float>();
  test_folds<double>();
  test_short<float>();
  test_short<double>();
  test_plans();
  return report();
}
