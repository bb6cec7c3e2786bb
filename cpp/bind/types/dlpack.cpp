// Exchange of memory of GPUs through DLPack; that of the host goes through NumPy. The structs are
// declarations of our own of the ABI that DLPack 1.0 documents.
//
// An exported capsule has a reference to the buffer. The work of the device is complete before the
// capsule is returned, so that it is valid in any stream of the consumer. An imported capsule is in
// order with the stream that the producer received.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cuda/cuda_backend.h"
#include "bind/arrays/convert.h"
#include "bind/operations/functions.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "runtime/integer_ranges.h"
#include "runtime/uploads.h"

namespace pullback {
namespace {

constexpr int32_t kCudaDevice = 2;  // kDLCUDA
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

struct DlType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  DlType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: in row-major order
  uint64_t byte_offset;
};

struct DlManaged {  // before DLPack 1.0
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};

struct DlVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DlVersioned*);
  uint64_t flags;
  DlTensor tensor;
};

template <class Managed>
constexpr const char* kCapsule = "dltensor";
template <>
constexpr const char* kCapsule<DlVersioned> = "dltensor_versioned";
template <class Managed>
constexpr const char* kUsedCapsule = "used_dltensor";
template <>
constexpr const char* kUsedCapsule<DlVersioned> = "used_dltensor_versioned";

DlType dl_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  if (dtype == DType::BFloat16) return {4, bits, 1};
  switch (kDTypeTraits[static_cast<int>(dtype)].kind) {
    case DTypeKind::Bool:
      return {6, bits, 1};
    case DTypeKind::Signed:
      return {0, bits, 1};
    case DTypeKind::Unsigned:
      return {1, bits, 1};
    case DTypeKind::Float:
      return {2, bits, 1};
    case DTypeKind::Complex:
      return {5, bits, 1};
  }
  return {};
}

std::optional<DType> dtype_of(DlType type) {
  for (int i = 0; i < kDTypes; ++i) {
    const DlType own = dl_type(static_cast<DType>(i));
    if (own.code == type.code && own.bits == type.bits && type.lanes == 1) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

// What an exported capsule refers to.
template <class Managed>
struct Exported {
  Managed managed{};
  Ref<Buffer> buffer;
  std::vector<int64_t> shape, strides;
};

template <class Managed>
py::capsule export_buffer(const Node* node, Ref<Buffer> buffer, uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->buffer = std::move(buffer);
  exported->shape.assign(node->shape.begin(), node->shape.end());
  exported->strides.assign(exported->shape.size(), 1);
  for (size_t i = exported->shape.size(); i-- > 1;) {
    exported->strides[i - 1] = exported->strides[i] * exported->shape[i];
  }
  exported->managed.tensor = {exported->buffer->address(),
                              kCudaDevice,
                              exported->buffer->device.id - 1,
                              static_cast<int32_t>(node->shape.rank),
                              dl_type(node->dtype),
                              exported->shape.data(),
                              exported->strides.data(),
                              0};
  exported->managed.context = exported.get();
  // The consumer calls it in any thread.
  exported->managed.deleter = [](Managed* managed) {
    if (!Py_IsInitialized()) return;
    const py::gil_scoped_acquire lock;
    delete static_cast<Exported<Managed>*>(managed->context);
  };
  if constexpr (std::is_same_v<Managed, DlVersioned>) {
    exported->managed.major = 1;
    exported->managed.flags = flags;
  }
  PyObject* capsule = PyCapsule_New(&exported->managed, kCapsule<Managed>, [](PyObject* capsule) {
    // A consumer has renamed the capsule, and calls the deleter itself.
    if (!PyCapsule_IsValid(capsule, kCapsule<Managed>)) return;
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsule<Managed>));
    managed->deleter(managed);
  });
  if (!capsule) throw py::error_already_set();
  exported.release();  // the capsule owns it
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule export_dlpack(const NodeRef& x, bool versioned, bool copied) {
  evaluate(x.get());
  const NodeRef held = as_value(x);
  const Device device = device_of(x.get());
  if (device.is_host()) fail(ErrorKind::Value, "expected a tensor on a GPU");
  Ref<Buffer> buffer = uploaded(device, held->value);
  if (copied) {
    Ref<Buffer> copy = make_buffer(buffer->bytes, device);
    memory_of(device).copy(copy->address(), buffer->address(), buffer->bytes);
    buffer = std::move(copy);
  } else {
    buffer->exported = true;
    share_integers(*buffer);  // not every library heeds that the memory is read-only
  }
  cuda::memory_of_cuda(device).synchronize();
  if (!versioned) return export_buffer<DlManaged>(held.get(), std::move(buffer), 0);
  return export_buffer<DlVersioned>(held.get(), std::move(buffer), copied ? kIsCopied : kReadOnly);
}

template <class Managed>
class CapsuleOwner final : public MemoryOwner {
 public:
  CapsuleOwner(Managed* managed, Device device) : managed_(managed), device_(device) {}
  ~CapsuleOwner() override {
    try {
      cuda::memory_of_cuda(device_).drain();  // queued work may read the memory
    } catch (const Error&) {                  // the device is lost
    }
    if (managed_->deleter) managed_->deleter(managed_);
  }

 private:
  Managed* managed_;
  Device device_;
};

bool is_row_major(const DlTensor& tensor) {
  if (!tensor.strides) return true;
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; i-- > 0; stride *= tensor.shape[i]) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
  }
  return true;
}

template <class Managed>
NodeRef import_capsule(const py::object& capsule, std::optional<bool> copy) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule<Managed>));
  if (!managed) throw py::error_already_set();
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, DlVersioned>) {
    if (managed->major != 1) {
      fail(ErrorKind::Value, "expected DLPack of version 1, got version ",
           static_cast<int64_t>(managed->major));
    }
    read_only = managed->flags & kReadOnly;
  }
  const DlTensor& tensor = managed->tensor;
  if (tensor.device_type != kCudaDevice) {
    fail(ErrorKind::Value, "expected memory of a GPU, got device type ", int{tensor.device_type});
  }
  const Device device = cuda::open_device(tensor.device_id);
  const std::optional<DType> dtype = dtype_of(tensor.dtype);
  if (!dtype) {
    fail(ErrorKind::Value, "expected a supported dtype, got DLPack code ", int{tensor.dtype.code},
         " of ", int{tensor.dtype.bits}, " bits and ", int{tensor.dtype.lanes}, " lanes");
  }
  if (!is_row_major(tensor)) {
    fail(ErrorKind::Value, "expected memory in row-major order; make the array contiguous");
  }
  Shape shape;
  for (int32_t i = 0; i < tensor.ndim; ++i) shape.append(tensor.shape[i]);
  check_shape(shape, "from_dlpack");
  const int64_t bytes = shape.size() * size_of(*dtype);
  char* const data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  const bool aligned =
      reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(size_of(*dtype)) == 0;
  const bool copied = bytes == 0 || copy.value_or(!read_only || !aligned);
  if (!copied && !aligned) fail(ErrorKind::Value, "expected aligned memory; permit a copy");
  if (PyCapsule_SetName(capsule.ptr(), kUsedCapsule<Managed>)) throw py::error_already_set();
  auto owner = std::make_unique<CapsuleOwner<Managed>>(managed, device);
  Ref<Buffer> buffer;
  if (copied) {
    buffer = make_buffer(bytes, device);
    memory_of(device).copy(buffer->address(), data, bytes);
    cuda::memory_of_cuda(device).synchronize();  // then the producer may end its memory
  } else {
    buffer = share_memory(data, bytes, std::move(owner));
    buffer->device = device;
  }
  return make_value(*dtype, shape, std::move(buffer));
}

NodeRef import_dlpack(const Typed<"typing_extensions.CapsuleType">& capsule,
                      std::optional<bool> copy) {
  return PyCapsule_IsValid(capsule.ptr(), kCapsule<DlVersioned>)
             ? import_capsule<DlVersioned>(capsule, copy)
             : import_capsule<DlManaged>(capsule, copy);
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("export_dlpack", &export_dlpack, py::arg("x"), py::arg("versioned"), py::arg("copied"),
        "Return a DLPack capsule of a tensor on a GPU.");
  m.def("import_dlpack", &import_dlpack, py::arg("capsule"), py::arg("copy"),
        "Return a tensor over, or with a copy of, the memory of a GPU in a DLPack capsule.");
  m.def(
      "cuda_stream",
      [](int device) {
        return reinterpret_cast<uintptr_t>(
            cuda::memory_of_cuda(cuda::open_device(device)).stream());
      },
      py::arg("device"), "Return the address of the stream of a GPU, opened by its number.");
}

}  // namespace pullback
