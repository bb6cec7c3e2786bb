// A file has a mark of the format, a hash of what follows, the size of the key, the key and the
// kernel. Its name is a hash of the key, which is compared when the file is read.
#include "backend/cuda/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#if defined(_WIN32)
#include <process.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "backend/cuda/driver.h"
#include "base/hash.h"

namespace pullback::cuda {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

constexpr uint64_t kFormat = 0x3130'4B42'4C50;  // "PLBK01"
constexpr size_t kHead = 3 * sizeof(uint64_t);
constexpr const char* kSuffix = ".kernel";
constexpr const char* kUnfinished = ".new";

int64_t process_number() {
#if defined(_WIN32)
  return _getpid();
#else
  return getpid();
#endif
}

fs::path users_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const std::string given = setting("cache"); !given.empty()) {
    return given == "off" || given == "cache" ? fs::path() : fs::path(given);
  }
#if defined(_WIN32)
  const fs::path caches = variable("LOCALAPPDATA");
#else
  fs::path caches = variable("XDG_CACHE_HOME");
  if (!caches.is_absolute()) {  // as the specification of XDG demands
    const fs::path home = variable("HOME");
    caches = home.empty() ? home : home / ".cache";
  }
#endif
  return caches.is_absolute() ? caches / "pullback" / "cuda" : fs::path();
}

// True if this user alone may write to the folder.
bool is_private(const fs::path& folder) {
#if defined(_WIN32)
  return fs::is_directory(folder);  // below the user's profile
#else
  struct stat found;
  if (stat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  return found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
#endif
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void append(std::string* to, uint64_t word) {
  to->append(reinterpret_cast<const char*>(&word), sizeof word);
}

uint64_t word_at(const std::string& from, size_t at) {
  uint64_t out;
  std::memcpy(&out, from.data() + at, sizeof out);
  return out;
}

}  // namespace

const DiskCache* DiskCache::of_process() {
  static const DiskCache* const found = []() -> const DiskCache* {
    const fs::path folder = users_folder();
    if (folder.empty()) return nullptr;
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    if (fs::create_directory(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
    return is_private(folder) ? new DiskCache(folder) : nullptr;
  }();
  return found;
}

fs::path DiskCache::file_of(const std::string& key) const {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name;
  for (uint64_t h = hash_bytes(key.data(), key.size()); name.size() < 16; h >>= 4) {
    name += kDigits[h & 15];
  }
  return folder_ / (name + kSuffix);
}

std::string DiskCache::find(const std::string& key) const {
  const fs::path file = file_of(key);
  const std::string all = content_of(file);
  if (all.size() < kHead || word_at(all, 0) != kFormat) return {};
  const size_t checked = 2 * sizeof(uint64_t);
  if (word_at(all, 8) != hash_bytes(all.data() + checked, all.size() - checked)) return {};
  const uint64_t size = word_at(all, checked);
  if (size != key.size() || all.compare(kHead, size, key) != 0) return {};
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  return all.substr(kHead + size);
}

void DiskCache::add(const std::string& key, const std::string& kernel) const {
  std::string checked;
  append(&checked, key.size());
  checked += key + kernel;
  std::string all;
  append(&all, kFormat);
  append(&all, hash_bytes(checked.data(), checked.size()));
  all += checked;

  static std::atomic<int> written = 0;
  const fs::path file = file_of(key);
  fs::path unfinished = file;
  unfinished += "." + std::to_string(process_number()) + "." + std::to_string(++written);
  unfinished += kUnfinished;
  std::error_code error;
  std::ofstream out(unfinished, std::ios::binary);
  out.write(all.data(), static_cast<std::streamsize>(all.size()));
  out.close();
  if (out) fs::rename(unfinished, file, error);
  if (!out || error) fs::remove(unfinished, error);
  sweep();
}

int64_t DiskCache::bytes() const {
  int64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const uintmax_t size = at->path().extension() == kSuffix ? at->file_size(error) : 0;
    if (!error) sum += static_cast<int64_t>(size);
  }
  return sum;
}

// At most once in an hour.
void DiskCache::sweep() const {
  const auto now = fs::file_time_type::clock::now();
  const fs::path mark = folder_ / "swept";
  std::error_code error;
  const auto last = fs::last_write_time(mark, error);
  if (!error && now - last < hours(1)) return;
  std::ofstream(mark) << "pullback removes old kernels from this folder once in an hour\n";
  fs::last_write_time(mark, now, error);

  struct Kept {
    fs::file_time_type used;
    int64_t bytes;
    fs::path file;
  };
  std::vector<Kept> kept;
  int64_t sum = 0;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may remove the same file
    const auto used = at->last_write_time(gone);
    const auto size = static_cast<int64_t>(at->file_size(gone));
    if (gone) continue;
    if (at->path().extension() == kUnfinished && now - used > hours(1)) {
      fs::remove(at->path(), gone);
    } else if (at->path().extension() == kSuffix) {
      kept.push_back({used, size, at->path()});
      sum += size;
    }
  }
  std::ranges::sort(kept, {}, &Kept::used);
  for (const Kept& oldest : kept) {
    if (sum <= kMostBytes) break;
    fs::remove(oldest.file, error);
    sum -= oldest.bytes;
  }
}

}  // namespace pullback::cuda
