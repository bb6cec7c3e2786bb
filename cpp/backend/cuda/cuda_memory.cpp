// Small blocks are cut from segments, which are never returned; larger blocks are requested one by
// one.
#include "backend/cuda/cuda_memory.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "runtime/memory.h"
#include "runtime/size_class.h"

namespace pullback::cuda {
namespace {

constexpr int64_t kSmallestBlock = 512;
constexpr int64_t kSegment = int64_t{2} << 20;
constexpr int64_t kLargestSmall = kSegment / 4;
// Threads compute further elements in a loop.
constexpr unsigned int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 32;
// CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX and UNSUPPORTED_PTX_VERSION: the driver
// cannot read an image, and the context stays usable.
constexpr std::array<Result, 4> kOfImages = {200, 209, 218, 222};
constexpr int64_t kStaging = int64_t{8} << 20;

int64_t class_size(int64_t bytes) { return size_class(std::max(bytes, kSmallestBlock)).bytes; }

std::string in_units(int64_t bytes) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return out;
}

// A wait first polls without sleeping, since most kernels end within this time.
constexpr auto kSpin = std::chrono::microseconds(20);
constexpr auto kShortestSleep = std::chrono::microseconds(50);
constexpr auto kLongestSleep = std::chrono::microseconds(1000);

thread_local int runs_of_thread = 0;

// What ends a wait: nothing inside of a run.
bool (*interruption())() { return runs_of_thread ? nullptr : interpreter.interrupted; }

// While one exists, other threads of the interpreter run. The lock is acquired last, so that no
// thread waits for it with the lock of a device.
class WithoutInterpreter {
 public:
  WithoutInterpreter() : state_(interpreter.release_lock ? interpreter.release_lock() : nullptr) {}
  ~WithoutInterpreter() {
    if (interpreter.acquire_lock) interpreter.acquire_lock(state_);
  }
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

 private:
  void* state_;
};

// NOLINTBEGIN(performance-no-int-to-ptr): addresses of the device
void* pointer(Address address) { return reinterpret_cast<void*>(address); }
// NOLINTEND(performance-no-int-to-ptr)
Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace

Interpreter interpreter;

RunScope::RunScope() { ++runs_of_thread; }
RunScope::~RunScope() { --runs_of_thread; }

CudaMemory::CudaMemory(const Driver& driver, int index) : driver_(driver), index_(index) {
  Ordinal device = 0;
  check(driver_.device_get(&device, index), "cuDeviceGet");
  check(driver_.retain_context(&context_, device), "cuDevicePrimaryCtxRetain");
  int major = 0, minor = 0;
  check(driver_.attribute(&major, kMajor, device), "cuDeviceGetAttribute");
  check(driver_.attribute(&minor, kMinor, device), "cuDeviceGetAttribute");
  check(driver_.attribute(&multiprocessors_, kMultiprocessors, device), "cuDeviceGetAttribute");
  architecture_ = 10 * major + minor;
  const auto lock = enter();
  check(driver_.make_stream(&stream_, kNonBlocking), "cuStreamCreate");
  void* pinned = nullptr;
  check(driver_.allocate_pinned(&pinned, kStaging), "cuMemAllocHost");
  staging_ = static_cast<char*>(pinned);
}

std::string CudaMemory::failure() const {
  if (in_forked_child()) return "CUDA was in use before fork()";
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::unique_lock<std::mutex> CudaMemory::enter() {
  if (in_forked_child()) {
    fail(ErrorKind::Runtime, "cuda:", index_,
         ": CUDA was in use before fork(), which leaves it unusable in the child; start processes "
         "with the method 'spawn'");
  }
  std::unique_lock lock(mutex_);
  if (!lost_.empty()) fail(ErrorKind::Runtime, lost_);
  // At each call: other libraries of the process set theirs.
  check(driver_.set_context(context_), "cuCtxSetCurrent");
  return lock;
}

void CudaMemory::check(Result result, const char* function) {
  if (!result) return;
  lost_ = text("cuda:", index_, ": ", function, " failed with ", describe(driver_, result),
               "; the device is lost, restart the process. Tensors on the CPU are unharmed");
  fail(ErrorKind::Runtime, lost_);
}

template <class Call>
Result CudaMemory::with_memory(const Call& call) {
  const Result result = call();
  if (result != kOutOfMemory) return result;
  wait();  // queued work may read the blocks
  free_cached();
  return call();
}

Result CudaMemory::request(Address* address, int64_t size) {
  return with_memory([&] { return driver_.allocate(address, static_cast<size_t>(size)); });
}

void* CudaMemory::allocate(int64_t bytes) {
  const auto lock = enter();
  if (bytes > kLargestBlock) out_of_memory(bytes);
  const int64_t size = class_size(bytes);
  Address address = 0;
  const auto free = cached_.find(size);
  if (free != cached_.end() && !free->second.empty()) {
    address = free->second.back();
    free->second.pop_back();
    figures_.cached -= size;
  } else {
    const bool small = size <= kLargestSmall;
    if (!small || segment_rest_ < size) {
      const Result result = request(&address, small ? kSegment : size);
      if (result == kOutOfMemory) {
        size_t left = 0, total = 0;
        driver_.memory_info(&left, &total);
        fail(ErrorKind::Memory, "cuda:", index_, ": cannot allocate ", in_units(size), "; ",
             in_units(static_cast<int64_t>(left)), " of ", in_units(static_cast<int64_t>(total)),
             " are free, tensors and plans of this process have ", in_units(figures_.live));
      }
      check(result, "cuMemAlloc");
      if (small) {
        segment_ = address;
        segment_rest_ = kSegment;
      }
    }
    if (small) {
      address = segment_;
      segment_ += static_cast<Address>(size);
      segment_rest_ -= size;
    }
  }
  figures_.live += size;
  figures_.peak = std::max(figures_.peak, figures_.live);
  return pointer(address);
}

void CudaMemory::release(void* address, int64_t bytes) noexcept {
  if (in_forked_child()) return;
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) return;
  const int64_t size = class_size(bytes);
  figures_.live -= size;
  try {
    cached_[size].push_back(address_of(address));
    figures_.cached += size;
  } catch (const std::bad_alloc&) {  // the block leaks
  }
}

void CudaMemory::copy(void* to, const void* from, int64_t bytes) {
  const auto lock = enter();
  if (bytes <= 0) return;
  check(driver_.copy(address_of(to), address_of(from), static_cast<size_t>(bytes), stream_),
        "cuMemcpyDtoDAsync");
}

std::unique_lock<std::mutex> CudaMemory::enter_with_pinned(int64_t bytes, char** staged,
                                                           bool (*interrupted)()) {
  for (;;) {
    auto lock = enter();
    if (staged_ + bytes <= kStaging) {
      *staged = staging_ + staged_;
      staged_ += (bytes + 63) / 64 * 64;
      ++stagings_;
      return lock;
    }
    lock.unlock();
    if (!wait_until_done(interrupted)) return {};
  }
}

void CudaMemory::upload(void* to, const void* host, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kStaging / 2) {
    const int64_t part = std::min(bytes - at, kStaging / 2);
    char* staged = nullptr;
    const auto lock = enter_with_pinned(part, &staged, interruption());
    if (!lock) raise_interruption();
    std::memcpy(staged, static_cast<const char*>(host) + at, static_cast<size_t>(part));
    check(driver_.upload(address_of(to) + static_cast<Address>(at), staged,
                         static_cast<size_t>(part), stream_),
          "cuMemcpyHtoDAsync");
  }
}

// `interrupted` may run Python, which may need the pinned memory: so it is called before some is
// taken. The wait for the copy has neither lock, so that other threads can queue work.
bool CudaMemory::download_until(void* host, const void* from, int64_t bytes,
                                bool (*interrupted)()) {
  for (int64_t at = 0; at < bytes; at += kStaging / 2) {
    if (interrupted && !wait_until_done(interrupted)) return false;
    const int64_t part = std::min(bytes - at, kStaging / 2);
    char* staged = nullptr;
    auto lock = enter_with_pinned(part, &staged, interrupted);
    if (!lock) return false;
    check(driver_.download(staged, address_of(from) + static_cast<Address>(at),
                           static_cast<size_t>(part), stream_),
          "cuMemcpyDtoHAsync");
    const Mark copied = mark();
    ++readers_;
    lock.unlock();
    const Result result = driver_.wait_for(copied.event);
    lock.lock();
    --readers_;
    check(result, "cuEventSynchronize");
    std::memcpy(static_cast<char*>(host) + at, staged, static_cast<size_t>(part));
    end(copied);
  }
  return true;
}

void CudaMemory::download(void* host, const void* from, int64_t bytes) {
  if (!download_until(host, from, bytes, interruption())) raise_interruption();
}

void CudaMemory::wait_and_download(void* host, const void* from, int64_t bytes) {
  if (runs_of_thread) return download(host, from, bytes);
  bool done = false;
  {
    const WithoutInterpreter without;
    done = download_until(host, from, bytes, interruption());
  }
  if (!done) raise_interruption();
}

void CudaMemory::wait() {
  check(driver_.synchronize(stream_), "cuStreamSynchronize");
  free_staging();
}

void CudaMemory::free_staging() {
  if (!readers_) staged_ = 0;
}

CudaMemory::Mark CudaMemory::mark() {
  Mark out{nullptr, stagings_};
  if (events_.empty()) {
    check(driver_.make_event(&out.event, kNoTiming), "cuEventCreate");
  } else {
    out.event = events_.back();
    events_.pop_back();
  }
  check(driver_.record(out.event, stream_), "cuEventRecord");
  return out;
}

void CudaMemory::end(const Mark& mark) {
  events_.push_back(mark.event);
  if (mark.stagings == stagings_) free_staging();
}

Kernel CudaMemory::load_kernel(const std::string& cubin, const char* name) {
  const auto lock = enter();
  Module module = nullptr;
  Kernel kernel = nullptr;
  const Result result = with_memory([&] { return driver_.load_module(&module, cubin.data()); });
  if (std::ranges::find(kOfImages, result) != kOfImages.end()) return nullptr;
  if (result == kOutOfMemory) {
    fail(ErrorKind::Memory, "cuda:", index_, ": no memory is left for a kernel");
  }
  check(result, "cuModuleLoadData");
  check(driver_.find_kernel(&kernel, module, name), "cuModuleGetFunction");
  return kernel;
}

void CudaMemory::launch(Kernel kernel, int64_t count, void** parameters) {
  if (count <= 0) return;
  const auto lock = enter();
  const int64_t most = int64_t{kBlocksPerMultiprocessor} * std::max(1, multiprocessors_);
  const int64_t blocks = std::min((count + kThreads - 1) / kThreads, most);
  // Another failure ends the device: earlier steps may have written over inputs of the plan.
  const Result result = with_memory([&] {
    return driver_.launch(kernel, static_cast<unsigned int>(blocks), 1, 1, kThreads, 1, 1, 0,
                          stream_, parameters, nullptr);
  });
  check(result, "cuLaunchKernel");
}

// Without the lock between two polls: `interrupted` may run Python, which may use the device. It
// does not poll the stream, which is never idle while another thread queues work.
bool CudaMemory::wait_until_done(bool (*interrupted)()) {
  const auto start = std::chrono::steady_clock::now();
  auto sleep = kShortestSleep;
  auto lock = enter();
  const Mark before = mark();
  for (;;) {
    const Result result = driver_.query(before.event);
    if (result == 0) {
      end(before);
      return true;
    }
    if (result != kNotReady) check(result, "cuEventQuery");
    lock.unlock();
    if (std::chrono::steady_clock::now() - start >= kSpin) {
      if (interrupted && interrupted()) {
        lock.lock();
        events_.push_back(before.event);
        return false;
      }
      std::this_thread::sleep_for(sleep);
      sleep = std::min(2 * sleep, kLongestSleep);
    }
    lock = enter();
  }
}

void CudaMemory::raise_interruption() const {
  if (interpreter.check_signals) interpreter.check_signals();
  fail(ErrorKind::Runtime, "cuda:", index_, ": the wait was interrupted");
}

void CudaMemory::synchronize() {
  if (runs_of_thread) return drain();
  bool done = false;
  {
    const WithoutInterpreter without;
    done = wait_until_done(interruption());
  }
  if (!done) raise_interruption();
}

void CudaMemory::drain() {
  const auto lock = enter();
  wait();
}

MemoryFigures CudaMemory::figures() {
  const auto lock = enter();
  MemoryFigures out = figures_;
  size_t left = 0, total = 0;
  check(driver_.memory_info(&left, &total), "cuMemGetInfo");
  out.free = static_cast<int64_t>(left);
  out.total = static_cast<int64_t>(total);
  return out;
}

void CudaMemory::free_cached() {
  for (auto& [size, blocks] : cached_) {
    if (size <= kLargestSmall) continue;
    while (!blocks.empty()) {
      check(driver_.release(blocks.back()), "cuMemFree");
      blocks.pop_back();
      figures_.cached -= size;
    }
  }
}

void CudaMemory::trim() {
  synchronize();
  const auto lock = enter();
  wait();
  free_cached();
}

}  // namespace pullback::cuda
