// Compiles and runs transforms that stay in a cache.
#include "backend/cpu/fourier/short_fourier.h"

#include <algorithm>
#include <cstring>

#include "backend/common/slots.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Of large powers of two, buffers would begin in the same lines of a cache.
int64_t buffer_parts(const ShortFourier& of, int64_t lanes) {
  const int64_t points = std::max(of.passes.points, of.points / 2 + 1);
  return round_up(std::max(points, of.length + 1) * lanes, 16) + 16;
}

class ShortRun {
 public:
  ShortRun(const ShortFourier& of, const FourierSequences& x, int64_t lanes, char* memory)
      : of_(of),
        x_(x),
        lanes_(lanes),
        parts_(buffer_parts(of, lanes)),
        real_(of.passes.real_bytes()),
        type_(of.narrow() ? 0 : 1),
        here_{memory, parts_},
        there_{memory + 2 * parts_ * real_, parts_} {}

  void run() {
    const bool chirp = !of_.chirp.empty();
    FourierOutside in{}, out{};
    const bool can_load = !chirp && of_.passes.passes.size() > 1 && outside_in(&in);
    const bool can_store = !chirp && !of_.passes.passes.empty() && outside_out(&out);
    if (!can_load) load();
    if (chirp) {
      convolve();
    } else {
      const FourierBuffer made = run_passes(of_.passes, lanes_, here_, there_, backward(),
                                            can_load ? &in : nullptr, can_store ? &out : nullptr);
      if (made.data != here_.data) std::swap(here_, there_);
    }
    if (!can_store) store();
  }

 private:
  bool is_whole() const { return of_.transform == Transform::Whole; }
  bool backward() const { return is_whole() ? x_.backward : of_.transform == Transform::RealFrom; }
  char* re(const FourierBuffer& buffer) const { return buffer.data; }
  char* im(const FourierBuffer& buffer) const { return buffer.data + parts_ * real_; }
  int64_t half() const { return of_.points / 2 + 1; }

  // True if the first pass can read the input: adjacent pairs of one sequence, or adjacent
  // sequences.
  bool outside_in(FourierOutside* in) const {
    if (of_.transform == Transform::RealFrom) return false;
    const bool one = lanes_ == 1 && x_.in_point == 1;
    const bool row =
        lanes_ > 1 && !of_.folds() && is_whole() && x_.in_sequence == 1 && x_.count == lanes_;
    if (!one && !row) return false;
    if (one && !of_.folds() && !is_whole()) return false;
    *in = {const_cast<void*>(x_.in), lanes_, one ? 1 : x_.in_point, 1, backward()};
    return true;
  }
  bool outside_out(FourierOutside* out) const {
    if (x_.twiddles || of_.transform == Transform::HalfOf) return false;
    const bool one = lanes_ == 1 && x_.out_point == 1;
    const bool row =
        lanes_ > 1 && !of_.folds() && is_whole() && x_.out_sequence == 1 && x_.count == lanes_;
    if (!one && !row) return false;
    if (one && !of_.folds() && !is_whole()) return false;
    const int64_t last = of_.length / of_.passes.passes.back().radix;
    *out = {x_.out, one ? last : lanes_, one ? last : x_.out_point, x_.factor, backward()};
    return true;
  }

  FourierMove move(int64_t points, const void* data, int64_t point, int64_t sequence) const {
    return {.points = points,
            .count = x_.count,
            .lanes = lanes_,
            .data = const_cast<void*>(data),
            .point = point,
            .sequence = sequence,
            .re = re(here_),
            .im = im(here_),
            .factor = x_.factor,
            .twiddles = x_.twiddles};
  }
  // Pairs of real points as complex ones: adjacent, or in rows.
  template <class Kernel>
  void move_pairs(Kernel kernel, const void* data, int64_t point, int64_t sequence) const {
    if (point == 1 && (sequence % 2 == 0 || x_.count == 1)) {
      return kernel(move(of_.length, data, 1, sequence / 2));
    }
    FourierMove reals = move(of_.length, data, 2 * point, sequence);
    reals.im = nullptr;
    kernel(reals);
    reals.data = static_cast<char*>(reals.data) + point * real_;
    reals.re = im(here_);
    kernel(reals);
  }

  void load() {
    const FourierMoveKernel kernel = kernels().fourier_moves.load[type_];
    switch (of_.transform) {
      case Transform::Whole:
        return kernel(move(of_.points, x_.in, x_.in_point, x_.in_sequence));
      case Transform::HalfOf: {
        if (of_.folds()) return move_pairs(kernel, x_.in, x_.in_point, x_.in_sequence);
        FourierMove reals = move(of_.points, x_.in, x_.in_point, x_.in_sequence);
        reals.im = nullptr;
        kernel(reals);
        std::memset(im(here_), 0, static_cast<size_t>(of_.points * lanes_ * real_));
        return;
      }
      case Transform::RealFrom:
        kernel(move(half(), x_.in, x_.in_point, x_.in_sequence));
        if (of_.folds()) return fold(kernels().fourier_folds.fold[type_]);
        return of_.narrow() ? reflect<float>() : reflect<double>();
    }
  }
  void store() {
    const FourierMoveKernel kernel = kernels().fourier_moves.store[type_];
    switch (of_.transform) {
      case Transform::Whole:
        return kernel(move(of_.points, x_.out, x_.out_point, x_.out_sequence));
      case Transform::HalfOf: {
        if (of_.folds()) {
          fold(kernels().fourier_folds.unfold[type_]);
        } else {
          of_.narrow() ? scale_ends<float>() : scale_ends<double>();
        }
        FourierMove made = move(half(), x_.out, x_.out_point, x_.out_sequence);
        if (of_.folds()) made.factor = 1;
        return kernel(made);
      }
      case Transform::RealFrom: {
        if (of_.folds()) return move_pairs(kernel, x_.out, x_.out_point, x_.out_sequence);
        FourierMove reals = move(of_.points, x_.out, x_.out_point, x_.out_sequence);
        reals.im = nullptr;
        return kernel(reals);
      }
    }
  }

  void fold(FourierFoldKernel kernel) {
    kernel({.half = of_.length,
            .lanes = lanes_,
            .roots = of_.roots.data(),
            .from_re = re(here_),
            .from_im = im(here_),
            .re = re(there_),
            .im = im(there_),
            .factor = x_.factor / 2,
            .ends = x_.ends});
    std::swap(here_, there_);
  }
  // The other half of the spectrum of an odd number of points.
  template <class T>
  void reflect() const {
    T* x = reinterpret_cast<T*>(re(here_));
    T* y = reinterpret_cast<T*>(im(here_));
    for (int64_t lane = 0; lane < lanes_; ++lane) x[lane] *= static_cast<T>(x_.ends), y[lane] = 0;
    for (int64_t k = 1; k < half(); ++k) {
      for (int64_t lane = 0; lane < lanes_; ++lane) {
        const int64_t from = k * lanes_ + lane, to = (of_.points - k) * lanes_ + lane;
        x[to] = x[from];
        y[to] = -y[from];
      }
    }
  }
  template <class T>
  void scale_ends() const {
    T* x = reinterpret_cast<T*>(re(here_));
    for (int64_t lane = 0; lane < lanes_; ++lane) x[lane] *= static_cast<T>(x_.ends);
  }

  void convolve() {
    multiply(of_.chirp, of_.length);
    const int64_t points = of_.passes.points, rest = points - of_.length;
    for (char* part : {re(here_), im(here_)}) {
      std::memset(part + of_.length * lanes_ * real_, 0,
                  static_cast<size_t>(rest * lanes_ * real_));
    }
    for (const bool inverse : {false, true}) {
      const FourierBuffer made =
          run_passes(of_.passes, lanes_, here_, there_, backward() != inverse);
      if (made.data != here_.data) std::swap(here_, there_);
      if (!inverse) multiply(of_.kernel, points);
    }
    multiply(of_.chirp, of_.length);
  }
  void multiply(const std::vector<char>& by, int64_t points) const {
    char *x = re(here_), *y = im(here_);
    if (backward()) std::swap(x, y);
    kernels().fourier_folds.multiply[type_]({.points = points,
                                             .lanes = lanes_,
                                             .by = by.data(),
                                             .by_parts = points,
                                             .from_re = x,
                                             .from_im = y,
                                             .re = x,
                                             .im = y});
  }

  const ShortFourier& of_;
  const FourierSequences& x_;
  int64_t lanes_, parts_, real_;
  size_t type_;
  FourierBuffer here_, there_;
};

}  // namespace

int64_t ShortFourier::memory_bytes(int64_t lanes) const {
  return 4 * buffer_parts(*this, lanes) * passes.real_bytes();
}

int64_t ShortFourier::bytes() const {
  return passes.bytes() + static_cast<int64_t>(roots.size() + chirp.size() + kernel.size());
}

int64_t convolution_points(int64_t length) {
  int64_t out = 0;
  for (int64_t points : {1, 3, 5, 7, 9, 15, 25}) {
    while (points < 2 * length - 1) points *= 2;
    if (out == 0 || points < out) out = points;
  }
  return out;
}

ShortFourier short_fourier(Transform transform, int64_t points, bool narrow, bool alone) {
  const int64_t length = transform == Transform::Whole || points % 2 ? points : points / 2;
  ShortFourier out{transform, points, length, {}, {}, {}, {}};
  const auto append = [&](const std::vector<std::complex<double>>& numbers, std::vector<char>* to) {
    for (const std::complex<double>& x : numbers) append_real(x.real(), narrow, to);
    for (const std::complex<double>& x : numbers) append_real(x.imag(), narrow, to);
  };
  if (length != points) {
    std::vector<std::complex<double>> roots;
    for (int64_t k = 0; k <= length / 2; ++k) roots.push_back(root_of_unity(k, points));
    append(roots, &out.roots);
  }
  if (has_passes(length)) {
    out.passes = fourier_passes(length, narrow, alone);
    return out;
  }
  const int64_t whole = convolution_points(length);
  out.passes = fourier_passes(whole, narrow, alone);
  // exp(-πi k² / length), and the transform of its conjugate at both ends of `whole` points.
  std::vector<std::complex<double>> chirp(static_cast<size_t>(length)),
      kernel(static_cast<size_t>(whole));
  for (int64_t k = 0; k < length; ++k) {
    chirp[k] = root_of_unity(k * k % (2 * length), 2 * length);
    kernel[k] = std::conj(chirp[k]) / static_cast<double>(whole);
    if (k > 0) kernel[whole - k] = kernel[k];
  }
  const ShortFourier wide = short_fourier(Transform::Whole, whole, false, true);
  std::vector<char> memory(static_cast<size_t>(wide.memory_bytes(1)));
  pullback::transform(wide, {kernel.data(), 1, 1, kernel.data(), 1, 1, 1, false, 1}, 1,
                      memory.data());
  append(chirp, &out.chirp);
  append(kernel, &out.kernel);
  return out;
}

void transform(const ShortFourier& of, const FourierSequences& sequences, int64_t lanes,
               char* memory) {
  ShortRun(of, sequences, lanes, memory).run();
}

int64_t twiddle_bytes(int64_t points, int64_t lanes) {
  const int64_t entries = ceil_div(points, kTwiddleSteps) + kTwiddleSteps;
  return entries * 2 * lanes * static_cast<int64_t>(sizeof(double));
}

TwiddleFactors fill_twiddles(int64_t points, int64_t lanes, const RootsOfUnity& roots,
                             int64_t first, bool backward, char* memory) {
  const int64_t last = roots.points() / points - 1;
  double* to = reinterpret_cast<double*>(memory);
  const auto fill = [&](int64_t steps, int64_t step) {
    const double* start = to;
    for (int64_t i = 0; i < steps; ++i, to += 2 * lanes) {
      for (int64_t j = 0; j < lanes; ++j) {
        const int64_t k = std::min(first + j, last);
        const std::complex<double> root = roots[i * step * k];
        to[j] = root.real();
        to[lanes + j] = backward ? -root.imag() : root.imag();
      }
    }
    return start;
  };
  const double* high = fill(ceil_div(points, kTwiddleSteps), kTwiddleSteps);
  return {high, fill(std::min(kTwiddleSteps, points), 1)};
}

}  // namespace pullback
