// The parallel loop: every chunk once whatever the number of threads, inside another loop, from
// several threads at once and in a forked child; and what is left out when a run is stopped.
#include "base/threads.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace pullback::test {
namespace {

bool once_each(int64_t chunks, bool parallel = true) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(chunks));
  parallel_for(chunks, parallel, [&](int64_t i) { ++seen[i]; });
  for (const auto& n : seen) {
    if (n != 1) return false;
  }
  return true;
}

void test_chunks() {
  for (int threads : {1, 2, 3, 8, 300}) {
    set_num_threads(threads);
    for (int64_t chunks : {0, 1, 2, 3, 7, 64, 1000}) {
      const std::string what =
          std::to_string(chunks) + " chunks, " + std::to_string(threads) + " threads";
      bool ok = once_each(chunks, false);
      for (int i = 0; i < 50; ++i) ok &= once_each(chunks);
      check(ok, what);
    }
  }
  set_num_threads(3);
  bool ok = true;
  for (int i = 0; i < 20;
       ++i) {  // long enough for the team to be anywhere between awake and asleep
    std::this_thread::sleep_for(std::chrono::microseconds(50 * pick(20)));
    check(worth_threads(1e6) && !worth_threads(1000), "what is worth a thread");
    ok &= once_each(10);
  }
  check(ok, "after pauses");
}

void test_inside() {
  set_num_threads(3);
  std::atomic<int64_t> sum{0};
  parallel_for(20, true,
               [&](int64_t i) { parallel_for(20, true, [&](int64_t j) { sum += 20 * i + j; }); });
  check(sum == 399 * 400 / 2, "a loop inside a loop");
}

void test_at_once() {
  set_num_threads(3);
  std::atomic<bool> ok{true};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) ok = ok & once_each(16);
    });
  }
  for (std::thread& caller : callers) caller.join();
  check(ok, "several callers");
}

void test_stop() {
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    static std::atomic<int> asked;
    asked = 0;
    std::atomic<int> run{0};
    const auto body = [&](int64_t) { ++run; };
    {
      Interruption outer([] { return ++asked == 10; });
      parallel_for(100000, true, [&](int64_t) {
        while (asked < 10 && stop_requested()) {
        }
        ++run;
        std::this_thread::sleep_for(std::chrono::microseconds(10));
      });
      check(outer.stopped() && asked == 10, "the loop asks until the answer is yes");
      check(run < 50000, "chunks are left out");
      const int before = run;
      parallel_for(8, true, body);
      check(run == before, "later loops run nothing");
      Interruption inner(nullptr);
      parallel_for(8, true, body);
      check(run == before + 8, "another run inside is not stopped");
    }
    check(!stop_requested(), "nothing is left behind");
    check(once_each(64), "loops run again");
    Interruption never([] { return true; });
    never.disable();
    check(once_each(64), "a run that can no longer be stopped");
  }
}

void test_fork() {
#if !defined(_WIN32)
  set_num_threads(4);
  std::atomic<bool> end{false};
  std::thread busy([&] {
    while (!end) once_each(16);
  });
  bool ok = true;
  for (int i = 0; i < 50; ++i) {
    once_each(8);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(once_each(64) && once_each(5) ? 0 : 1);
    }
    int status = -1;
    ok &= waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  check(ok, "forked children");
  end = true;
  busy.join();
  check(once_each(64), "the parent after forks");
#endif
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_chunks();
  test_inside();
  test_at_once();
  test_stop();
  test_fork();
  return report();
}
