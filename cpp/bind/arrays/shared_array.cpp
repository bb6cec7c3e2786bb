// Tensors over the memory of an array of another library.
#include "bind/arrays/convert.h"
#include "bind/arrays/numpy.h"
#include "graph/make.h"

namespace pullback {
namespace {

class ArrayOwner : public MemoryOwner {
 public:
  explicit ArrayOwner(py::object array) : array_(std::move(array)) {}

 private:
  py::object array_;
};

}  // namespace

NodeRef node_over_array(const py::array& array, const char* who) {
  DType dtype;
  const char order = array.dtype().byteorder();
  if (!dtype_of_array(array.dtype(), &dtype) || size_of(dtype) != array.itemsize() ||
      (order != '=' && order != '|')) {
    fail(ErrorKind::Value, who, ": cannot share memory of dtype ",
         std::string(py::str(array.dtype())), "; permit a copy");
  }
  const int aligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  if (!(array.flags() & py::array::c_style) || !(array.flags() & aligned)) {
    fail(ErrorKind::Value, who,
         ": cannot share memory that is not aligned and in row-major order; permit a copy");
  }
  Shape shape;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
  check_shape(shape, who);
  void* const address = const_cast<void*>(array.data());
  return make_value(dtype, shape,
                    share_memory(address, array.nbytes(), std::make_unique<ArrayOwner>(array)));
}

}  // namespace pullback
