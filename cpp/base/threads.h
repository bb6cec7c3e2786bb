// parallel_for: the one parallel loop, on a team of threads; and Interruption, which stops a run.
//
// The caller cuts work into chunks by its size, never by the number of threads. The same chunks and
// the same order of combination give the same bits with any number of threads. Each thread of a
// loop has a range of the chunks, the same range in every loop of that length, so its data stays in
// its cache. A thread that has finished takes chunks of others, so a thread that wakes up late
// costs nothing.
//
// Work runs on the calling thread alone if it is small, in a forked child, inside another parallel
// loop, and while another thread uses the team.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace pullback {

// The number of threads: set_num_threads, else PULLBACK_NUM_THREADS or OMP_NUM_THREADS, else
// usable_cores().
int num_threads();
void set_num_threads(int n);

// True if work that takes one thread so many nanoseconds is worth a second thread. The threshold is
// lower while the team still spins after the last loop than when it must be woken.
bool worth_threads(double nanoseconds);

// While one exists, the loops of its thread call `should_stop` between chunks. After it has
// returned true it is not called again: that loop and all later ones skip the chunks that have not
// begun.
class Interruption {
 public:
  explicit Interruption(bool (*should_stop)());  // null: nothing stops the run
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool check();                               // polls; only on the thread that made it
  void disable() { should_stop_ = nullptr; }  // nothing stops the run from now on
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  bool (*should_stop_)();
  Interruption* outer_;
  std::atomic<bool> stopped_{false};
};

// True if the run of this thread was interrupted, for long work that is not a loop of chunks. Cheap
// enough to call every few microseconds.
bool stop_requested();

// Registers handlers around fork(); null for none. Does nothing on systems without fork.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

namespace detail {
void run_chunks(int64_t chunks, bool parallel, void (*body)(void* context, int64_t chunk),
                void* context);
}

// Runs body(chunk) for chunk = 0 … chunks-1, in any order. `body` must not throw. `parallel` is
// false if the work is too small to wake another thread.
template <class Body>
void parallel_for(int64_t chunks, bool parallel, Body&& body) {
  if (chunks == 1) return body(int64_t{0});
  using Callable = std::remove_reference_t<Body>;
  detail::run_chunks(
      chunks, parallel,
      [](void* context, int64_t chunk) { (*static_cast<Callable*>(context))(chunk); },
      const_cast<std::remove_const_t<Callable>*>(&body));
}

}  // namespace pullback
