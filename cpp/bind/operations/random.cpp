// Random draws as Python functions; pullback.random has the public functions.

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"
#include "ops/random_scope.h"

namespace pullback {

void bind_random(py::module_& m) {
  m.def("seed_random", &seed_random, py::arg("seed"), "Restart the module's sequence.");
  m.def(
      "exchange_random_state",
      [](uint64_t seed, int64_t counter) {
        const RandomState before = exchange_random_state({seed, counter});
        return py::make_tuple(before.seed, before.counter);
      },
      py::arg("seed"), py::arg("counter"),
      "Set the state of the module's sequence and return the previous one.");
  using Pair = std::pair<uint64_t, int64_t>;
  m.def(
      "exchange_thread_draws",
      [](const std::optional<Pair>& next) -> std::optional<Pair> {
        std::optional<RandomState> state;
        if (next) state = RandomState{next->first, next->second};
        const std::optional<RandomState> before = exchange_thread_draws(state);
        if (!before) return std::nullopt;
        return Pair{before->seed, before->counter};
      },
      py::arg("next"),
      "Draw from the sequence `next` in this thread and return the previous one; None is the "
      "module's sequence.");
  m.def(
      "random_state",
      [] {
        const RandomState now = random_state();
        return Pair{now.seed, now.counter};
      },
      "Return seed and counter of the sequence that this thread uses.");
  m.def("fork_random_state", &fork_random_state,
        "Return the seed of a new sequence, which counts as a draw.");
  m.def("new_random_source", &new_random_source, py::arg("seed"), "Make a source of draws.");
  m.def("free_random_source", &free_random_source, py::arg("source"), "Free a source of draws.");
  m.def(
      "state_of_source",
      [](RandomSource source) {
        const RandomState now = state_of_source(source);
        return Pair{now.seed, now.counter};
      },
      py::arg("source"), "Return seed and counter of a source.");
  m.def(
      "set_state_of_source",
      [](RandomSource source, uint64_t seed, int64_t counter) {
        set_state_of_source(source, {seed, counter});
      },
      py::arg("source"), py::arg("seed"), py::arg("counter"), "Set seed and counter of a source.");
  m.def("seed_of", &seed_of, py::arg("source"), "Return the seed of a source.");
  m.def("seed_of_child", &seed_of_child, py::arg("seed"), py::arg("n"),
        "Return the seed of the n-th child of a source.");

  const auto of_floats = [&](const char* name, auto draw, const char* doc) {
    m.def(
        name,
        [draw](const Shape& shape, const DTypeArgument& dtype, RandomSource source) {
          return draw(shape, dtype.is_none() ? default_float() : dtype_from(dtype), source);
        },
        py::arg("shape"), py::arg("dtype") = py::none(), py::arg("source") = kModuleSource, doc);
  };
  of_floats("random_uniform", &random_uniform, "Draw from the uniform distribution on [0, 1).");
  of_floats("random_normal", &random_normal, "Draw from the standard normal distribution.");
  of_floats("random_exponential", &random_exponential, "Draw from the exponential distribution.");
  m.def(
      "permutation",
      [](Integer length, RandomSource source) { return permutation(length, source); }, py::arg("x"),
      py::arg("source") = kModuleSource, "Draw a permutation of 0, ..., x - 1.");
  m.def("random_integers", &random_integers, py::arg("low"), py::arg("last"), py::arg("shape"),
        py::arg("source"), "Draw integers from `low` to `last`, both included.");
  m.def("random_gamma", &random_gamma, py::arg("concentration"), py::arg("shape"), py::arg("dtype"),
        py::arg("log"), py::arg("source"),
        "Draw from the gamma distribution of scale 1, or the logarithms of draws.");
  m.def("random_poisson", &random_poisson, py::arg("mean"), py::arg("shape"), py::arg("source"),
        "Draw from the Poisson distribution, in float64.");
  m.def("random_binomial", &random_binomial, py::arg("n"), py::arg("p"), py::arg("shape"),
        py::arg("source"), "Draw from the binomial distribution, in float64.");
}

}  // namespace pullback
