// Objects of Python modules that are looked up once and never freed.
#pragma once

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

namespace pullback {

// What `find` gives at its first call; each place in the source has its own. Not a plain static: an
// import lets go of the interpreter lock, and a second thread would wait for the static while it
// holds that lock.
template <class Find>
pybind11::handle found_once(Find find) {
  PYBIND11_CONSTINIT static pybind11::gil_safe_call_once_and_store<pybind11::object> storage;
  return storage.call_once_and_store_result(find).get_stored();
}

}  // namespace pullback
