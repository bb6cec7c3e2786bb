// The CUDA driver, loaded at run time: nothing of CUDA is needed to build or to import. The types
// are declarations of our own of what the driver documents (CUDA Driver API reference).
#pragma once

#include <cstddef>
#include <string>

namespace pullback::cuda {

using Result = int;                  // CUresult; 0 is success
using Ordinal = int;                 // CUdevice
using Address = unsigned long long;  // CUdeviceptr
using Context = struct ContextOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
using Module = struct ModuleOfDriver*;
using Kernel = struct KernelOfDriver*;  // CUfunction

constexpr Result kOutOfMemory = 2;
constexpr Result kStubLibrary = 34;
constexpr Result kNoDevice = 100;
constexpr Result kSystemMismatch = 803;
constexpr Result kNoForwardCompatibility = 804;
constexpr Result kNotReady = 600;
constexpr unsigned int kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned int kNoTiming = 2;     // CU_EVENT_DISABLE_TIMING
constexpr int kMajor = 75;                // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kMinor = 76;
constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int kOldestDriver = 12000;  // of CUDA 12.0

struct Driver {
#define DRIVER(member, symbol, arguments) Result(*member) arguments = nullptr;
#include "backend/cuda/driver.def"
#undef DRIVER
  std::string path;  // of the loaded library
  int version = 0;   // 1000 * major + 10 * minor
  int devices = 0;
};

// The value of `name` in PULLBACK_CUDA, a list such as "driver=/path,other"; a word without a value
// has its own name as the value.
std::string setting(const std::string& name);

// Loads and initialises the driver at the first call, and makes no context. Null without a
// usable driver: see unavailable_reason().
const Driver* driver();
// Why driver() is null, and what to do; empty if it is not.
const std::string& unavailable_reason();

// True in a child of fork(), if the driver was in use before: there it cannot be used.
bool in_forked_child();

// The name and the meaning of an error, such as "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory
// access was encountered)".
std::string describe(const Driver& driver, Result error);

}  // namespace pullback::cuda
