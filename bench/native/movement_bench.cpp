// What moves data: strided copies, transposes, gather and scatter, positions of extremes. Plans of
// one step over arrays that no cache holds; bytes are those that must be read and written once.

#include <numeric>
#include <random>

#include "bench.h"

namespace pullback::bench {
namespace {

void plan(const std::string& name, int64_t bytes, const NodeRef& root) {
  const Prepared prepared(root);
  measure(name, Unit::GigabytesPerSecond, static_cast<double>(bytes), [&] { prepared.run(); });
}

NodeRef positions(int64_t n, int64_t bound) {
  Ref<Buffer> buffer = make_buffer(n * 8);
  std::mt19937_64 generator(7);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<int64_t*>(buffer->host())[i] =
        static_cast<int64_t>(generator() % static_cast<uint64_t>(bound));
  }
  return make_value(DType::Int64, {n}, std::move(buffer));
}

NodeRef slice_along(const NodeRef& x, int64_t axis, int64_t start, int64_t step, int64_t length) {
  StridedSlice w(x->shape.rank);
  w.start[axis] = start;
  w.step[axis] = step;
  Shape shape = x->shape;
  shape[axis] = length;
  return slice(x, shape, w);
}

void bench_copies(int64_t rows, int64_t columns) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const NodeRef x = array(dtype, {rows, columns});
    const std::string of = std::string(" ") + name_of(dtype);
    plan("transpose" + of, 2 * x->bytes(), transpose(x));
    const NodeRef cube = reshape(x, {rows / 16, 16, columns});
    plan("axes 0 and 1 swapped" + of, 2 * x->bytes(),
         transpose(cube, std::vector<int64_t>{1, 0, 2}));
    const NodeRef thin = reshape(x, {rows * columns / 4, 4});
    plan("transpose of 4 columns" + of, 2 * x->bytes(), transpose(thin));
    plan("transpose of 4 rows" + of, 2 * x->bytes(),
         transpose(reshape(x, {4, rows * columns / 4})));
    plan("every column but the first" + of, 2 * x->bytes(), slice_along(x, 1, 1, 1, columns - 1));
    plan("three of four columns" + of, 7 * x->bytes() / 4, slice_along(thin, 1, 0, 1, 3));
    plan("every second column" + of, 3 * x->bytes() / 2, slice_along(x, 1, 0, 2, columns / 2));
    plan("columns reversed" + of, 2 * x->bytes(), slice_along(x, 1, columns - 1, -1, columns));
    const NodeRef halves[] = {x, x};
    plan("concat of rows" + of, 4 * x->bytes(), concat(halves, 0));
    plan("concat of columns" + of, 4 * x->bytes(), concat(halves, 1));
    StridedSlice shifted(2);
    shifted.start[0] = 1;
    plan("embed, one row more" + of, 2 * x->bytes(), embed(x, {rows + 1, columns}, shifted));
    shifted.start[0] = 0;
    shifted.start[1] = 1;
    plan("embed, one column more" + of, 2 * x->bytes(), embed(x, {rows, columns + 1}, shifted));
  }
}

void bench_indices(int64_t n) {
  for (int64_t inner : {1, 8, 64, 512}) {
    const int64_t count = n / inner;
    const NodeRef at = positions(count, count);
    const NodeRef x = array(DType::Float32, {count, inner});
    const std::string of = " rows of " + std::to_string(inner);
    const int64_t bytes = 2 * x->bytes() + at->bytes();
    plan("take" + of, bytes, take(x, at, 0));
    plan("scatter_add" + of, bytes, scatter_add(x, at, 0, count));
    if (count < 64) continue;
    const NodeRef few = positions(count, 50);
    plan("scatter_add into 50" + of, x->bytes() + at->bytes(), scatter_add(x, few, 0, 50));
  }
  const NodeRef x = array(DType::Float32, {n / 1000, 1000});
  plan("take along the last axis", 2 * x->bytes(), take(x, positions(1000, 1000), 1));
  plan("scatter_add along the last axis", 2 * x->bytes(),
       scatter_add(x, positions(1000, 1000), 1, 1000));
}

void bench_extremes(int64_t n) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const NodeRef x = array(dtype, {n});
    const std::string of = std::string(" ") + name_of(dtype);
    plan("argmax" + of, x->bytes(), arg_reduce(Op::argmax, x, 0, false));
    for (int64_t length : {10, 1000}) {
      const NodeRef rows = reshape(x, {n / length, length});
      const std::string each = "argmax of rows of " + std::to_string(length) + of;
      plan(each, x->bytes(), arg_reduce(Op::argmax, rows, 1, false));
    }
    const NodeRef wide = reshape(x, {n / 1000, 1000});
    plan("argmax of columns" + of, x->bytes(), arg_reduce(Op::argmax, wide, 0, false));
    const NodeRef cube = reshape(x, {n / 1000, 100, 10});
    plan("argmax of the middle axis" + of, x->bytes(), arg_reduce(Op::argmax, cube, 1, false));
  }
  plan("one_hot of 10", n * 4, one_hot(positions(n / 10, 10), 10, DType::Float32, -1));
}

}  // namespace

void run() {
  const bool smoke = options().smoke;
  bench_copies(smoke ? 16 : 4096, smoke ? 12 : 1000);
  bench_indices(smoke ? 4000 : 4'000'000);
  bench_extremes(smoke ? 4000 : 8'000'000);
}

}  // namespace pullback::bench
