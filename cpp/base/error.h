// Error: the exception of the core, and fail(), which builds its text and throws it.
//
// The core is independent of Python, so an Error has an ErrorKind, which the binding maps to a
// Python exception. Text: `function: expected <what> for <argument>, got <value>; <what to do>`.
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
  // Call: an error of the arguments; the binding puts the public name of the function in front.
  // Run: an error of an evaluation; the message already names the operation that failed, which may
  // belong to an earlier call.
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
inline std::string to_text(long v) { return std::to_string(v); }
inline std::string to_text(long long v) { return std::to_string(v); }
inline std::string to_text(unsigned long v) { return std::to_string(v); }  // size_t, on macOS too
inline std::string to_text(unsigned long long v) { return std::to_string(v); }

// Concatenates values that have a to_text overload (numbers, strings, Shape, DType).
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
