// Picks the kernels of this processor.
#include "backend/cpu/kernels/small_matrices.h"
#include "backend/cpu/kernels/table.h"

#include "base/cpu_level.h"
#include "plan/backend.h"

namespace pullback {

static_assert(kIndexOutOfRange == static_cast<int>(Problem::IndexOutOfRange));
static_assert(kZeroDivision == static_cast<int>(Problem::ZeroDivision));
static_assert(kNegativePower == static_cast<int>(Problem::NegativePower));

#define table_of(set)                                                                              \
  KernelTable {                                                                                    \
    set::kElementwiseTable, set::kCastTable, set::kFoldTable, set::kRandomTable, set::kGammaTable, \
        set::kRowTable, set::kWeaveTable, set::kPairTable, set::kProductTable, set::kBatchTable,   \
        set::kAttentionTable, set::kConvolutionTable, set::kWinogradTable, set::kPoolTable,        \
        set::kFourierTable                                                                         \
  }

const KernelTable& kernels() {
  static const KernelTable table = [] {
    switch (cpu_level()) {
#if defined(PULLBACK_HAS_avx512)
      case CpuLevel::Avx512:
        return table_of(kernels_avx512);
#endif
#if defined(PULLBACK_HAS_avx2)
      case CpuLevel::Avx2:
        return table_of(kernels_avx2);
#endif
      default:
        break;
    }
    return table_of(kernels_baseline);
  }();
  return table;
}

const SmallMatrixTable& small_matrix_kernels() {
  switch (cpu_level()) {
#if defined(PULLBACK_HAS_avx512)
    case CpuLevel::Avx512:
      return kernels_avx512::kSmallMatrixTable;
#endif
#if defined(PULLBACK_HAS_avx2)
    case CpuLevel::Avx2:
      return kernels_avx2::kSmallMatrixTable;
#endif
    default:
      return kernels_baseline::kSmallMatrixTable;
  }
}

}  // namespace pullback
