// Matrix products. How one is cut is decided when the plan is compiled, from its shape alone.
#pragma once

#include "backend/cpu/slots.h"

namespace pullback {

// One operand's matrices: rank-2 strides and, for each batch axis, a stride.
struct GemmOperand {
  int32_t slot = -1;
  int64_t offset = 0;  // elements
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;  // elements
  bool transposed = false;
  bool packed = false;  // BLAS cannot take the strides: each matrix is copied first
  int64_t leading = 0;  // as BLAS sees it, after packing
};

struct GemmProgram {
  DType dtype = DType::Float32;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmOperand a, b;
  int32_t c_slot = -1;
  int64_t c_offset = 0;
  std::vector<int64_t> a_offsets, b_offsets;      // of each matrix of the batch, elements
  int64_t panel_m = 0, panel_n = 0, panel_k = 0;  // of one BLAS call
  bool worth = false;                             // threads

  // Rows of a panel where each is whole rows of c and computed by one call, else 0.
  int64_t rows_of_panels() const;
};

// Called on the thread that has computed the panel of c that begins with this row.
class PanelHook {
 public:
  PanelHook() = default;
  template <class F>
  explicit PanelHook(const F& f)
      : context_(&f), call_([](const void* context, int64_t first_row) {
          (*static_cast<const F*>(context))(first_row);
        }) {}
  void operator()(int64_t first_row) const {
    if (call_) call_(context_, first_row);
  }

 private:
  const void* context_ = nullptr;
  void (*call_)(const void* context, int64_t first_row) = nullptr;
};

GemmProgram compile_gemm(const Gemm& gemm);
// `hook` only where rows_of_panels() is not 0.
Status run_gemm(const GemmProgram& program, const Slots& slots, PanelHook hook = {});

}  // namespace pullback
