// Records for explanations. While a program records, every node leaves a Record of how it was made
// and where in the user's program, in a ring buffer that is indexed by the number of the node. So
// the origin of a value can be reported after the nodes in between have been computed and freed.
// Values are not kept. All under the interpreter lock; start at record_node() and record_of().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/node.h"

namespace pullback {

struct Record {
  uint64_t seq = 0;  // of the node; 0: none yet
  NodeHandle node;
  uint64_t variable = 0;          // read: number of the variable
  double number = 0;              // scalar: its value
  uint32_t site = 0;              // see Runtime::find_site; 0: unknown
  const char* through = nullptr;  // library function that the program called, or null
  Op op = Op::value;
  DType dtype = DType::Float32;
  Composite composite = Composite::None;
  bool tracked = false;  // at its creation
  uint32_t inputs_count = 0;
  uint64_t in[3] = {};               // numbers of the inputs
  std::unique_ptr<uint64_t[]> rest;  // all inputs if there are more than three

  std::span<const uint64_t> inputs() const {
    return {inputs_count > 3 ? rest.get() : in, inputs_count};
  }
};

// A read: a value that left the graph as an array or a number.
struct ValueRead {
  uint64_t seq = 0;   // of the node
  uint64_t next = 0;  // number of the next node made after the read
  uint32_t site = 0;
  const char* how = "";
  Shape shape;
  std::optional<double> number;  // the value, for a tensor of one element
};

constexpr size_t kRecords = size_t{1} << 18;
constexpr size_t kReads = size_t{1} << 12;

// Set by Runtime::find_site: the name of the outermost library function between the user's frame
// and the core; null if the program called the core directly.
inline const char* library_function = nullptr;

// Starts and stops are counted; the last stop discards all records.
void start_recording();
void stop_recording();
inline bool recording = false;

// While one exists, nodes are not recorded.
struct Unrecorded {
  const bool before = std::exchange(recording, false);
  Unrecorded() = default;
  ~Unrecorded() { recording = before; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;
};

// While one exists, nodes made on its thread have separate records, which are discarded with the
// last one: nodes of an explanation must not replace records of the program.
struct SeparateRecords {
  SeparateRecords();
  ~SeparateRecords();
  SeparateRecords(const SeparateRecords&) = delete;
  SeparateRecords& operator=(const SeparateRecords&) = delete;
};

void record_node(Node* node, std::span<Node* const> inputs);
// Additions to the record of a node:
void record_variable(const Node* node, const std::string& name);  // name of a read's variable
void record_source(const Node* copy, const Node* source);  // the copy has the value of `source`
void record_as(uint64_t copy, uint64_t original);  // by number: the copy has the site of the
                                                   // original
void record_read(const Node* node, const char* how, std::optional<double> number = std::nullopt);

// The site where a node was made; 0 if unknown.
uint32_t site_number(const Node* node);
// Null if the ring has no record, or has none any more.
const Record* record_of(uint64_t seq);
// The name of a variable that was read while recording; empty if unknown.
std::string recorded_name(uint64_t variable);
// The recorded reads, oldest first.
std::vector<ValueRead> recorded_reads();

}  // namespace pullback
