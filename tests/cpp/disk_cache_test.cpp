// Kernels in files: found again, damaged, of another key, and too many of them.
#include "backend/cuda/disk_cache.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"

namespace pullback::test {
namespace {

namespace fs = std::filesystem;
using cuda::DiskCache;

std::vector<fs::path> kernels_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".kernel") out.push_back(entry.path());
  }
  return out;
}

void test_found_again(const fs::path& folder) {
  const DiskCache cache(folder);
  check(cache.find("key").empty(), "an empty folder");
  const std::string kernel("with\0zeros\n", 11);
  cache.add("key", kernel);
  cache.add("other", "second");
  check(cache.find("key") == kernel && cache.find("other") == "second", "two kernels");
  check(cache.find("ke").empty() && cache.find("key2").empty(), "keys that were not added");
  cache.add("key", "new");
  check(cache.find("key") == "new", "the last one of a key");
  check(kernels_in(folder).size() == 2, "one file for each key, and none unfinished");
}

void test_damaged(const fs::path& folder) {
  const DiskCache cache(folder);
  cache.add("key", "kernel");
  const fs::path file = kernels_in(folder).at(0);
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (int64_t at = 0; at < size; ++at) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(at);
    bytes.put('\x7f');
    bytes.close();
    check(cache.find("key").empty(), "byte " + std::to_string(at));
    cache.add("key", "kernel");
  }
  for (int64_t left = 0; left < size; ++left) {
    fs::resize_file(file, static_cast<uintmax_t>(left));
    check(cache.find("key").empty(), "cut at " + std::to_string(left));
    cache.add("key", "kernel");
  }
  check(cache.find("key") == "kernel", "written again");
  // A file of another key with the same name, as of equal hashes.
  cache.add("other", "another");
  const auto files = kernels_in(folder);
  fs::copy_file(files.at(0) == file ? files.at(1) : files.at(0), file,
                fs::copy_options::overwrite_existing);
  check(cache.find("key").empty(), "a kernel of another key");
}

void test_sweep(const fs::path& folder) {
  const DiskCache cache(folder);
  const auto now = fs::file_time_type::clock::now();
  for (int age : {1, 3, 2}) {  // in hours
    const std::string key = std::to_string(age);
    cache.add(key, key);
    for (const fs::path& file : kernels_in(folder)) {
      if (fs::file_size(file) > 100) continue;  // without blocks on most file systems
      fs::resize_file(file, DiskCache::kMostBytes / 5 * 2);
      fs::last_write_time(file, now - std::chrono::hours(age));
    }
  }
  const fs::path unfinished = folder / "abc.1.1.new";
  std::ofstream(unfinished) << "x";
  fs::last_write_time(unfinished, now - std::chrono::hours(2));
  cache.add("within an hour", "kernel");
  check(kernels_in(folder).size() == 4, "nothing is removed within an hour");
  fs::last_write_time(folder / "swept", now - std::chrono::hours(2));
  cache.add("later", "kernel");
  check(kernels_in(folder).size() == 4, "one kernel is removed");
  check(cache.bytes() <= DiskCache::kMostBytes, "the bound");
  bool oldest = false;
  for (const fs::path& file : kernels_in(folder)) {
    oldest |= now - fs::last_write_time(file) >= std::chrono::hours(3);
  }
  check(!oldest, "the one that was not used for the longest time");
  check(!fs::exists(unfinished), "what another process left unfinished");
}

void test_no_folder(const fs::path& folder) {
  const DiskCache cache(folder / "nowhere" / "at all");
  cache.add("key", "kernel");
  check(cache.find("key").empty() && cache.bytes() == 0, "a folder that does not exist");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;  // NOLINT(google-build-using-namespace)
  const fs::path folder =
      fs::temp_directory_path() /
      ("kernels" + std::to_string(std::rand()) +
       std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  for (const auto test : {test_found_again, test_damaged, test_sweep, test_no_folder}) {
    fs::create_directories(folder);
    test(folder);
    fs::remove_all(folder);
  }
  return report();
}
