// The determinant of a matrix by minors, each computed once: minors of the last m rows are numbered
// by the set of their m columns.

#include <bit>
#include <vector>

#include "by_hand.h"

extern "C" void det(int64_t n, const double* a, double* value, double* gradient) {
  const uint64_t all = (uint64_t{1} << n) - 1;
  std::vector<double> minors(all + 1), slopes(all + 1);
  minors[0] = 1;
  for (uint64_t columns = 1; columns <= all; ++columns) {
    const double* row = a + (n - std::popcount(columns)) * n;
    double sum = 0;
    double sign = 1;
    for (uint64_t rest = columns; rest; rest &= rest - 1, sign = -sign) {
      sum += sign * row[std::countr_zero(rest)] * minors[columns ^ (rest & -rest)];
    }
    minors[columns] = sum;
  }
  for (int64_t i = 0; i < n * n; ++i) gradient[i] = 0;
  slopes[all] = 1;
  for (uint64_t columns = all; columns > 0; --columns) {
    const int64_t first = (n - std::popcount(columns)) * n;
    double slope = slopes[columns];
    for (uint64_t rest = columns; rest; rest &= rest - 1, slope = -slope) {
      const int64_t column = std::countr_zero(rest);
      const uint64_t without = columns ^ (rest & -rest);
      gradient[first + column] += slope * minors[without];
      slopes[without] += slope * a[first + column];
    }
  }
  *value = minors[all];
}
