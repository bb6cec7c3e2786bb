// What the native benches share: rows for Google Benchmark, arrays, and plans ready to run.
//
// A program adds its rows in add_rows() and is run by this file's main(). A row is set up inside
// its function, so nothing exists before its turn; with --small the sizes are those of a smoke run.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eval/evaluate.h"
#include "graph/make.h"
#include "ops/ops.h"
#include "plan/passes/cache.h"

namespace pullback::bench {

inline bool small = false;

// What a figure counts: `python -m bench` prints the time of an item, GB/s and GFLOP/s.
enum class Unit : uint8_t { Items, Bytes, Flops };

// Runs body as often as `state` asks; `work` is what one call does.
void measure(benchmark::State& state, Unit unit, int64_t work, const auto& body) {
  for (auto _ : state) body();
  const int64_t total = state.iterations() * work;
  if (unit == Unit::Items) state.SetItemsProcessed(total);
  if (unit == Unit::Bytes) state.SetBytesProcessed(total);
  if (unit == Unit::Flops) {
    state.counters["flops"] =
        benchmark::Counter(static_cast<double>(total), benchmark::Counter::kIsRate);
  }
}

// By the clock on the wall: the work is on several threads.
void add(const std::string& name, auto function) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(function))->UseRealTime();
}

// An array of numbers in [0.1, 0.9], where every elementwise operation is defined.
inline NodeRef array(DType dtype, const Shape& shape) {
  Ref<Buffer> buffer = make_buffer(shape.size() * size_of(dtype));
  for (int64_t i = 0; i < shape.size(); ++i) {
    const double value = 0.1 + 0.8 * static_cast<double>((i * 7919) % 1009) / 1009;
    if (dtype == DType::Float64) {
      static_cast<double*>(buffer->host())[i] = value;
    } else {
      static_cast<float*>(buffer->host())[i] = static_cast<float>(value);
    }
  }
  return make_value(dtype, shape, std::move(buffer));
}

inline Snapshot snapshot_of(const NodeRef& root) {
  Node* roots[] = {root.get()};
  return take_snapshot(roots);
}

// A plan with memory for everything it needs: a run is nothing but its steps.
class Prepared {
 public:
  explicit Prepared(const NodeRef& root) : root_(root) {
    const Snapshot snapshot = snapshot_of(root);
    cached_ = find_plan(snapshot);
    for (uint32_t i : snapshot.arguments) arguments_.push_back(snapshot.nodes[i]->value->host());
    for (uint32_t i : snapshot.scalars) scalars_.push_back(snapshot.nodes[i]->scalar);
    for (int64_t bytes : cached_->plan.output_bytes) memory_.push_back(make_buffer(bytes));
    for (const Ref<Buffer>& buffer : memory_) outputs_.push_back(buffer->host());
    memory_.push_back(
        make_buffer(cached_->plan.arena_bytes + cached_->executable->scratch_bytes()));
  }

  Status run() const {
    RunArguments arguments{};
    arguments.arguments = arguments_.data();
    arguments.scalars = scalars_.data();
    arguments.outputs = outputs_.data();
    arguments.arena = memory_.back()->host();
    return cached_->executable->run(arguments);
  }

 private:
  NodeRef root_;
  std::shared_ptr<const CachedPlan> cached_;
  std::vector<const void*> arguments_;
  std::vector<Scalar> scalars_;
  std::vector<Ref<Buffer>> memory_;
  std::vector<void*> outputs_;
};

// The steps of `root`, again and again.
inline void measure_plan(benchmark::State& state, Unit unit, int64_t work, const NodeRef& root) {
  const Prepared prepared(root);
  if (!prepared.run()) return state.SkipWithError("a step failed; PULLBACK_BLAS names the BLAS");
  measure(state, unit, work, [&] { prepared.run(); });
}

void add_rows();  // each program's own

}  // namespace pullback::bench

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[argc - 1], "--small")) {
    pullback::bench::small = true;
    --argc;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  pullback::install_evaluation();
  pullback::bench::add_rows();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
