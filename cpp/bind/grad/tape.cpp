// Tapes, traces, closed graphs and batches as Python classes.
#include "grad/tape.h"

#include <optional>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/context.h"
#include "bind/common/no_pickle.h"
#include "bind/common/tensor.h"
#include "bind/grad/rules.h"
#include "graph/runtime.h"
#include "ops/batch_scope.h"
#include "trace/trace.h"
#include "transform/batch.h"
#include "transform/recorded_graph.h"

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

void bind_closed_graph(py::module_& m) {
  py::class_<RecordedGraph> graph(m, "ClosedGraph",
                                  "Operations that can be copied to other inputs.");
  no_pickle(graph)
      .def(py::init<std::vector<NodeRef>, std::vector<NodeRef>, std::optional<uint64_t>>(),
           py::arg("roots"), py::arg("at"), py::arg("first") = py::none(),
           "Take the operations between `at` and `roots`, and all with a number from `first` on.")
      .def_property_readonly("others", &RecordedGraph::others,
                             "The tracked tensors that it reads from outside.")
      .def("never_keep", &RecordedGraph::never_keep,
           "Do not keep the values of its operations after an evaluation.")
      .def("bytes", &RecordedGraph::bytes, "Return the size of all its tensors.")
      .def(
          "copy",
          [](const RecordedGraph& graph, std::vector<NodeRef> inputs, std::optional<bool> keep) {
            std::optional<Keep> keep_roots;
            if (keep) keep_roots = *keep ? Keep::Always : Keep::Never;
            return graph.copy(std::move(inputs), keep_roots);
          },
          py::arg("inputs"), py::arg("keep") = py::none(),
          "Copy the roots to other inputs, `at` and others; with `keep`, only they may keep their "
          "values.");
  m.def("next_number", &next_seq, "Return the number that the next node will have.");
}

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
  bind_closed_graph(m);
  bind_batch(m);
}

}  // namespace pullback
