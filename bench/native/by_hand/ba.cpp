// Bundle adjustment: errors of reprojection, and their Jacobian in blocks of 2 × 15.
//
// A camera is r (a rotation as axis times angle), C, f, u, v, k1, k2. With X a point, w a weight
// and t = |r|: c = cos t, a = sin t / t, b = (1 - cos t) / t²,
//   y = c Z + a r × Z + b (r · Z) r  of Z = X - C,  p = (y0, y1) / y2,
//   error = w (f (1 + k1 |p|² + k2 |p|⁴) p + (u, v) - feature).

#include "by_hand.h"

using by_hand::kSmall;

namespace {

constexpr int64_t kCamera = 11;
constexpr int64_t kColumns = kCamera + 3 + 1;

struct Projection {
  double z[3], c, a, b, along, cross[3], y[3], p[2], norm, distortion, image[2];
};

Projection project(const double* camera, const double* point) {
  Projection out{};
  const double* r = camera;
  double* z = out.z;
  for (int i = 0; i < 3; ++i) z[i] = point[i] - camera[3 + i];
  const double square_angle = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  const double angle = std::sqrt(square_angle);
  out.c = std::cos(angle);
  out.a = std::sin(angle) / angle;
  out.b = (1 - out.c) / square_angle;
  out.along = r[0] * z[0] + r[1] * z[1] + r[2] * z[2];
  out.cross[0] = r[1] * z[2] - r[2] * z[1];
  out.cross[1] = r[2] * z[0] - r[0] * z[2];
  out.cross[2] = r[0] * z[1] - r[1] * z[0];
  for (int i = 0; i < 3; ++i) {
    out.y[i] = out.c * z[i] + out.a * out.cross[i] + out.b * out.along * r[i];
  }
  for (int i = 0; i < 2; ++i) out.p[i] = out.y[i] / out.y[2];
  out.norm = out.p[0] * out.p[0] + out.p[1] * out.p[1];
  out.distortion = 1 + camera[9] * out.norm + camera[10] * out.norm * out.norm;
  for (int i = 0; i < 2; ++i) {
    out.image[i] = camera[6] * out.distortion * out.p[i] + camera[7 + i];
  }
  return out;
}

}  // namespace

extern "C" void ba_objective(int64_t observations, const double* cameras, const double* points,
                             const double* weights, const int64_t* of_camera,
                             const int64_t* of_point, const double* features, double* errors,
                             double* weight_errors) {
#pragma omp parallel for if (observations > kSmall)
  for (int64_t i = 0; i < observations; ++i) {
    const Projection at = project(cameras + kCamera * of_camera[i], points + 3 * of_point[i]);
    for (int k = 0; k < 2; ++k) {
      errors[2 * i + k] = weights[i] * (at.image[k] - features[2 * i + k]);
    }
    weight_errors[i] = 1 - weights[i] * weights[i];
  }
}

extern "C" void ba_jacobian(int64_t observations, const double* cameras, const double* points,
                            const double* weights, const int64_t* of_camera,
                            const int64_t* of_point, const double* features, double* blocks,
                            double* weight_slopes) {
#pragma omp parallel for if (observations > kSmall)
  for (int64_t i = 0; i < observations; ++i) {
    const double* camera = cameras + kCamera * of_camera[i];
    const double* r = camera;
    const Projection at = project(camera, points + 3 * of_point[i]);
    const double w = weights[i];
    weight_slopes[i] = -2 * w;

    const double square_angle = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double slope_a = (at.c - at.a) / square_angle;      // da = slope_a r · dr
    const double slope_b = (at.a - 2 * at.b) / square_angle;  // db = slope_b r · dr
    const double a = at.a;
    const double b = at.b;
    const double* z = at.z;
    double common[3];  // of the columns of dy / dr: times r[k]
    for (int m = 0; m < 3; ++m) {
      common[m] = -a * z[m] + slope_a * at.cross[m] + slope_b * at.along * r[m];
    }
    const double twist[3][3] = {{0, -a * z[2], a * z[1]},  // a z ×
                                {a * z[2], 0, -a * z[0]},
                                {-a * z[1], a * z[0], 0}};
    const double turn[3][3] = {{0, -a * r[2], a * r[1]},  // a r ×
                               {a * r[2], 0, -a * r[0]},
                               {-a * r[1], a * r[0], 0}};
    double by_r[3][3];
    double by_z[3][3];
    for (int m = 0; m < 3; ++m) {
      for (int k = 0; k < 3; ++k) {
        const double diagonal = m == k;
        by_r[m][k] = r[k] * common[m] - twist[m][k] + b * (diagonal * at.along + r[m] * z[k]);
        by_z[m][k] = at.c * diagonal + turn[m][k] + b * r[m] * r[k];
      }
    }

    const double scale = w * camera[6];
    const double bend = 2 * (camera[9] + 2 * camera[10] * at.norm);
    for (int e = 0; e < 2; ++e) {
      double by_p[2];
      for (int k = 0; k < 2; ++k) {
        by_p[k] = scale * (bend * at.p[e] * at.p[k] + (e == k ? at.distortion : 0));
      }
      const double by_y[3] = {by_p[0] / at.y[2], by_p[1] / at.y[2],
                              -(by_p[0] * at.p[0] + by_p[1] * at.p[1]) / at.y[2]};
      double* row = blocks + (2 * i + e) * kColumns;
      for (int k = 0; k < 3; ++k) {
        row[k] = by_y[0] * by_r[0][k] + by_y[1] * by_r[1][k] + by_y[2] * by_r[2][k];
        const double by_point = by_y[0] * by_z[0][k] + by_y[1] * by_z[1][k] + by_y[2] * by_z[2][k];
        row[3 + k] = -by_point;
        row[kCamera + k] = by_point;
      }
      row[6] = w * at.distortion * at.p[e];
      row[7] = e == 0 ? w : 0;
      row[8] = e == 1 ? w : 0;
      row[9] = scale * at.p[e] * at.norm;
      row[10] = row[9] * at.norm;
      row[14] = at.image[e] - features[2 * i + e];
    }
  }
}
