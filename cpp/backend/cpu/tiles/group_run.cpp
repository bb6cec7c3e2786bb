// Runs the units of a group. Start at GroupRun::run_unit.
//
// A run over a few elements must cost no more than its kernels, so its frame and accumulators lie
// on the stack and nothing is allocated. Large runs keep both in ThreadMemory and fill a frame once
// per thread.
//
// Sums stay accurate for any length: an accumulator receives at most `flush` rows before it is
// added to the next level. Spans are the third level.
#include "backend/cpu/tiles/group_run.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend/cpu/common/thread_memory.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kStackBytes = 16 * 1024;
// Units of slow functions may take 0.1 s, so they check for an interrupt after each tile if the
// tile is estimated to take this many nanoseconds. The check then costs less than 1 %.
constexpr double kSlowTile = 2000;

int64_t new_stamp() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

GroupRun::GroupRun(const GroupProgram& program, const Slots& slots, char* scratch)
    : program_(program), slots_(slots), scratch_(scratch), stamp_(0) {
  if (program_.units() > 1 || memory_bytes() > kStackBytes) stamp_ = new_stamp();
}

// The rows [begin, end) of a block, and the set of its accumulators.
struct GroupRun::Block {
  int64_t o, begin, end, width;
  char* set;
};

// Rows [row, row + count). `before` rows of their span and `skipped` rows of their tile precede
// them.
struct GroupRun::Part {
  int64_t row, count, before, skipped;
};

void GroupRun::clear(char* set) const {
  for (const auto& r : program_.reductions) {
    if (!r.leaves) fill_identity(r.fold, set + r.accumulators, r.parts * r.lanes * r.width);
  }
}

void GroupRun::fold(const TileFrame& frame, const Block& block, const Part& part) const {
  for (const auto& r : program_.reductions) {
    const int64_t width = !r.columns ? r.length : program_.inner > 1 ? block.width : r.width;
    const char* values = frame.at(r.place) + part.skipped * width * r.value;
    char* accumulators = block.set + r.accumulators;
    if (r.leaves) {
      fold_leaves(r, block, values, part.row * width, part.count * width);
    } else if (r.columns) {
      r.fold.lanes(values, part.count, width, r.lanes, part.before, accumulators);
    } else {
      r.fold.rows(values, 1, part.count * width, accumulators);
    }
  }
}

double* GroupRun::sums_of(const GroupProgram::Reduce& r, char* set, int64_t o) const {
  char* sums = program_.spans > 1 ? scratch_ + r.sums : set + r.accumulators;
  return reinterpret_cast<double*>(sums) + (program_.spans > 1 ? o * r.leaf_count : 0);
}

// Folds the values [at, at + left) of all values.
void GroupRun::fold_leaves(const GroupProgram::Reduce& r, const Block& block, const char* values,
                           int64_t at, int64_t left) const {
  const int64_t all = program_.reduced * r.length;
  const int64_t begin = block.begin * r.length;
  const int64_t end = block.end * r.length;
  double* sums = sums_of(r, block.set, block.o) + at / kLeaf;
  while (left > 0) {
    const int64_t first = at / kLeaf * kLeaf;
    const int64_t last = std::min(first + kLeaf, all);
    int64_t some = std::min(left, last - at);
    if (first < begin || last > end) {
      const int64_t place = block.o * program_.blocks + first / (program_.block * r.length);
      std::memcpy(scratch_ + r.shared + (place * kLeaf + at - first) * r.value, values,
                  static_cast<size_t>(some * r.value));
    } else if (some == last - first) {
      *sums = 0;
      r.fold.rows(values, 1, some, sums);
    } else {
      if (at == first) *sums = 0;
      r.fold.leaf(values, some, at - first, last - first, block.set + r.state, sums);
    }
    sums += at + some == last;
    at += some;
    left -= some;
    values += some * r.value;
  }
}

void GroupRun::fold_shared_leaves(const GroupProgram::Reduce& r, int64_t o) const {
  if (r.shared < 0) return;
  const int64_t all = program_.reduced * r.length;
  const int64_t block = program_.block * r.length;
  for (int64_t b = 0; b + 1 < program_.blocks; ++b) {
    const int64_t end = (b + 1) * block;
    const int64_t leaf = (end - 1) / kLeaf;  // the last leaf with a value in the block
    const int64_t first = leaf * kLeaf;
    const int64_t last = std::min(first + kLeaf, all);
    if (first < b * block || last <= end) continue;
    const char* values = scratch_ + r.shared + (o * program_.blocks + b) * kLeaf * r.value;
    double* sum = sums_of(r, nullptr, o) + leaf;
    *sum = 0;
    r.fold.rows(values, 1, last - first, sum);
  }
}

// Combines leaves pairwise until one is left: the first of `sums`.
void GroupRun::add_leaves(const GroupProgram::Reduce& r, double* sums) const {
  for (int64_t n = r.leaf_count; n > 1; n = ceil_div(n, kLeaf)) {
    for (int64_t i = 0; i < n; i += kLeaf) {
      double sum = 0;
      r.total.rows(sums + i, 1, std::min(kLeaf, n - i), &sum);
      sums[i / kLeaf] = sum;
    }
  }
}

void GroupRun::merge(char* into, const char* set) const {
  for (const auto& r : program_.reductions) {
    if (r.leaves) continue;
    char* sums = into + r.accumulators;
    r.merge(sums, sums, set + r.accumulators, nullptr, r.parts * r.lanes * r.width);
  }
}

// Stores the results of a strip.
void GroupRun::store(char* set, int64_t o, int64_t left, int64_t width) const {
  const int64_t at = o * program_.inner + left;
  for (const auto& r : program_.reductions) {
    char* sums = set + r.accumulators;
    if (r.leaves) {
      double* leaves = sums_of(r, set, o);
      add_leaves(r, leaves);
      sums = reinterpret_cast<char*>(leaves);
    }
    const int64_t results = program_.inner > 1 ? width : r.width;
    const int64_t lane = results * size_of(r.fold.accumulator);
    const int64_t part = r.lanes * lane;
    for (int64_t i = 1; i < r.parts * r.lanes; ++i) {
      char* first = sums + i / r.lanes * part;
      if (i % r.lanes) r.merge(first, first, sums + i * lane, nullptr, results);
    }
    char* out = slots_.at(r.out_slot) + r.out_offset + at * r.out_element;
    r.finish(out, sums, sums + part, sums + 2 * part, results);
  }
}

// Unit number = (o, strip, block), block fastest.
Problem GroupRun::run_unit(TileFrame& frame, char* sets, int64_t unit) const {
  const int64_t b = unit % program_.blocks;
  const int64_t strip = unit / program_.blocks % program_.strips;
  const int64_t o = unit / program_.blocks / program_.strips;
  const int64_t left = strip * program_.width;
  const int64_t width = std::min(program_.width, program_.inner - left);
  const int64_t begin = b * program_.block;
  const int64_t last = std::min(begin + program_.block, program_.reduced);
  const bool reduces = !program_.reductions.empty();
  char* level1 = sets;
  char* level2 = sets + program_.set_bytes;
  int64_t span = (o * program_.strips + strip) * program_.spans + begin / program_.span;
  int64_t at = 0;    // rows done in the span
  int64_t full = 0;  // rows in the accumulators of level 1
  bool flushed = false;
  const bool slow = program_.tiles.cost * static_cast<double>(program_.steps) > kSlowTile;
  const Block block{o, begin, last, width, level1};
  for (int64_t step = begin; step < last; step += program_.steps) {
    const int64_t steps = std::min(program_.steps, last - step);
    const int64_t first = (o * program_.reduced + step) * program_.inner + left;
    const Problem problem = frame.run(first, steps * width);
    if (problem != Problem::None) return problem;
    if (slow && stop_requested()) return Problem::None;  // the run fails as interrupted
    if (!reduces) continue;
    for (int64_t done = 0; done < steps;) {
      const int64_t row = step + done;
      if (at == 0) {
        clear(level1);
        flushed = false;
      } else if (full == program_.flush) {
        if (!flushed) clear(level2);
        merge(level2, level1);
        clear(level1);
        flushed = true;
        full = 0;
      }
      const int64_t room = std::min(program_.span - at, program_.flush - full);
      const int64_t count = std::min(steps - done, room);
      fold(frame, block, {row, count, at, done});
      done += count;
      at += count;
      full += count;
      if (at < program_.span && row + count < last) continue;
      if (flushed) merge(level1, level2);
      at = full = 0;
      if (program_.spans == 1) continue;
      std::memcpy(scratch_ + span++ * program_.set_bytes, level1,
                  static_cast<size_t>(program_.set_bytes));
    }
  }
  if (reduces && program_.spans == 1) store(level1, o, left, width);
  return Problem::None;
}

void GroupRun::run_unit(int64_t unit) {
  if (first_.before(unit)) return;
  ThreadMemory<GroupRun> memory(memory_bytes());
  if (!memory.data()) return first_.report(unit, failure(Problem::Memory));
  // False if the memory already has the frame of this run.
  const bool fill = stamp_ == 0 || memory.stamp() != stamp_;
  memory.stamp() = stamp_;
  TileFrame frame(program_.tiles, slots_, memory.data(), fill);
  char* sets = memory.data() + TileFrame::frame_bytes(program_.tiles);
  const Problem problem = run_unit(frame, sets, unit);
  if (problem != Problem::None) first_.report(unit, frame.status());
}

void GroupRun::combine() const {
  const int64_t strips = program_.outer * program_.strips;
  for (int64_t s = 0; s < strips; ++s) {
    const int64_t o = s / program_.strips;
    char* total = scratch_ + s * program_.spans * program_.set_bytes;
    for (int64_t i = 1; i < program_.spans; ++i) merge(total, total + i * program_.set_bytes);
    for (const auto& r : program_.reductions) fold_shared_leaves(r, o);
    const int64_t left = s % program_.strips * program_.width;
    store(total, o, left, std::min(program_.width, program_.inner - left));
  }
}

Status GroupRun::finish() {
  const Status status = first_.status();
  if (status && program_.spans > 1 && !program_.reductions.empty()) combine();
  if (program_.units() == 0 || program_.reduced == 0) store_identities();
  return status;
}

// For a reduction of no elements.
void GroupRun::store_identities() const {
  for (const auto& r : program_.reductions) {
    alignas(8) char identity[8];
    fill_identity(r.fold, identity, 1);
    char* out = slots_.at(r.out_slot) + r.out_offset;
    for (int64_t i = 0; i < r.results; ++i) {
      r.finish(out + i * r.out_element, identity, identity, identity, 1);
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
