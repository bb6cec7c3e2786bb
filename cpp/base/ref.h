// Ref: an intrusive reference. T provides add_ref(T*) and release(T*), found by argument-dependent
// lookup.
//
// Counts are plain integers: only the thread that holds the interpreter lock touches graph objects
// (eval/evaluate.h lists what runs without the lock).
#pragma once

#include <utility>

namespace pullback {

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(T* pointer) : pointer_(pointer) {
    if (pointer_) add_ref(pointer_);
  }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_) release(pointer_);
  }

  // Takes ownership of a count that the caller has.
  static Ref adopt(T* pointer) {
    Ref out;
    out.pointer_ = pointer;
    return out;
  }
  // Gives the count to the caller.
  T* detach() { return std::exchange(pointer_, nullptr); }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  // Without this overload, `!` is ambiguous wherever the operator of Expr is visible (ops/expr.h).
  bool operator!() const { return pointer_ == nullptr; }
  bool operator==(const Ref& other) const { return pointer_ == other.pointer_; }
  bool operator==(const T* other) const { return pointer_ == other; }

 private:
  T* pointer_ = nullptr;
};

}  // namespace pullback
