// The beginning of every kernel text. NVRTC compiles it, and the headers of the CPU kernels after
// it, without a header of CUDA: so a kernel has the bits of a CPU with fused multiply-adds. Tests
// compile the same text for the host, with the names of CUDA from tests/cuda/shim.cpp.
#pragma once

#if defined(__CUDACC_RTC__)

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;

#define __FMA__ 1  // the formulas of vec_exp.h for processors with it
#define __builtin_fma __fma_rn
#define __builtin_fmaf __fmaf_rn
#define __builtin_sqrt __dsqrt_rn
#define __builtin_sqrtf __fsqrt_rn
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ull)
// With `::`, since the headers have functions of these names, which would call themselves.
#define __builtin_rint ::rint
#define __builtin_rintf ::rintf
#define __builtin_floor ::floor
#define __builtin_floorf ::floorf
#define __builtin_ceil ::ceil
#define __builtin_ceilf ::ceilf
#define __builtin_trunc ::trunc
#define __builtin_truncf ::truncf
#define __builtin_fmod ::fmod
#define __builtin_fmodf ::fmodf
#define __builtin_nextafter ::nextafter
#define __builtin_nextafterf ::nextafterf
#define __builtin_cbrt ::cbrt
#define __builtin_sin(x) ::sin(double{x})
#define __builtin_cos(x) ::cos(double{x})
#define __builtin_tan(x) ::tan(double{x})

#define PULLBACK_KERNEL(name, parameters) \
  extern "C" __global__ void __launch_bounds__(256) name parameters

namespace device {
// The elements of a thread are first(), first() + stride() …
inline uint64_t first() { return blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; }
inline uint64_t stride() { return uint64_t{gridDim.x} * blockDim.x; }
}  // namespace device

#endif
