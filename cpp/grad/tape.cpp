// The tapes that record on a thread are a list of that thread, shared with the tapes themselves, so
// that one which ends on another thread takes itself out of the right list.
#include "grad/tape.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "grad/connectivity.h"
#include "graph/parts.h"
#include "graph/walk.h"

namespace pullback {
namespace {

// The tapes that record on this thread.
thread_local std::shared_ptr<std::vector<Tape*>> active = std::make_shared<std::vector<Tape*>>();

// The flag on the node makes later users keep their history; it is counted, because several tapes
// may watch one tensor.
void count_watcher(Node* node, int change) {
  node->watchers = static_cast<uint16_t>(node->watchers + change);
}

// Once at the end of its range the count stays there.
void count_holder(Node* node, int change) {
  if (node->holders < UINT8_MAX) node->holders = static_cast<uint8_t>(node->holders + change);
}

}  // namespace

// The constructor of a tape that gets one makes it once more, over this one, which holds no memory.
void* Tape::operator new(size_t size) { return ::new (::operator new(size)) Tape(false); }

Tape::~Tape() {
  if (recording_) stop();
  for (auto& [node, entry] : tensors_) count_holder(entry.node.get(), -1);
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
  for (auto& [node, entry] : tensors_) {
    if (recording_) count_watcher(entry.node.get(), -1);
    count_holder(entry.node.get(), -1);
  }
  tensors_.clear();
  variables_.clear();
  const uint32_t thread = recording_ ? intervals_.back().thread : 0;
  intervals_.clear();
  if (recording_) intervals_.push_back({next_seq(), kNever, thread});
}

void Tape::watch(const Ref<Node>& tensor) {
  const bool added = tensors_.try_emplace(tensor.get(), WatchedTensor{tensor, next_seq()}).second;
  if (added) count_holder(tensor.get(), +1);
  if (added && recording_) count_watcher(tensor.get(), +1);
}

void Tape::watch(const Ref<Variable>& variable) {
  variables_.try_emplace(variable->id, WatchedVariable{variable, next_seq()});
}

const Tape* Tape::differentiating(const Ref<Node>& node) {
  GradientRequest request;
  request.ys = {node};
  for (auto tape = active->rbegin(); tape != active->rend(); ++tape) {
    for (const Ref<Node>& input : (*tape)->exempt_) request.stop.push_back({input});
    if ((*tape)->transform_.empty()) continue;
    request.xs.clear();
    for (const auto& [x, entry] : (*tape)->tensors_) {
      const auto is_x = [x = x](const Source& stop) { return stop.node.get() == x; };
      if (std::none_of(request.stop.begin(), request.stop.end(), is_x)) {
        request.xs.push_back({entry.node});
      }
    }
    if (request.xs.empty()) continue;
    Connectivity connectivity(request);
    const size_t at = connectivity.position(node.get());
    if (at != Connectivity::kAbsent && connectivity.live(at)) return *tape;
  }
  return nullptr;
}

void Tape::end_histories(const std::vector<Ref<Node>>& results) const {
  uint64_t oldest = kNever;
  for (const auto& [x, entry] : tensors_) {
    if (x->tracked()) return;
    oldest = std::min(oldest, x->seq);
  }
  std::vector<Node*> roots, below;
  for (const Ref<Node>& result : results) {
    if (result->tracked()) roots.push_back(result.get());
  }
  walk(roots, &below, [&](const Node* node) {
    return node->tracked() && node->seq >= oldest ? node->inputs() : std::span<Node* const>();
  });
  for (const Node* node : below) {
    if (node->holders > tensors_.count(node)) return;
    if (!node->tracked()) continue;
    if (node->seq < oldest || node->variable || node->origin || node->watchers) return;
  }
  std::vector<Ref<Node>> computed;
  for (Node* node : below) {
    if (!node->tracked()) continue;
    node->flags &= ~kTracked;
    if (node->has_value()) {
      computed.emplace_back(node);
    } else if (kMakesParts[static_cast<int>(node->op)]) {
      note_part(node);
    }
  }
  for (const Ref<Node>& node : computed) seal(node.get());
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
