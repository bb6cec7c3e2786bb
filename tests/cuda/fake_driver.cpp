// A CUDA driver without a GPU, for tests: PULLBACK_CUDA=driver=<path of this library>.
//
// It is stricter than a GPU. A stream runs nothing until somebody waits for it, so that a missing
// wait reads old data each time. The host cannot read the memory of the device: an access ends the
// program. Freed memory is filled with NaN. Any function can be made to fail.
//
// A kernel is a function of a shared library that fake_nvrtc.cpp has compiled for the host. It runs
// in the order of the stream, with the memory of the device open to it.
//
// FAKE_CUDA_DEVICES is the number of devices, FAKE_CUDA_MEMORY the bytes of each.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace {

using Result = int;
using Address = unsigned long long;

constexpr Result kInvalidValue = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kInvalidImage = 200;
constexpr Result kNotFound = 500;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidContext = 201;
constexpr Result kNotReady = 600;
constexpr Result kIllegalAddress = 700;
constexpr size_t kPage = 4096;

struct Fault {
  int64_t after = 0;  // the call that fails, counted from now; 0: none
  Result code = 0;
  int64_t times = 1;  // further calls fail too
};

struct Work {
  std::function<void()> run;
  int64_t busy = 0;  // so many waits of one poll until it may run
};

// The end of the work that was queued before.
struct Event {
  int64_t end = 0;
};

struct Driver {
  std::recursive_mutex mutex;
  std::map<std::string, Fault> faults;
  std::map<std::string, int64_t> calls;
  Result sticky = 0;  // the failure that every later call repeats
  int devices = 1;
  size_t bytes = size_t{4} << 30;
  size_t used = 0;
  // The memory, mapped twice: at `hidden`, whose addresses are those of the device, and at
  // `visible`, where the copies are made.
  char* hidden = nullptr;
  char* visible = nullptr;
  size_t end = 0;                           // bytes of the mappings that were ever allocated
  std::map<Address, size_t> blocks;         // allocated
  std::multimap<size_t, Address> released;  // by size
  std::deque<Work> stream;
  int64_t done = 0;        // work that ran
  int64_t busy_later = 0;  // is queued after the next event that is done

  Driver() {
    if (const char* number = std::getenv("FAKE_CUDA_DEVICES")) devices = std::atoi(number);
    if (const char* number = std::getenv("FAKE_CUDA_MEMORY"))
      bytes = std::strtoull(number, nullptr, 10);
    const int file = memfd_create("fake_cuda", 0);
    const size_t reserved = size_t{64} << 30;
    if (file < 0 || ftruncate(file, static_cast<off_t>(reserved))) std::abort();
    hidden =
        static_cast<char*>(mmap(nullptr, reserved, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0));
    visible = static_cast<char*>(
        mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0));
    if (hidden == MAP_FAILED || visible == MAP_FAILED) std::abort();
  }

  char* at(Address address) const {
    return visible + (address - reinterpret_cast<Address>(hidden));
  }
  // Null unless [address, address + n) lies in one block.
  char* span(Address address, size_t n) const {
    auto block = blocks.upper_bound(address);
    if (block == blocks.begin()) return nullptr;
    --block;
    return address + n <= block->first + block->second ? at(address) : nullptr;
  }
  void run_stream() {
    for (Work& each : stream) each.busy = 0;
    run_until({done + static_cast<int64_t>(stream.size())});
  }
  // Runs the work before the event and nothing else; false if a part of it is busy.
  bool run_until(const Event& event) {
    for (; done < event.end; ++done) {
      if (stream.front().busy > 0 && --stream.front().busy >= 0) return false;
      if (stream.front().run) stream.front().run();
      stream.pop_front();
    }
    return true;
  }
};

// A kernel of a library: bind copies its parameters, run runs all its threads.
struct Kernel {
  void* (*bind)(void** parameters);
  void (*run)(void* call, unsigned int blocks, unsigned int threads);
};

Driver& driver() {
  static auto* once = new Driver;
  return *once;
}

thread_local bool context_is_current = false;

// Counts a call, and returns the failure that it is to report.
Result begin(const char* function, bool needs_context) {
  Driver& d = driver();
  ++d.calls[function];
  if (d.sticky) return d.sticky;
  Fault& fault = d.faults[function];
  if (fault.after > 0 && --fault.after == 0) {
    if (--fault.times > 0) fault.after = 1;
    if (fault.code >= kIllegalAddress) d.sticky = fault.code;
    return fault.code;
  }
  if (needs_context && !context_is_current) return kInvalidContext;
  return 0;
}

#define BEGIN(needs_context)                  \
  const std::lock_guard lock(driver().mutex); \
  if (const Result error = begin(__func__, needs_context)) return error;

Result queue(Address address, size_t n, std::function<void()> work) {
  if (!driver().span(address, n)) {
    driver().sticky = kIllegalAddress;
    return kIllegalAddress;
  }
  driver().stream.push_back({std::move(work)});
  return 0;
}

}  // namespace

extern "C" {

// For tests: the `after`-th call of a function from now fails with `code`; 0 cancels.
void fake_fail(const char* function, int64_t after, int code) {
  const std::lock_guard lock(driver().mutex);
  driver().faults[function] = {after, code};
}
// The same for so many calls, one after another.
void fake_fail_often(const char* function, int64_t after, int code, int64_t times) {
  const std::lock_guard lock(driver().mutex);
  driver().faults[function] = {after, code, times};
}
// Ends a sticky failure, and all planned ones.
void fake_reset() {
  const std::lock_guard lock(driver().mutex);
  driver().faults.clear();
  driver().sticky = 0;
}
int64_t fake_calls(const char* function) {
  const std::lock_guard lock(driver().mutex);
  return driver().calls[function];
}
// Queues work that takes so many polls; 0 ends all such work.
void fake_busy(int64_t polls) {
  const std::lock_guard lock(driver().mutex);
  if (polls > 0) return driver().stream.push_back({nullptr, polls});
  for (Work& each : driver().stream) each.busy = 0;
}
// The same after the next event that a query finds done, as another thread may queue it.
void fake_busy_later(int64_t polls) {
  const std::lock_guard lock(driver().mutex);
  driver().busy_later = polls;
}
// The polls that queued work still takes.
int64_t fake_busy_polls() {
  const std::lock_guard lock(driver().mutex);
  int64_t out = 0;
  for (const Work& each : driver().stream) out += each.busy;
  return out;
}
int64_t fake_used_bytes() { return static_cast<int64_t>(driver().used); }

Result cuInit(unsigned int) {
  BEGIN(false)
  return 0;
}
Result cuDriverGetVersion(int* version) {
  BEGIN(false)
  *version = 13000;
  return 0;
}
Result cuGetErrorName(Result error, const char** name) {
  *name = error == kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kNoDevice       ? "CUDA_ERROR_NO_DEVICE"
                                     : "CUDA_ERROR_UNKNOWN";
  return 0;
}
Result cuGetErrorString(Result error, const char** text) {
  *text = error == kIllegalAddress ? "an illegal memory access was encountered" : "a planned fault";
  return 0;
}
Result cuDeviceGetCount(int* count) {
  BEGIN(false)
  *count = driver().devices;
  return 0;
}
Result cuDeviceGet(int* device, int index) {
  BEGIN(false)
  if (index >= driver().devices) return kNoDevice;
  *device = index;
  return 0;
}
Result cuDevicePrimaryCtxRetain(void** context, int) {
  BEGIN(false)
  *context = &driver();
  return 0;
}
Result cuCtxSetCurrent(void* context) {
  BEGIN(false)
  context_is_current = context != nullptr;
  return 0;
}
Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  BEGIN(true)
  *total = driver().bytes;
  *free = driver().bytes - driver().used;
  return 0;
}
Result cuMemAlloc_v2(Address* address, size_t bytes) {
  BEGIN(true)
  Driver& d = driver();
  if (bytes == 0) return kInvalidValue;
  const size_t size = (bytes + kPage - 1) / kPage * kPage;
  if (d.used + size > d.bytes) return kOutOfMemory;
  if (const auto again = d.released.find(size); again != d.released.end()) {
    *address = again->second;
    d.released.erase(again);
  } else {
    *address = reinterpret_cast<Address>(d.hidden + d.end);
    d.end += size;
  }
  std::memset(d.at(*address), 0xff, size);  // NaN
  d.blocks[*address] = bytes;
  d.used += size;
  return 0;
}
Result cuMemFree_v2(Address address) {
  BEGIN(true)
  Driver& d = driver();
  const auto block = d.blocks.find(address);
  if (block == d.blocks.end()) return kInvalidValue;
  d.run_stream();  // as the driver, which waits for the device
  const size_t size = (block->second + kPage - 1) / kPage * kPage;
  std::memset(d.at(address), 0xff, size);
  d.blocks.erase(block);
  d.released.emplace(size, address);
  d.used -= size;
  return 0;
}
Result cuMemAllocHost_v2(void** address, size_t bytes) {
  BEGIN(true)
  *address = std::aligned_alloc(kPage, bytes);
  return *address ? 0 : kOutOfMemory;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t n, void*) {
  BEGIN(true)
  return queue(to, n, [=] { std::memcpy(driver().at(to), from, n); });
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, size_t n, void*) {
  BEGIN(true)
  return queue(from, n, [=] { std::memcpy(to, driver().at(from), n); });
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t n, void*) {
  BEGIN(true)
  if (!driver().span(from, n)) return kIllegalAddress;
  return queue(to, n, [=] { std::memcpy(driver().at(to), driver().at(from), n); });
}
Result cuStreamCreate(void** stream, unsigned int) {
  BEGIN(true)
  *stream = &driver().stream;
  return 0;
}
Result cuStreamSynchronize(void*) {
  BEGIN(true)
  driver().run_stream();
  return 0;
}
Result cuDeviceGetAttribute(int* value, int attribute, int) {
  BEGIN(false)
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 2 : -1;  // sm_90
  return *value < 0 ? kInvalidValue : 0;
}
Result cuModuleLoadData(void** module, const void* image) {
  BEGIN(true)
  *module = dlopen(static_cast<const char*>(image), RTLD_NOW | RTLD_LOCAL);
  return *module ? 0 : kInvalidImage;
}
Result cuModuleGetFunction(void** kernel, void* module, const char* name) {
  BEGIN(true)
  const auto find = [&](const char* prefix) {
    return dlsym(module, (std::string(prefix) + name).c_str());
  };
  auto* const found = new Kernel{reinterpret_cast<void* (*)(void**)>(find("bind_")),
                                 reinterpret_cast<decltype(Kernel::run)>(find("run_"))};
  *kernel = found;
  return found->bind && found->run ? 0 : kNotFound;
}
Result cuLaunchKernel(void* kernel, unsigned int blocks, unsigned int, unsigned int,
                      unsigned int threads, unsigned int, unsigned int, unsigned int, void*,
                      void** parameters, void**) {
  BEGIN(true)
  if (blocks == 0 || threads == 0 || threads > 1024) return kInvalidValue;
  const auto& of = *static_cast<const Kernel*>(kernel);
  driver().stream.push_back({[run = of.run, call = of.bind(parameters), blocks, threads] {
    Driver& d = driver();
    if (mprotect(d.hidden, d.end, PROT_READ | PROT_WRITE)) std::abort();
    run(call, blocks, threads);
    if (mprotect(d.hidden, d.end, PROT_NONE)) std::abort();
  }});
  return 0;
}
Result cuEventCreate(void** event, unsigned int) {
  BEGIN(true)
  *event = new Event;
  return 0;
}
Result cuEventRecord(void* event, void*) {
  BEGIN(true)
  const Driver& d = driver();
  static_cast<Event*>(event)->end = d.done + static_cast<int64_t>(d.stream.size());
  return 0;
}
Result cuEventQuery(void* event) {
  BEGIN(true)
  Driver& d = driver();
  if (!d.run_until(*static_cast<Event*>(event))) return kNotReady;
  if (d.busy_later) d.stream.push_back({nullptr, std::exchange(d.busy_later, 0)});
  return 0;
}
Result cuEventSynchronize(void* event) {
  {
    BEGIN(true)
  }
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    const std::lock_guard lock(driver().mutex);
    if (driver().run_until(*static_cast<Event*>(event))) return 0;
  }
}

}  // extern "C"
