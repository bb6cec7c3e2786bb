// Gradient descent in gradient descent, and through the flight of a particle.

#include <array>

#include "by_hand.h"

using by_hand::square;

namespace {

template <size_t N>
using Vector = std::array<double, N>;

template <size_t N>
double length(const Vector<N>& v) {
  double sum = 0;
  for (double x : v) sum += x * x;
  return std::sqrt(sum);
}

// The step size doubles after ten decreases and halves after a failure.
template <size_t N>
Vector<N> find_minimum(const auto& value, const auto& gradient, Vector<N> x) {
  double best = value(x);
  Vector<N> slope = gradient(x);
  double rate = 1e-5;
  int decreases = 0;
  while (length(slope) > 1e-5) {
    if (decreases == 10) {
      rate *= 2;
      decreases = 0;
      continue;
    }
    Vector<N> moved, way;
    for (size_t i = 0; i < N; ++i) {
      moved[i] = x[i] - rate * slope[i];
      way[i] = x[i] - moved[i];
    }
    if (length(way) <= 1e-5) return x;
    const double found = value(moved);
    if (found < best) {
      x = moved;
      best = found;
      slope = gradient(x);
      ++decreases;
    } else {
      rate /= 2;
      decreases = 0;
    }
  }
  return x;
}

struct Flight {
  double value, slope;
};

// The square of the place where the particle meets the axis, and its derivative by w.
Flight fly(double w) {
  const double charges[2] = {10 - w, 0};
  const double moves[2] = {-1, 0};  // of the charges, by w
  const double dt = 0.1;
  double x = 0, y = 8, u = 0.75, v = 0, dx = 0, dy = 0, du = 0, dv = 0;
  while (y + dt * v > 0) {
    double a = 0, b = 0, da = 0, db = 0;  // the slopes of the potential
    for (int i = 0; i < 2; ++i) {
      const double p = x - 10, q = y - charges[i], dq = dy - moves[i];
      const double near = 1 / (p * p + q * q);
      const double cube = near * std::sqrt(near);
      const double change = 3 * cube * near * (p * dx + q * dq);
      a -= p * cube;
      b -= q * cube;
      da += p * change - dx * cube;
      db += q * change - dq * cube;
    }
    x += dt * u;
    y += dt * v;
    dx += dt * du;
    dy += dt * dv;
    u -= dt * a;
    v -= dt * b;
    du -= dt * da;
    dv -= dt * db;
  }
  const double end = x - y / v * u;
  const double slope = dx - (dy * u + y * du) / v + y * u * dv / square(v);
  return {end * end, 2 * end * slope};
}

}  // namespace

// Of (x1² + y1²) - (x2² + y2²): the least by x1, y1 of the greatest by x2, y2.
extern "C" void saddle(const double* start_x, const double* start_y, double* x1, double* y1,
                       double* x2, double* y2) {
  using Pair = Vector<2>;
  const Pair start = {*start_x, *start_y};
  const auto sum = [](const Pair& v) { return square(v[0]) + square(v[1]); };
  const auto twice = [](const Pair& v) { return Pair{2 * v[0], 2 * v[1]}; };
  const auto greatest = [&](const Pair& first) {
    return find_minimum([&](const Pair& v) { return sum(v) - sum(first); }, twice, start);
  };
  // The slopes of the inner descent do not depend on x1, y1, so neither does where it ends.
  const Pair first =
      find_minimum([&](const Pair& v) { return sum(v) - sum(greatest(v)); }, twice, start);
  const Pair second = greatest(first);
  *x1 = first[0];
  *y1 = first[1];
  *x2 = second[0];
  *y2 = second[1];
}

extern "C" void particle(const double* start, double* out) {
  using One = Vector<1>;
  *out = find_minimum([](const One& w) { return fly(w[0]).value; },
                      [](const One& w) { return One{fly(w[0]).slope}; }, One{*start})[0];
}
