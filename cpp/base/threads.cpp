// The team. Every worker has a state word. The caller of a loop offers the job, works, withdraws
// the offers that were not taken, and waits for the workers that took one. An idle worker first
// spins, because waking it takes longer than most steps, and then sleeps.
//
//   kIdle → kOffered (caller) → kTaken (worker) → kIdle (worker)
//   kOffered → kIdle (caller: too late)    kTaken → kAwaited (caller goes to sleep)
//   kIdle → kAsleep (worker) → kOffered (caller, who then wakes it)
#include "base/threads.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "base/cores.h"
#include "base/error.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

namespace pullback {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxThreads = 256;
constexpr std::chrono::microseconds kSpin{300};
// Measured on two cores of a virtual machine (Zen 5), work split in halves. Team awake: 5 µs become
// 3.1, 20 become 10.1. Team asleep: 20 become 27, 40 become 38, 80 become 60.
constexpr double kWorthAwake = 6000;  // ns
constexpr double kWorthAsleep = 40000;

thread_local Interruption* current = nullptr;
thread_local bool is_worker = false;

bool forked = false;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#else
  std::this_thread::yield();
#endif
}

// Spins until `done` returns true or the time is over; returns its last result.
template <class Done>
bool spin(std::chrono::microseconds time, Done done) {
  if (done()) return true;
  if (time.count() == 0) return false;
  const auto end = Clock::now() + time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
  } while (Clock::now() < end);
  return false;
}

enum Word : uint32_t { kIdle, kAsleep, kOffered, kTaken, kAwaited };

struct alignas(64) Worker {
  std::atomic<uint32_t> word{kIdle};
};

struct alignas(64) WorkRange {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

class Team {
 public:
  // False if another thread uses the team, or if there is no team.
  bool run(int threads, int64_t chunks, void (*body)(void*, int64_t), void* context);
  bool awake() const {
    return started_ > 0 && workers_[1].word.load(std::memory_order_relaxed) != kAsleep;
  }

 private:
  void start(int threads);
  void serve(int number);
  void await_offer(Worker& me) const;
  void offer(Worker& worker);
  void recall(Worker& worker) const;
  void work(int number);

  // Number 0 is the calling thread.
  Worker workers_[kMaxThreads];
  WorkRange ranges_[kMaxThreads];
  // The job. A worker may read it, and the ranges, only while its word is kTaken.
  void (*body_)(void*, int64_t) = nullptr;
  void* context_ = nullptr;
  Interruption* interruption_ = nullptr;
  std::atomic<std::chrono::microseconds> spin_{kSpin};
  int threads_ = 1;
  std::atomic<int> started_{0};  // workers
  const int cores_ = usable_cores();
  std::atomic_flag busy_;
};

Team& team() {
  static auto* instance = new Team;  // leaked on purpose: its threads run until the process ends
  return *instance;
}

bool Team::run(int threads, int64_t chunks, void (*body)(void*, int64_t), void* context) {
  if (busy_.test_and_set(std::memory_order_acquire)) return false;
  start(threads);
  threads_ = std::min(threads, started_ + 1);
  // With more threads than cores, a spinning worker would take a core from a working one.
  spin_ = threads_ <= cores_ ? kSpin : std::chrono::microseconds{0};
  body_ = body;
  context_ = context;
  interruption_ = current;
  for (int i = 0; i < threads_; ++i) {
    ranges_[i].next.store(chunks * i / threads_, std::memory_order_relaxed);
    ranges_[i].end = chunks * (i + 1) / threads_;
  }
  for (int i = 1; i < threads_; ++i) offer(workers_[i]);
  work(0);
  for (int i = 1; i < threads_; ++i) recall(workers_[i]);
  busy_.clear(std::memory_order_release);
  return true;
}

void Team::start(int threads) {
  const int wanted = std::min(threads, kMaxThreads) - 1;
  if (started_ >= wanted) return;
#if !defined(_WIN32)
  sigset_t all, before;  // signals are handled by Python's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
  try {
    for (; started_ < wanted; ++started_) {
      std::thread([this, number = started_ + 1] { serve(number); }).detach();
    }
  } catch (const std::system_error&) {  // use as many as the system allows
  }
#if !defined(_WIN32)
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
}

void Team::serve(int number) {
  is_worker = true;
  Worker& me = workers_[number];
  for (;;) {
    await_offer(me);
    uint32_t offered = kOffered;
    if (!me.word.compare_exchange_strong(offered, kTaken, std::memory_order_acquire)) continue;
    current = interruption_;
    work(number);
    if (me.word.exchange(kIdle, std::memory_order_release) == kAwaited) me.word.notify_one();
  }
}

void Team::await_offer(Worker& me) const {
  for (;;) {
    const auto offered = [&] { return me.word.load(std::memory_order_relaxed) == kOffered; };
    if (spin(spin_, offered)) return;
    uint32_t idle = kIdle;
    if (me.word.compare_exchange_strong(idle, kAsleep)) me.word.wait(kAsleep);
  }
}

void Team::offer(Worker& worker) {
  if (worker.word.exchange(kOffered) == kAsleep) worker.word.notify_one();
}

void Team::recall(Worker& worker) const {
  uint32_t seen = kOffered;
  if (worker.word.compare_exchange_strong(seen, kIdle)) return;
  const auto done = [&] { return worker.word.load(std::memory_order_acquire) < kTaken; };
  while (!spin(spin_, done)) {
    seen = kTaken;
    worker.word.compare_exchange_strong(seen, kAwaited);
    worker.word.wait(kAwaited);
  }
}

void Team::work(int number) {
  for (int i = 0; i < threads_; ++i) {
    WorkRange& range = ranges_[(number + i) % threads_];
    for (;;) {
      if (range.next.load(std::memory_order_relaxed) >= range.end) break;
      if (stop_requested()) return;
      const int64_t chunk = range.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= range.end) break;
      body_(context_, chunk);
    }
  }
}

int initial_threads() {
  at_fork(nullptr, nullptr, [] { forked = true; });  // the child has no workers
  for (const char* name : {"PULLBACK_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* value = std::getenv(name)) {
      const int n = std::atoi(value);
      if (n > 0) return n;
    }
  }
  return usable_cores();
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = initial_threads();
  return count;
}

}  // namespace

int num_threads() { return thread_count(); }

void set_num_threads(int n) {
  if (n < 1) fail(ErrorKind::Value, "set_num_threads: expected an integer >= 1 for n, got ", n);
  thread_count() = n;
}

bool worth_threads(double nanoseconds) {
  if (nanoseconds < kWorthAwake) return false;
  return nanoseconds > kWorthAsleep || (!forked && team().awake());
}

void at_fork([[maybe_unused]] void (*before)(), [[maybe_unused]] void (*in_parent)(),
             [[maybe_unused]] void (*in_child)()) {
#if !defined(_WIN32)
  pthread_atfork(before, in_parent, in_child);
#endif
}

Interruption::Interruption(bool (*should_stop)()) : should_stop_(should_stop), outer_(current) {
  current = this;
}
Interruption::~Interruption() { current = outer_; }

bool Interruption::check() {
  if (!stopped() && should_stop_ && should_stop_()) stopped_ = true;
  return stopped();
}

bool stop_requested() {
  if (!current) return false;
  return is_worker ? current->stopped() : current->check();
}

void detail::run_chunks(int64_t chunks, bool parallel, void (*body)(void*, int64_t),
                        void* context) {
  const int threads = parallel ? static_cast<int>(std::min<int64_t>(num_threads(), chunks)) : 1;
  if (threads > 1 && !forked && team().run(threads, chunks, body, context)) return;
  for (int64_t i = 0; i < chunks && !stop_requested(); ++i) body(context, i);
}

}  // namespace pullback
