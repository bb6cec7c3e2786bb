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

// Counts of the Poisson and the binomial distribution.
StepText counts_text(const Random& random) {
  const bool poisson = random.op == Op::random_poisson;
  KernelBuilder builder;
  builder.define("PULLBACK_NO_FMA");
  builder.include("backend/cpu/kernels/count_draws.h");
  builder.parameter("int64_t seed", {.number = &random.seed});
  builder.parameter("int64_t counter", {.number = &random.counter});
  builder.parameter("double* to", {.view = &random.out});
  declare(builder, "double", "a", random.in[0]);
  if (!poisson) declare(builder, "double", "p", random.in[1]);
  builder.line("const int64_t i = t;");
  builder.line(
      "to[i] = ", poisson ? "Poisson(a[i * a_step])" : "Binomial(a[i * a_step], p[i * p_step])",
      ".draw({seed, counter, i});");
  StepText out;
  out.kernels.push_back(builder.finish(random.out.shape.size()));
  return out;
}

// The processor exchanges position i with a position j(i) <= i, from the last i to the first. The
// result at i is the content of j(i) before: the content of position k before its own exchange, for
// the next k > i with j(k) = j(i), or without one the number j(i). The content of k before its own
// exchange is that of the next position that was exchanged with k, and so on: a chain of some
// log(n) positions. Sorting the positions by j(i) finds both.
StepText permutation_text(const Random& random) {
  const int64_t n = random.out.shape.size();
  StepText out;
  if (n == 0) return out;
  const int64_t words =
      sorted_words(out, 1, n, "exchanged_with(seed, counter, static_cast<int64_t>(at))",
                   [&](KernelBuilder& builder) {
                     builder.include("backend/cpu/kernels/integer_draws.h");
                     builder.parameter("int64_t seed", {.number = &random.seed});
                     builder.parameter("int64_t counter", {.number = &random.counter});
                   });
  const KernelText::Parameter next = scratch_at(out.take_scratch(n * 8));
  KernelBuilder clear;
  clear.parameter("uint64_t* next", next);
  clear.line("next[t] = t;");
  out.kernels.push_back(clear.finish(n));
  KernelBuilder link;
  link.include("backend/cuda/device_order.h");
  link.parameter("const KeyAt* words", scratch_at(words));
  link.parameter("uint64_t* next", next);
  link.line("const uint64_t j = words[t].key, i = words[t].at;");
  link.line("const bool first = t == 0 || words[t - 1].key != j || words[t - 1].at == j;");
  link.line("if (first && i > j) next[j] = i;");
  out.kernels.push_back(link.finish(n));
  KernelBuilder follow;
  follow.include("backend/cuda/device_order.h");
  follow.parameter("const KeyAt* words", scratch_at(words));
  follow.parameter("const uint64_t* next", next);
  follow.parameter("int64_t* to", {.view = &random.out});
  follow.line("const uint64_t j = words[t].key;");
  follow.line("uint64_t k = j;");
  follow.line("if (t + 1 < count && words[t + 1].key == j) k = words[t + 1].at;");
  follow.line("while (k != j && next[k] != k) k = next[k];");
  follow.line("to[words[t].at] = static_cast<int64_t>(k);");
  out.kernels.push_back(follow.finish(n));
  return out;
}

}  // namespace

Printed random_text(const Random& random) {
  if (random.op == Op::random_gamma || random.op == Op::random_log_gamma) return gamma_text(random);
  if (random.op == Op::random_poisson || random.op == Op::random_binomial) {
    return counts_text(random);
  }
  if (random.op == Op::permutation) return permutation_text(random);
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
