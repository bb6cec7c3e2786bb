// no_pickle(): classes of pybind11 refuse to be pickled or copied. By default, Python copies
// (protocols 0 and 1) by calling pybind11's common base class, which throws through the interpreter
// and ends the process.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "bind/common/typed.h"

namespace pullback {

template <class Class>
Class& no_pickle(Class& type) {
  using Nothing = Typed<"typing.NoReturn">;
  const auto refuse = [](pybind11::handle self, const pybind11::args&) -> Nothing {
    const std::string name = pybind11::str(pybind11::type::of(self).attr("__name__"));
    throw pybind11::type_error(name + ": it cannot be pickled or copied");
  };
  type.def("__reduce__", refuse, "Refuse to be pickled or copied.");
  type.def("__reduce_ex__", refuse, "Refuse to be pickled or copied.");
  return type;
}

}  // namespace pullback
