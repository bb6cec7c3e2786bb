#include "base/threads.h"

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/error.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace pullback {
namespace {

bool forked = false;

// Cores that the scheduler lets this process use: affinity, then the cgroup's CPU quota.
int usable_cores() {
  int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  if (FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    long long quota = 0;
    long long period = 0;
    if (std::fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0) {
      cores = std::min(cores, static_cast<int>(std::max(1ll, (quota + period - 1) / period)));
    }
    std::fclose(file);
  }
#endif
  return std::max(1, cores);
}

int initial_threads() {
#if defined(__linux__)
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif
  for (const char* name : {"PULLBACK_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* value = std::getenv(name)) {
      const int n = std::atoi(value);
      if (n > 0) return n;
    }
  }
  return usable_cores();
}

int& thread_count() {
  static int count = initial_threads();
  return count;
}

}  // namespace

int num_threads() { return thread_count(); }

void set_num_threads(int n) {
  if (n < 1) fail(ErrorKind::Value, "set_num_threads: expected a number of at least 1, got ", n);
  thread_count() = n;
}

void detail::parallel_chunks(int64_t chunks, void (*body)(void*, int64_t), void* context) {
  const int threads = static_cast<int>(std::min<int64_t>(num_threads(), chunks));
  if (threads == 1 || forked || omp_in_parallel()) {
    for (int64_t i = 0; i < chunks; ++i) body(context, i);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t i = 0; i < chunks; ++i) body(context, i);
}

}  // namespace pullback
