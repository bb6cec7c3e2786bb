// Matrix products. How one is computed and cut is decided when the plan is compiled, from its shape
// and strides alone.
#pragma once

#include "backend/cpu/common/slots.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

// One operand's matrix: strides in elements.
struct GemmOperand {
  int32_t slot = -1;
  int64_t offset = 0;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;
  // For BLAS: how it lies in memory, and whether its strides must be copied away first.
  bool transposed = false;
  bool packed = false;
  int64_t packed_count = 1;  // matrices to copy: one if they are all the same
  int64_t leading = 0;       // after packing
};

struct BatchAxis {
  int64_t length, a_stride, b_stride;
};

enum class GemmMethod : uint8_t {
  Own,     // our kernel (kernels/product.cpp)
  Batch,   // its form for many small ones: `group` of them a call
  Matrix,  // a BLAS call a panel
  Vector,  // one operand is a vector: BLAS too
  Plain,   // a plain loop: integers, and floats of sizes that BLAS does not take
};

struct GemmProgram {
  DType dtype = DType::Float32;
  GemmMethod method = GemmMethod::Plain;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmOperand a, b;
  std::vector<BatchAxis> axes;  // batch is the product of their lengths
  int32_t c_slot = -1;
  int64_t c_offset = 0;
  int64_t panel_m = 0, panel_n = 0, panel_k = 0;  // of one call
  int64_t group = 0;                              // matrices of one call of Batch
  bool worth = false;                             // threads
  int64_t scratch_bytes = 0;                      // for packed operands and for parts of k

  // Rows of a panel where each is whole rows of c, computed by one call, and all but the last have
  // as many, with c seen as [batch m, n]; else 0.
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

// Loads the BLAS if the program needs it; without one, raises Error here and not in a run.
// Ctrl-C waits for a panel.
constexpr double kLargestPanelFlops = 4e9;

GemmProgram compile_gemm(const Gemm& gemm);
// `scratch` has scratch_bytes. `hook` only where rows_of_panels() is not 0.
void run_gemm(const GemmProgram& program, const Slots& slots, char* scratch, PanelHook hook = {});

}  // namespace pullback
