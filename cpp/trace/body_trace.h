// Records the body of a loop or a branch: a scope in which variables are read as outside and cannot
// be assigned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/variable.h"
#include "ops/body.h"
#include "trace/trace.h"

namespace pullback {

class BodyTrace : public VariableScope {
 public:
  // `name`: who records, and the function with its place.
  BodyTrace(std::string who, std::string name);
  ~BodyTrace() override;

  void open();
  void abandon();  // after an exception inside
  NodeRef argument(DType dtype, const Shape& shape);
  // Ends recording.
  ClosedBody close(std::vector<NodeRef> roots, bool all_inside);

  NodeRef read(Variable* variable) override;
  void assign(Variable* variable, const NodeRef& value) override;
  Origin* origin() const override;
  uint64_t since() const override { return first_seq_; }
  bool is_body() const override { return true; }

 private:
  std::string who_;
  Ref<TraceOrigin> origin_;
  std::vector<NodeRef> arguments_;
  std::optional<BodyNumbers> numbers_;
  uint64_t first_seq_ = 0;
  VariableScope* outer_ = nullptr;
  bool open_ = false;
};

}  // namespace pullback
