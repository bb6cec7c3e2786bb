// Tapes, traces, recorded subgraphs, linear functions and batches as Python classes.
#include "grad/tape.h"

#include <optional>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/context.h"
#include "bind/common/no_pickle.h"
#include "bind/common/tensor.h"
#include "bind/grad/rules.h"
#include "graph/rebuild.h"
#include "graph/runtime.h"
#include "ops/batch_scope.h"
#include "trace/trace.h"
#include "transform/batch.h"
#include "transform/recompute.h"

namespace pullback {
namespace {

py::list variables_list(const std::vector<Ref<Variable>>& variables) {
  py::list out;
  for (const auto& variable : variables) {
    out.append(py::reinterpret_steal<py::object>(wrap(variable)));
  }
  return out;
}

ContextStack<TapeEntry>& tape_stack() {
  static auto* stack = new ContextStack<TapeEntry>("pullback.GradientTape");
  return *stack;
}

void bind_trace(py::module_& m) {
  py::class_<Trace, std::shared_ptr<Trace>> trace(m, "Trace",
                                                  "A function recorded once and run many times.");
  no_pickle(trace)
      .def(py::init<std::string>(), py::arg("name") = "",
           "`name` is the function with its place, for error messages.")
      .def("open", &Trace::open, "Start recording.")
      .def("abandon", &Trace::abandon, "End recording after an exception inside.")
      .def(
          "argument",
          [](Trace& trace, DType dtype, const Shape& shape, bool weak) {
            return trace.add_argument(dtype, shape, weak);
          },
          py::arg("dtype"), py::arg("shape"), py::arg("weak"),
          "Add an argument; a weak one is a Python float.")
      .def("close", &Trace::close, py::arg("outputs"), "End recording.")
      .def(
          "replay",
          [](Trace& trace, const std::vector<NodeRef>& arguments) {
            std::vector<NodeRef> results(trace.returned());
            trace.replay(arguments, results);
            return results;
          },
          py::arg("arguments"), "Run the function; the results have no history.")
      .def_static("active", &is_tracing, "Test whether a trace is open on this thread.");
}

void bind_recorded_subgraph(py::module_& m) {
  py::class_<RecordedSubgraph> subgraph(m, "RecordedSubgraph",
                                        "A recorded subgraph that can be copied.");
  no_pickle(subgraph)
      .def(py::init([](std::vector<NodeRef> roots, uint64_t first) {
             return RecordedSubgraph{std::move(roots), first};
           }),
           py::arg("roots"), py::arg("first"),
           "Take the operations below `roots` whose numbers are at least `first`.")
      .def("inputs", &RecordedSubgraph::inputs, "Return the tensors that it reads from outside.")
      .def("never_keep", &RecordedSubgraph::never_keep,
           "Do not keep the values of its operations after an evaluation.")
      .def(
          "copy",
          [](const RecordedSubgraph& subgraph, const std::vector<NodeRef>& inputs,
             const std::vector<NodeRef>& others, bool keep) {
            return subgraph.copy(inputs, others, keep ? Keep::Always : Keep::Never);
          },
          py::arg("inputs"), py::arg("others"), py::arg("keep"),
          "Copy the operations with `others` in place of `inputs`.");
  m.def("next_number", &next_seq, "Return the number that the next node will have.");
}

// A subgraph that is linear in its inputs; at() rebuilds it on other inputs.
struct Linear {
  std::vector<NodeRef> inputs;
  Subgraph subgraph;

  // A Python object made by __new__ alone is an empty one.
  static void* operator new(size_t size) { return ::new (::operator new(size)) Linear; }
  static void operator delete(void* linear) { ::operator delete(linear); }

  Linear() = default;
  Linear(std::vector<NodeRef> roots, std::vector<NodeRef> placeholders)
      : inputs(std::move(placeholders)) {
    subgraph = Subgraph(std::move(roots), pointers(inputs), [](const Node*) { return false; });
  }

  // Bytes of all its tensors.
  int64_t bytes() const {
    int64_t sum = 0;
    for (size_t i = 0; i < subgraph.size(); ++i) sum += subgraph[i].node->bytes();
    return sum;
  }

  std::vector<NodeRef> at(const std::vector<NodeRef>& others) const {
    if (others.size() != inputs.size()) {
      fail(ErrorKind::Value, "Linear: expected ", static_cast<int64_t>(inputs.size()),
           " tensors, got ", static_cast<int64_t>(others.size()));
    }
    const NoOverrides none;
    return subgraph.rebuild(others, [](size_t, const Node* node, std::span<Node* const> below) {
      return copy_node(node, below);
    });
  }
};

// BatchScope as a context manager.
struct BatchBlock {
  static void* operator new(size_t size) { return ::new (::operator new(size)) BatchBlock; }
  static void operator delete(void* block) { ::operator delete(block); }

  std::optional<BatchScope> scope;
};

void bind_batch(py::module_& m) {
  py::class_<BatchBlock> block(m, "BatchScope", "A block in which a function is batched.");
  no_pickle(block)
      .def(py::init<>(), "Make a block that is not entered.")
      .def(
          "__enter__", [](BatchBlock& block) { block.scope.emplace(); }, "Enter the block.")
      .def(
          "__exit__", [](BatchBlock& block, const py::args&) { block.scope.reset(); },
          "Leave the block.");
}

void bind_linear(py::module_& m) {
  py::class_<Linear> linear(m, "Linear", "A subgraph that is linear in its inputs.");
  no_pickle(linear)
      .def(py::init<std::vector<NodeRef>, std::vector<NodeRef>>(), py::arg("roots"),
           py::arg("placeholders"), "Take the operations between `placeholders` and `roots`.")
      .def("at", &Linear::at, py::arg("inputs"), "Rebuild the roots on other inputs.")
      .def("bytes", &Linear::bytes, "Return the size of all its tensors.");
}

}  // namespace

void bind_tape(py::module_& m) {
  runtime.current_tapes = [] { return tape_stack().current(); };
  runtime.enter_tape = [](std::shared_ptr<TapeEntry> entry) {
    tape_stack().enter(std::move(entry));
  };
  py::class_<Tape> tape(m, "Tape", "An interval of time in which operations are recorded.");
  no_pickle(tape)
      .def(py::init<bool, std::string>(), py::arg("watch_accessed_variables") = true,
           py::arg("transform") = "",
           "`transform` is the function transform that the tape serves; empty for the user's.")
      .def("exempt", &Tape::exempt, py::arg("inputs"),
           "Permit reads of inputs whose derivatives a custom rule provides.")
      .def("start", &Tape::start, "Record in this context and in later copies of it.")
      .def("stop", &Tape::stop, "End the recording.")
      .def("pause", &Tape::pause, "Pause the recording.")
      .def("resume", &Tape::resume, "Continue the recording.")
      .def("reset", &Tape::reset, "Forget the recorded operations.")
      .def_property_readonly("recording", &Tape::recording, "True while the tape records.")
      .def_static("any_recording", &Tape::any_recording,
                  "Test whether any tape records in this context.")
      .def(
          "watch",
          [](Tape& tape, const Typed<"pullback._typing.Source">& x) {
            if (is_variable(x.ptr())) {
              tape.watch(Ref<Variable>(variable_of(x.ptr())));
            } else if (is_tensor(x.ptr())) {
              tape.watch(as_node(x.ptr()));
            } else {
              fail(ErrorKind::Value, "watch: expected a Tensor or a Variable for tensors, got ",
                   shown(x));
            }
          },
          py::arg("x"), "Record the operations on a tensor or a variable from now on.")
      .def("end_histories", &Tape::end_histories, py::arg("results"),
           "Untrack results that depend on no tracked tensor but those of this tape.")
      .def(
          "watched_variables", [](const Tape& tape)->Typed<"list[Variable]"> {
            return variables_list(tape.watched_variables());
          },
          "Return the watched variables in order of creation.");
}

void bind_subgraphs(py::module_& m) {
  bind_trace(m);
  bind_recorded_subgraph(m);
  bind_linear(m);
  bind_batch(m);
}

}  // namespace pullback
