// k-means: the cost, and the step of Newton's method, whose Hessian is diagonal.

#include <algorithm>
#include <limits>
#include <vector>

#include "by_hand.h"

namespace {

// Distances of a point to all centroids, which lie transposed: the inner loop is over centroids.
void distances(int64_t k, int64_t d, const double* point, const double* transposed, double* out) {
  std::fill(out, out + k, 0.0);
  for (int64_t l = 0; l < d; ++l) {
    const double x = point[l];
    const double* row = transposed + l * k;
    for (int64_t j = 0; j < k; ++j) {
      const double difference = x - row[j];
      out[j] += difference * difference;
    }
  }
}

std::vector<double> transpose(int64_t k, int64_t d, const double* centroids) {
  std::vector<double> out(k * d);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t l = 0; l < d; ++l) out[l * k + j] = centroids[j * d + l];
  }
  return out;
}

}  // namespace

extern "C" void kmeans_cost(int64_t n, int64_t k, int64_t d, const double* points,
                            const double* centroids, double* cost) {
  const std::vector<double> transposed = transpose(k, d, centroids);
  double sum = 0;
#pragma omp parallel reduction(+ : sum) if (n * k * d > 16 * by_hand::kSmall)
  {
    std::vector<double> near(k);
#pragma omp for
    for (int64_t i = 0; i < n; ++i) {
      distances(k, d, points + i * d, transposed.data(), near.data());
      double least = near[0];
      for (int64_t j = 1; j < k; ++j) least = std::min(least, near[j]);
      sum += least;
    }
  }
  *cost = sum;
}

extern "C" void kmeans_step(int64_t n, int64_t k, int64_t d, const double* points,
                            const double* centroids, double* step) {
  const std::vector<double> transposed = transpose(k, d, centroids);
  std::vector<double> sums(k * d);
  std::vector<int64_t> counts(k);
#pragma omp parallel if (n * k * d > 16 * by_hand::kSmall)
  {
    std::vector<double> near(k), own_sums(k * d);
    std::vector<int64_t> own_counts(k);
#pragma omp for
    for (int64_t i = 0; i < n; ++i) {
      const double* point = points + i * d;
      distances(k, d, point, transposed.data(), near.data());
      const int64_t nearest = std::min_element(near.begin(), near.end()) - near.begin();
      ++own_counts[nearest];
      for (int64_t l = 0; l < d; ++l) own_sums[nearest * d + l] += point[l];
    }
#pragma omp critical
    for (int64_t j = 0; j < k; ++j) {
      counts[j] += own_counts[j];
      for (int64_t l = 0; l < d; ++l) sums[j * d + l] += own_sums[j * d + l];
    }
  }
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t l = 0; l < d; ++l) {
      step[j * d + l] = centroids[j * d + l] - sums[j * d + l] / static_cast<double>(counts[j]);
    }
  }
}
