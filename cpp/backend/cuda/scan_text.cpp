// Scans: threads fold chunks of a row, whose totals are scanned in the same way, and then scan
// their chunks from the total before. The total of a chunk may overflow where the row does not:
// products and recurrences of floating-point numbers are therefore not cut, and a thread adds the
// whole row up to its chunk again if the sum before is not finite.
#include "backend/common/slots.h"
#include "backend/cuda/data_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

constexpr int64_t kChunk = 64;
constexpr int64_t kEnoughRows = int64_t{1} << 16;

// An operand of [outer, length, inner].
struct Side {
  std::string type;
  KernelText::Parameter address;
  int64_t first, outer, along, inner;  // offsets, in elements
};

struct Scanned {
  int64_t outer, length, inner;
  std::string accumulator;
  std::string next;  // an expression of the accumulator a, a value v and a factor f
  std::optional<Side> factors;
  bool cut;
  bool overflows = false;  // sums of chunks may
};

Side side_of(const View& view, const Strides& stride, const std::string& type, const Scan& s) {
  const int64_t last = s.reversed ? (s.length - 1) * stride[1] : 0;
  return {type, {.view = &view}, last, stride[0], s.reversed ? -stride[1] : stride[1], stride[2]};
}

// The address of entry `k` of row (o, c), as an expression.
std::string entry(KernelBuilder& builder, const std::string& name, const Side& side,
                  const std::string& k, bool read) {
  const std::string pointer =
      builder.parameter(text(read ? "const " : "", side.type, "* ", name), side.address);
  return text(pointer, "[", builder.size(side.first), " + static_cast<int64_t>(o) * ",
              builder.size(side.outer), " + static_cast<int64_t>(", k, ") * ",
              builder.size(side.along), " + static_cast<int64_t>(c) * ", builder.size(side.inner),
              "]");
}

// A kernel over chunks: leaves the total of each in `to`, or scans each from the total before it,
// if there are several.
KernelText over_chunks(const Scanned& s, int64_t chunk, int64_t parts, const Side& from,
                       const Side& to, bool totals, const Side* before) {
  const std::string& type = s.accumulator;
  KernelBuilder builder;
  const std::string inner = builder.size(s.inner), count = builder.size(parts),
                    length = builder.size(s.length), some = builder.size(chunk);
  builder.line("const uint64_t c = t % ", inner, ", p = t / ", inner, " % ", count, ", o = t / ",
               inner, " / ", count, ";");
  builder.line("const int64_t begin = static_cast<int64_t>(p) * ", some, ";");
  builder.line("const int64_t end = begin + ", some, " < ", length, " ? begin + ", some, " : ",
               length, ";");
  const std::string in = entry(builder, "in", from, "k", true);
  builder.line(type, " a = 0;");
  if (before) {
    builder.line("if (p > 0) a = ", entry(builder, "before", *before, "(p - 1)", true), ";");
    if (s.overflows) {
      builder.line("if (a - a != 0) {");
      builder.line("a = 0;");
      builder.line("for (int64_t k = 0; k < begin && a == a; ++k) a += ", in, ";");
      builder.line("}");
    }
  }
  builder.line("for (int64_t k = begin; k < end; ++k) {");
  builder.line("const ", type, " v = static_cast<", type, ">(", in, ");");
  if (s.factors) {
    builder.line("const ", type, " f = static_cast<", type, ">(",
                 entry(builder, "factors", *s.factors, "k", true), ");");
  }
  builder.line("a = ", before ? "k == 0" : "k == begin", " ? v : static_cast<", type, ">(", s.next,
               ");");
  const std::string written =
      totals ? entry(builder, "to", to, "p", false) : entry(builder, "to", to, "k", false);
  const std::string store = text(written, " = static_cast<", to.type, ">(a);");
  builder.line(totals ? "}\n" + store : store + "\n}");
  return builder.finish(s.outer * parts * s.inner);
}

void print(StepText& out, const Scanned& s, const Side& from, const Side& to) {
  const bool cut = s.cut && s.length > kChunk && s.outer * s.inner < kEnoughRows;
  const int64_t chunk = cut ? kChunk : s.length, parts = ceil_div(s.length, chunk);
  if (parts == 1) {
    out.kernels.push_back(over_chunks(s, chunk, 1, from, to, false, nullptr));
    return;
  }
  const auto row_major = [&] {
    const int64_t offset = out.take_scratch(s.outer * parts * s.inner * 8);
    return Side{s.accumulator, scratch_at(offset), 0, parts * s.inner, s.inner, 1};
  };
  const Side totals = row_major(), before = row_major();
  out.kernels.push_back(over_chunks(s, chunk, parts, from, totals, true, nullptr));
  Scanned upper = s;
  upper.length = parts;
  upper.overflows = false;  // the last kernel repeats these
  print(out, upper, totals, before);
  out.kernels.push_back(over_chunks(s, chunk, parts, from, to, false, &before));
}

}  // namespace

Printed scan_text(const Scan& s) {
  if (is_storage(s.in.dtype) || !type_of(s.in.dtype) || !type_of(s.out.dtype)) {
    return std::string(name_of(s.in.dtype));
  }
  StepText out;
  if (s.outer * s.length * s.inner == 0) return out;
  const bool extreme = s.op == Op::cumulative_max || s.op == Op::cumulative_min;
  const bool real = is_float(s.in.dtype);
  // Integers are scanned as unsigned numbers, which wrap.
  std::string in = type_of(s.in.dtype), result = type_of(s.out.dtype);
  if (!extreme && is_signed(s.out.dtype)) result = "u" + result;
  Scanned scanned{s.outer, s.length,     s.inner, extreme ? in : real ? "double" : result,
                  "a + v", std::nullopt, true};
  if (s.op == Op::cumulative_prod) {
    scanned.next = "a * v";
    scanned.cut = !real;
  } else if (extreme) {
    scanned.next =
        s.op == Op::cumulative_max ? "v > a || v != v ? v : a" : "v < a || v != v ? v : a";
  } else if (s.factors) {
    scanned.next = "f * a + v";
    scanned.factors = side_of(*s.factors, s.factors->strides, in, s);
    scanned.cut = false;
  } else {
    scanned.overflows = s.in.dtype == DType::Float64;
  }
  Strides dense;
  dense.resize(3);
  dense[0] = s.length * s.inner;
  dense[1] = s.inner;
  dense[2] = 1;
  print(out, scanned, side_of(s.in, s.in.strides, in, s), side_of(s.out, dense, result, s));
  return out;
}

}  // namespace pullback::cuda
