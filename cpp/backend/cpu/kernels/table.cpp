// Picks the kernels of this processor.
#include "backend/cpu/kernels/table.h"

#include "base/cpu_level.h"
#include "plan/backend.h"

namespace pullback {

static_assert(kZeroDivision == static_cast<int>(Problem::ZeroDivision));
static_assert(kNegativePower == static_cast<int>(Problem::NegativePower));

const KernelTable& kernels() {
  static const KernelTable table = [] {
#if defined(__x86_64__)
    switch (cpu_level()) {
      case CpuLevel::Avx512:
        return KernelTable{kernels_avx512::kElementwiseTable, kernels_avx512::kFoldTable};
      case CpuLevel::Avx2:
        return KernelTable{kernels_avx2::kElementwiseTable, kernels_avx2::kFoldTable};
      default:
        break;
    }
#endif
    return KernelTable{kernels_baseline::kElementwiseTable, kernels_baseline::kFoldTable};
  }();
  return table;
}

}  // namespace pullback
