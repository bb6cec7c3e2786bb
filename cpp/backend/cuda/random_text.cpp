// Random draws: a thread computes the elements of one block of random words, or one element of a
// distribution with parameters, by the functions of the processor without fused operations, so that
// the bits are equal.
#include "backend/common/slots.h"
#include "backend/cuda/data_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

const char* law_of(Op op) {
  switch (op) {
    case Op::random_uniform:
      return "uniform";
    case Op::random_normal:
      return "normal";
    case Op::random_exponential:
      return "exponential";
    default:
      return nullptr;
  }
}

// A parameter of the elements, or one for all.
void declare(KernelBuilder& builder, const char* type, const char* name, const View& view) {
  builder.parameter(text("const ", type, "* ", name), {.view = &view});
  builder.parameter(text("int64_t ", name, "_step"),
                    {.bits = is_one_number(view) ? uint64_t{0} : uint64_t{1}});
}

StepText gamma_text(const Random& random) {
  const char* const type = type_of(random.out.dtype);
  KernelBuilder builder;
  builder.define("PULLBACK_NO_FMA");
  builder.include("backend/cpu/kernels/gamma_draws.h");
  builder.parameter("int64_t seed", {.number = &random.seed});
  builder.parameter("int64_t counter", {.number = &random.counter});
  builder.parameter(text(type, "* to"), {.view = &random.out});
  declare(builder, type, "a", random.in[0]);
  builder.line("const int64_t i = t;\nto[i] = static_cast<", type, ">(gamma_of<",
               random.op == Op::random_log_gamma ? "true" : "false",
               ">({seed, counter, i}, static_cast<double>(a[i * a_step])));");
  StepText out;
  out.kernels.push_back(builder.finish(random.out.shape.size()));
  return out;
}

}  // namespace

Printed random_text(const Random& random) {
  if (random.op == Op::random_gamma || random.op == Op::random_log_gamma) return gamma_text(random);
  const bool integers = random.op == Op::random_integers;
  if (!law_of(random.op) && !integers) return std::string(name_of(random.op));
  const int64_t size = random.out.shape.size();
  StepText out;
  KernelBuilder builder;
  builder.define("PULLBACK_NO_FMA");
  builder.include(integers ? "backend/cpu/kernels/integer_draws.h" : "backend/cpu/kernels/draws.h");
  builder.parameter("int64_t seed", {.number = &random.seed});
  builder.parameter("int64_t counter", {.number = &random.counter});
  const char* const type = type_of(random.out.dtype);
  builder.parameter(text(type, "* to"), {.view = &random.out});
  const std::string end = builder.size(size);
  const int64_t some = integers ? 2 : 16 / size_of(random.out.dtype);
  builder.line("const PhiloxWords words = philox(seed, counter, t);");
  if (integers) {
    declare(builder, "int64_t", "low", random.in[0]);
    declare(builder, "int64_t", "last", random.in[1]);
  } else {
    builder.line(type, " drawn[", some, "];\n", law_of(random.op), "(words, drawn);");
  }
  builder.line("for (int64_t k = 0; k < ", some, "; ++k) {\nconst int64_t i = ", some,
               " * static_cast<int64_t>(t) + k;\nif (i >= ", end, ") break;");
  builder.line("to[i] = ",
               integers ? "integer_from(long_word(words.x[2 * k], words.x[2 * k + 1]), {seed, "
                          "counter, i}, low[i * low_step], last[i * last_step])"
                        : "drawn[k]",
               ";\n}");
  out.kernels.push_back(builder.finish(ceil_div(size, some)));
  return out;
}

}  // namespace pullback::cuda
