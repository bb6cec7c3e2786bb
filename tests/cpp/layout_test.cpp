// Layout steps: views of any strides copied into outputs of any axis order and step, or added to
// them; what lies between is zeroed with `clear` and untouched without.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_layout() {
  const Shape shapes[] = {{},           {0, 3},     {5},         {3, 4},        {33, 65},
                          {2, 3, 4, 5}, {300, 500}, {7, 1, 129}, {400, 3, 401}, {1000000},
                          {500, 2, 3},  {9, 40, 5}, {3000, 13},  {30, 3, 3, 3}};
  for (const Shape& shape : shapes) {
    for (DType dtype : {DType::Bool, DType::Float32, DType::Int64}) {
      for (int round = 0; round < 5; ++round) {
        const int64_t n = shape.size();
        Array in = random_array(dtype, std::max<int64_t>(n, 1));
        Runner r;
        const View from = random_load(in, r.argument(in), shape);
        // The output: dense in a random axis order, then inside a slot twice as large.
        View to = row_view(r.output(dtype, 2 * n + 3), dtype, shape);
        std::vector<int64_t> order;
        for (int64_t i = 0; i < shape.rank; ++i) order.push_back(i);
        std::shuffle(order.begin(), order.end(), generator);
        int64_t step = round % 2 ? 2 : 1;
        for (int64_t i : order) {
          to.strides[i] = step;
          step *= shape[i];
        }
        to.offset = 3;
        const int64_t mode = pick(3);
        const bool clear = mode == 0;
        // An addition needs something to add to: ones, put there by a copy before it.
        Array ones(dtype, 1);
        ones.set(0, 1);
        if (mode == 2) {
          View one = row_view(r.argument(ones), dtype, shape);
          one.strides = no_strides(shape);
          r.add(Layout{one, to});
        }
        r.add(Layout{from, to, clear, mode == 2});
        const std::string what = text("layout ", shape, " ", dtype, " ", mode);
        Array expected(dtype, 2 * n + 3);
        std::fill(expected.bytes.begin(), expected.bytes.end(), char(clear ? 0 : 0x5a));
        std::fill(r.outputs[0].bytes.begin(), r.outputs[0].bytes.end(), char(0x5a));
        const auto a = offsets_of(from), b = offsets_of(to);
        for (int64_t i = 0; i < n; ++i) {
          expected.set(b[i], mode != 2 ? in.get(a[i])
                             : dtype == DType::Float32
                                 ? static_cast<double>(1.0F + static_cast<float>(in.get(a[i])))
                                 : 1 + in.get(a[i]));
        }
        check(bool(r.run_threads(what)), what);
        check(same(r.outputs[0], expected), what);
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_layout();
  return report();
}
