// CudaMemory: the memory of one GPU, and the stream in which all its work is in order.
//
// Because of that order, a freed block may be used again at once: whatever read it was queued
// before. Start at CudaMemory::allocate().
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/driver.h"
#include "runtime/device_memory.h"

namespace pullback::cuda {

struct MemoryFigures {
  int64_t live = 0;    // bytes of blocks in use; sizes are rounded up by at most a quarter
  int64_t peak = 0;    // the highest `live` so far
  int64_t cached = 0;  // bytes of free blocks that are kept
  int64_t free = 0;    // as the driver reports
  int64_t total = 0;
};

// What a wait outside of a run calls, so that Ctrl-C ends it and other Python threads go on: the
// functions of Runtime (graph/runtime.h). The binding sets them once.
struct Interpreter {
  bool (*interrupted)() = nullptr;
  void (*check_signals)() = nullptr;
  void* (*release_lock)() = nullptr;
  void (*acquire_lock)(void* state) = nullptr;
};
extern Interpreter interpreter;

// While one exists, waits of its thread belong to a run, which polls by itself: see
// wait_until_done().
class RunScope {
 public:
  RunScope();
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
};

class CudaMemory final : public DeviceMemory {
 public:
  // Makes the context of the device. Raises RuntimeError if the driver refuses.
  CudaMemory(const Driver& driver, int index);

  void* allocate(int64_t bytes) override;
  void release(void* address, int64_t bytes) noexcept override;
  void copy(void* to, const void* from, int64_t bytes) override;
  // Outside of runs, Ctrl-C ends the waits of these. They keep the interpreter lock, since callers
  // have pointers to nodes.
  void upload(void* to, const void* host, int64_t bytes) override;
  void download(void* host, const void* from, int64_t bytes) override;
  void wait_and_download(void* host, const void* from, int64_t bytes) override;
  std::string failure() const override;

  // Waits for the work that was queued before the call. Ctrl-C ends the wait; the work goes on.
  void synchronize() override;
  // Waits for all work. Nothing ends the wait, and it keeps the interpreter lock: for destructors.
  void drain();
  // Waits for the work that was queued before the call. False if `interrupted` returned true.
  bool wait_until_done(bool (*interrupted)());
  // The stream, for libraries that order their work before it.
  Stream stream() const { return stream_; }
  MemoryFigures figures();
  // 90 for a GPU of compute capability 9.0.
  int architecture() const { return architecture_; }
  // The kernel of a compiled text; null if the driver refuses it. Raises MemoryError without room
  // for it. It is never unloaded.
  Kernel load_kernel(const std::string& cubin, const char* name);
  // Queues a kernel over `count` elements. `parameters` are the addresses of its parameters.
  void launch(Kernel kernel, int64_t count, void** parameters);
  // Waits as synchronize(), and returns free blocks to the driver.
  void trim();

 private:
  // The end of the work that was queued before.
  struct Mark {
    Event event = nullptr;
    int64_t stagings = 0;
  };

  // Locks the device, and makes its context current in this thread. Raises RuntimeError in a forked
  // child and after a failure of the driver.
  std::unique_lock<std::mutex> enter();
  // After a failure, the device is lost: the context of the driver is unusable.
  void check(Result result, const char* function);
  Result request(Address* address, int64_t size);
  // The result of a call; without memory, that of another one after free blocks were returned.
  template <class Call>
  Result with_memory(const Call& call);
  void free_cached();
  void wait();
  Mark mark();
  // After the work before the mark is done.
  void end(const Mark& mark);
  void free_staging();
  [[noreturn]] void raise_interruption() const;
  // Locks the device once so many bytes of pinned memory are free, and takes them. The result is
  // not locked if `interrupted` returned true before.
  std::unique_lock<std::mutex> enter_with_pinned(int64_t bytes, char** staged,
                                                 bool (*interrupted)());
  // False if `interrupted` returned true before the end.
  bool download_until(void* host, const void* from, int64_t bytes, bool (*interrupted)());

  const Driver& driver_;
  const int index_;
  mutable std::mutex mutex_;
  int architecture_ = 0;
  int multiprocessors_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  std::string lost_;                                // the failure that ended the device
  std::map<int64_t, std::vector<Address>> cached_;  // free blocks by size
  Address segment_ = 0;                             // from which small blocks are cut
  int64_t segment_rest_ = 0;
  char* staging_ = nullptr;    // pinned
  int64_t staged_ = 0;         // bytes of it that queued copies or `readers_` may still use
  int64_t stagings_ = 0;       // how often bytes of it were taken so far
  int64_t readers_ = 0;        // threads that wait for a download, and then copy from it
  std::vector<Event> events_;  // not in use
  MemoryFigures figures_;
};

}  // namespace pullback::cuda
