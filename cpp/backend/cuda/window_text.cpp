// Convolutions and pools: a thread computes one element of the result, in a loop over the windows'
// taps inside of the input.
#include <utility>

#include "backend/cuda/data_text.h"
#include "backend/cuda/product_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// Declares n, o0, o1, o2 and the rest of an element's number as functions of it: it is row-major in
// [batch, three axes, rest].
void print_places(KernelBuilder& builder, const std::string& rest, const Shape& shape) {
  builder.line("const int64_t rest = ", rest, ";");
  builder.line("uint64_t line = t / rest;\nconst int64_t c = t % rest;");
  for (int d = 2; d >= 0; --d) {
    const std::string size = builder.size(shape[d + 1]);
    builder.line("const int64_t o", d, " = line % ", size, ";\nline /= ", size, ";");
  }
  builder.line("const int64_t n = line;");
}

// Opens loops over the taps k0, k1, k2 of window (o0, o1, o2), with the entries i0, i1, i2 that
// they read. The caller closes three loops.
void begin_taps(KernelBuilder& builder, const Windowing& f, const Shape& in,
                const PerWindow& taps) {
  for (int d = 0; d < 3; ++d) {
    const auto axis = static_cast<size_t>(d);
    builder.line("for (int64_t k", d, " = 0; k", d, " < ", builder.size(taps[axis]), "; ++k", d,
                 ") {");
    builder.line("int64_t i", d, " = o", d, " * ", builder.size(f.stride[axis]), " + k", d, " * ",
                 builder.size(f.dilation[axis]), " - ", builder.size(f.low[axis]), ";");
    builder.line("if (i", d, " < 0) continue;");
    if (f.spacing[axis] != 1) {
      const std::string spacing = builder.size(f.spacing[axis]);
      builder.line("if (i", d, " % ", spacing, ") continue;\ni", d, " /= ", spacing, ";");
    }
    builder.line("if (i", d, " >= ", builder.size(in[d + 1]), ") break;");
  }
}

// The number of entry (i0, i1, i2) of image n of a row-major array, without its last axis.
std::string entry_of(KernelBuilder& builder, const Shape& shape, const char* name) {
  return text("(((n * ", builder.size(shape[1]), " + ", name, "0) * ", builder.size(shape[2]),
              " + ", name, "1) * ", builder.size(shape[3]), " + ", name, "2)");
}

// Declares `best`, the number of the largest entry of a window, the first of equals, and its value.
void print_largest(KernelBuilder& builder, const Pool& pool, const std::string& entry) {
  builder.line("bool any = false;\nint64_t best = 0;\n", type_of(pool.in.dtype), " value = 0;");
  begin_taps(builder, pool.windows, pool.in.shape, pool.windows.size);
  builder.line("const int64_t at = ", entry, " * rest + c;");
  builder.line("const ", type_of(pool.in.dtype), " v = in[at];");
  builder.line("if (any && !(v > value || (v != v && value == value))) continue;");
  builder.line("any = true;\nbest = at;\nvalue = v;\n}\n}\n}");
}

// Sums what an entry receives of the windows that have chosen it, in the order of the windows.
KernelText spread(const Pool& pool, const View& g, int64_t chosen) {
  const Windowing& f = pool.windows;
  const Shape& windows = g.shape;
  KernelBuilder builder;
  builder.parameter("const int64_t* chosen", scratch_at(chosen));
  const char* const type = type_of(pool.out.dtype);
  builder.parameter(text("const ", type, "* g"), {.view = &g});
  builder.parameter(text(type, "* to"), {.view = &pool.out});
  print_places(builder, builder.size(pool.out.shape[4]), pool.out.shape);
  builder.line(type, " sum = 0;");
  // Tap k of window w reads entry w * stride + k * dilation - low: the last tap has the first
  // window.
  for (int d = 0; d < 3; ++d) {
    const auto axis = static_cast<size_t>(d);
    const std::string stride = builder.size(f.stride[axis]);
    builder.line("for (int64_t k", d, " = ", builder.size(f.size[axis]), "; k", d, "-- > 0;) {");
    builder.line("int64_t w", d, " = o", d, " + ", builder.size(f.low[axis]), " - k", d, " * ",
                 builder.size(f.dilation[axis]), ";");
    builder.line("if (w", d, " < 0 || w", d, " % ", stride, ") continue;\nw", d, " /= ", stride,
                 ";");
    builder.line("if (w", d, " >= ", builder.size(windows[d + 1]), ") break;");
  }
  builder.line("const int64_t at = ", entry_of(builder, windows, "w"), " * rest + c;");
  builder.line("if (chosen[at] == static_cast<int64_t>(t)) sum += g[at];\n}\n}\n}\nto[t] = sum;");
  return builder.finish(pool.out.shape.size());
}

}  // namespace

Printed pool_text(const Pool& pool) {
  const char* const type = type_of(pool.in.dtype);
  if (!type || is_storage(pool.in.dtype)) return std::string(name_of(pool.in.dtype));
  StepText out;
  const View* const g = pool.g ? &*pool.g : nullptr;
  const bool spreads = g && pool.op == Op::max_pool_spread;
  const Shape& windows = spreads ? g->shape : pool.out.shape;
  KernelBuilder builder;
  builder.parameter(text("const ", type, "* in"), {.view = &pool.in});
  print_places(builder, builder.size(windows[4]), windows);
  print_largest(builder, pool, entry_of(builder, pool.in.shape, "i"));
  if (spreads) {
    const int64_t chosen = out.take_scratch(windows.size() * 8);
    builder.parameter("int64_t* to", scratch_at(chosen));
    builder.line("to[t] = best;");
    out.kernels.push_back(builder.finish(windows.size()));
    out.kernels.push_back(spread(pool, *g, chosen));
    return out;
  }
  if (g) builder.parameter(text("const ", type, "* g"), {.view = g});
  builder.parameter(text(type, "* to"), {.view = &pool.out});
  builder.line("to[t] = ", g ? "g[best]" : "value", ";");
  out.kernels.push_back(builder.finish(windows.size()));
  return out;
}

Printed convolution_text(const Convolution& conv) {
  const DType dtype = conv.y.dtype;
  if (std::string reason = refused_product(dtype, conv.x.dtype, conv.w.dtype); !reason.empty()) {
    return reason;
  }
  const char* const type = type_of(dtype);
  const Shape& taps = conv.w.shape;
  KernelBuilder builder;
  builder.use_functions();
  builder.parameter(text("const ", type, "* x"), {.view = &conv.x});
  builder.parameter(text("const ", type, "* w"), {.view = &conv.w});
  builder.parameter(text(type, "* c_"), {.view = &conv.y});
  const std::string channels = builder.size(taps[4]), results = builder.size(taps[5]);
  print_places(builder, text(builder.size(taps[3]), " * ", results), conv.y.shape);
  builder.line("const int64_t group = c / ", results, ", b = c % ", results, ";");
  const auto offset = [&](const View& view, std::initializer_list<const char*> places) {
    std::string sum;
    int axis = 0;
    for (const char* place : places) {
      sum += text(axis ? " + " : "", place, " * ", builder.size(view.strides[axis]));
      ++axis;
    }
    return sum;
  };
  begin_sum(builder, dtype);
  begin_taps(builder, conv.windows, conv.x.shape, {taps[0], taps[1], taps[2]});
  builder.line("const ", type, "* p = x + ", offset(conv.x, {"n", "i0", "i1", "i2", "group"}), ";");
  builder.line("const ", type, "* q = w + ", offset(conv.w, {"k0", "k1", "k2", "group"}), " + b * ",
               builder.size(conv.w.strides[5]), ";");
  add_products(builder, dtype, channels, builder.size(conv.x.strides[5]),
               builder.size(conv.w.strides[4]));
  builder.line("}\n}\n}\nc_[t] = static_cast<", type, ">(sum);");
  return with_epilogue(builder.finish(conv.y.shape.size()), conv.epilogue);
}

}  // namespace pullback::cuda
