// The environment is read at every call, so variables that a program sets before the first use
// count. PULLBACK_BLAS has priority over the path that the package sets at import.
#include "base/settings.h"

#include <cstdlib>

namespace pullback {

namespace {
std::string& stored_blas_path() {
  static auto* path = new std::string;  // leaked on purpose: no static destructors
  return *path;
}
}  // namespace

std::string blas_path() {
  const char* requested = std::getenv("PULLBACK_BLAS");
  return requested ? std::string(requested) : stored_blas_path();
}

void set_blas_path(const std::string& path) { stored_blas_path() = path; }

std::vector<std::pair<std::string, std::string>> environment_in_force() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* name : {"PULLBACK_NUM_THREADS", "PULLBACK_CPU_LEVEL", "PULLBACK_BLAS",
                           "OMP_NUM_THREADS", "OPENBLAS_CORETYPE"}) {
    if (const char* value = std::getenv(name)) out.emplace_back(name, value);
  }
  return out;
}

}  // namespace pullback
