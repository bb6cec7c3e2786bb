// The ring of records, the ring of values read by the program (ValueRead), and the names of
// variables.
#include "graph/recorder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/runtime.h"

namespace pullback {
namespace {

struct Recorder {
  std::vector<Record> records = std::vector<Record>(kRecords);
  std::vector<ValueRead> reads;
  size_t next_read = 0;
  std::unordered_map<uint64_t, std::string> names;
  std::unordered_map<uint64_t, Record> aside;  // see SeparateRecords

  Record* find(uint64_t seq) {
    Record& record = records[seq % kRecords];
    if (seq && record.seq == seq) return &record;
    const auto found = aside.find(seq);
    return found == aside.end() ? nullptr : &found->second;
  }
};

Recorder* recorder = nullptr;
int starts = 0;
thread_local int asides = 0;
int64_t all_asides = 0;

void set_inputs(Record* record, std::span<const uint64_t> numbers) {
  record->inputs_count = static_cast<uint32_t>(numbers.size());
  record->rest = numbers.size() > 3 ? std::make_unique<uint64_t[]>(numbers.size()) : nullptr;
  std::ranges::copy(numbers, numbers.size() > 3 ? record->rest.get() : record->in);
}

}  // namespace

void start_recording() {
  if (!recorder) recorder = new Recorder;
  ++starts;
  recording = true;
}

void stop_recording() {
  if (--starts) return;
  recording = false;
  delete std::exchange(recorder, nullptr);
}

SeparateRecords::SeparateRecords() {
  ++asides;
  ++all_asides;
}

SeparateRecords::~SeparateRecords() {
  --asides;
  if (--all_asides == 0 && recorder) recorder->aside.clear();
}

void record_node(Node* node, std::span<Node* const> inputs) {
  Record& record = asides ? recorder->aside[node->seq] : recorder->records[node->seq % kRecords];
  record.seq = node->seq;
  record.node = NodeHandle(node);
  record.variable = 0;
  record.site = runtime.find_site ? runtime.find_site() : 0;
  record.through = runtime.find_site ? library_function : nullptr;
  record.op = node->op;
  record.dtype = node->dtype;
  record.tracked = node->tracked();
  record.number = is_float(node->dtype) ? node->scalar.f : static_cast<double>(node->scalar.i);
  record.composite = node->attr.composite;
  if (inputs.size() <= 3) {
    record.inputs_count = static_cast<uint32_t>(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) record.in[i] = inputs[i]->seq;
    return;
  }
  std::vector<uint64_t> numbers;
  for (const Node* input : inputs) numbers.push_back(input->seq);
  set_inputs(&record, numbers);
}

void record_variable(const Node* node, const std::string& name) {
  if (Record* record = recorder->find(node->seq)) {
    record->variable = node->variable;
    record->tracked = true;
  }
  if (recorder->names.size() >= kRecords) recorder->names.clear();
  recorder->names[node->variable] = name;
}

void record_source(const Node* copy, const Node* source) {
  if (Record* record = recorder->find(copy->seq)) set_inputs(record, {&source->seq, 1});
}

void record_as(uint64_t copy, uint64_t original) {
  const Record* from = recorder->find(original);
  Record* to = recorder->find(copy);
  if (!from || !to || !from->site) return;
  to->site = from->site;
  to->through = from->through;
}

void record_read(const Node* node, const char* how, std::optional<double> number) {
  const ValueRead read{node->seq, next_seq(),  runtime.find_site ? runtime.find_site() : 0,
                       how,       node->shape, number};
  if (recorder->reads.size() < kReads) {
    recorder->reads.push_back(read);
  } else {
    recorder->reads[recorder->next_read++ % kReads] = read;
  }
}

uint32_t site_number(const Node* node) {
  const Record* record = record_of(node->seq);
  return record ? record->site : 0;
}

const Record* record_of(uint64_t seq) { return recorder ? recorder->find(seq) : nullptr; }

std::string recorded_name(uint64_t variable) {
  if (!recorder) return "";
  const auto found = recorder->names.find(variable);
  return found == recorder->names.end() ? "" : found->second;
}

std::vector<ValueRead> recorded_reads() {
  if (!recorder) return {};
  std::vector<ValueRead> out = recorder->reads;
  std::ranges::rotate(
      out,
      out.begin() + static_cast<ptrdiff_t>(out.size() < kReads ? 0 : recorder->next_read % kReads));
  return out;
}

}  // namespace pullback
