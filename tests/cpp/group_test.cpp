// Groups over rows: random programs of every kind of load, instruction, store and reduction against
// the same operations on whole arrays, one at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plan/verify/verify.h"
#include "plans.h"

namespace pullback::test {
namespace {

struct Value {
  Array array;
  bool row = false;
  bool constant = false;
  bool writable = false;     // a flat load of memory that a store may overwrite
  bool overwritten = false;  // one did
  int32_t last_read = -1;
};

void copy_entry(Array& from, int64_t i, Array& to, int64_t j) {
  const int64_t e = size_of(to.dtype);
  std::copy_n(from.bytes.data() + i * e, e, to.bytes.data() + j * e);
}

// A random group next to the values that it must have.
class RandomGroup {
 public:
  RandomGroup(int64_t rows, int64_t length) : rows_(rows), length_(length), count_(rows * length) {
    storage_.reserve(32);
    group_.count = count_;
    group_.length = length;
    add_indices();
    for (int64_t i = 1 + pick(5); i > 0; --i) add_load();
    for (int i = 0; i < 3; ++i) add_scalar();
    for (int64_t i = 1 + pick(16); i > 0; --i) add_instruction();
    for (int64_t i = pick(4); i > 0; --i) add_store();
    const int64_t reductions = length > 1 ? pick(4) : 1 + pick(3);
    for (int64_t i = 0; i < reductions; ++i) add_reduction();
  }

  void check_run(const std::string& what) {
    runner_.add(group_);
    runner_.plan.scalars = static_cast<int32_t>(runner_.scalars.size());
    verify(runner_.plan);
    check(bool(runner_.run_threads(what)), what + ": status");
    for (const Wanted& w : stores_) {
      check(same(runner_.outputs[w.output], values_[w.value].array), what + ": store");
    }
    for (size_t i = 0; i < reductions_.size(); ++i) {
      check_reduction(group_.reductions[i], reductions_[i], what);
    }
  }

 private:
  struct Wanted {
    int64_t output;
    int32_t value;
  };

  DType random_dtype() { return static_cast<DType>(pick(kComputeDTypes)); }
  int64_t entries(bool row) const { return row ? rows_ : count_; }

  void push_load(const View& view, bool row) {
    Value value;
    value.row = row && length_ > 1;
    value.array = Array(view.dtype, entries(row));
    const auto offsets = offsets_of(view);
    Array& from = storage_.back();
    for (int64_t j = 0; j < entries(row); ++j) copy_entry(from, offsets[j], value.array, j);
    group_.loads.push_back(view);
    values_.push_back(value);
  }

  void add_indices() {
    storage_.emplace_back(DType::Int64, std::max<int64_t>(rows_, 1));
    for (int64_t i = 0; i < rows_; ++i) storage_.back().set(i, pick(length_));
    push_load(row_view(runner_.argument(storage_.back()), DType::Int64, {rows_}), true);
  }

  void add_load() {
    const bool row = pick(3) == 0;
    const DType dtype = random_dtype();
    const int64_t kind = pick(6);
    storage_.push_back(random_array(dtype, std::max<int64_t>(count_, 1)));
    View view{0, dtype, 0, {rows_, length_}, {}};
    if (row) view.shape = {rows_};
    if (pick(8) == 0) {
      view.strides = no_strides(view.shape);  // a constant
    } else if (!row && kind == 0) {
      view.strides = {1, 0};  // one entry a row
    } else if (!row && kind == 1) {
      view.strides = {0, 1};  // the same in every row
    } else if (!row && kind == 2 && length_ % 2 == 0) {
      view.shape = {rows_ * length_ / 2, 2};
      view.strides = {0, 1};
    } else if (!row && kind == 3 && rows_ % 2 == 0) {
      view.shape = {rows_ / 2, 2, length_};  // the same in every second row
      view.strides = {0, length_, 1};
    } else if (kind == 4) {
      view = random_load(storage_.back(), 0, view.shape);
    } else {
      view.strides = row_major(view.shape);
      if (!row && pick(2)) return add_in_place(view);
    }
    view.slot = runner_.argument(storage_.back());
    push_load(view, row);
  }

  // A flat load of memory that a store may overwrite.
  void add_in_place(View view) {
    view.slot = runner_.output(view.dtype, count_);
    const View from = row_view(runner_.argument(storage_.back()), view.dtype, {count_});
    runner_.add(Layout{from, row_view(view.slot, view.dtype, {count_}), false});
    push_load(view, false);
    values_.back().writable = true;
  }

  void add_scalar() {
    Value value;
    const DType dtype = random_dtype();
    value.constant = true;
    value.array = Array(dtype, count_);
    Scalar s{};
    if (is_float(dtype)) {
      s.f = 0.75;
    } else {
      s.i = 1;
    }
    for (int64_t j = 0; j < count_; ++j) value.array.set(j, is_float(dtype) ? 0.75 : 1);
    if (pick(2)) {
      group_.scalars.push_back({std::nullopt, dtype, s});
    } else {
      group_.scalars.push_back({RunScalar{runner_.plan.scalars++}, dtype, {}});
      runner_.scalars.push_back(s);
    }
    values_.push_back(value);
  }

  int32_t find(DType dtype, bool row) {
    for (int tries = 0; tries < 20; ++tries) {
      const auto v = static_cast<int32_t>(pick(static_cast<int64_t>(values_.size())));
      if (v == 0 && rows_ > 1) continue;  // the indices: they would be picked as numbers
      if (values_[v].array.dtype == dtype &&
          (!row || values_[v].row || values_[v].constant || length_ == 1)) {
        return v;
      }
    }
    return -1;
  }

  // The value's entries over rows or elements.
  Array level(int32_t v, bool row) {
    const Value& value = values_[v];
    Array out(value.array.dtype, entries(row));
    const int64_t e = size_of(out.dtype);
    for (int64_t i = 0; i < entries(row); ++i) {
      const int64_t from = value.row == row || value.constant || length_ == 1 ? i : i / length_;
      std::copy_n(value.array.bytes.data() + from * e, e, out.bytes.data() + i * e);
    }
    return out;
  }

  void add_instruction() {
    const bool row = pick(3) == 0;
    const DType dtype = random_dtype();
    const int64_t kind = pick(8);
    if (row && kind < 4) return add_fold(dtype);
    const int32_t a = find(dtype, row || kind == 7);
    if (a < 0) return;
    if (kind == 7) return add_place(a);
    const int32_t b = find(dtype, row);
    const int32_t condition = find(DType::Bool, row);
    Instruction ins{Op::cast, dtype, random_dtype(), {a}, row};
    if (kind < 5 && b >= 0) {
      const Op numbers[] = {Op::add, Op::multiply, Op::subtract, Op::maximum, Op::less};
      ins = {dtype == DType::Bool ? Op::logical_xor : numbers[pick(5)], dtype, dtype, {a, b}, row};
      if (ins.op == Op::less) ins.result = DType::Bool;
      if (is_float(dtype) && pick(6) == 0) ins.op = Op::divide, ins.result = dtype;
      if (condition >= 0 && pick(4) == 0) ins = {Op::where, dtype, dtype, {condition, a, b}, row};
    } else if (is_float(dtype) && pick(4)) {
      const Op unary[] = {Op::tanh,     Op::tanh_slope, Op::sigmoid, Op::sigmoid_slope, Op::square,
                          Op::negative, Op::sin,        Op::cos,     Op::sqrt,          Op::rsqrt};
      ins = {unary[pick(10)], dtype, dtype, {a}, row};
    }
    compute(ins);
  }

  void compute(const Instruction& ins) {
    const bool row = ins.row;
    const DType dtype = ins.dtype;
    Value value;
    value.row = row && length_ > 1;
    value.array = Array(ins.result, entries(row));
    Array in[3];
    for (int k = 0; k < 3; ++k) {
      if (ins.in[k] >= 0) in[k] = level(ins.in[k], row);
    }
    const auto& t = kernels().elementwise;
    (ins.op == Op::cast ? kernels().casts.of[int(dtype)][int(ins.result)]
                        : t.of[int(ins.op)][int(dtype)])(value.array.bytes.data(),
                                                         in[0].bytes.data(), in[1].bytes.data(),
                                                         in[2].bytes.data(), entries(row));
    push_instruction(ins, value);
  }

  void push_instruction(const Instruction& ins, const Value& value) {
    for (int32_t in : ins.in) {
      if (in >= 0) values_[in].last_read = static_cast<int32_t>(values_.size());
    }
    group_.instructions.push_back(ins);
    values_.push_back(value);
  }

  void add_fold(DType dtype) {
    const int32_t a = find(dtype, false);
    if (a < 0) return;
    const Op ops[] = {Op::sum, Op::max, Op::min, Op::all, Op::any, Op::pick, Op::pick};
    const Op op = ops[pick(7)];
    DType result = dtype;
    if (op == Op::sum && !is_float(dtype)) result = traits(dtype).accumulator;
    if (op == Op::all || op == Op::any) result = DType::Bool;
    Array in = level(a, false);
    Value value;
    value.row = length_ > 1;
    value.array = Array(result, rows_);
    Instruction ins{op, dtype, result, {a}, true};
    if (op == Op::pick) {
      ins.in.push_back(0);
      for (int64_t r = 0; r < rows_; ++r) {
        copy_entry(in, r * length_ + int64_t(values_[0].array.get(r)), value.array, r);
      }
      return push_instruction(ins, value);
    }
    const Fold& fold = kernels().folds.of[fold_index(op)][int(dtype)];
    for (int64_t r = 0; r < rows_; ++r) {
      alignas(8) char sum[8];
      store_scalar(fold.accumulator, fold.identity, sum);
      fold.rows(in.bytes.data() + r * length_ * size_of(dtype), 1, length_, sum);
      kernels().casts.of[int(fold.accumulator)][int(result)](
          value.array.bytes.data() + r * size_of(result), sum, nullptr, nullptr, 1);
    }
    push_instruction(ins, value);
  }

  void add_place(int32_t a) {
    const DType dtype = values_[a].array.dtype;
    Array in = level(a, true);
    Value value;
    value.array = Array(dtype, count_);
    for (int64_t r = 0; r < rows_; ++r) {
      copy_entry(in, r, value.array, r * length_ + int64_t(values_[0].array.get(r)));
    }
    const int32_t b = find(dtype, false);
    push_instruction({Op::place, dtype, dtype, {a, 0}, false}, value);
    const auto placed = static_cast<int32_t>(values_.size()) - 1;
    if (b < 0 || !is_float(dtype) || pick(4) == 0) return;
    if (pick(4) == 0) compute({Op::square, dtype, dtype, {b}, false});  // in between
    const bool first = pick(2);
    compute({Op::add, dtype, dtype, {first ? placed : b, first ? b : placed}, false});
  }

  int32_t any_value() {
    const auto n = static_cast<int64_t>(values_.size());
    return static_cast<int32_t>(n - 1 - pick(std::min<int64_t>(8, n)));
  }

  void add_store() {
    const int32_t v = any_value();
    const Value& value = values_[v];
    if (value.overwritten) return;
    values_[v].last_read = INT32_MAX;
    for (size_t i = 0; i < group_.loads.size(); ++i) {
      Value& load = values_[i];
      if (!load.writable || load.overwritten || load.last_read > v ||
          load.array.dtype != value.array.dtype)
        continue;
      if (value.row || v < static_cast<int32_t>(group_.loads.size()) || value.constant) continue;
      load.overwritten = true;
      const View view = row_view(group_.loads[i].slot, value.array.dtype, {count_});
      group_.stores.push_back({v, view});
      stores_.push_back({runner_.plan.slots[view.slot].index, v});
      return;
    }
    const int64_t n = value.array.n;
    const int32_t slot = runner_.output(value.array.dtype, n);
    group_.stores.push_back({v, row_view(slot, value.array.dtype, {n})});
    stores_.push_back({runner_.plan.slots[slot].index, v});
  }

  void add_reduction() {
    const int32_t v = any_value();
    const Value& value = values_[v];
    if (value.overwritten) return;
    const DType dtype = value.array.dtype;
    const Op ops[] = {Op::sum, Op::sum, Op::max, Op::min, Op::all, Op::any};
    const Op op = ops[pick(6)];
    if (rows_ == 0 && (op == Op::max || op == Op::min)) return;
    DType result = dtype;
    if (op == Op::sum && !is_float(dtype)) result = traits(dtype).accumulator;
    if (op == Op::all || op == Op::any) result = DType::Bool;
    const bool columns = !value.row && pick(2);
    const int64_t inner = columns ? length_ : 1;
    const int32_t slot = runner_.output(result, inner);
    values_[v].last_read = INT32_MAX;
    group_.reductions.push_back(
        {op, v, dtype, 1, value.array.n / inner, inner, row_view(slot, result, {inner})});
    reductions_.push_back({runner_.plan.slots[slot].index, v});
  }

  void check_reduction(const Reduction& r, const Wanted& wanted, const std::string& what) {
    Array& in = values_[wanted.value].array;
    bool ok = true;
    for (int64_t j = 0; j < r.inner; ++j) {
      long double sum = 0;
      double size = 0;
      double best = r.op == Op::max ? -INFINITY : INFINITY;
      uint64_t whole = 0;
      bool every = true, some = false, bad = false;
      for (int64_t i = 0; i < r.reduced; ++i) {
        const double v = in.get(i * r.inner + j);
        if (in.dtype == DType::Int64 || in.dtype == DType::UInt64) {  // sums wrap
          whole += in.as<uint64_t>()[i * r.inner + j];
        } else if (!is_float(in.dtype)) {
          whole += static_cast<uint64_t>(static_cast<int64_t>(v));
        }
        sum += v;
        size += std::fabs(v);
        bad |= std::isnan(v);
        best = r.op == Op::max ? std::max(best, v) : std::min(best, v);
        every &= v != 0;
        some |= v != 0;
      }
      Array& out = runner_.outputs[wanted.output];
      const double got = out.get(j);
      if (r.op == Op::sum && !is_float(in.dtype)) {
        ok &= out.as<uint64_t>()[j] == whole;
      } else if (r.op == Op::sum) {
        const double eps = in.dtype == DType::Float32 ? 6e-8 : 1e-15;
        ok &= std::isfinite(sum) && std::isfinite(static_cast<float>(sum))
                  ? std::fabs(static_cast<double>(got - sum)) <=
                        eps * std::fabs(static_cast<double>(sum)) + 1e-12 * size
                  : !std::isfinite(got) || std::fabs(got) > 1e38;
      } else if (r.op == Op::all || r.op == Op::any) {
        ok &= got == (r.op == Op::all ? every : some);
      } else {
        ok &= bad ? std::isnan(got) : got == best;
      }
    }
    check(ok, what + text(": reduction ", int64_t(r.op), " ", in.dtype));
  }

  const int64_t rows_, length_, count_;
  std::vector<Array> storage_;
  Runner runner_;
  TileGroup group_;
  std::vector<Value> values_;
  std::vector<Wanted> stores_, reductions_;
};

void test_random_groups() {
  const int64_t lengths[] = {1, 2, 3, 5, 8, 10, 15, 16, 17, 31, 33, 47, 48, 64, 67, 1000, 8192};
  const int64_t rows[] = {0, 1, 2, 3, 7, 64, 130, 1000, 6000, 40000};
  for (int round = 0; round < 700; ++round) {
    const int64_t n = rows[pick(10)];
    const int64_t length = pick(2) ? lengths[pick(17)] : 1 + pick(67);
    if (n * length > 400000) continue;
    RandomGroup group(n, length);
    group.check_run(text("group ", int64_t{round}, " [", n, ", ", length, "]"));
  }
}

// A unit of a slow function reads the flag of an interrupt between its tiles.
void test_interrupt_of_slow_functions() {
  constexpr int64_t n = 8192;  // in one unit
  Array x(DType::Float64, n);
  for (int64_t i = 0; i < n; ++i) x.set(i, 0.5);
  Runner runner;
  TileGroup group;
  group.count = n;
  group.loads.push_back(row_view(runner.argument(x), DType::Float64, {n}));
  group.instructions.push_back({Op::betainc, DType::Float64, DType::Float64, {0, 0, 0}});
  group.stores.push_back({1, row_view(runner.output(DType::Float64, n), DType::Float64, {n})});
  runner.add(group);
  static int asked;
  const auto asks = [&](bool (*interrupted)()) {
    asked = 0;
    const Status status = runner.run(interrupted);
    return std::pair(asked, status.problem);
  };
  const auto [all, none] = asks([] { return ++asked < 0; });
  check(all >= 4 && none == Problem::None, "a slow unit looks for interrupts as it runs");
  const auto [two, stopped] = asks([] { return ++asked == 2; });
  check(two == 2 && stopped == Problem::Interrupted, "and ends at the first");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_random_groups();
  test_interrupt_of_slow_functions();
  return report();
}
