// Loops and branches for Python: recording of bodies, and the operations that run them.
#include "bind/grad/control_flow.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/no_pickle.h"
#include "ops/body.h"
#include "trace/body_trace.h"

namespace pullback {
namespace {

// A body while it is recorded, and until its operation is made. Python objects made by __new__
// alone are empty ones.
struct Recorder {
  std::shared_ptr<BodyTrace> trace;

  static void* operator new(size_t size) { return ::new (::operator new(size)) Recorder; }
  static void operator delete(void* recorder) { ::operator delete(recorder); }

  BodyTrace& get() const {
    if (!trace) fail(ErrorKind::Runtime, "BodyTrace: __init__ was not called");
    return *trace;
  }
};
struct Recorded {
  ClosedBody closed;

  static void* operator new(size_t size) { return ::new (::operator new(size)) Recorded; }
  static void operator delete(void* recorded) { ::operator delete(recorded); }
};

// The core does not check types, so arguments from Python are checked here.
void check_type(const char* who, const char* what, size_t k, const Node* got, DType dtype,
                const Shape& shape) {
  if (got->dtype == dtype && got->shape == shape) return;
  fail(got->dtype == dtype ? ErrorKind::Value : ErrorKind::Type, who, ": expected ", dtype, " ",
       shape, " for ", what, " ", static_cast<int64_t>(k), ", got ", got->dtype, " ", got->shape);
}

// A body takes `given` tensors, then the captured ones.
void check_body(const char* who, const Recorded* body, size_t given) {
  if (!body) fail(ErrorKind::Type, who, ": expected a Body, got None");
  const ClosedBody& closed = body->closed;
  if (!closed.body) fail(ErrorKind::Runtime, "Body: __init__ was not called");
  const size_t takes = closed.body->inputs.size() - closed.captured.size();
  if (takes == given) return;
  fail(ErrorKind::Value, who, ": expected ", static_cast<int64_t>(takes),
       " tensors for the body, got ", static_cast<int64_t>(given));
}

// `more`: the body may return further tensors, which are stacked.
void check_carries(const char* who, const Recorded& body, std::span<const NodeRef> carries,
                   bool more = false) {
  const Body& of = *body.closed.body;
  if (more ? of.roots.size() < carries.size() : of.roots.size() != carries.size()) {
    fail(ErrorKind::Value, who, ": expected ", static_cast<int64_t>(carries.size()),
         " results of the body, one for each carry, got ", static_cast<int64_t>(of.roots.size()));
  }
  for (size_t k = 0; k < carries.size(); ++k) {
    const Node* takes = of.inputs[k].get();
    check_type(who, "carry", k, carries[k].get(), takes->dtype, takes->shape);
    check_type(who, "the result of carry", k, of.roots[k].get(), takes->dtype, takes->shape);
  }
}

void check_stacked(const char* who, const Recorded& body, size_t carries,
                   std::span<const NodeRef> stacked, int64_t trips) {
  if (trips < 0) fail(ErrorKind::Value, who, ": expected an integer >= 0 for trips, got ", trips);
  for (size_t k = 0; k < stacked.size(); ++k) {
    const Node* takes = body.closed.body->inputs[carries + k].get();
    const TensorType type = pullback::stacked(takes, trips);
    check_type(who, "stacked", k, stacked[k].get(), type.dtype, type.shape);
  }
}

std::vector<NodeRef> outputs_of(const NodeRef& operation, size_t count) {
  std::vector<NodeRef> out;
  for (size_t k = 0; k < count; ++k) out.push_back(output_of(operation, k));
  return out;
}

// Returns the last carry, the stacked outputs, and the number of iterations.
std::vector<NodeRef> scan_loop(const Recorded& body, const std::vector<NodeRef>& carries,
                               const std::vector<NodeRef>& stacked, int64_t trips, bool reversed) {
  check_body("scan_loop", &body, carries.size() + stacked.size());
  check_carries("scan_loop", body, carries, true);
  check_stacked("scan_loop", body, carries.size(), stacked, trips);
  LoopRequest request;
  std::vector<NodeRef> inputs = carries;
  append(&inputs, stacked);
  request.body = body.closed.bind_to(std::move(inputs));
  const size_t roots = body.closed.body->roots.size();
  request.form = {static_cast<int32_t>(carries.size()), static_cast<int32_t>(stacked.size()),
                  static_cast<int32_t>(roots - carries.size()), trips, reversed};
  return outputs_of(make_loop(std::move(request)), roots + 1);
}

// Runs `count` iterations (int64, rank 0).
std::vector<NodeRef> counted_loop(const NodeRef& count, const Recorded& body,
                                  const std::vector<NodeRef>& carries) {
  check_body("counted_loop", &body, carries.size());
  check_carries("counted_loop", body, carries);
  check_type("counted_loop", "count", 0, count.get(), DType::Int64, {});
  LoopRequest request;
  request.form = {static_cast<int32_t>(carries.size()), 0, 0, 0, false, 0, LoopEnd::Count};
  request.body = body.closed.bind_to(carries);
  request.count = count;
  return outputs_of(make_loop(std::move(request)), carries.size() + 1);
}

std::vector<NodeRef> while_loop(const Recorded& condition, const Recorded& body,
                                const std::vector<NodeRef>& carries, int64_t memory) {
  check_body("while_loop", &body, carries.size());
  check_carries("while_loop", body, carries);
  check_body("while_loop", &condition, carries.size());
  const Body& asks = *condition.closed.body;
  for (size_t k = 0; k < carries.size(); ++k) {
    const Node* takes = asks.inputs[k].get();
    check_type("while_loop", "carry", k, carries[k].get(), takes->dtype, takes->shape);
  }
  if (asks.roots.size() != 1) {
    fail(ErrorKind::Value, "while_loop: expected one result of the condition, got ",
         static_cast<int64_t>(asks.roots.size()));
  }
  check_type("while_loop", "condition", 0, asks.roots[0].get(), DType::Bool, {});
  if (memory < 0) {
    fail(ErrorKind::Value, "while_loop: expected an integer >= 0 for memory, got ", memory);
  }
  LoopRequest request;
  request.form = {static_cast<int32_t>(carries.size()), 0, 0, 0, false, memory, LoopEnd::Condition};
  request.body = body.closed.bind_to(carries);
  request.condition = condition.closed.bind_to({});
  return outputs_of(make_loop(std::move(request)), carries.size() + 1);
}

std::vector<NodeRef> branch(const NodeRef& index, const std::vector<const Recorded*>& bodies,
                            const std::vector<NodeRef>& operands) {
  if (bodies.empty()) fail(ErrorKind::Value, "branch: expected at least one body, got none");
  check_type("branch", "index", 0, index.get(), DType::Int64, {});
  std::vector<BoundBody> choices;
  for (const Recorded* body : bodies) {
    check_body("branch", body, operands.size());
    const Body& of = *body->closed.body;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Node* takes = of.inputs[k].get();
      check_type("branch", "operand", k, operands[k].get(), takes->dtype, takes->shape);
    }
    const std::vector<NodeRef>& first = bodies[0]->closed.body->roots;
    if (of.roots.size() != first.size()) {
      fail(ErrorKind::Value, "branch: expected ", static_cast<int64_t>(first.size()),
           " results of each body, got ", static_cast<int64_t>(of.roots.size()));
    }
    for (size_t k = 0; k < first.size(); ++k) {
      check_type("branch", "result", k, of.roots[k].get(), first[k]->dtype, first[k]->shape);
    }
    choices.push_back(body->closed.bind_to(operands));
  }
  return outputs_of(make_branch(index, choices), bodies[0]->closed.body->roots.size());
}

}  // namespace

void bind_control(py::module_& m) {
  py::class_<Recorded> recorded(m, "Body", "The recorded body of a loop or a branch.");
  no_pickle(recorded);
  py::class_<Recorder> recorder(m, "BodyTrace", "Records the body of a loop or a branch.");
  no_pickle(recorder)
      .def(py::init([](std::string who, std::string name) {
             return Recorder{std::make_shared<BodyTrace>(std::move(who), std::move(name))};
           }),
           py::arg("who"), py::arg("name"),
           "`name` is the function with its place, for error messages.")
      .def(
          "open", [](const Recorder& recorder) { recorder.get().open(); }, "Start recording.")
      .def(
          "abandon", [](const Recorder& recorder) { recorder.get().abandon(); },
          "End recording after an exception inside.")
      .def(
          "argument",
          [](const Recorder& recorder, DType dtype, const Shape& shape) {
            return recorder.get().argument(dtype, shape);
          },
          py::arg("dtype"), py::arg("shape"), "Add an argument of the body.")
      .def(
          "close",
          [](const Recorder& recorder, std::vector<NodeRef> roots, bool all_inside) {
            return Recorded{recorder.get().close(std::move(roots), all_inside)};
          },
          py::arg("roots"), py::arg("all_inside"), "End recording and return the body.");
  m.def("scan_loop", &scan_loop, py::arg("body"), py::arg("carries"), py::arg("stacked"),
        py::arg("trips"), py::arg("reversed"), "Run a body for each entry of `stacked`.");
  m.def("while_loop", &while_loop, py::arg("cond"), py::arg("body"), py::arg("carries"),
        py::arg("memory_limit"), "Run a body while a condition is true.");
  m.def("counted_loop", &counted_loop, py::arg("count"), py::arg("body"), py::arg("carries"),
        "Run a body `count` times.");
  m.def("branch", &branch, py::arg("index"), py::arg("bodies"), py::arg("operands"),
        "Run one of several bodies.");
}

}  // namespace pullback
