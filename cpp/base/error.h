// Errors of the core and the one way to build their text.
//
// The core knows no Python: an Error carries the kind of the Python exception that the binding
// raises for it. A message says who, what was expected, what came, and what to do.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace pullback {

enum class ErrorKind : uint8_t {
  Value,
  Axis,
  Type,
  Index,
  Lookup,
  Key,
  Runtime,
  NotImplemented,
  Memory,
  Overflow,
  ZeroDivision,
  FloatingPoint,
  LinearAlgebra,
};

class Error : public std::exception {
 public:
  // Of the call that raised it, whose public name the binding puts in front; or of a run, whose
  // message names the operation that failed, whatever call came to look.
  enum class Of : uint8_t { Call, Run };

  Error(ErrorKind kind, std::string message, Of of = Of::Call)
      : kind_(kind), of_(of), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const { return kind_; }
  bool of_run() const { return of_ == Of::Run; }

 private:
  ErrorKind kind_;
  Of of_;
  std::string message_;
};

inline std::string to_text(std::string_view s) { return std::string(s); }
inline std::string to_text(const std::string& s) { return s; }
inline std::string to_text(const char* s) { return s; }
inline std::string to_text(int v) { return std::to_string(v); }
inline std::string to_text(int64_t v) { return std::to_string(v); }
inline std::string to_text(uint64_t v) { return std::to_string(v); }

// Concatenates anything that has a to_text overload (numbers, strings, Shape, DType).
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  ((out += to_text(parts)), ...);
  return out;
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, text(parts...));
}

}  // namespace pullback
