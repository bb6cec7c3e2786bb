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
#include <vector>

#include "graph/node.h"

namespace pullback {

struct Record {
  uint64_t seq = 0;  // of the node; 0: none yet
  NodeHandle node;
  uint64_t variable = 0;          // read: number of the variable
  double number = 0;              // scalar: its value
  uint32_t site = 0;              // where (see find_site); 0: not known
  const char* through = nullptr;  // the library function that the program called; null: none
  Op op = Op::value;
  DType dtype = DType::Float32;
  Composite composite = Composite::None;
  bool tracked = false;  // when it was made
  uint32_t inputs_count = 0;
  uint64_t in[3] = {};               // numbers of the inputs
  std::unique_ptr<uint64_t[]> rest;  // all of them where there are more than three

  std::span<const uint64_t> inputs() const {
    return {inputs_count > 3 ? rest.get() : in, inputs_count};
  }
};

// A value that left the graph, as an array or a number.
struct ValueRead {
  uint64_t seq = 0;   // of the node
  uint64_t next = 0;  // the number that the next node got
  uint32_t site = 0;
  const char* how = "";
  Shape shape;
  std::optional<double> number;  // what it was, of a tensor of one element
};

constexpr size_t kRecords = size_t{1} << 18;
constexpr size_t kReads = size_t{1} << 12;

// Where the user's program stands now: a number that the binding can resolve, 0 where it is not
// known. Set by the binding.
inline uint32_t (*find_site)() = nullptr;
// Set by find_site: the name of the outermost library function between the user's frame and the
// core; null if the program called the core directly.
inline const char* library_function = nullptr;

// Starting twice is stopping twice; the last stop forgets everything.
void start_recording();
void stop_recording();
inline bool recording = false;

// While one lives, what its thread makes has records of its own, which end with the last of them:
// what an explanation makes must not take the place of the program's.
struct RecordsAside {
  RecordsAside();
  ~RecordsAside();
  RecordsAside(const RecordsAside&) = delete;
  RecordsAside& operator=(const RecordsAside&) = delete;
};

void record_node(Node* node, std::span<Node* const> inputs);
// More about a node that was recorded when it was made: …
void record_variable(const Node* node, const std::string& name);  // a read's variable
void record_source(const Node* copy, const Node* source);         // its value is that of another
void record_as(uint64_t copy, uint64_t original);  // by their numbers: it was made where that was
void record_read(const Node* node, const char* how, std::optional<double> number = std::nullopt);

// Where a node was made; 0 where that is not known.
uint32_t site_number(const Node* node);
// Null where the ring has none (any more).
const Record* record_of(uint64_t seq);
// Name of a variable that was read while recording; empty where it is not known (any more).
std::string recorded_name(uint64_t variable);
// Those there are, oldest first.
std::vector<ValueRead> recorded_reads();

}  // namespace pullback
