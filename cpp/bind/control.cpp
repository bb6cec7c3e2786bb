// Loops and branches: recording bodies, and the operations that run them.
#include "bind/control.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/no_pickle.h"
#include "ops/body.h"
#include "plan/body_trace.h"

namespace pullback {
namespace {

// What Python holds while a body is recorded, and of it until its operation is made. An object that
// was made by __new__ alone is an empty one.
struct Recorder {
  std::shared_ptr<BodyTrace> trace;

  static void* operator new(size_t size) { return ::new (::operator new(size)) Recorder; }
  static void operator delete(void* recorder) { ::operator delete(recorder); }

  BodyTrace& get() const {
    if (!trace) fail(ErrorKind::Runtime, "BodyTrace: made by __new__ alone");
    return *trace;
  }
};
struct Recorded {
  ClosedBody closed;

  static void* operator new(size_t size) { return ::new (::operator new(size)) Recorded; }
  static void operator delete(void* recorded) { ::operator delete(recorded); }
};

std::vector<Ref<Node>> with_captured(std::vector<Ref<Node>> inputs, const ClosedBody& closed) {
  if (!closed.body) fail(ErrorKind::Runtime, "Body: made by __new__ alone");
  inputs.insert(inputs.end(), closed.captured.begin(), closed.captured.end());
  return inputs;
}

std::vector<Ref<Node>> outputs_of(const Ref<Node>& operation, size_t count) {
  std::vector<Ref<Node>> out;
  for (size_t k = 0; k < count; ++k) out.push_back(output_of(operation, k));
  return out;
}

// What is carried at the end, what is stacked, and the number of iterations.
std::vector<Ref<Node>> scan_loop(const Recorded& body, const std::vector<Ref<Node>>& carries,
                                 const std::vector<Ref<Node>>& stacked, int64_t trips,
                                 bool reversed) {
  LoopRequest request;
  request.inputs = carries;
  request.inputs.insert(request.inputs.end(), stacked.begin(), stacked.end());
  request.inputs = with_captured(std::move(request.inputs), body.closed);
  const size_t roots = body.closed.body->roots.size();
  request.form = {static_cast<int32_t>(carries.size()), static_cast<int32_t>(stacked.size()),
                  static_cast<int32_t>(roots - carries.size()), trips, reversed};
  request.body = body.closed.body;
  return outputs_of(make_loop(std::move(request)), roots + 1);
}

// As often as `count` (int64, rank 0) says.
std::vector<Ref<Node>> counted_loop(const Ref<Node>& count, const Recorded& body,
                                    const std::vector<Ref<Node>>& carries) {
  LoopRequest request;
  request.form = {static_cast<int32_t>(carries.size()), 0, 0, kCounted, false};
  request.body = body.closed.body;
  request.inputs = with_captured(carries, body.closed);
  request.count = count;
  return outputs_of(make_loop(std::move(request)), carries.size() + 1);
}

std::vector<Ref<Node>> while_loop(const Recorded& condition, const Recorded& body,
                                  const std::vector<Ref<Node>>& carries, int64_t memory) {
  LoopRequest request;
  request.form = {static_cast<int32_t>(carries.size()), 0, 0, kWhile, false, memory};
  request.body = body.closed.body;
  request.inputs = with_captured(carries, body.closed);
  with_captured({}, condition.closed);
  request.condition = condition.closed.body;
  request.condition_constants = condition.closed.captured;
  return outputs_of(make_loop(std::move(request)), carries.size() + 1);
}

std::vector<Ref<Node>> branch(const Ref<Node>& index, const std::vector<const Recorded*>& bodies,
                              const std::vector<Ref<Node>>& operands) {
  if (bodies.empty()) fail(ErrorKind::Value, "branch: no bodies");
  std::vector<Choice> choices;
  for (const Recorded* body : bodies) {
    choices.push_back({body->closed.body, with_captured(operands, body->closed)});
  }
  return outputs_of(make_branch(index, choices), bodies[0]->closed.body->roots.size());
}

}  // namespace

void bind_control(py::module_& m) {
  py::class_<Recorded> recorded(m, "Body");
  no_pickle(recorded);
  py::class_<Recorder> recorder(m, "BodyTrace");
  no_pickle(recorder)
      .def(py::init([](std::string who, std::string name) {
             return Recorder{std::make_shared<BodyTrace>(std::move(who), std::move(name))};
           }),
           py::arg("who"), py::arg("name"))
      .def("open", [](const Recorder& recorder) { recorder.get().open(); })
      .def("abandon", [](const Recorder& recorder) { recorder.get().abandon(); })
      .def(
          "argument",
          [](const Recorder& recorder, DType dtype, const Shape& shape) {
            return recorder.get().argument(dtype, shape);
          },
          py::arg("dtype"), py::arg("shape"))
      .def(
          "close",
          [](const Recorder& recorder, std::vector<Ref<Node>> roots, bool all_inside) {
            return Recorded{recorder.get().close(std::move(roots), all_inside)};
          },
          py::arg("roots"), py::arg("all_inside"));
  m.def("scan_loop", &scan_loop, py::arg("body"), py::arg("carries"), py::arg("stacked"),
        py::arg("trips"), py::arg("reversed"));
  m.def("while_loop", &while_loop, py::arg("condition"), py::arg("body"), py::arg("carries"),
        py::arg("memory"));
  m.def("counted_loop", &counted_loop, py::arg("count"), py::arg("body"), py::arg("carries"));
  m.def("branch", &branch, py::arg("index"), py::arg("bodies"), py::arg("operands"));
}

}  // namespace pullback
