// Runs the units of a group. A run of a few elements must cost no more than its kernels: its frame
// and accumulators lie on the stack and nothing is allocated. Large runs keep both in memory of
// their thread and fill a frame once per thread.
//
// Sums stay accurate whatever the length: no accumulator gets more than `flush` tiles (a tile of a
// single row comes in 16 lanes) before it is added to the next level; units are the third level.
#include "backend/cpu/group_run.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kStackBytes = 16 * 1024;
// A unit of slow functions may take 0.1 s. It reads the flag of an interrupt after each tile, if
// that takes so many nanoseconds by estimate that reading costs less than 1 %.
constexpr double kSlowTile = 2000;

// Memory that a thread keeps, and the run whose frame is in it.
struct ThreadMemory {
  char* data = nullptr;
  int64_t bytes = 0;
  int64_t stamp = 0;
  ~ThreadMemory() { std::free(data); }
};

int64_t new_stamp() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

GroupRun::GroupRun(const GroupProgram& program, const Slots& slots, char* scratch)
    : program_(program), slots_(slots), scratch_(scratch), stamp_(0) {
  if (program_.units() > 1 || memory_bytes() > kStackBytes) stamp_ = new_stamp();
}

char* GroupRun::thread_memory(bool* fill) const {
  thread_local ThreadMemory memory;
  const int64_t bytes = memory_bytes();
  *fill = stamp_ == 0 || memory.stamp != stamp_;
  if (bytes > memory.bytes) {
    const int64_t size = round_up(bytes, 4096);
    std::free(memory.data);
    memory.data = static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(size)));
    memory.bytes = memory.data ? size : 0;
  }
  memory.stamp = memory.data ? stamp_ : 0;
  return memory.data;
}

void GroupRun::clear(char* set) const {
  for (const auto& r : program_.reductions) fill_identity(r.fold, set + r.accumulators, r.width);
}

void GroupRun::fold(const TileFrame& frame, char* set, int64_t steps, int64_t width) const {
  for (const auto& r : program_.reductions) {
    const char* values = frame.at(r.place);
    if (r.columns) {
      r.fold.columns(values, steps, program_.inner > 1 ? width : r.width, set + r.accumulators);
    } else {
      r.fold.rows(values, 1, steps * r.length, set + r.accumulators);
    }
  }
}

void GroupRun::merge(char* into, const char* set) const {
  for (const auto& r : program_.reductions) {
    char* sums = into + r.accumulators;
    r.merge(sums, sums, set + r.accumulators, nullptr, r.width);
  }
}

// The results of a strip.
void GroupRun::store(const char* set, int64_t o, int64_t left, int64_t width) const {
  const int64_t at = o * program_.inner + left;
  for (const auto& r : program_.reductions) {
    char* out = slots_.at(r.out_slot) + r.out_offset + at * r.out_element;
    r.finish(out, set + r.accumulators, nullptr, nullptr, program_.inner > 1 ? width : r.width);
  }
}

// Unit = (o, strip, block), block fastest.
Problem GroupRun::run_unit(TileFrame& frame, char* sets, int64_t unit) const {
  const int64_t b = unit % program_.blocks;
  const int64_t strip = unit / program_.blocks % program_.strips;
  const int64_t o = unit / program_.blocks / program_.strips;
  const int64_t left = strip * program_.width;
  const int64_t width = std::min(program_.width, program_.inner - left);
  const int64_t last = std::min((b + 1) * program_.block, program_.reduced);
  const bool reduces = !program_.reductions.empty();
  char* level1 = sets;
  char* level2 = sets + program_.set_bytes;
  if (reduces) clear(level1);
  bool flushed = false;
  int64_t pending = 0;
  const bool slow = program_.tiles.cost * static_cast<double>(program_.steps) > kSlowTile;
  for (int64_t step = b * program_.block; step < last; step += program_.steps) {
    const int64_t steps = std::min(program_.steps, last - step);
    const int64_t first = (o * program_.reduced + step) * program_.inner + left;
    const Problem problem = frame.run(first, steps * width);
    if (problem != Problem::None) return problem;
    if (slow && stop_requested()) return Problem::None;  // the run fails as interrupted
    if (!reduces) continue;
    if (pending == program_.flush) {
      if (!flushed) clear(level2);
      merge(level2, level1);
      clear(level1);
      flushed = true;
      pending = 0;
    }
    fold(frame, level1, steps, width);
    ++pending;
  }
  if (!reduces) return Problem::None;
  if (flushed) merge(level1, level2);
  if (program_.blocks > 1) {
    std::memcpy(scratch_ + unit * program_.set_bytes, level1,
                static_cast<size_t>(program_.set_bytes));
  } else {
    store(level1, o, left, width);
  }
  return Problem::None;
}

void GroupRun::run_unit(int64_t unit) {
  if (first_.before(unit)) return;
  bool fill;
  char* memory = thread_memory(&fill);
  if (!memory) return first_.report(unit, failure(Problem::Memory));
  TileFrame frame(program_.tiles, slots_, memory, fill);
  const Problem problem = run_unit(frame, memory + TileFrame::frame_bytes(program_.tiles), unit);
  if (problem != Problem::None) first_.report(unit, frame.status());
}

void GroupRun::combine() const {
  const int64_t strips = program_.outer * program_.strips;
  for (int64_t s = 0; s < strips; ++s) {
    char* total = scratch_ + s * program_.blocks * program_.set_bytes;
    for (int64_t b = 1; b < program_.blocks; ++b) merge(total, total + b * program_.set_bytes);
    const int64_t left = s % program_.strips * program_.width;
    store(total, s / program_.strips, left, std::min(program_.width, program_.inner - left));
  }
}

Status GroupRun::finish() {
  const Status status = first_.status();
  if (status && program_.blocks > 1 && !program_.reductions.empty()) combine();
  if (program_.units() == 0 || program_.reduced == 0) store_identities();
  return status;
}

// There is nothing to fold.
void GroupRun::store_identities() const {
  for (const auto& r : program_.reductions) {
    alignas(8) char identity[8];
    fill_identity(r.fold, identity, 1);
    char* out = slots_.at(r.out_slot) + r.out_offset;
    for (int64_t i = 0; i < r.results; ++i) {
      r.finish(out + i * r.out_element, identity, nullptr, nullptr, 1);
    }
  }
}

Status GroupRun::run() {
  const int64_t units = program_.units();
  if (units == 0 || program_.reduced == 0) return finish();
  if (stamp_ == 0) {
    alignas(64) char memory[kStackBytes];
    TileFrame frame(program_.tiles, slots_, memory);
    run_unit(frame, memory + TileFrame::frame_bytes(program_.tiles), 0);
    return frame.status();
  }
  const int64_t elements = program_.block * program_.width * program_.tiles.length;
  const int64_t per_chunk =
      std::clamp<int64_t>(kLargestChunk / elements, 1, ceil_div(units, kChunks));
  parallel_for(ceil_div(units, per_chunk), worth_threads(program_.nanoseconds), [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) run_unit(unit);
  });
  return finish();
}

}  // namespace pullback
