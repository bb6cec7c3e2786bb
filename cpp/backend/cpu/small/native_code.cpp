// Compiles and runs native code: jumps, calls, and the memory of the instructions. Start at
// compile_native().
#include "backend/cpu/small/native_code.h"

#include "backend/cpu/small/native_compiler.h"

#if PULLBACK_NATIVE_CODE

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <new>

#include "base/threads.h"

namespace pullback {
namespace {

struct NativeContext {
  int32_t code = -1;  // that failed
  SmallBuffers* buffers;
  Status status;
};

int run_slowly(NativeContext* context, const SmallProgram::Code* code, char* frame) noexcept {
  try {
    context->status = run_code(code, frame, *context->buffers);
  } catch (const std::bad_alloc&) {
    context->status = failure(Problem::Memory);
  }
  return static_cast<int>(context->status.problem);
}

int native_stop_requested() noexcept { return stop_requested(); }

bool is_jump(const SmallProgram::Code& c) {
  return c.kind == SmallProgram::Begin || c.kind == SmallProgram::Next ||
         c.kind == SmallProgram::Unless || c.kind == SmallProgram::Above ||
         c.kind == SmallProgram::Jump || c.kind == SmallProgram::Again;
}

}  // namespace

void NativeCompiler::emit_jump(const SmallProgram::Code& c) {
  const auto to = static_cast<int32_t>(c.value);
  switch (c.kind) {
    case SmallProgram::Begin:
      integer(true, 0x8b, c.a);
      integer(true, 0x89, c.out);
      overwrite(c.out, 8);
      bytes({0x48, 0x85, 0xc0});  // test rax, rax
      jump(Condition::LessOrEqual, to);
      return;
    case SmallProgram::Unless:
      bytes({0x80});  // cmp byte [rbx + a], 0
      in_frame(7, c.a, 1);
      byte(0);
      jump(Condition::Equal, to);
      return;
    case SmallProgram::Above:
      bytes({0x48, 0x81});  // cmp qword [rbx + a], n
      in_frame(7, c.a);
      immediate(c.n);
      jump(Condition::Greater, to);
      return;
    case SmallProgram::Jump:
      jump(std::nullopt, to);
      return;
    case SmallProgram::Next:
    case SmallProgram::Again: {
      const bool counts_down = c.kind == SmallProgram::Next;
      bytes({0x48, 0x83});  // sub or add qword [rbx + out], 1
      in_frame(counts_down ? 5 : 0, c.out);
      byte(1);
      overwrite(c.out, 8);
      size_t leave = 0;
      if (counts_down) {
        bytes({0x0f, 0x80 | static_cast<int>(Condition::LessOrEqual)});
        leave = bytes_.size();
        immediate(int32_t{0});
      }
      enter(to);
      bytes({0x41, 0xff, 0xcc});  // dec r12d
      jump(Condition::NotEqual, to);
      bytes({0x41, 0xbc});  // mov r12d
      immediate(kJumpsPerCheck);
      call(native_stop_requested);
      bytes({0x85, 0xc0});  // test eax, eax
      bytes({0x74, 10});    // jz over the next two
      byte(0xb8);           // mov eax
      immediate(static_cast<int32_t>(Problem::Interrupted));
      jump(std::nullopt, kEnd);
      enter(to);
      jump(std::nullopt, to);
      if (counts_down) {
        const auto distance = static_cast<int32_t>(bytes_.size() - leave - 4);
        std::memcpy(&bytes_[leave], &distance, 4);
      }
      forget();
      return;
    }
    default:
      return;
  }
}

void NativeCompiler::fail_if_nonzero(int32_t index) {
  bytes({0x85, 0xc0});  // test eax, eax
  bytes({0x74, 13});    // jz over the next two
  bytes({0x41, 0xc7, 0x45, static_cast<int>(offsetof(NativeContext, code))});  // mov dword [r13 + ]
  immediate(index);
  jump(std::nullopt, kEnd);
}

// A kernel: (out, a, b, c, n).
void NativeCompiler::emit_call(int32_t index) {
  const SmallProgram::Code& c = program_.code[index];
  address_argument(0x48, 7, c.out);
  address_argument(0x48, 6, c.a);
  address_argument(0x48, 2, c.b);
  address_argument(0x48, 1, c.c);
  bytes({0x41, 0xb8});  // mov r8d
  immediate(c.n);
  call(c.call);
  fail_if_nonzero(index);
}

void NativeCompiler::emit_slow(int32_t index) {
  const SmallProgram::Code* const code = &slow_[slow_.size()];
  slow_.push_back(program_.code[index]);
  slow_.push_back({SmallProgram::Stop});
  bytes({0x4c, 0x89, 0xef});  // mov rdi, r13
  move_address(0x48, 0xbe, code);
  bytes({0x48, 0x89, 0xda});  // mov rdx, rbx
  call(run_slowly);
  fail_if_nonzero(index);
}

// A kernel of two results: (out, b, a, n).
void NativeCompiler::emit_pair(const SmallProgram::Code& c) {
  address_argument(0x48, 7, c.out);
  address_argument(0x48, 6, c.b);
  address_argument(0x48, 2, c.a);
  byte(0xb9);  // mov ecx
  immediate(c.n);
  call(c.pair);
}

// Notes what a code reads that is a call; of kernels, at most 16 bytes for each element.
void NativeCompiler::note_reads(const SmallProgram::Code& c) {
  const int64_t n = std::max<int64_t>(c.n, 1), length = std::max<int64_t>(c.length, 1);
  int64_t bytes = 8, of_out = 0;
  switch (c.kind) {
    case SmallProgram::Fill:
      bytes = length;
      break;
    case SmallProgram::Push:
      of_out = 8;
      [[fallthrough]];
    case SmallProgram::Copy:
      bytes = n;
      break;
    case SmallProgram::Rows:
    case SmallProgram::FoldRows:
    case SmallProgram::FoldLanes:
      bytes = of_out = 16 * length * std::max<int64_t>(n, c.c);
      break;
    default:
      if (c.kind == SmallProgram::Call || c.kind == SmallProgram::Pairs ||
          c.kind >= SmallProgram::Casts) {
        bytes = 16 * n;
      } else {
        of_out = 8;
      }
  }
  for (const int32_t at : {c.a, c.b, c.c}) stores_.read(at, bytes);
  if (of_out) stores_.read(c.out, of_out);
}

void NativeCompiler::emit(int32_t index) {
  const SmallProgram::Code& c = program_.code[index];
  if (is_jump(c)) return emit_jump(c);
  if (emit_move(c) || emit_element(c) || emit_unrolled(c) || emit_packed(c)) return;
  note_reads(c);
  if (c.kind == SmallProgram::Call || c.kind >= SmallProgram::Casts) {
    emit_call(index);
  } else if (c.kind == SmallProgram::Pairs) {
    emit_pair(c);
  } else if (c.kind == SmallProgram::Count) {
    emit_count(c);
  } else if (c.kind == SmallProgram::Reserve) {
    emit_reserve(index);
  } else {
    emit_slow(index);
  }
}

// The codes that jumps lead to. Those that only the jump at the end of a loop leads to are loops.
void NativeCompiler::find_loops() {
  const auto count = static_cast<int32_t>(program_.code.size());
  targets_.assign(program_.code.size(), 0);
  for (int32_t i = 0; i < count; ++i) {
    const SmallProgram::Code& c = program_.code[i];
    if (!is_jump(c)) continue;
    const auto to = static_cast<int32_t>(c.value);
    const bool closes = c.kind == SmallProgram::Next || c.kind == SmallProgram::Again;
    if (closes && !targets_[to]) {
      loops_[to].last = i;
    } else {
      loops_.erase(to);
    }
    targets_[to] = 1;
  }
}

// Remembers a value that an iteration reads before the loop has written it.
void NativeCompiler::read_first(int32_t at, int bytes) {
  if (!loop_ || kept_is_known_) return;
  const auto known = [&](const Kept& kept) { return kept.at == at; };
  const auto first = std::ranges::lower_bound(written_, begin_of_loop_, {}, &Write::code);
  const auto is_here = [&](const Write& write) { return write.covers(at); };
  if (std::ranges::any_of(loop_->kept, known)) return;
  if (std::any_of(first, written_.end(), is_here)) return;
  loop_->kept.push_back({at, bytes, 0});
}

// Of the values that are read first, those that the loop writes get registers.
void NativeCompiler::keep_values() {
  for (auto& [begin, loop] : loops_) {
    const auto changes = [&, first = begin, last = loop.last](const Kept& kept) {
      return std::ranges::any_of(written_, [&](const Write& write) {
        return write.covers(kept.at) && write.code >= first && write.code < last;
      });
    };
    std::erase_if(loop.kept, std::not_fn(changes));
    if (loop.kept.size() > kLoopRegisters) loop.kept.resize(kLoopRegisters);
    int reg = kValueRegisters;
    for (Kept& kept : loop.kept) kept.reg = reg++;
  }
  kept_is_known_ = true;
}

// Brings the kept values of the loop that begins at `code`, if one does, to their registers.
void NativeCompiler::enter(int32_t code) {
  const auto loop = loops_.find(code);
  if (loop == loops_.end()) return;
  for (const Kept& kept : loop->second.kept) {
    const auto from = cached(kept.at, kept.bytes);
    if (from == kept.reg) continue;
    if (from) {
      move_registers(kept.reg, *from);
    } else {
      load(kept.reg, kept.at, kept.bytes);
    }
    forget_register(kept.reg);  // also if it had another kept value
    register_of_[kept.at] = {kept.reg, kept.bytes};
  }
}

void NativeCompiler::translate() {
  const auto count = static_cast<int32_t>(program_.code.size());
  begins_.assign(program_.code.size(), 0);
  jumps_.clear();
  slow_.clear();
  bytes_.clear();
  stores_.start();
  forget();
  bytes({0xf3, 0x0f, 0x1e, 0xfa});        // endbr64
  bytes({0x53, 0x41, 0x54, 0x41, 0x55});  // push rbx, r12, r13: the stack is aligned
  bytes({0x48, 0x89, 0xfb});              // mov rbx, rdi
  bytes({0x49, 0x89, 0xf5});              // mov r13, rsi
  bytes({0x41, 0xbc});                    // mov r12d
  immediate(kJumpsPerCheck);
  for (index_ = 0; index_ < count; ++index_) {
    if (targets_[index_]) {
      enter(index_);
      forget();
      stores_.leave();
      stores_.forget();
    }
    if (const auto loop = loops_.find(index_); loop != loops_.end()) {
      loop_ = &loop->second;
      begin_of_loop_ = index_;
      for (const Kept& kept : loop_->kept) register_of_[kept.at] = {kept.reg, kept.bytes};
    }
    begins_[index_] = bytes_.size();
    if (program_.code[index_].kind == SmallProgram::Stop) {
      bytes({0x31, 0xc0});  // xor eax, eax
      jump(std::nullopt, kEnd);
    } else {
      emit(index_);
    }
  }
}

// Translated three times: the first one shows which values the loops read first, the second one
// which stores are read. Pointers to the frame may read any of them.
std::shared_ptr<const NativeCode> NativeCompiler::compile() {
  slow_.reserve(2 * program_.code.size());  // their addresses are in the instructions
  find_loops();
  translate();
  keep_values();
  const auto has_pointers = [](const SmallProgram::Code& c) {
    return c.kind == SmallProgram::Address || c.kind == SmallProgram::RunStep;
  };
  if (std::ranges::none_of(program_.code, has_pointers)) {
    stores_ = {};
    translate();
    stores_.find_dropped();
  }
  translate();
  const size_t end = bytes_.size();
  bytes({0x41, 0x5d, 0x41, 0x5c, 0x5b, 0xc3});  // pop r13, r12, rbx; ret
  for (const Jump& jump : jumps_) {
    const size_t to = jump.code == kEnd ? end : begins_[jump.code];
    const auto distance = static_cast<int32_t>(to - jump.at - 4);
    std::memcpy(&bytes_[jump.at], &distance, 4);
  }
  return NativeCode::load(bytes_, std::move(slow_));
}

// Memory is writable first and executable afterwards, never both.
std::shared_ptr<const NativeCode> NativeCode::load(const std::vector<uint8_t>& bytes,
                                                   std::vector<SmallProgram::Code> slow) {
  const auto size = static_cast<int64_t>(bytes.size());
  void* const memory =
      mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<NativeCode> out(new NativeCode(memory, size));
  out->slow_ = std::move(slow);
  std::memcpy(memory, bytes.data(), bytes.size());
  if (mprotect(memory, bytes.size(), PROT_READ | PROT_EXEC) != 0) return nullptr;
  return out;
}

NativeCode::~NativeCode() { munmap(memory_, static_cast<size_t>(size_)); }

Status NativeCode::run(char* frame, SmallBuffers& buffers, const SmallProgram& program,
                       const SmallProgram::Code** at) const {
  NativeContext context;
  context.buffers = &buffers;
  const auto function = reinterpret_cast<int (*)(char*, NativeContext*)>(memory_);
  const int problem = function(frame, &context);
  if (problem == 0) return {};
  if (context.code < 0) return failure(static_cast<Problem>(problem));
  *at = &program.code[context.code];
  return context.status ? refused_code(**at, problem, frame) : context.status;
}

std::shared_ptr<const NativeCode> compile_native(const SmallProgram& program) {
  return NativeCompiler(program).compile();
}

}  // namespace pullback

#else

namespace pullback {

NativeCode::~NativeCode() = default;

Status NativeCode::run(char*, SmallBuffers&, const SmallProgram&,
                       const SmallProgram::Code**) const {
  return {};
}

std::shared_ptr<const NativeCode> compile_native(const SmallProgram&) { return nullptr; }

}  // namespace pullback

#endif
