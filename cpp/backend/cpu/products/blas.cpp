// Loads the BLAS at the path of the settings and finds its functions, with or without the prefix of
// scipy-openblas32. Environment variables set meanwhile keep OpenBLAS from starting threads and
// make it choose the right kernels. Never unloaded.
#include "backend/cpu/products/blas.h"

#include <cstdlib>
#include <memory>
#include <optional>

#include "base/cpu_level.h"
#include "base/dynlib.h"
#include "base/settings.h"

namespace pullback {
namespace {

// Sets an environment variable while the library loads, unless the user has set it; OpenBLAS has no
// other interface for it. setenv is unsafe if another thread reads the environment at that moment;
// none of our threads does.
class WhileLoading {
 public:
  WhileLoading(const char* name, const char* value) : name_(name) {
#if !defined(_WIN32)
    set_ = !std::getenv(name) && setenv(name, value, 0) == 0;
#else
    static_cast<void>(value);
#endif
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;
  ~WhileLoading() {
#if !defined(_WIN32)
    if (set_) unsetenv(name_);
#endif
  }

 private:
  const char* name_;
  bool set_ = false;
};

struct Loaded {
  BlasInfo info;
  Blas blas;
  std::unique_ptr<DynamicLibrary> library;
};

// scipy-openblas prefixes its symbols; other libraries do not.
void* find(const DynamicLibrary& library, const std::string& name) {
  if (void* symbol = library.symbol(("scipy_" + name).c_str())) return symbol;
  return library.symbol(name.c_str());
}

Loaded* load() {
  auto* out = new Loaded;  // leaked on purpose: used until the process ends
  BlasInfo& info = out->info;
  info.path = blas_path();
  if (info.path.empty()) {
    info.error = "no BLAS library is configured: install scipy-openblas32 or set PULLBACK_BLAS";
    return out;
  }
  // While it loads, OpenBLAS would start a spinning thread per core, which are never used.
  const WhileLoading threads("OPENBLAS_NUM_THREADS", "1");
  // An OpenBLAS older than an AVX-512 processor chooses AVX2 kernels for it, at half the speed
  // (measured on Zen 5, one thread, float32: Haswell 133, SkylakeX 250 GFLOP/s). Only this variable
  // can change it. An OpenBLAS that supports the processor (Zen 5: from 0.3.34 on) chooses the same
  // kernels itself.
  std::optional<WhileLoading> core;
  if (cpu_level() == CpuLevel::Avx512) core.emplace("OPENBLAS_CORETYPE", "SkylakeX");
  out->library = std::make_unique<DynamicLibrary>(info.path);
  const DynamicLibrary& library = *out->library;
  if (!library.loaded()) {
    info.error = library.error();
    return out;
  }
  out->blas.sgemm = reinterpret_cast<Blas::Sgemm>(find(library, "cblas_sgemm"));
  out->blas.dgemm = reinterpret_cast<Blas::Dgemm>(find(library, "cblas_dgemm"));
  out->blas.sgemv = reinterpret_cast<Blas::Sgemv>(find(library, "cblas_sgemv"));
  out->blas.dgemv = reinterpret_cast<Blas::Dgemv>(find(library, "cblas_dgemv"));
  if (!out->blas.sgemm || !out->blas.dgemm || !out->blas.sgemv || !out->blas.dgemv) {
    info.error = info.path + " has no cblas_sgemm and the like (an LP64 CBLAS is expected)";
    return out;
  }
  using Text = char* (*)();
  if (auto set_threads =
          reinterpret_cast<void (*)(int)>(find(library, "openblas_set_num_threads"))) {
    set_threads(1);  // parallelism is ours: two thread pools would compete for the cores
  }
  if (auto name = reinterpret_cast<Text>(find(library, "openblas_get_corename"))) {
    info.corename = name();
  }
  if (auto config = reinterpret_cast<Text>(find(library, "openblas_get_config"))) {
    info.config = config();
  }
  return out;
}

const Loaded& loaded() {
  static const Loaded* library = load();
  return *library;
}

}  // namespace

const BlasInfo& blas_info() { return loaded().info; }

const Blas* blas() { return loaded().info.error.empty() ? &loaded().blas : nullptr; }

void* blas_symbol(const std::string& name) {
  const Loaded& all = loaded();
  return all.info.error.empty() ? find(*all.library, name) : nullptr;
}

}  // namespace pullback
