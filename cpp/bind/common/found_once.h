// found_once(): objects of Python modules that are looked up once and never freed.
#pragma once

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

namespace pullback {

// Returns the result of the first call of `find`; each place in the source has its own. A plain
// static could deadlock: an import releases the interpreter lock, and a second thread would wait
// for the static while it has that lock.
template <class Find>
pybind11::handle found_once(Find find) {
  PYBIND11_CONSTINIT static pybind11::gil_safe_call_once_and_store<pybind11::object> storage;
  return storage.call_once_and_store_result(find).get_stored();
}

}  // namespace pullback
