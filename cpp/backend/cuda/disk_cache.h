// DiskCache: compiled kernels in files, so that a later process need not compile them.
//
// A failure to read or write a file is a miss: it costs time and changes nothing else.
#pragma once

#include <filesystem>
#include <string>

namespace pullback::cuda {

class DiskCache {
 public:
  // That of PULLBACK_CUDA=cache=<folder>, else of the user's folder of caches. Null with cache=off,
  // without such a folder, and if others may write to it: they could plant code.
  static const DiskCache* of_process();

  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }
  // The kernel that was added for `key`; empty if none. Marks it as used.
  std::string find(const std::string& key) const;
  // Other processes see the whole kernel or none. Now and then removes the kernels that were not
  // used for the longest time, to stay below kMostBytes.
  void add(const std::string& key, const std::string& kernel) const;
  // Bytes of all kernels.
  int64_t bytes() const;

  static constexpr int64_t kMostBytes = int64_t{256} << 20;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void sweep() const;

  std::filesystem::path folder_;
};

}  // namespace pullback::cuda
