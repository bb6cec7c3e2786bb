// One interface to dlopen and LoadLibrary. Symbols stay local, so a second copy of the same
// library in the process (NumPy's BLAS, for example) is separate.
#include "base/dynlib.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace pullback {

#if defined(_WIN32)
DynamicLibrary::DynamicLibrary(const std::string& path)
    : handle_(reinterpret_cast<void*>(LoadLibraryA(path.c_str()))) {
  if (!handle_) error_ = "LoadLibrary failed with code " + std::to_string(GetLastError());
}

void* DynamicLibrary::symbol(const char* name) const {
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
}

std::string folder_of_this_library() { return {}; }
#else
DynamicLibrary::DynamicLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) error_ = dlerror();
}

void* DynamicLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

std::string folder_of_this_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &info) || !info.dli_fname) {
    return {};
  }
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}
#endif

}  // namespace pullback
