# PULLBACK_CPU_LEVELS: the instruction sets that the kernels are compiled for. Unless given: all of
# the architecture; in a developer's build the best one of this machine.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(levels baseline avx2 avx512)
else()
  set(levels baseline)
endif()

if(PULLBACK_DEVELOPER AND "avx2" IN_LIST levels)
  # What cpp/base/cpu_level.cpp requires of a processor, of the compiler's view of this one.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -march=native)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("
    #if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
    #error
    #endif
    int main() {}" PULLBACK_NATIVE_AVX2)
  check_cxx_source_compiles("
    #if !defined(__AVX512F__) || !defined(__AVX512BW__)
    #error
    #endif
    #if !defined(__AVX512DQ__) || !defined(__AVX512VL__)
    #error
    #endif
    int main() {}" PULLBACK_NATIVE_AVX512)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_QUIET)
  set(levels baseline)
  if(PULLBACK_NATIVE_AVX2)
    set(levels avx2)
    if(PULLBACK_NATIVE_AVX512)
      set(levels avx512)
    endif()
  endif()
endif()
if(NOT DEFINED PULLBACK_CPU_LEVELS)
  set(PULLBACK_CPU_LEVELS ${levels})
endif()
