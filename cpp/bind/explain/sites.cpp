// Finds the line of the user's program that is running: the innermost frame outside of this
// package. Called for every operation while debugging is on, so the result is cached per
// instruction.
#include "bind/explain/sites.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/trace_checks.h"
#include "graph/recorder.h"
#include "graph/runtime.h"

namespace pullback {
namespace {

struct Site {
  PyObject* code;
  int line;
};

// The position of a frame in its code, which identifies a place.
int position_of(PyFrameObject* frame) { return PyFrame_GetLasti(frame); }

// A frame object must be created without a garbage collection, which could run arbitrary Python
// code while a node is being made. From Python 3.12 on, collections happen between instructions
// only.
struct NoCollection {
#if PY_VERSION_HEX < 0x030C0000
  const int was = PyGC_Disable();
  ~NoCollection() {
    if (was) PyGC_Enable();
  }
#else
  NoCollection() {}  // not trivial, so that the compiler does not warn of an unused variable
#endif
};

class Sites {
 public:
  Sites() : first_(next_) {}
  Sites(const Sites&) = delete;
  Sites& operator=(const Sites&) = delete;
  ~Sites() {
    next_ = first_ + static_cast<uint32_t>(sites_.size());
    for (const auto& [place, number] : numbers_) Py_DECREF(place.code);
  }

  // 0 if no frame is the user's.
  uint32_t find() {
    const NoCollection none;
    uint32_t found = 0;
    library_function = nullptr;
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      found = number(frame, code);
      if (found == kOurs)
        library_function = PyUnicode_AsUTF8(code->co_name);  // the table keeps
                                                             // the text alive
      Py_DECREF(code);  // the frame or the table keeps it alive
      PyFrameObject* back = found == kOurs ? PyFrame_GetBack(frame) : nullptr;
      Py_DECREF(frame);
      frame = back;
    }
    return found == kOurs ? 0 : found;
  }

  py::object describe(uint32_t number) const {
    if (number < first_ || number - first_ >= sites_.size()) return py::none();
    const Site& site = sites_[number - first_];
    const py::handle code(site.code);
    return py::make_tuple(code.attr("co_filename"), site.line, code.attr("co_name"));
  }

 private:
  static constexpr uint32_t kOurs = static_cast<uint32_t>(-1);
  static constexpr size_t kMost = size_t{1} << 20;  // limit for programs that generate code

  struct Place {
    PyCodeObject* code = nullptr;
    int position = 0;
    uint32_t number = 0;
    bool operator==(const Place& other) const {
      return code == other.code && position == other.position;
    }
  };
  struct Hash {
    size_t operator()(const Place& place) const {
      return (reinterpret_cast<uintptr_t>(place.code) >> 4) * 31 +
             static_cast<size_t>(place.position);
    }
  };

  uint32_t number(PyFrameObject* frame, PyCodeObject* code) {
    const Place place{code, position_of(frame)};
    Place& last = recent_[Hash()(place) % std::size(recent_)];
    if (last == place) return last.number;
    const auto known = numbers_.find(place);
    last = place;
    last.number = known != numbers_.end() ? known->second : add(frame, place);
    return last.number;
  }

  uint32_t add(PyFrameObject* frame, const Place& place) {
    if (numbers_.size() >= kMost) return 0;
    uint32_t number = kOurs;
    if (!ours(place.code)) {
      number = first_ + static_cast<uint32_t>(sites_.size());
      sites_.push_back({reinterpret_cast<PyObject*>(place.code), PyFrame_GetLineNumber(frame)});
    }
    Py_INCREF(place.code);
    numbers_.emplace(place, number);
    return number;
  }

  bool ours(PyCodeObject* code) const {
    Py_ssize_t length = 0;
    const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
    if (!file) {
      PyErr_Clear();
      return false;
    }
    return std::string_view(file, static_cast<size_t>(length)).starts_with(package_folder());
  }

  // Numbers are never given again: plans of traced functions keep those of earlier recordings.
  static inline uint32_t next_ = 1;
  const uint32_t first_;
  std::vector<Site> sites_;
  std::unordered_map<Place, uint32_t, Hash> numbers_;
  Place recent_[256];
};

Sites* sites = nullptr;

}  // namespace

void set_recording(bool on) {
  if (!on) {
    stop_recording();
    if (!recording) delete std::exchange(sites, nullptr);  // together with the records
    return;
  }
  if (!sites) sites = new Sites;
  start_recording();
}

OptionalSite site_of(uint32_t number) { return sites ? sites->describe(number) : py::none(); }

namespace {

std::string located(uint32_t site, bool brief) {
  const py::object place = site_of(site);
  if (place.is_none()) return "";
  return location(py::str(place[py::int_(0)]), py::cast<int64_t>(place[py::int_(1)]), brief);
}

}  // namespace

std::string path_and_line_of(uint32_t site) { return located(site, false); }

std::string line_of(uint32_t site) { return located(site, true); }

void bind_recorder(py::module_& m) {
  runtime.find_site = [] { return sites ? sites->find() : 0; };
  runtime.describe_site = &path_and_line_of;
  m.def("set_recording", &set_recording, py::arg("on"),
        "Record where the program makes tensors and reads values.");
  m.def(
      "current_site", [] { return site_of(recording ? runtime.find_site() : 0); },
      "Return file, line and function of the user's running line; None if nothing is recorded.");
}

}  // namespace pullback
