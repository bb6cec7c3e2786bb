// DynamicLibrary: a shared library loaded at run time (the BLAS, CUDA).
#pragma once

#include <string>

namespace pullback {

class DynamicLibrary {
 public:
  // Does not throw: an absent library leaves error() set.
  explicit DynamicLibrary(const std::string& path);
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  bool loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }
  // nullptr if the symbol is missing.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;  // never closed: worker threads of the library may outlive us
  std::string error_;
};

// The folder of the library that this function is in; empty if it is unknown.
std::string folder_of_this_library();

}  // namespace pullback
