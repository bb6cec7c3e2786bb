// Compiles and runs native code: jumps, calls, and the memory of the instructions. Start at
// compile_native().
#include "backend/cpu/small/native_code.h"

#include "backend/cpu/small/native_compiler.h"

#if PULLBACK_NATIVE_CODE

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
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
      in_frame(7, c.a);
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
      size_t leave = 0;
      if (counts_down) {
        bytes({0x0f, 0x80 | static_cast<int>(Condition::LessOrEqual)});
        leave = bytes_.size();
        immediate(int32_t{0});
      }
      bytes({0x41, 0xff, 0xcc});  // dec r12d
      jump(Condition::NotEqual, to);
      bytes({0x41, 0xbc});  // mov r12d
      immediate(kJumpsPerCheck);
      call(native_stop_requested);
      bytes({0x85, 0xc0});  // test eax, eax
      jump(Condition::Equal, to);
      byte(0xb8);  // mov eax
      immediate(static_cast<int32_t>(Problem::Interrupted));
      jump(std::nullopt, kEnd);
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

void NativeCompiler::emit_count(const SmallProgram::Code& c) {
  integer(true, 0x8b, c.a);
  bytes({0x48, 0x05});  // add rax
  immediate(static_cast<int32_t>(c.value));
  integer(true, 0x03, c.out);
  overwrite(c.out, 8);
  integer(true, 0x89, c.out);
}

void NativeCompiler::emit(int32_t index) {
  const SmallProgram::Code& c = program_.code[index];
  if (is_jump(c)) return emit_jump(c);
  if (emit_move(c) || emit_element(c) || emit_unrolled(c)) return;
  if (c.kind == SmallProgram::Call || c.kind >= SmallProgram::Casts) {
    emit_call(index);
  } else if (c.kind == SmallProgram::Pairs) {
    emit_pair(c);
  } else if (c.kind == SmallProgram::Count) {
    emit_count(c);
  } else {
    emit_slow(index);
  }
}

std::shared_ptr<const NativeCode> NativeCompiler::compile() {
  const auto count = static_cast<int32_t>(program_.code.size());
  slow_.reserve(2 * program_.code.size());  // their addresses are in the instructions
  std::vector<uint8_t> targets(program_.code.size(), 0);
  for (const SmallProgram::Code& c : program_.code) {
    if (is_jump(c)) targets[c.value] = 1;
  }
  std::vector<size_t> begins(program_.code.size());
  bytes({0xf3, 0x0f, 0x1e, 0xfa});        // endbr64
  bytes({0x53, 0x41, 0x54, 0x41, 0x55});  // push rbx, r12, r13: the stack is aligned
  bytes({0x48, 0x89, 0xfb});              // mov rbx, rdi
  bytes({0x49, 0x89, 0xf5});              // mov r13, rsi
  bytes({0x41, 0xbc});                    // mov r12d
  immediate(kJumpsPerCheck);
  for (int32_t i = 0; i < count; ++i) {
    if (targets[i]) forget();
    begins[i] = bytes_.size();
    if (program_.code[i].kind == SmallProgram::Stop) {
      bytes({0x31, 0xc0});  // xor eax, eax
      jump(std::nullopt, kEnd);
    } else {
      emit(i);
    }
  }
  const size_t end = bytes_.size();
  bytes({0x41, 0x5d, 0x41, 0x5c, 0x5b, 0xc3});  // pop r13, r12, rbx; ret
  for (const Jump& jump : jumps_) {
    const size_t to = jump.code == kEnd ? end : begins[jump.code];
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
