// Selects the kernel tables for this processor, from the levels that were compiled
// (PULLBACK_HAS_<level>).
#include "backend/cpu/kernels/table.h"

#include <initializer_list>

#include "base/cpu_level.h"
#include "base/error.h"
#include "plan/backend.h"

namespace pullback {
namespace {

static_assert(kIndexOutOfRange == static_cast<int>(Problem::IndexOutOfRange));
static_assert(kZeroDivision == static_cast<int>(Problem::ZeroDivision));
static_assert(kNegativePower == static_cast<int>(Problem::NegativePower));

// No two of the tables have a kernel for the same operation and dtype.
ElementwiseTable merged(std::initializer_list<const ElementwiseTable*> tables) {
  ElementwiseTable out{};
  for (int op = 0; op < kElementwise; ++op) {
    for (int dtype = 0; dtype < kDTypes; ++dtype) {
      for (const ElementwiseTable* table : tables) {
        if (table->of[op][dtype]) out.of[op][dtype] = table->of[op][dtype];
      }
    }
  }
  return out;
}

#define PULLBACK_TABLE_OF(set)                                                                    \
  {                                                                                               \
    static const KernelTable table = {                                                            \
        merged({&set::kIntegerTable, &set::kFloat32Table, &set::kFloat64Table, &set::kOrderTable, \
                &set::kShareTable, &special::kSpecialTable}),                                     \
        set::kCastTable,                                                                          \
        set::kFoldTable,                                                                          \
        set::kRandomTable,                                                                        \
        set::kGammaTable,                                                                         \
        set::kRowTable,                                                                           \
        set::kInterleaveTable,                                                                    \
        set::kPairTable,                                                                          \
        set::kProductTable,                                                                       \
        set::kBatchTable,                                                                         \
        set::kAttentionTable,                                                                     \
        set::kConvolutionTable,                                                                   \
        set::kWinogradTable,                                                                      \
        set::kPoolTable,                                                                          \
        set::kFourierTable,                                                                       \
        set::kFourierMoveTable,                                                                   \
        set::kFourierFoldTable,                                                                   \
        set::kPositionTable,                                                                      \
        set::kSmallMatrixTable};                                                                  \
    return table;                                                                                 \
  }

}  // namespace

const KernelTable& kernels_of(CpuLevel level) {
  switch (level) {
#if defined(PULLBACK_HAS_avx512)
    case CpuLevel::Avx512:
      PULLBACK_TABLE_OF(kernels_avx512)
#endif
#if defined(PULLBACK_HAS_avx2)
    case CpuLevel::Avx2:
      PULLBACK_TABLE_OF(kernels_avx2)
#endif
#if defined(PULLBACK_HAS_baseline)
    case CpuLevel::Baseline:
      PULLBACK_TABLE_OF(kernels_baseline)
#endif
    default:
      fail(ErrorKind::Runtime, "pullback: this build has no kernels for ", name_of(level));
  }
}

const KernelTable& kernels() {
  static const KernelTable& table = kernels_of(cpu_level());
  return table;
}

}  // namespace pullback
