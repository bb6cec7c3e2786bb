// The one parallel loop of the library.
//
// Work is cut into chunks by the caller, from its size alone, never from the number of threads: the
// same chunks and the same order of combining give the same bits on any machine setting. Chunks are
// handed out statically. Small work stays on the calling thread, and so does everything in a forked
// child (GNU OpenMP's pool does not survive fork) and inside another parallel region.
#pragma once

#include <cstdint>
#include <type_traits>

namespace pullback {

// Threads used: set_num_threads, else PULLBACK_NUM_THREADS or OMP_NUM_THREADS, else the cores that
// affinity and the cgroup leave us.
int num_threads();
void set_num_threads(int n);

namespace detail {
void parallel_chunks(int64_t chunks, void (*body)(void* context, int64_t chunk), void* context);
}

// Runs body(chunk) for chunk = 0 … chunks-1. `body` must not throw.
// `worth` is false for work too small to wake another thread for.
template <class Body>
void parallel_for(int64_t chunks, bool worth, Body&& body) {
  if (chunks <= 1 || !worth) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  using Callable = std::remove_reference_t<Body>;
  detail::parallel_chunks(
      chunks, [](void* context, int64_t chunk) { (*static_cast<Callable*>(context))(chunk); },
      const_cast<std::remove_const_t<Callable>*>(&body));
}

}  // namespace pullback
