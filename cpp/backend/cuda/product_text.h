// Sums of products, of which products and convolutions consist, and the groups that follow them.
#pragma once

#include <optional>
#include <string>

#include "backend/cuda/data_text.h"

namespace pullback::cuda {

// Why there is no product of these dtypes; empty if there is one.
std::string refused_product(DType result, DType a, DType b);
// Declares `sum`.
void begin_sum(KernelBuilder& builder, DType dtype);
// Adds the products of p[0], p[a_step] … and q[0], q[b_step] … to `sum`: those of float32 in
// blocks, which are added in float64.
void add_products(KernelBuilder& builder, DType dtype, const std::string& terms,
                  const std::string& a_step, const std::string& b_step);
// The kernel, and those of its epilogue.
Printed with_epilogue(KernelText kernel, const std::optional<TileGroup>& epilogue);

}  // namespace pullback::cuda
