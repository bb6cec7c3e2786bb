// Random draws as Python functions; pullback.random has the public functions.

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"
#include "ops/random_scope.h"

namespace pullback {

void bind_random(py::module_& m) {
  m.def("seed_random", &seed_random);
  m.def("exchange_random_state", [](uint64_t seed, int64_t counter) {
    const RandomState before = exchange_random_state({seed, counter});
    return py::make_tuple(before.seed, before.counter);
  });
  using Pair = std::pair<uint64_t, int64_t>;
  m.def("exchange_thread_draws", [](const std::optional<Pair>& next) -> std::optional<Pair> {
    std::optional<RandomState> state;
    if (next) state = RandomState{next->first, next->second};
    const std::optional<RandomState> before = exchange_thread_draws(state);
    if (!before) return std::nullopt;
    return Pair{before->seed, before->counter};
  });
  m.def("random_state", [] {
    const RandomState now = random_state();
    return Pair{now.seed, now.counter};
  });
  m.def("fork_random_state", &fork_random_state);
  m.def("new_random_source", &new_random_source);
  m.def("free_random_source", &free_random_source);
  m.def("seed_of", &seed_of);
  m.def("seed_of_child", &seed_of_child);

  const auto of_floats = [&](const char* name, auto draw) {
    m.def(
        name,
        [draw](const Shape& shape, const py::object& dtype, RandomSource source) {
          return draw(shape, dtype.is_none() ? default_float() : dtype_from(dtype), source);
        },
        py::arg("shape"), py::arg("dtype") = py::none(), py::arg("source") = kModuleSource);
  };
  of_floats("random_uniform", &random_uniform);
  of_floats("random_normal", &random_normal);
  of_floats("random_exponential", &random_exponential);
  m.def(
      "permutation",
      [](Integer length, RandomSource source) { return permutation(length, source); },
      py::arg("length"), py::arg("source") = kModuleSource);
  m.def("random_integers", &random_integers);
  m.def("random_gamma", &random_gamma);
  m.def("random_poisson", &random_poisson);
  m.def("random_binomial", &random_binomial);
}

}  // namespace pullback
