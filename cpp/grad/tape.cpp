// The tapes that record on a thread are a list of that thread, shared with the tapes themselves, so
// that one which ends on another thread takes itself out of the right list.
#include "grad/tape.h"

#include <algorithm>
#include <utility>

namespace pullback {
namespace {

// The tapes that record on this thread.
thread_local std::shared_ptr<std::vector<Tape*>> active = std::make_shared<std::vector<Tape*>>();

// The flag on the node makes later users keep their history; it is counted, because several tapes
// may watch one tensor.
void count_watcher(Node* node, int change) {
  node->watchers = static_cast<uint8_t>(std::clamp(node->watchers + change, 0, 255));
}

}  // namespace

Tape::~Tape() {
  if (recording_) stop();
}

void Tape::observe(Variable* variable) {
  for (Tape* tape : *active) {
    if (tape->accessed_ && variable->trainable) tape->watch(Ref<Variable>(variable));
  }
}

void Tape::start() {
  if (!std::exchange(recording_, true)) want_threads(+1);
  intervals_.push_back({next_seq(), kNever, thread_number()});
  for (auto& [node, entry] : tensors_) count_watcher(entry.node.get(), +1);
  home_ = active;
  home_->push_back(this);
  set_read_observer(&Tape::observe);
}

void Tape::stop() {
  if (std::exchange(recording_, false)) want_threads(-1);
  intervals_.back().end = next_seq();
  for (auto& [node, entry] : tensors_) count_watcher(entry.node.get(), -1);
  std::erase(*home_, this);
}

bool Tape::any_recording() { return !active->empty(); }

void Tape::reset() {
  if (recording_) {
    for (auto& [node, entry] : tensors_) count_watcher(entry.node.get(), -1);
  }
  tensors_.clear();
  variables_.clear();
  const uint32_t thread = recording_ ? intervals_.back().thread : 0;
  intervals_.clear();
  if (recording_) intervals_.push_back({next_seq(), kNever, thread});
}

void Tape::watch(const Ref<Node>& tensor) {
  const bool added = tensors_.try_emplace(tensor.get(), WatchedTensor{tensor, next_seq()}).second;
  if (added && recording_) count_watcher(tensor.get(), +1);
}

void Tape::watch(const Ref<Variable>& variable) {
  variables_.try_emplace(variable->id, WatchedVariable{variable, next_seq()});
}

bool Tape::recorded(const Node* node) const {
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), node->seq,
                       [](uint64_t seq, const Interval& interval) { return seq < interval.begin; });
  if (after == intervals_.begin()) return false;
  const Interval& interval = *std::prev(after);
  return node->seq < interval.end && node->thread == interval.thread;
}

uint64_t Tape::watched_since(const Node* node) const {
  if (node->variable) {
    const auto found = variables_.find(node->variable);
    if (found != variables_.end()) return found->second.since;
  }
  const auto found = tensors_.find(node);
  return found == tensors_.end() ? kNever : found->second.since;
}

std::vector<Ref<Variable>> Tape::watched_variables() const {
  std::vector<Ref<Variable>> out;
  for (const auto& [id, entry] : variables_) out.push_back(entry.variable);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
  return out;
}

}  // namespace pullback
