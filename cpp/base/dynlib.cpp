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
#else
DynamicLibrary::DynamicLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) error_ = dlerror();
}

void* DynamicLibrary::symbol(const char* name) const { return dlsym(handle_, name); }
#endif

}  // namespace pullback
