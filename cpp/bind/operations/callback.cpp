// PythonFunction: a callback that copies the inputs, calls a Python function and copies its result.
// A function that keeps no array can work on the memory of the plan instead.
// It takes the interpreter lock, which the run of the plan has released.
#include "bind/operations/callback.h"

#include <cstring>
#include <vector>

#include "bind/arrays/convert.h"
#include "bind/arrays/numpy.h"
#include "eval/evaluate.h"
#include "graph/callback_origin.h"

namespace pullback {
namespace {

class PythonFunction : public CallbackOrigin {
 public:
  PythonFunction(py::object f, bool in_place) : f_(std::move(f)), in_place_(in_place) {}
  // After the interpreter has ended, the Python object is leaked.
  ~PythonFunction() override {
    if (!Py_IsInitialized()) f_.release();
  }

  bool call(std::span<const CallbackArray> in, const CallbackArray& out) noexcept override {
    const CallbackScope callback_scope;
    const InterpreterLock lock;
    try {
      run(in, out);
      return true;
    } catch (...) {
      callback_failure = std::current_exception();
      return false;
    }
  }

 private:
  void run(std::span<const CallbackArray> in, const CallbackArray& out) {
    py::tuple arguments(in.size() + in_place_);
    for (size_t k = 0; k < in.size(); ++k) arguments[k] = in_place_ ? view(in[k]) : copied(in[k]);
    if (in_place_) {
      arguments[in.size()] = view(out);
      called([&] { return f_(*arguments); });
      return;
    }
    const py::object result = called([&] { return f_(*arguments); });
    // Public callers have converted the result; a NumPy scalar, for example, is not an array.
    if (!py::isinstance<py::array>(result)) {
      fail(ErrorKind::Type, "callback: expected an array as the result, got ",
           std::string(py::str(py::type::handle_of(result))));
    }
    const auto array = py::reinterpret_borrow<py::array>(result);
    if (array.nbytes() != out.shape.size() * size_of(out.dtype)) {
      fail(ErrorKind::Value, "callback: the result has ", int64_t{array.nbytes()}, " bytes, not ",
           out.shape.size() * size_of(out.dtype));
    }
    if (array.nbytes()) std::memcpy(out.data, array.data(), array.nbytes());
  }

  static std::vector<py::ssize_t> shape_of(const CallbackArray& array) {
    return {array.shape.begin(), array.shape.end()};
  }

  // An array on the same memory: the base object prevents a copy.
  static py::array view(const CallbackArray& of) {
    return py::array(numpy_dtype(of.dtype), shape_of(of), {}, of.data, py::none());
  }

  // A copy, which the function may keep but not write to.
  static py::array copied(const CallbackArray& from) {
    py::array out(numpy_dtype(from.dtype), shape_of(from));
    if (out.nbytes()) std::memcpy(out.mutable_data(), from.data, out.nbytes());
    out.attr("flags").attr("writeable") = false;
    return out;
  }

  py::object f_;
  bool in_place_;
};

}  // namespace

using ArrayFunction =
    Typed<"collections.abc.Callable[..., numpy.typing.NDArray[numpy.generic] | None]",
          py::function>;

void bind_callback(py::module_& m) {
  m.def(
      "callback",
      [](const ArrayFunction& f, const std::vector<NodeRef>& inputs, DType dtype,
         const Shape& shape, bool takes_batches, bool in_place) {
        const Ref<CallbackOrigin> function(new PythonFunction(f, in_place));
        function->takes_batches = takes_batches;
        return callback(inputs, dtype, shape, function);
      },
      py::arg("f"), py::arg("inputs"), py::arg("dtype"), py::arg("shape"),
      py::arg("takes_batches") = false, py::arg("in_place") = false,
      "Call a Python function on the values of tensors when the result is evaluated. With "
      "`in_place`, it receives the array of the result as its last argument and writes to it, and "
      "all arrays are valid during the call only.");
}

}  // namespace pullback
