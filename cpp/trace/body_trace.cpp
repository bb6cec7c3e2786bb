// The scope in which a body is recorded: reads and assignments of variables inside of it.
// ops/body.cpp makes the body of the recorded nodes.
#include "trace/body_trace.h"

#include <utility>

#include "base/error.h"
#include "graph/make.h"

namespace pullback {

BodyTrace::BodyTrace(std::string who, std::string name)
    : who_(std::move(who)), origin_(new TraceOrigin) {
  origin_->name = std::move(name);
  origin_->body = true;
}

BodyTrace::~BodyTrace() { abandon(); }

void BodyTrace::open() {
  if (open_) fail(ErrorKind::Runtime, who_, ": a body is being recorded already");
  open_ = true;
  count_open_traces(1);
  outer_ = set_variable_scope(this);
  numbers_.emplace();
  first_seq_ = next_seq();
}

void BodyTrace::abandon() {
  if (!std::exchange(open_, false)) return;
  origin_->open = false;
  count_open_traces(-1);
  set_variable_scope(outer_);
}

NodeRef BodyTrace::argument(DType dtype, const Shape& shape) {
  arguments_.push_back(make_argument(dtype, shape));
  arguments_.back()->origin = origin_.get();
  return arguments_.back();
}

ClosedBody BodyTrace::close(std::vector<NodeRef> roots, bool all_inside) {
  abandon();
  if (!numbers_) fail(ErrorKind::Runtime, who_, ": no body was recorded");
  return close_body(
      {origin_->name, std::move(arguments_), std::move(roots), *numbers_, all_inside});
}

// The read belongs to the surrounding graph: it is the same in every iteration.
NodeRef BodyTrace::read(Variable* variable) {
  struct Outside {
    BodyTrace* trace;
    explicit Outside(BodyTrace* trace) : trace(trace) { set_variable_scope(trace->outer_); }
    ~Outside() { set_variable_scope(trace); }
  };
  const Outside outside(this);
  return pullback::read(variable);
}

void BodyTrace::assign(Variable* variable, const NodeRef&) {
  fail(ErrorKind::Runtime, who_, ": ", origin_->name, " assigns variable '", variable->name,
       "'; pass its value as a carry, return it, and assign it after the call");
}

Origin* BodyTrace::origin() const { return outer_ ? outer_->origin() : origin_.get(); }

}  // namespace pullback
