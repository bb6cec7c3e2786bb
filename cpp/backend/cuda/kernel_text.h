// StepText: a step as the texts of kernels in CUDA C++. KernelBuilder: one text while it is
// written.
//
// A text depends on operations, dtypes and forms of views. Sizes, strides and numbers are
// parameters, so that another batch size compiles nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/operand.h"
#include "plan/tile_group.h"

namespace pullback::cuda {

struct KernelText {
  // A parameter of eight bytes: the address of a view or of a slot, a number of the run, the
  // address of scratch memory at the offset `bits`, that of the result of the check, or `bits`.
  struct Parameter {
    const View* view = nullptr;          // of the step
    const ScalarLoad* scalar = nullptr;  // of the step
    const RunScalar* number = nullptr;   // of the step; an int64
    std::optional<int32_t> slot = std::nullopt;
    bool scratch = false;
    bool found = false;
    uint64_t bits = 0;
  };

  std::string text;  // its kernel is named kKernelName
  std::vector<Parameter> parameters;
  int64_t count = 0;  // of what its threads share
};
constexpr const char* kKernelName = "group";

// Indices that a run checks before it goes on: the first kernels write the position of the first
// one outside to the address of the result, UINT64_MAX for none.
struct IndexCheck {
  const View* indices = nullptr;
  KernelText::Parameter axis;  // its size
  bool wraps = false;          // negative ones count from the end
  size_t kernels = 0;          // that check
};

struct StepText {
  std::vector<KernelText> kernels;
  std::optional<IndexCheck> check;
  int64_t scratch = 0;  // bytes

  // The offset of so many bytes more.
  int64_t take_scratch(int64_t bytes);
};
KernelText::Parameter scratch_at(int64_t offset);

// The body of a kernel runs once for each t in [0, count).
class KernelBuilder {
 public:
  // Adds a parameter; returns its name, the last word of the declaration.
  std::string parameter(const std::string& declaration, KernelText::Parameter parameter);
  std::string size(int64_t size);  // as a parameter; returns its name
  template <class... Parts>
  void line(const Parts&... parts) {
    body_ += text(parts..., "\n");
  }
  // The offset of entry `index` (row-major) of a view, as an expression; may print lines before.
  std::string offset_of(const View& view, const std::string& index);
  // Functions of the text, and whether it needs m::.
  void function(const std::string& text) { functions_ += text; }
  void use_functions() { include("backend/cpu/kernels/vec_math.h"); }
  // A header of device_headers.h; and a macro, before all headers.
  void include(const std::string& name) { headers_.insert(name); }
  void define(const std::string& macro) { macros_ += "#define " + macro + "\n"; }
  KernelText finish(int64_t count);

 private:
  KernelText out_;
  std::string parameters_, macros_, functions_, body_;
  std::set<std::string> headers_;
  int sizes_ = 0, offsets_ = 0;
};

}  // namespace pullback::cuda
