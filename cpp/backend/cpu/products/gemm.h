// Matrix products: compile_gemm() makes a GemmProgram from shapes and strides alone (gemm.cpp), and
// run_gemm() runs it (gemm_run.cpp). A product is cut into panels, blocks of c that run in
// parallel; an epilogue may run on each panel (PanelHook). Start at GemmMethod and GemmProgram.
#pragma once

#include "backend/common/slots.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

// The matrix of one operand; strides in elements.
struct GemmOperand {
  int32_t slot = -1;   // -1: none
  int64_t offset = 0;  // of the first element
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;
  // For BLAS: its memory layout, and whether its strides require a copy.
  bool transposed = false;
  bool packed = false;
  int64_t packed_count = 1;  // matrices to copy; 1 if all are the same
  int64_t leading = 0;       // after packing
};

// One axis of the batch: its size, and the strides of a and b along it (0: shared).
struct BatchAxis {
  int64_t length, a_stride, b_stride;
};

enum class GemmMethod : uint8_t {
  Own,     // our kernel (kernels/product.cpp)
  Batch,   // our kernel for small matrices, `group` of them per call
  Matrix,  // one BLAS call per panel
  Vector,  // BLAS with a vector as one operand
  Plain,   // a plain loop: integers, and floats of sizes that BLAS does not accept
};

struct GemmProgram {
  DType dtype = DType::Float32;
  GemmMethod method = GemmMethod::Plain;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmOperand a, b;
  std::vector<BatchAxis> axes;  // the product of their sizes is batch
  int32_t c_slot = -1;
  int64_t c_offset = 0;
  int64_t panel_m = 0, panel_n = 0, panel_k = 0;  // size of a panel
  int64_t group = 0;                              // matrices per call of Batch
  bool parallel = false;                          // worth several threads
  int64_t scratch_bytes = 0;                      // packed operands and partial sums over k

  // The number of rows per panel, if each panel is whole rows of c (seen as [batch m, n]) computed
  // by one call, and all but the last have equally many; else 0.
  int64_t rows_of_panels() const;
};

// Called on the thread that computed the panel of c that begins with this row.
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

// Loads the BLAS if the program needs it; without a BLAS raises Error here, so that no run fails.
// An interrupt waits for the panel, which has at most kLargestPanelFlops.
constexpr double kLargestPanelFlops = 4e9;

GemmProgram compile_gemm(const Gemm& gemm);
// `scratch` has scratch_bytes. `hook` requires rows_of_panels() != 0.
void run_gemm(const GemmProgram& program, const Slots& slots, char* scratch, PanelHook hook = {});

}  // namespace pullback
