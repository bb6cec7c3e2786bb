// The timer of the native benches. measure() repeats a body until a sample is long enough for the
// clock, takes seven samples, and prints them as one line of JSON, which `python -m bench` puts
// into its table. With --smoke a body runs once and the figures mean nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "graph/make.h"
#include "ops/ops.h"
#include "plan/cache.h"
#include "plan/evaluate.h"

namespace pullback::bench {

struct Options {
  bool smoke = false;
  const char* only = "";  // rows whose name contains this
};

inline Options& options() {
  static Options instance;
  return instance;
}

// What a figure is: the time of one item of the work, or the work done in a nanosecond.
enum class Unit : uint8_t { Nanoseconds, GigabytesPerSecond, GigaflopsPerSecond };

inline double seconds(int64_t loops, const auto& body) {
  const auto began = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < loops; ++i) body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// `work` is what one call of the body does: items, bytes or floating-point operations.
void measure(const std::string& name, Unit unit, double work, const auto& body) {
  constexpr const char* names[] = {"ns", "GB/s", "GFLOP/s"};
  constexpr double enough = 0.02;  // seconds a sample
  if (name.find(options().only) == std::string::npos) return;
  int64_t loops = 1;
  body();  // may end the program, so before any output
  if (!options().smoke) {
    while (seconds(loops, body) < enough) loops *= 2;  // also the warm-up
  }
  std::printf(R"({"name": "%s", "unit": "%s", "samples": [)", name.c_str(),
              names[static_cast<int>(unit)]);
  const int samples = options().smoke ? 1 : 7;
  for (int i = 0; i < samples; ++i) {
    const double each = 1e9 * seconds(loops, body) / static_cast<double>(loops);
    std::printf("%s%.6g", i ? ", " : "", unit == Unit::Nanoseconds ? each / work : work / each);
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

// Keeps the compiler from leaving out what made `value`.
inline void keep(const void* value) { asm volatile("" : : "g"(value) : "memory"); }

// An array of numbers in [0.1, 0.9], where every elementwise operation is defined.
inline NodeRef array(DType dtype, const Shape& shape) {
  Ref<Buffer> buffer = make_buffer(shape.size() * size_of(dtype));
  for (int64_t i = 0; i < shape.size(); ++i) {
    const double value = 0.1 + 0.8 * static_cast<double>((i * 7919) % 1009) / 1009;
    if (dtype == DType::Float64) {
      static_cast<double*>(buffer->data)[i] = value;
    } else {
      static_cast<float*>(buffer->data)[i] = static_cast<float>(value);
    }
  }
  return make_value(dtype, shape, std::move(buffer));
}

inline Snapshot snapshot_of(const NodeRef& root) {
  Node* roots[] = {root.get()};
  return take_snapshot(roots, true);
}

// A plan with memory for everything it needs: a run is nothing but its steps.
class Prepared {
 public:
  explicit Prepared(const NodeRef& root) : root_(root) {
    const Snapshot snapshot = snapshot_of(root);
    cached_ = find_plan(snapshot);
    for (uint32_t i : snapshot.arguments) arguments_.push_back(snapshot.nodes[i]->value->data);
    for (uint32_t i : snapshot.scalars) scalars_.push_back(snapshot.nodes[i]->scalar);
    for (int64_t bytes : cached_->plan.output_bytes) memory_.push_back(make_buffer(bytes));
    for (const Ref<Buffer>& buffer : memory_) outputs_.push_back(buffer->data);
    memory_.push_back(
        make_buffer(cached_->plan.arena_bytes + cached_->executable->scratch_bytes()));
  }

  void run() const {
    const Status status = cached_->executable->run(
        {arguments_.data(), scalars_.data(), outputs_.data(), memory_.back()->data, nullptr});
    if (status) return;
    std::fprintf(stderr, "step %d failed (PULLBACK_BLAS names the BLAS)\n", status.step);
    std::exit(1);
  }

 private:
  NodeRef root_;
  std::shared_ptr<const CachedPlan> cached_;
  std::vector<const void*> arguments_;
  std::vector<Scalar> scalars_;
  std::vector<Ref<Buffer>> memory_;
  std::vector<void*> outputs_;
};

void run();  // each program's own

}  // namespace pullback::bench

// PROGRAM [--smoke] [TEXT]: with TEXT, only the rows whose name contains it.
int main(int argc, char** argv) {
  using pullback::bench::options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--smoke")) {
      options().smoke = true;
    } else {
      options().only = argv[i];
    }
  }
  pullback::install_evaluation();
  pullback::bench::run();
  return 0;
}
