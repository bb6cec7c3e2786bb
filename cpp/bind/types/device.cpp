// Devices of tensors, and the CUDA backend, as Python functions; pullback.cuda has the public ones.

#include <optional>
#include <string>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/disk_cache.h"
#include "backend/cuda/nvrtc.h"
#include "bind/arrays/convert.h"
#include "bind/operations/functions.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "graph/variable.h"
#include "runtime/uploads.h"

namespace pullback {
namespace {

// "cpu", "cuda" or "cuda:1". A GPU is registered when it is first named.
Device device_named(const std::string& name, const char* who = "") {
  if (name == "cpu") return kHost;
  if (name == "cuda") return cuda::open_device(0);
  const std::string digits = name.starts_with("cuda:") ? name.substr(5) : "";
  if (digits.empty() || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != digits.npos) {
    fail(ErrorKind::Value, who,
         "expected \"cpu\", \"cuda\" or \"cuda:\" and a number for device, got \"", name, "\"");
  }
  return cuda::open_device(std::stoi(digits));
}

cuda::CudaMemory& memory_named(const std::string& name, const char* who) {
  const Device device = device_named(name, who);
  if (device.is_host())
    fail(ErrorKind::Value, who, "expected a GPU, such as \"cuda:0\", got \"cpu\"");
  return cuda::memory_of_cuda(device);
}

}  // namespace

void bind_device(py::module_& m) {
  cuda::interpreter = {runtime.interrupted, runtime.check_signals, runtime.release_lock,
                       runtime.acquire_lock};
  m.def(
      "device_of", [](const NodeRef& x) { return name_of(device_of(x.get())); }, py::arg("x"),
      "Return the name of the device of a tensor.");
  m.def(
      "own_device",
      [](const NodeRef& x) -> std::optional<std::string> {
        if (!several_devices || x->device() == kAnyDevice) return std::nullopt;
        return name_of(x->device());
      },
      py::arg("x"), "Return the name of the device of a tensor, or None if it is on any device.");
  m.def(
      "transfer",
      [](const NodeRef& x, const std::string& device) {
        const Device to = device_named(device);
        return several_devices ? transfer(x, to) : x;
      },
      py::arg("x"), py::arg("device"), "Return a tensor on a device.");
  m.def(
      "exchange_default_device",
      [](const std::string& device) {
        return name_of(exchange_default_device(device_named(device, "use_device: ")));
      },
      py::arg("device"), "Set the default device of this thread, and return the one before.");
  m.def(
      "set_first_device",
      [](const std::string& device) {
        set_first_device(device_named(device, "PULLBACK_DEVICE: "));
      },
      py::arg("device"), "Set the default device of threads that have set none.");
  m.def(
      "default_device", [] { return name_of(default_device()); },
      "Return the default device of this thread.");
  m.def("cuda_reason", &cuda::unavailable_reason, "Return why CUDA cannot be used, or \"\".");
  m.def("cuda_missing_compiler", &cuda::missing_nvrtc,
        "Return why no kernel can be compiled, or \"\".");
  m.def(
      "cuda_kernel_cache", []()->Typed<"tuple[str, int] | None"> {
        const cuda::DiskCache* cache = cuda::DiskCache::of_process();
        if (!cache) return py::none();
        return py::make_tuple(cache->folder().string(), cache->bytes());
      },
      "Return the folder of compiled kernels and its bytes; None if none is used.");
  m.def("cuda_device_count", &cuda::device_count, "Return the number of GPUs.");
  m.def(
      "cuda_memory",
      [](const std::string& device) {
        const cuda::MemoryFigures found = memory_named(device, "cuda.memory: ").figures();
        py::dict out;
        out["live"] = found.live;
        out["peak"] = found.peak;
        out["cached"] = found.cached;
        out["free"] = found.free;
        out["total"] = found.total;
        return Typed<"dict[str, int]", py::dict>(out);
      },
      py::arg("device"), "Return figures of the memory of a GPU, in bytes.");
  m.def(
      "cuda_trim",
      [](const std::string& device) {
        cuda::CudaMemory& memory = memory_named(device, "cuda.trim: ");
        drop_uploads(device_named(device));
        memory.trim();
      },
      py::arg("device"), "Return cached memory to the driver.");
  m.def(
      "cuda_synchronize",
      [](const std::string& device) { memory_named(device, "cuda.synchronize: ").synchronize(); },
      py::arg("device"), "Wait for the work of a GPU.");
  m.def(
      "cuda_fallbacks",
      [] {
        py::dict out;
        for (const auto& [kind, count] : cuda::fallbacks()) out[py::str(kind)] = count;
        return Typed<"dict[str, int]", py::dict>(out);
      },
      "Return how many steps of each kind have run on the host.");
}

}  // namespace pullback
