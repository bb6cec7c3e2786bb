// One thread computes one element of a result at a time.
#include "backend/cuda/step_text.h"

#include <cstddef>
#include <utility>

#include "backend/cuda/data_text.h"
#include "backend/cuda/group_text.h"
#include "backend/cuda/product_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// The axes of a view without one of them.
View without_axis(const View& view, int axis) {
  View out = view;
  out.shape = Shape();
  out.strides = Strides();
  for (int i = 0; i < view.shape.rank; ++i) {
    if (i == axis) continue;
    out.shape.append(view.shape[i]);
    out.strides.append(view.strides[i]);
  }
  return out;
}

Printed print(const Gemm& gemm) {
  const DType dtype = gemm.c.dtype;
  if (std::string reason = refused_product(dtype, gemm.a.dtype, gemm.b.dtype); !reason.empty()) {
    return reason;
  }
  const char* const type = type_of(dtype);
  const int rank = gemm.c.shape.rank;
  const int64_t rows = gemm.c.shape[rank - 2], columns = gemm.c.shape[rank - 1];
  const int64_t terms = gemm.a.shape[rank - 1];
  KernelBuilder builder;
  builder.use_functions();
  const std::string m = builder.size(rows), n = builder.size(columns), k = builder.size(terms);
  builder.parameter(text("const ", type, "* a"), {.view = &gemm.a});
  builder.parameter(text("const ", type, "* b"), {.view = &gemm.b});
  builder.parameter(text(type, "* c"), {.view = &gemm.c});
  const std::string a_step = builder.size(gemm.a.strides[rank - 1]);
  const std::string b_step = builder.size(gemm.b.strides[rank - 2]);
  builder.line("const uint64_t row = t / ", n, ";");
  builder.line("const uint64_t column = row / ", m, " * ", n, " + t % ", n, ";");
  const std::string from_a = builder.offset_of(without_axis(gemm.a, rank - 1), "row");
  const std::string from_b = builder.offset_of(without_axis(gemm.b, rank - 2), "column");
  builder.line("const ", type, "* p = a + ", from_a, ";");
  builder.line("const ", type, "* q = b + ", from_b, ";");
  begin_sum(builder, dtype);
  add_products(builder, dtype, k, a_step, b_step);
  builder.line("c[t] = static_cast<", type, ">(sum);");
  return with_epilogue(builder.finish(gemm.c.shape.size()), gemm.epilogue);
}

Printed print(const Layout& layout, int64_t slot_bytes) {
  const bool adds = layout.add && !is_storage(layout.in.dtype) && layout.in.dtype != DType::Bool;
  const char* const type = adds         ? type_of(layout.in.dtype)
                           : layout.add ? nullptr
                                        : word_type(size_of(layout.in.dtype));
  if (!type) return std::string(name_of(layout.in.dtype));
  StepText out;
  if (layout.clear) {
    KernelBuilder builder;
    builder.parameter("uint8_t* to", {.slot = layout.out.slot});
    builder.line("to[t] = 0;");
    out.kernels.push_back(builder.finish(slot_bytes));
  }
  KernelBuilder builder;
  builder.parameter(text("const ", type, "* from"), {.view = &layout.in});
  builder.parameter(text(type, "* to"), {.view = &layout.out});
  const std::string at = builder.offset_of(layout.in, "t");
  const std::string into = builder.offset_of(layout.out, "t");
  const bool wraps = is_signed(layout.in.dtype);
  const std::string term = wraps ? text("static_cast<u", type, ">") : std::string();
  const std::string read = text("from[", at, "]"), written = text("to[", into, "]");
  builder.line(written, " = ",
               layout.add ? text(term, "(", written, ") + ", term, "(", read, ")") : read, ";");
  out.kernels.push_back(builder.finish(layout.in.shape.size()));
  return out;
}

Printed print(const Iota& iota) {
  const char* const type = type_of(iota.out.dtype);
  if (!type || is_storage(iota.out.dtype)) return std::string(name_of(iota.out.dtype));
  KernelBuilder builder;
  builder.parameter(text(type, "* to"), {.view = &iota.out});
  builder.line("to[t] = static_cast<", type, ">(t);");
  StepText out;
  out.kernels.push_back(builder.finish(iota.out.shape.size()));
  return out;
}

}  // namespace

std::variant<StepText, std::string> step_text(const Plan& plan, const Work& work) {
  if (const auto* group = std::get_if<TileGroup>(&work)) return group_text(*group);
  if (const auto* gemm = std::get_if<Gemm>(&work)) return print(*gemm);
  if (const auto* conv = std::get_if<Convolution>(&work)) return convolution_text(*conv);
  if (const auto* pool = std::get_if<Pool>(&work)) return pool_text(*pool);
  if (const auto* iota = std::get_if<Iota>(&work)) return print(*iota);
  if (const auto* layout = std::get_if<Layout>(&work)) {
    return print(*layout, plan.slots[layout->out.slot].bytes);
  }
  if (const auto* gather = std::get_if<Gather>(&work)) return gather_text(*gather);
  if (const auto* scatter = std::get_if<ScatterAdd>(&work)) return scatter_text(*scatter);
  if (const auto* random = std::get_if<Random>(&work)) return random_text(*random);
  if (const auto* scan = std::get_if<Scan>(&work)) return scan_text(*scan);
  if (const auto* arg = std::get_if<ArgReduce>(&work)) return arg_reduce_text(*arg);
  if (const auto* sort = std::get_if<Sort>(&work)) return sort_text(*sort);
  if (const auto* search = std::get_if<Search>(&work)) return search_text(*search);
  return std::string();
}

}  // namespace pullback::cuda
