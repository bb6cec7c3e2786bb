// SmallProgram: a whole loop over few bytes as one program, for loops whose iterations take less
// time than the setup of their steps.
//
// The bodies of the loop, and of loops inside of it, are translated to one list of codes over one
// block of memory, the frame. The frame has every slot of the bodies at a fixed offset, so a run
// resolves no address and an iteration is one pass over the codes. Values have the same bits as
// those of run_loop(): each line of a tile program becomes a call of its kernel, or a code for one
// element that evaluates the same expression. Start at compile_small_loop() (small_compile.cpp),
// and at run_small() for the interpreter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/common/slots.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

struct SmallProgram {
  // Operands out, a, b, c are offsets in the frame, in bytes.
  enum Kind : uint16_t {
    Stop,
    Call,       // call(out, a, b, c, n)
    Rows,       // over_rows(out, a, b, c, n, length)
    Pairs,      // pair(out, b, a, n)
    FoldRows,   // fold(a, n, length, out)
    FoldLanes,  // lanes(a, n, length, c lanes, 0, out)
    Fill,       // n copies of the element at a of `length` bytes
    Move1,      // one element of this many bytes from a to out
    Move2,
    Move4,
    Move8,
    Copy,         // n bytes
    Address,      // pointer at out = address of a
    Cursor,       // pointer at out = pointer at a + value
    CursorAtEnd,  // pointer at out = pointer at a + (number at b - 1) * value
    Pull,         // n bytes from the pointer at a, plus length; the pointer advances by value
    Pull8,
    Push,  // n bytes to the pointer at out, plus length; the pointer advances by value
    Push8,
    Buffer,   // pointer at out = a buffer of (number at a) * value bytes
    Reserve,  // value bytes at the pointer at out, in a buffer from that at b to that at a
    Begin,    // number at out = number at a; jumps if that is not positive
    Next,     // jumps while the number at out, less one, is positive
    Unless,   // jumps if the bool at a is false
    Above,    // jumps if the number at a is greater than n
    Jump,     // jumps
    Again,    // adds one to the number at out and jumps
    Seed,     // number at out = the seed of an iteration, from that at a: see SeedPosition
    RunStep,  // step->run
    Count,    // adds the number at a, and value, to the number at out
    Casts,    // + from * kComputeDTypes + to: one element
    Elements = Casts + kComputeDTypes * kComputeDTypes,  // + operation * kComputeDTypes + dtype
    kKinds = Elements + kElementwise * kComputeDTypes,
  };
  // The position of the iteration of a Seed, by its n: the number at b; the number at c less that
  // at b; the number at b less one.
  enum SeedPosition : int32_t { Counted, CountedDown, Backward };
  // A step that is run as a whole, and the offsets of the slots and scalars of its plan.
  struct StepCall {
    static constexpr size_t kMostSlots = 32;  // arguments, or outputs
    const Step* step;
    const Plan* plan;
    std::vector<int32_t> arguments, outputs;
    int32_t arena, scalars;
    Status run(char* frame) const;
  };
  struct Code {
    uint16_t kind;
    uint16_t length = 0;
    int32_t n = 0;
    int32_t out = 0, a = 0, b = 0, c = 0;
    union {
      int64_t value = 0;  // bytes, or the number of the code to jump to
      const StepCall* step;
      TileKernel call;
      RowKernel over_rows;
      PairKernel pair;
      decltype(Fold::rows) fold;
      decltype(Fold::lanes) lanes;
    };
  };
  static_assert(sizeof(Code) == 32);

  // A number that is written to the frame before the first code.
  struct Constant {
    int32_t at;
    int32_t count;  // copies
    DType dtype;
    Scalar value;
    std::optional<RunScalar> scalar;  // instead of `value`
  };
  // A pointer in the frame to memory around the loop.
  struct External {
    int32_t at;
    View view;
  };
  // A plan that is part of the program, and the offset of the number of its runs.
  struct Part {
    const Plan* plan;
    int32_t runs;
  };
  // The codes from `first` on are those of a step.
  struct Origin {
    int32_t first;
    const Step* step;
  };

  std::vector<Code> code;
  std::vector<Constant> constants;
  std::vector<External> externals;
  std::vector<Origin> origins;
  std::vector<Part> parts;
  std::vector<std::shared_ptr<const StepCall>> calls;
  int64_t frame_bytes = 0;
  int32_t buffers = 0;

  int64_t bytes() const {
    return bytes_of(code) + bytes_of(constants) + bytes_of(externals) + bytes_of(origins) +
           bytes_of(parts);
  }
};

constexpr uint16_t element_kind(Op op, int dtype) {
  return static_cast<uint16_t>(SmallProgram::Elements + static_cast<int>(op) * kComputeDTypes +
                               dtype);
}
constexpr uint16_t cast_kind(int from, int to) {
  return static_cast<uint16_t>(SmallProgram::Casts + from * kComputeDTypes + to);
}

// The code of one element of a kernel; none if the kernel has no such code.
std::optional<uint16_t> code_of_element(TileKernel kernel);

// None if the loop is too large, or has a step that is not part of small programs.
std::optional<SmallProgram> compile_small_loop(const Loop& loop);

// Memory of a run whose size depends on a number of iterations.
class SmallBuffers {
 public:
  explicit SmallBuffers(int32_t count) {
    if (count) of_ = std::make_unique<Buffer[]>(static_cast<size_t>(count));
  }
  // Null if there is no memory.
  char* get(int32_t number, int64_t bytes) {
    Buffer& buffer = of_[number];
    if (!buffer.memory || buffer.bytes < bytes) {
      buffer.memory.reset();  // before more is requested
      buffer.memory = std::make_unique<StepMemory>(bytes);
      buffer.bytes = bytes;
    }
    return buffer.memory->data();
  }
  // The first `used` bytes stay. Null if there is no memory.
  char* enlarge(int32_t number, int64_t used, int64_t bytes);

 private:
  struct Buffer {
    std::unique_ptr<StepMemory> memory;
    int64_t bytes = 0;
  };
  std::unique_ptr<Buffer[]> of_;
};

// Runs codes up to Stop.
Status run_code(const SmallProgram::Code* code, char* frame, SmallBuffers& buffers);
// The failure of a code whose kernel returned a problem.
Status refused_code(const SmallProgram::Code& code, int problem, const char* frame);

class NativeCode;

// Backward jumps between two checks for an interrupt, interpreted or native. Bodies take
// nanoseconds to microseconds.
constexpr int32_t kJumpsPerCheck = 256;

// `frame` has frame_bytes, aligned to 64 bytes. Without `native`, codes are interpreted.
Status run_small(const SmallProgram& program, const NativeCode* native, const Slots& slots,
                 char* frame);

}  // namespace pullback
