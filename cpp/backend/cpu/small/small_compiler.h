// SmallCompiler: translates loops to small programs. small_compile.cpp translates loops and their
// bodies, small_replay.cpp the states for reverses, small_steps.cpp the steps of bodies,
// small_group.cpp tile groups and copies; small_frame.cpp assigns places. Start at
// SmallCompiler::add_loop.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "backend/cpu/small/small_program.h"
#include "backend/cpu/tiles/group_run.h"
#include "base/error.h"

namespace pullback {

// The value of an optional that a verified plan has.
template <class Optional>
auto& present(Optional& value) {
  if (!value)
    fail(ErrorKind::Runtime, "internal error: a small program without a part of its loop");
  return *value;
}

class SmallCompiler {
 public:
  // False if the loop is not part of small programs.
  bool compile(const Loop& loop);
  SmallProgram program() { return std::move(program_); }

 private:
  using Kind = SmallProgram::Kind;
  using Code = SmallProgram::Code;

  // Memory of a view: an offset in the frame or, if `external`, the offset of a pointer.
  struct Place {
    int32_t at;
    bool external = false;
  };
  // A seed of the iteration, at an offset in the frame.
  struct SeedAt {
    int32_t at;
  };
  // A plan: the offsets of its slots, and what its scalars are.
  struct Scope {
    const Plan* plan;
    std::vector<int32_t> slots;
    std::vector<std::variant<Scalar, RunScalar, SeedAt>> scalars;
    int32_t scalars_at = 0;  // their offset, as a list
    int32_t arena = 0;
    int32_t at(const View& view) const {
      return slots[view.slot] + static_cast<int32_t>(view.offset * size_of(view.dtype));
    }
  };
  struct Body {
    Scope scope;
    std::vector<std::optional<int32_t>> roots;
    std::vector<std::pair<int32_t, int32_t>> seeds;  // result and operand of each Seed
  };
  // Entries of a scanned input, of a stacked output or of residuals.
  struct Stack {
    int32_t cursor;      // offset of the pointer to the next entry
    int32_t at;          // offset of the entry in the frame; of a stacked output, the root's number
    int64_t bytes;       // of an entry
    int32_t buffer = 0;  // offset of a pointer to the first entry, of states
  };
  // The carries of a loop at the start of each iteration, for its reverse: offsets of pointers to
  // the end of those written, of the buffer, and to its beginning, and the bytes of an iteration.
  struct Record {
    const Loop* reverse;
    int32_t cursor, end, begin, buffer;
    int64_t bytes;
  };
  using Places = std::vector<std::optional<Place>>;
  // The inputs of a loop, and the offsets of those that are the same in every iteration.
  struct Invariants {
    const Places& in;
    std::vector<int32_t> at;  // 0: not loaded yet
  };
  using CarryOf = std::function<std::optional<int32_t>(const InputSource&)>;

  // small_frame.cpp
  bool fits() const;
  int32_t take(int64_t bytes);
  Code& add(Kind kind, int32_t out, int32_t a, int32_t n = 0);
  void copy(int32_t out, int32_t a, int64_t bytes);
  void load(int32_t out, Place from, int64_t bytes);
  void store(Place to, int32_t a, int64_t bytes);
  int32_t constant(DType dtype, Scalar value, int32_t count = 1);
  std::optional<int32_t> splat(const Scope& scope, const ScalarLoad& load, int32_t count);
  int32_t number(int64_t value);
  void start(const Stack& stack, int32_t base, int64_t first, bool external);
  void pull(const Stack& stack, bool backward);
  void push(const Stack& stack, int32_t from, bool backward);
  int32_t here() const { return static_cast<int32_t>(program_.code.size()); }

  // small_compile.cpp
  bool add_loop(const Loop& loop, const Scope* around, const Places& in, const Places& out,
                const Loop* reverse = nullptr);
  bool enter(const BodyPlan& body, const std::vector<BodyInput>& in, const Scope* around,
             const CarryOf& carry_of, Invariants* invariants, Body* out);
  int32_t invariant(Invariants* invariants, int32_t input, int64_t bytes);
  void finish_carries(Body* body, const std::vector<int32_t>& carries,
                      const std::vector<int64_t>& bytes, int32_t begin);
  bool writes_directly(int32_t from, int32_t to, int64_t bytes, int32_t begin);

  // small_replay.cpp
  const Loop* find_reverse(const Scope& scope, size_t number) const;
  Record start_record(const Loop& reverse);
  std::optional<Record> take_record(const Loop& reverse);
  void push_record(const Record& record, const std::vector<int32_t>& carries,
                   const std::vector<int64_t>& bytes);
  void pull_record(const Record& record, const std::vector<Stack>& states);
  bool add_replay(const Loop& loop, const Scope* around, int32_t trips, Invariants* invariants,
                  std::vector<Stack>* states);

  // small_steps.cpp
  bool add_steps(const Scope& scope);
  bool add_call(const Step& step, const Scope& scope);
  void add_scalars(const BodyPlan& body, const std::vector<BodyInput>& in, const Scope* around,
                   Body* out);
  void add_seeds(const Body& body, SmallProgram::SeedPosition position, int32_t counter,
                 int32_t trips);
  void count(const BodyPlan& body, int32_t trips, int64_t more);
  std::pair<Places, Places> places_of(const std::vector<BodyInput>& in,
                                      const std::vector<std::optional<View>>& out,
                                      const Scope& scope) const;
  bool add_branch(const Branch& branch, const Scope& scope);

  // small_group.cpp
  bool add_group(const TileGroup& group, const Scope& scope);
  bool add_code(const TileProgram& tiles, const TileProgram::Code& code, const Scope& scope);
  void add_fold(const TileProgram::RowFold& fold, int32_t in, int32_t sums, int32_t out,
                int32_t rows);
  bool add_reductions(const GroupProgram& group, const Scope& scope);
  bool add_layout(const Layout& layout, const Scope& scope);
  void call(TileKernel kernel, int32_t out, int32_t a, int32_t b, int32_t c, int32_t n);
  void identities(const Fold& fold, int32_t at, int64_t count);
  bool gather(const Axes& axes, int64_t element, int32_t base, int64_t n, int32_t out);
  bool scatter(const Axes& axes, int64_t element, int32_t base, int64_t n, int32_t in);

  SmallProgram program_;
  std::vector<Record> records_;  // whose reverse comes later
  std::vector<int32_t> blocks_;  // beginnings of the blocks of the frame
  std::vector<int32_t> places_;  // of the tile program that is translated
};

}  // namespace pullback
