// Kernel texts on the host, for the fake driver: one thread of the device after another. The text
// is the one that NVRTC compiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace shim {

struct Position {
  uint64_t first = 0, stride = 1;
};
inline thread_local Position position;

// A call with its parameters, which are copied when a kernel is queued, as the driver does.
struct Call {
  virtual ~Call() = default;
  virtual void run() const = 0;
};
template <class... Parameters>
struct CallOf final : Call {
  void (*kernel)(Parameters...);
  std::tuple<Parameters...> values;

  CallOf(void (*kernel_)(Parameters...), Parameters... of) : kernel(kernel_), values(of...) {}
  void run() const override { std::apply(kernel, values); }
};
template <class... Parameters, std::size_t... i>
Call* call(void (*kernel)(Parameters...), void** addresses, std::index_sequence<i...>) {
  return new CallOf<Parameters...>(kernel, *static_cast<Parameters*>(addresses[i])...);
}
template <class... Parameters>
Call* call(void (*kernel)(Parameters...), void** addresses) {
  return call(kernel, addresses, std::index_sequence_for<Parameters...>());
}

}  // namespace shim

namespace device {
inline uint64_t first() { return shim::position.first; }
inline uint64_t stride() { return shim::position.stride; }
}  // namespace device

#define PULLBACK_KERNEL(name, parameters)                                                 \
  static void name parameters;                                                            \
  extern "C" void* bind_##name(void** addresses) { return shim::call(&name, addresses); } \
  extern "C" void run_##name(void* call, uint64_t threads) {                              \
    for (uint64_t thread = threads; thread-- > 0;) {                                      \
      shim::position = {thread, threads};                                                 \
      static_cast<shim::Call*>(call)->run();                                              \
    }                                                                                     \
    delete static_cast<shim::Call*>(call);                                                \
  }                                                                                       \
  static void name parameters
