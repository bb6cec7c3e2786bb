// NVRTC, NVIDIA's compiler of kernel texts, loaded at run time. Without it, every step runs on the
// host. Start at compile_text().
#pragma once

#include <cstddef>
#include <string>

namespace pullback::cuda {

using Program = struct ProgramOfNvrtc*;  // nvrtcProgram

struct Nvrtc {
#define NVRTC(member, symbol, arguments) int(*member) arguments = nullptr;
#include "backend/cuda/nvrtc.def"
#undef NVRTC
};

// Finds NVRTC at the first call: PULLBACK_CUDA=nvrtc=<path>, else its wheel beside this package,
// else the loader's. Null without one.
const Nvrtc* nvrtc();
// Why nvrtc() is null, and what to do; empty if it is not.
std::string missing_nvrtc();

// All that the kernel of a text depends on.
std::string compilation_key(const Nvrtc& nvrtc, const std::string& text, int architecture);
// The kernel of a text for the architecture sm_<architecture>, such as 90; empty if NVRTC has
// no such architecture or refuses the text.
std::string compile_text(const Nvrtc& nvrtc, const std::string& text, int architecture);

}  // namespace pullback::cuda
