// Finds the driver, and words why it cannot be used.
#include "backend/cuda/driver.h"

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/dynlib.h"
#include "base/error.h"
#include "base/threads.h"

namespace pullback::cuda {
namespace {

constexpr const char* kDefaultPath =
#if defined(_WIN32)
    "nvcuda.dll";
#else
    "libcuda.so.1";
#endif

std::atomic<bool> forked{false};

struct Loaded {
  std::unique_ptr<Driver> driver;
  std::string reason;
};

std::string reason_of(const Driver& driver, Result error) {
  switch (error) {
    case kNoDevice: {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      return visible ? text("the driver sees no GPU (CUDA_VISIBLE_DEVICES=", std::string(visible),
                            "); unset this variable, or name a GPU in it")
                     : "the driver sees no GPU; in a container, start it with --gpus all";
    }
    case kStubLibrary:
      return text("a stub of the driver was loaded from ", driver.path,
                  "; remove its folder from LD_LIBRARY_PATH");
    case kSystemMismatch:
      return "the driver's library and its kernel module differ; reboot";
    case kNoForwardCompatibility:
      return "the package for forward compatibility is installed, and this GPU does not support "
             "it; remove the package";
    default:
      return text("the driver failed with ", describe(driver, error), "; run nvidia-smi");
  }
}

Loaded load() {
  if (setting("off") == "off") return {nullptr, "it is switched off (PULLBACK_CUDA=off)"};
  const std::string given = setting("driver");
  const std::string path = given.empty() ? kDefaultPath : given;
  static auto* const library = new DynamicLibrary(path);  // never unloaded
  if (!library->loaded()) {
    return {nullptr, text("no NVIDIA driver (", path,
                          " was not found by the loader); install one, or in a container start it "
                          "with --gpus all")};
  }
  auto driver = std::make_unique<Driver>();
  driver->path = path;
#define DRIVER(member, name, arguments)                                          \
  driver->member = reinterpret_cast<Result(*) arguments>(library->symbol(name)); \
  if (!driver->member) {                                                         \
    return {nullptr, text("the driver ", path, " has no function ", name,        \
                          "; install driver 525 "                                \
                          "or newer")};                                          \
  }
#include "backend/cuda/driver.def"
#undef DRIVER
  at_fork([] {}, [] {}, [] { forked = true; });
  if (const Result error = driver->init(0)) return {nullptr, reason_of(*driver, error)};
  if (const Result error = driver->driver_version(&driver->version)) {
    return {nullptr, reason_of(*driver, error)};
  }
  if (driver->version < kOldestDriver) {
    return {nullptr, text("pullback needs driver 525 (CUDA 12.0) or newer, this one is of CUDA ",
                          driver->version / 1000, ".", driver->version % 1000 / 10)};
  }
  if (const Result error = driver->device_count(&driver->devices)) {
    return {nullptr, reason_of(*driver, error)};
  }
  if (driver->devices == 0) return {nullptr, reason_of(*driver, kNoDevice)};
  return {std::move(driver), {}};
}

const Loaded& loaded() {
  static const auto* once = new Loaded(load());
  return *once;
}

}  // namespace

std::string setting(const std::string& name) {
  const char* variable = std::getenv("PULLBACK_CUDA");
  std::string rest = variable ? variable : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string word = rest.substr(0, comma);
    if (word == name) return name;
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
    if (comma == std::string::npos) break;
    rest.erase(0, comma + 1);
  }
  return {};
}

bool in_forked_child() { return forked; }

const Driver* driver() { return loaded().driver.get(); }

const std::string& unavailable_reason() { return loaded().reason; }

std::string describe(const Driver& driver, Result error) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  if (driver.error_name(error, &name) || !name) return text("error ", int{error});
  if (driver.error_text(error, &meaning) || !meaning) return name;
  return text(name, " (", meaning, ")");
}

}  // namespace pullback::cuda
