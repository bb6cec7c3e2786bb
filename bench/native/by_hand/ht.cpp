// Hand tracking: vertices of a skinned hand beside measured points, and the Jacobian by the pose.
//
// theta: a rotation (axis times angle), a translation, and for each of 5 fingers the angles x and z
// of its first bone and x of the next two. A finger has 4 bones after the wrist, which is bone 0.

#include <algorithm>
#include <array>
#include <vector>

#include "by_hand.h"

namespace {

constexpr int64_t kPose = 26;
constexpr int64_t kOfFinger = 4;  // angles, and bones

using Affine = std::array<double, 12>;  // 3 rows of 4: a rotation and a shift
using Turn = std::array<double, 9>;

Affine first_rows(const double* matrix) {
  Affine out;
  std::copy(matrix, matrix + 12, out.begin());
  return out;
}

// The last row of both is (0, 0, 0, last).
Affine multiply(const Affine& a, const Affine& b, double last) {
  Affine out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      double sum = j == 3 ? a[4 * i + 3] * last : 0;
      for (int k = 0; k < 3; ++k) sum += a[4 * i + k] * b[4 * k + j];
      out[4 * i + j] = sum;
    }
  }
  return out;
}

// Rotations about z after x, and their derivatives by the two angles.
struct Joint {
  Affine turn, by_x, by_z;
};

Joint joint(double x, double z) {
  const double a = std::cos(x), b = std::sin(x), c = std::cos(z), d = std::sin(z);
  return {{c, -d * a, d * b, 0, d, c * a, -c * b, 0, 0, b, a, 0},
          {0, d * b, d * a, 0, 0, -c * b, -c * a, 0, 0, a, -b, 0},
          {-d, -c * a, c * b, 0, c, -d * a, d * b, 0, 0, 0, 0, 0}};
}

struct Bone {
  Affine absolute, transform;
  int angles = 0;  // of its own and those of its ancestors
  std::array<int, kOfFinger> angle;
  std::array<Affine, kOfFinger> slopes, transform_slopes;
};

std::vector<Bone> pose_bones(int64_t bones, const double* theta, const double* relatives,
                             const double* inverses, const int64_t* parents) {
  std::vector<Bone> out(bones);
  for (int64_t i = 0; i < bones; ++i) {
    Bone& bone = out[i];
    const int64_t place = (i - 1) % kOfFinger;  // in its finger
    const bool turns = i > 0 && i <= 5 * kOfFinger && place > 0;
    const int first = static_cast<int>(6 + (i - 1) / kOfFinger * kOfFinger);
    const int own_x = place == 1 ? first : first + static_cast<int>(place);
    const Affine base = first_rows(relatives + 16 * i);
    Affine relative = base;
    Joint own{};
    if (turns) {
      own = joint(theta[own_x], place == 1 ? theta[first + 1] : 0);
      relative = multiply(base, own.turn, 1);
    }
    const Bone* parent = parents[i] < 0 ? nullptr : &out[parents[i]];
    bone.absolute = parent ? multiply(parent->absolute, relative, 1) : relative;
    const auto add = [&](int angle, const Affine& slope) {
      bone.angle[bone.angles] = angle;
      bone.slopes[bone.angles++] = slope;
    };
    for (int k = 0; parent && k < parent->angles; ++k) {
      add(parent->angle[k], multiply(parent->slopes[k], relative, 1));
    }
    if (turns) {
      const auto slope_of = [&](const Affine& by) {
        const Affine moved = multiply(base, by, 0);
        return parent ? multiply(parent->absolute, moved, 0) : moved;
      };
      add(own_x, slope_of(own.by_x));
      if (place == 1) add(first + 1, slope_of(own.by_z));
    }
    const Affine inverse = first_rows(inverses + 16 * i);
    bone.transform = multiply(bone.absolute, inverse, 1);
    for (int k = 0; k < bone.angles; ++k) {
      bone.transform_slopes[k] = multiply(bone.slopes[k], inverse, 1);
    }
  }
  return out;
}

// The rotation by an axis times an angle, and its derivatives.
std::array<Turn, 4> rotation(const double* r) {
  const double square_angle = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  const double angle = std::sqrt(square_angle);
  const double c = std::cos(angle), a = std::sin(angle) / angle, b = (1 - c) / square_angle;
  const double slope_a = (c - a) / square_angle, slope_b = (a - 2 * b) / square_angle;
  const Turn cross = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
  std::array<Turn, 4> out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int at = 3 * i + j;
      out[0][at] = (i == j ? c : 0) + a * cross[at] + b * r[i] * r[j];
      for (int k = 0; k < 3; ++k) {
        const double twist = i == j || k == i || k == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1);
        out[1 + k][at] = r[k] * ((i == j ? -a : 0) + slope_a * cross[at] + slope_b * r[i] * r[j]) +
                         a * twist + b * ((k == i ? r[j] : 0) + (k == j ? r[i] : 0));
      }
    }
  }
  return out;
}

// A vertex before the rotation of the hand, and its derivatives by the angles of fingers.
struct Vertex {
  std::array<double, 3> place;
  std::array<std::array<double, 3>, kPose> slopes;
};

void apply(const Affine& m, const double* x, double scale, std::array<double, 3>& out) {
  for (int i = 0; i < 3; ++i) {
    const double* row = &m[4 * i];
    out[i] += scale * (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3]);
  }
}

Vertex skin(const std::vector<Bone>& bones, const double* base, const double* weights) {
  Vertex out{};
  for (size_t i = 0; i < bones.size(); ++i) {
    const double weight = weights[i];
    if (weight == 0) continue;
    apply(bones[i].transform, base, weight, out.place);
    for (int k = 0; k < bones[i].angles; ++k) {
      apply(bones[i].transform_slopes[k], base, weight, out.slopes[bones[i].angle[k]]);
    }
  }
  return out;
}

std::array<double, 3> turned(const Turn& m, const std::array<double, 3>& x) {
  std::array<double, 3> out;
  for (int i = 0; i < 3; ++i) out[i] = m[3 * i] * x[0] + m[3 * i + 1] * x[1] + m[3 * i + 2] * x[2];
  return out;
}

}  // namespace

// Without `us` a point corresponds to a vertex, else to a place in a triangle, and the Jacobian
// begins with two columns by the place.
extern "C" void ht(int64_t bone_count, int64_t vertices, int64_t count, int64_t in_triangles,
                   const double* theta, const double* relatives, const double* inverses,
                   const double* base, const double* weights, const int64_t* parents,
                   const int64_t* corners, const double* points, const double* us, double* errors,
                   double* jacobian) {
  const std::vector<Bone> bones = pose_bones(bone_count, theta, relatives, inverses, parents);
  const std::array<Turn, 4> turns = rotation(theta);
  const int64_t of_place = in_triangles ? 2 : 0;
  const int64_t columns = of_place + kPose;
  const int64_t per_point = in_triangles ? 3 : 1;
  std::vector<Vertex> skinned(vertices);
  std::vector<char> used(vertices);
  for (int64_t i = 0; i < per_point * count; ++i) used[corners[i]] = 1;
#pragma omp parallel for if (vertices > by_hand::kSmall)
  for (int64_t v = 0; v < vertices; ++v) {
    if (used[v]) skinned[v] = skin(bones, base + 4 * v, weights + bone_count * v);
  }
#pragma omp parallel for if (count > by_hand::kSmall / 10)
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* of_point = corners + per_point * i;
    Vertex vertex;
    std::array<double, 3> along[2];
    if (in_triangles) {
      const double shares[3] = {us[2 * i], us[2 * i + 1], 1 - us[2 * i] - us[2 * i + 1]};
      vertex = {};
      for (int corner = 0; corner < 3; ++corner) {
        const Vertex& at = skinned[of_point[corner]];
        for (int m = 0; m < 3; ++m) vertex.place[m] += shares[corner] * at.place[m];
        for (int64_t k = 6; k < kPose; ++k) {
          for (int m = 0; m < 3; ++m) vertex.slopes[k][m] += shares[corner] * at.slopes[k][m];
        }
      }
      for (int u = 0; u < 2; ++u) {
        for (int m = 0; m < 3; ++m) {
          along[u][m] = skinned[of_point[u]].place[m] - skinned[of_point[2]].place[m];
        }
      }
    }
    const Vertex& at = in_triangles ? vertex : skinned[*of_point];
    double* rows = jacobian + 3 * i * columns;
    const auto fill = [&](int64_t column, const std::array<double, 3>& slope) {
      for (int m = 0; m < 3; ++m) rows[m * columns + column] = -slope[m];
    };
    for (int64_t u = 0; u < of_place; ++u) fill(u, turned(turns[0], along[u]));
    for (int k = 0; k < 3; ++k) {
      fill(of_place + k, turned(turns[1 + k], at.place));
      fill(of_place + 3 + k, {double(k == 0), double(k == 1), double(k == 2)});
    }
    for (int64_t k = 6; k < kPose; ++k) fill(of_place + k, turned(turns[0], at.slopes[k]));
    const std::array<double, 3> place = turned(turns[0], at.place);
    for (int m = 0; m < 3; ++m) errors[3 * i + m] = points[3 * i + m] - place[m] - theta[3 + m];
  }
}
