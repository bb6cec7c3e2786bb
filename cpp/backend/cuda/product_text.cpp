// A thread adds the products of one element, in order.
#include "backend/cuda/product_text.h"

#include <cstddef>
#include <utility>

#include "backend/cuda/group_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// Terms of a product of float32 that are added in float32, before their sum is added in float64.
constexpr int kTermsOfBlock = 32;

}  // namespace

std::string refused_product(DType result, DType a, DType b) {
  const bool known = type_of(result) && result != DType::Bool && !is_storage(result);
  return known && a == result && b == result ? std::string() : name_of(result);
}

void begin_sum(KernelBuilder& builder, DType dtype) {
  builder.line(is_float(dtype) ? "double" : "uint64_t", " sum = 0;");
}

void add_products(KernelBuilder& builder, DType dtype, const std::string& terms,
                  const std::string& a_step, const std::string& b_step) {
  const std::string a = text("p[k * ", a_step, "]"), b = text("q[k * ", b_step, "]");
  if (dtype == DType::Float32) {
    builder.line("for (int64_t k = 0; k < ", terms, ";) {\nfloat part = 0;");
    builder.line("const int64_t end = k + ", kTermsOfBlock, " < ", terms, " ? k + ", kTermsOfBlock,
                 " : ", terms, ";");
    builder.line("for (; k < end; ++k) part = m::mad(", a, ", ", b, ", part);\nsum += part;\n}");
    return;
  }
  builder.line("for (int64_t k = 0; k < ", terms, "; ++k) ");
  if (dtype == DType::Float64) {
    builder.line("sum = m::mad(", a, ", ", b, ", sum);");
  } else {
    builder.line("sum += static_cast<uint64_t>(", a, ") * static_cast<uint64_t>(", b, ");");
  }
}

Printed with_epilogue(KernelText kernel, const std::optional<TileGroup>& epilogue) {
  StepText out;
  if (epilogue) {
    Printed group = group_text(*epilogue);
    if (!std::holds_alternative<StepText>(group)) return group;
    out = std::get<StepText>(std::move(group));
  }
  // After a check of the epilogue, before which nothing may be written.
  const size_t checks = out.check ? out.check->kernels : 0;
  out.kernels.insert(out.kernels.begin() + static_cast<ptrdiff_t>(checks), std::move(kernel));
  return out;
}

}  // namespace pullback::cuda
