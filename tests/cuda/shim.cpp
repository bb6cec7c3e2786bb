// A kernel text on the host, for the fake driver: one thread of the device after another. The text
// (KERNEL_TEXT, a path) and device_prelude.h are compiled as NVRTC compiles them, without a
// standard header; what they use of CUDA is here.
#define __CUDACC_RTC__ 1
#define __global__
#define __launch_bounds__(threads)

using size_t = decltype(sizeof 0);

namespace shim {
struct Position {
  unsigned int x = 0;
};
}  // namespace shim
inline thread_local shim::Position blockIdx, threadIdx, blockDim, gridDim;

inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
extern "C" {
double rint(double) noexcept, floor(double) noexcept, ceil(double) noexcept, trunc(double) noexcept;
float rintf(float) noexcept, floorf(float) noexcept, ceilf(float) noexcept, truncf(float) noexcept;
double fmod(double, double) noexcept, nextafter(double, double) noexcept;
float fmodf(float, float) noexcept, nextafterf(float, float) noexcept;
double cbrt(double) noexcept, sin(double) noexcept, cos(double) noexcept, tan(double) noexcept;
}

#include "backend/cuda/device_prelude.h"
#if defined(SHIM_WITHOUT_FMA)  // the bits of a processor without it
#undef __FMA__
#endif
#include KERNEL_TEXT

namespace shim {

template <unsigned int... k>
struct Numbers {};
#if defined(__clang__)
template <class, unsigned int... k>
using NumbersOf = Numbers<k...>;
template <unsigned int n>
using Below = __make_integer_seq<NumbersOf, unsigned int, n>;
#else
template <unsigned int n>
using Below = Numbers<__integer_pack(n)...>;
#endif

// A call with its parameters, which are copied when a kernel is queued, as the driver does.
struct Call {
  virtual ~Call() = default;
  virtual void run() const = 0;
};
template <class... Parameters>
struct CallOf final : Call {
  void (*kernel)(Parameters...);
  uint64_t words[sizeof...(Parameters)];

  CallOf(void (*kernel_)(Parameters...), void** addresses) : kernel(kernel_) {
    for (unsigned int k = 0; k < sizeof...(Parameters); ++k) {
      __builtin_memcpy(words + k, addresses[k], sizeof(uint64_t));
    }
  }
  template <class T>
  static T as(const uint64_t& word) {
    T out;
    __builtin_memcpy(&out, &word, sizeof(T));
    return out;
  }
  template <unsigned int... k>
  void call(Numbers<k...>) const {
    kernel(as<Parameters>(words[k])...);
  }
  void run() const override { call(Below<sizeof...(Parameters)>()); }
};
template <class... Parameters>
Call* bind(void (*kernel)(Parameters...), void** addresses) {
  return new CallOf<Parameters...>(kernel, addresses);
}

}  // namespace shim

// The name of every kernel is `group`.
extern "C" void* bind_group(void** addresses) { return shim::bind(&group, addresses); }
extern "C" void run_group(void* handle, unsigned int blocks, unsigned int threads) {
  auto* const call = static_cast<shim::Call*>(handle);
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = blocks; blockIdx.x-- > 0;) {
    for (threadIdx.x = threads; threadIdx.x-- > 0;) call->run();
  }
  delete call;
}
