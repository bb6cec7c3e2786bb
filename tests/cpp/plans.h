// Arrays, and plans built by hand over them: a Runner collects slots and steps, compiles the plan
// for the CPU backend and runs it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "check.h"
#include "plan/backend.h"
#include "runtime/buffer.h"

namespace pullback::test {

struct Array {
  DType dtype = DType::Float32;
  int64_t n = 0;
  std::vector<char> bytes;
  Array() = default;
  Array(DType d, int64_t count)
      : dtype(d), n(count), bytes(static_cast<size_t>(count * size_of(d) + 8)) {}
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  double get(int64_t i) {
    switch (dtype) {
      case DType::Bool:
        return as<uint8_t>()[i];
      case DType::Int32:
        return as<int32_t>()[i];
      case DType::Int64:
        return static_cast<double>(as<int64_t>()[i]);
      case DType::Float32:
        return as<float>()[i];
      case DType::Float64:
        return as<double>()[i];
      default: {
        const Scalar s = load_scalar(dtype, bytes.data() + i * size_of(dtype));
        if (is_float(dtype)) return s.f;
        return dtype == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(s.i))
                                      : static_cast<double>(s.i);
      }
    }
  }
  void set(int64_t i, double v) {
    switch (dtype) {
      case DType::Bool:
        as<uint8_t>()[i] = v != 0;
        break;
      case DType::Int32:
        as<int32_t>()[i] = static_cast<int32_t>(v);
        break;
      case DType::Int64:
        as<int64_t>()[i] = static_cast<int64_t>(v);
        break;
      case DType::Float32:
        as<float>()[i] = static_cast<float>(v);
        break;
      case DType::Float64:
        as<double>()[i] = v;
        break;
      default: {
        Scalar s;
        s.f = v;
        s = convert_scalar(s, DType::Float64, dtype);
        store_scalar(dtype, s, bytes.data() + i * size_of(dtype));
      }
    }
  }
};

inline Array random_array(DType dtype, int64_t n) {
  Array a(dtype, n);
  for (int64_t i = 0; i < n; ++i) {
    const double u = static_cast<double>(pick(2000001)) / 1e6 - 1;
    a.set(i, dtype == DType::Bool ? pick(2) : is_float(dtype) ? u : pick(41) - 20);
  }
  return a;
}

// Equal bits, any NaN being as good as another.
inline bool same_element(Array& a, int64_t i, Array& b, int64_t j) {
  if (is_float(a.dtype) && std::isnan(a.get(i)) && std::isnan(b.get(j))) return true;
  const int64_t e = size_of(a.dtype);
  return std::memcmp(a.bytes.data() + i * e, b.bytes.data() + j * e, static_cast<size_t>(e)) == 0;
}
inline bool same(Array& a, Array& b) {
  if (a.dtype != b.dtype || a.n != b.n) return false;
  for (int64_t i = 0; i < a.n; ++i) {
    if (!same_element(a, i, b, i)) return false;
  }
  return true;
}

inline View row_view(int32_t slot, DType dtype, const Shape& shape) {
  return {slot, dtype, 0, shape, row_major(shape)};
}

// Of one element, repeated along every axis.
inline Strides no_strides(const Shape& shape) {
  Strides out;
  out.resize(shape.rank);
  return out;
}

// A view of `shape` into storage of as many elements: row-major, broadcast, reversed or transposed.
inline View random_load(Array& storage, int32_t slot, const Shape& shape) {
  View view{slot, storage.dtype, 0, shape, no_strides(shape)};
  const int64_t kind = pick(4);
  if (kind == 0) {
    view.strides = row_major(shape);
  } else if (kind == 1) {  // broadcast along some axes
    int64_t step = 1;
    for (int64_t i = shape.rank - 1; i >= 0; --i) {
      if (pick(2)) continue;
      view.strides[i] = step;
      step *= shape[i];
    }
  } else if (kind == 2) {  // reversed
    view.strides = row_major(shape);
    view.offset = shape.size() ? shape.size() - 1 : 0;
    for (int64_t i = 0; i < shape.rank; ++i) view.strides[i] = -view.strides[i];
  } else {  // transposed
    int64_t step = 1;
    for (int64_t i = 0; i < shape.rank; ++i) {
      view.strides[i] = step;
      step *= shape[i];
    }
  }
  return view;
}

// Where each element of a view lies in its slot, in row-major order.
inline std::vector<int64_t> offsets_of(const View& view) {
  std::vector<int64_t> out{view.offset};
  for (int64_t axis = 0; axis < view.shape.rank; ++axis) {
    std::vector<int64_t> next;
    for (int64_t base : out) {
      for (int64_t i = 0; i < view.shape[axis]; ++i) next.push_back(base + i * view.strides[axis]);
    }
    out = next;
  }
  return out;
}

struct Runner {
  Plan plan;
  std::vector<Array*> arguments;
  std::vector<Array> outputs;
  std::vector<Scalar> scalars;

  int32_t argument(Array& a) {
    plan.slots.push_back({SlotKind::Argument, a.dtype, a.n * size_of(a.dtype),
                          static_cast<int64_t>(arguments.size())});
    arguments.push_back(&a);
    plan.arguments.push_back(static_cast<int32_t>(plan.slots.size() - 1));
    return plan.arguments.back();
  }
  int32_t output(DType dtype, int64_t n) {
    plan.slots.push_back(
        {SlotKind::Output, dtype, n * size_of(dtype), static_cast<int64_t>(outputs.size())});
    outputs.emplace_back(dtype, n);
    plan.output_bytes.push_back(plan.slots.back().bytes);
    plan.outputs.push_back(static_cast<int32_t>(plan.slots.size() - 1));
    return plan.outputs.back();
  }
  int32_t temporary(DType dtype, int64_t n, int64_t place) {
    plan.slots.push_back({SlotKind::Temporary, dtype, n * size_of(dtype), place});
    plan.arena_bytes = std::max(plan.arena_bytes, place + plan.slots.back().bytes);
    return static_cast<int32_t>(plan.slots.size() - 1);
  }
  void add(Work work, Op source = Op::identity) { plan.steps.push_back({std::move(work), source}); }

  Status run(bool (*interrupted)() = nullptr) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (Array* a : arguments) in.push_back(a->bytes.data());
    for (Array& a : outputs) out.push_back(a.bytes.data());
    const auto executable = cpu_backend().compile(plan);
    const Ref<Buffer> arena = make_buffer(plan.arena_bytes + executable->scratch_bytes());
    return executable->run({in.data(), scalars.data(), out.data(), arena->address(), interrupted});
  }
  // The same in the memory of another device.
  Status run_on(const Backend& backend) {
    std::vector<Ref<Buffer>> held;
    std::vector<const void*> in;
    std::vector<void*> out;
    const auto place = [&](const Array& a) {
      const auto bytes = static_cast<int64_t>(a.bytes.size());
      held.push_back(make_buffer(bytes, backend.device()));
      backend.memory().upload(held.back()->address(), a.bytes.data(), bytes);
      return held.back()->address();
    };
    for (const Array* a : arguments) in.push_back(place(*a));
    for (const Array& a : outputs) out.push_back(place(a));
    const auto executable = backend.compile(plan);
    const Ref<Buffer> arena =
        make_buffer(plan.arena_bytes + executable->scratch_bytes(), backend.device());
    const Status status =
        executable->run({in.data(), scalars.data(), out.data(), arena->address(), nullptr});
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto bytes = static_cast<int64_t>(outputs[i].bytes.size());
      backend.memory().download(outputs[i].bytes.data(), out[i], bytes);
    }
    return status;
  }
  // Runs with 1, 2, 3 and 8 threads and checks that the bits agree.
  Status run_threads(const std::string& what) {
    set_num_threads(1);
    Status status = run();
    std::vector<Array> first = outputs;
    for (int threads : {2, 3, 8}) {
      set_num_threads(threads);
      for (Array& a : outputs) std::fill(a.bytes.begin(), a.bytes.end(), char(0x5a));
      run();
      bool equal = true;
      for (size_t i = 0; i < outputs.size(); ++i) equal &= same(outputs[i], first[i]);
      if (status) check(equal, what + ": same bits with " + std::to_string(threads) + " threads");
    }
    set_num_threads(1);
    return status;
  }
};

}  // namespace pullback::test
