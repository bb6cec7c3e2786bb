// Finds NVRTC and calls it. Products and sums are not contracted, so that the bits are those of the
// CPU. The result is a cubin rather than PTX, for which a driver may be too old.
#include "backend/cuda/nvrtc.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "backend/cuda/device_headers.h"
#include "backend/cuda/driver.h"
#include "base/dynlib.h"
#include "base/error.h"
#include "base/hash.h"

namespace pullback::cuda {
namespace {

constexpr int kCuda13 = 13000;

constexpr const char* kOptions[] = {"--std=c++20", "-fmad=false",
                                    "--device-as-default-execution-space",
                                    "-diag-suppress=68,161,177,1097"};

std::string target(int architecture) {
  return "--gpu-architecture=sm_" + std::to_string(architecture);
}

// That of the driver's own version first: a driver may refuse the cubins of a newer one.
std::vector<std::string> candidates() {
  if (const std::string given = setting("nvrtc"); !given.empty()) return {given};
#if defined(_WIN32)
  return {"nvrtc64_130_0.dll", "nvrtc64_120_0.dll"};
#else
  const std::string packages = folder_of_this_library() + "/../";
  std::vector<std::string> out = {packages + "nvidia/cu13/lib/libnvrtc.so.13", "libnvrtc.so.13",
                                  packages + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                                  "libnvrtc.so.12"};
  if (driver() && driver()->version < kCuda13) std::ranges::rotate(out, out.begin() + 2);
  return out;
#endif
}

std::unique_ptr<Nvrtc> load_nvrtc(const std::string& path) {
  const DynamicLibrary library(path);  // stays loaded
  if (!library.loaded()) return nullptr;
  auto out = std::make_unique<Nvrtc>();
#define NVRTC(member, name, arguments)                                    \
  out->member = reinterpret_cast<int(*) arguments>(library.symbol(name)); \
  if (!out->member) return nullptr;
#include "backend/cuda/nvrtc.def"
#undef NVRTC
  return out;
}

bool knows(const Nvrtc& nvrtc, int architecture) {
  int count = 0;
  if (nvrtc.count_architectures(&count) || count <= 0) return false;
  std::vector<int> list(static_cast<size_t>(count));
  return !nvrtc.architectures(list.data()) && std::ranges::find(list, architecture) != list.end();
}

}  // namespace

const Nvrtc* nvrtc() {
  static const Nvrtc* const found = [] {
    for (const std::string& path : candidates()) {
      if (auto loaded = load_nvrtc(path)) return loaded.release();
    }
    return static_cast<Nvrtc*>(nullptr);
  }();
  return found;
}

std::string missing_nvrtc() {
  if (nvrtc()) return {};
  const int version = driver() ? driver()->version : kCuda13;
  std::string looked;
  for (const std::string& path : candidates()) looked += (looked.empty() ? "" : ", ") + path;
  return text(
      "no kernels: NVRTC was not found, so every step runs on the processor; install it by ",
      "pip install \"pullback[cuda", version < kCuda13 ? 12 : 13, "]\" (tried: ", looked, ")");
}

std::string compilation_key(const Nvrtc& nvrtc, const std::string& text, int architecture) {
  static const uint64_t headers = [] {
    uint64_t h = 0;
    for (int i = 0; i < kHeaders; ++i) {
      for (const char* part : {kHeaderNames[i], kHeaderTexts[i]}) {
        h = mix(h, hash_bytes(part, std::strlen(part)));
      }
    }
    return h;
  }();
  int major = 0, minor = 0;
  nvrtc.version(&major, &minor);
  std::string out = pullback::text("NVRTC ", major, ".", minor, " ", target(architecture), " ",
                                   std::to_string(headers));
  for (const char* option : kOptions) out += std::string(" ") + option;
  return out + "\n" + text;
}

std::string compile_text(const Nvrtc& nvrtc, const std::string& text, int architecture) {
  if (!knows(nvrtc, architecture)) return {};
  Program program = nullptr;
  if (nvrtc.create(&program, text.c_str(), "group.cu", kHeaders, kHeaderTexts, kHeaderNames)) {
    return {};
  }
  const std::string for_device = target(architecture);
  std::vector<const char*> options = {for_device.c_str()};
  options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
  std::string cubin;
  size_t size = 0;
  if (!nvrtc.compile(program, static_cast<int>(options.size()), options.data()) &&
      !nvrtc.cubin_size(program, &size)) {
    cubin.resize(size);
    if (nvrtc.cubin(program, cubin.data())) cubin.clear();
  }
  nvrtc.destroy(&program);
  return cubin;
}

}  // namespace pullback::cuda
