// The one parallel loop of the library, the team of threads behind it, and how a run is stopped.
//
// Work is cut into chunks by the caller, from its size alone, never from the number of threads: the
// same chunks and the same order of combining give the same bits on any machine setting. Each
// thread of a loop has a range of the chunks, the same one in every loop of that length, so that
// what it touched stays in its cache; one that is done helps the others. A thread that wakes up
// late therefore costs nothing: its chunks are gone.
//
// Small work stays on the calling thread, and so does everything in a forked child, inside another
// parallel loop, and while another thread has the team.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace pullback {

// Threads used: set_num_threads, else PULLBACK_NUM_THREADS or OMP_NUM_THREADS, else the cores that
// affinity and the cgroup leave us.
int num_threads();
void set_num_threads(int n);

// Whether work that takes one thread so many nanoseconds is worth another one. A team that is still
// awake from the last loop comes at once; one that sleeps takes its time and some of ours.
bool worth_threads(double nanoseconds);

// While one lives, the loops of its thread ask `question` between chunks. Once the answer is true,
// it is not asked again: chunks that have not begun are skipped, in that loop and all later ones.
class Interruption {
 public:
  explicit Interruption(bool (*question)());  // null: nothing stops the run
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool ask();                             // on the thread that made it
  void refuse() { question_ = nullptr; }  // from now on nothing stops the run
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  bool (*question_)();
  Interruption* outer_;
  std::atomic<bool> stopped_{false};
};

// Whether what this thread works at shall stop, for long work that is no loop of chunks. Cheap
// enough for every few microseconds.
bool stop_requested();

// Handlers for fork(), for what a child would find locked or gone; null for none. Nothing where
// there is no fork.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

namespace detail {
void run_chunks(int64_t chunks, bool worth, void (*body)(void* context, int64_t chunk),
                void* context);
}

// Runs body(chunk) for chunk = 0 … chunks-1, in any order. `body` must not throw.
// `worth` is false for work too small to wake another thread for.
template <class Body>
void parallel_for(int64_t chunks, bool worth, Body&& body) {
  if (chunks == 1) return body(int64_t{0});
  using Callable = std::remove_reference_t<Body>;
  detail::run_chunks(
      chunks, worth,
      [](void* context, int64_t chunk) { (*static_cast<Callable*>(context))(chunk); },
      const_cast<std::remove_const_t<Callable>*>(&body));
}

}  // namespace pullback
