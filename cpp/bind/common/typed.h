// Typed: a Python object with the text of its type. pybind11 writes the text into the signature of
// a bound function, from which tools/stubs makes the stub. The object is checked against Base only.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pullback {

template <std::size_t n>
struct TypeText {
  constexpr TypeText(const char (&literal)[n]) { std::copy_n(literal, n, text); }
  char text[n];
};

template <TypeText type, class Base = pybind11::object>
class Typed : public Base {
 public:
  using Base::Base;
  Typed() = default;
  Typed(const Base& base) : Base(base) {}
  Typed(Base&& base) noexcept : Base(std::move(base)) {}
  static bool check_(pybind11::handle object) { return pybind11::isinstance<Base>(object); }
};

// Any object, which the function does not convert.
using AnyObject = Typed<"builtins.object">;

}  // namespace pullback

template <pullback::TypeText type, class Base>
struct pybind11::detail::handle_type_name<pullback::Typed<type, Base>> {
  static constexpr auto name = const_name(type.text);
};
