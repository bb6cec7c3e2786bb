// The names of composites: those of enum Composite, and after them those of Python functions in the
// order of their definition.

#include <deque>
#include <iterator>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "ops/composite.h"

namespace pullback {
namespace {

constexpr const char* kNames[] = {"custom_gradient",
                                  "mean",
                                  "prod",
                                  "pow",
                                  "max",
                                  "min",
                                  "softmax",
                                  "log_softmax",
                                  "logsumexp",
                                  "softmax_cross_entropy",
                                  "sparse_softmax_cross_entropy",
                                  "solve",
                                  "det",
                                  "logabsdet"};
static_assert(std::size(kNames) == static_cast<size_t>(Composite::count));

// A deque: name_of() returns pointers into its texts.
std::deque<std::string>& names() {
  static auto* const all = new std::deque<std::string>(std::begin(kNames), std::end(kNames));
  return *all;
}

}  // namespace

const char* name_of(Composite composite) { return names()[static_cast<size_t>(composite)].c_str(); }

int composites() { return static_cast<int>(names().size()); }

Composite add_composite(const std::string& name) {
  constexpr auto kMost = std::numeric_limits<std::underlying_type_t<Composite>>::max();
  const size_t number = names().size();
  if (number > kMost) {
    fail(ErrorKind::Runtime, "composite: ", name, " is one too many: at most ",
         static_cast<int64_t>(kMost), " have a number in Attr; enlarge the type of Composite");
  }
  if (is_operation_name(name)) fail(ErrorKind::Value, "composite: the name ", name, " is taken");
  names().push_back(name);
  return static_cast<Composite>(number);
}

}  // namespace pullback
