// Tapes and contexts share entries: a tape that ends in another context, or is freed, closes its
// entry, and contexts ignore closed entries.
#include "grad/tape.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "grad/connectivity.h"
#include "graph/pending_results.h"
#include "graph/runtime.h"
#include "graph/walk.h"

namespace pullback {
namespace {

thread_local TapeEntries tapes_of_thread;  // without a binding, each thread is a context

const TapeEntries* current_tapes() {
  return runtime.current_tapes ? runtime.current_tapes() : &tapes_of_thread;
}

void enter(std::shared_ptr<TapeEntry> entry) {
  if (runtime.enter_tape) return runtime.enter_tape(std::move(entry));
  std::erase_if(tapes_of_thread, [](const auto& one) { return !one->open; });
  tapes_of_thread.push_back(std::move(entry));
}

// The last scope's number. It wraps after 2^32 scopes, far more than one interval contains.
uint32_t last_scope = 0;
int recording_tapes = 0;  // in all contexts

const TapeEntries& entries_here() {
  static const TapeEntries none;
  const TapeEntries* found = recording_tapes ? current_tapes() : nullptr;
  return found ? *found : none;
}

// Calls visit(tape) for the recording entries, innermost first, until it returns false.
template <class Visit>
void each_recording(const TapeEntries& entries, Visit&& visit) {
  for (size_t i = entries.size(); i-- > 0;) {
    const TapeEntry& entry = *entries[i];
    if (entry.records() && !visit(*entry.tape)) return;
  }
}

uint32_t innermost_scope() {
  const TapeEntries* entries = current_tapes();
  return entries && !entries->empty() ? entries->back()->number : 0;
}

// The flag makes later users keep their history. Watchers are counted, because several tapes may
// watch one tensor.
void count_watcher(Node* node, int change) {
  node->watchers = static_cast<uint16_t>(node->watchers + change);
}

// At the end of its range the count no longer changes.
void count_holder(Node* node, int change) {
  if (node->holders < UINT8_MAX) node->holders = static_cast<uint8_t>(node->holders + change);
}

}  // namespace

void TapeEntry::add_scope(uint32_t scope) {
  if (!scopes.empty() && scopes.back().second + 1 == scope) {
    scopes.back().second = scope;
  } else {
    scopes.emplace_back(scope, scope);
  }
}

bool TapeEntry::has_scope(uint32_t scope) const {
  const auto after =
      std::upper_bound(scopes.begin(), scopes.end(), scope,
                       [](uint32_t one, const auto& range) { return one < range.first; });
  return after != scopes.begin() && scope <= std::prev(after)->second;
}

// An empty tape for Python's __new__, which allocates without running a constructor.
void* Tape::operator new(size_t size) { return ::new (::operator new(size)) Tape(false); }

Tape::~Tape() {
  stop();
  forget_intervals();
  for (auto& [node, entry] : tensors_) count_holder(entry.node.get(), -1);
}

void Tape::observe(Variable* variable) {
  if (!variable->trainable) return;
  each_recording(entries_here(), [&](Tape& tape) {
    if (tape.accessed_) tape.watch(Ref<Variable>(variable));
    return true;
  });
}

void Tape::start() {
  stop();
  if (++last_scope == 0) ++last_scope;
  auto entry = std::make_shared<TapeEntry>(TapeEntry{this, last_scope});
  enter(entry);
  for (const auto& outer : *current_tapes()) outer->add_scope(last_scope);
  entry_ = std::move(entry);
  begin_interval();
}

void Tape::stop() {
  if (recording()) end_interval();
  if (entry_) entry_->open = false;
  entry_ = nullptr;
}

void Tape::pause() {
  if (!recording()) return;
  end_interval();
  entry_->paused = true;
}

void Tape::resume() {
  if (!entry_) return start();
  if (recording()) return;
  entry_->paused = false;
  begin_interval();
}

void Tape::begin_interval() {
  if (recording_tapes++ == 0) {
    runtime.recording_scope = innermost_scope;
    runtime.observe_read = &Tape::observe;
  }
  intervals_.push_back({next_seq(), kNever, entry_});
  for (auto& [node, entry] : tensors_) count_watcher(entry.node.get(), +1);
}

void Tape::end_interval() {
  if (--recording_tapes == 0) {
    runtime.recording_scope = nullptr;
    runtime.observe_read = nullptr;
  }
  intervals_.back().end = next_seq();
  for (auto& [node, entry] : tensors_) count_watcher(entry.node.get(), -1);
}

// Frees memory, since a context may keep the entries for a long time.
void Tape::forget_intervals() {
  for (const Interval& interval : intervals_) {
    if (!interval.entry->open) interval.entry->scopes = {};
  }
  intervals_.clear();
}

bool Tape::any_recording() {
  bool any = false;
  each_recording(entries_here(), [&](const Tape&) { return !(any = true); });
  return any;
}

void Tape::reset() {
  for (auto& [node, entry] : tensors_) {
    if (recording()) count_watcher(entry.node.get(), -1);
    count_holder(entry.node.get(), -1);
  }
  tensors_.clear();
  variables_.clear();
  forget_intervals();
  if (recording()) intervals_.push_back({next_seq(), kNever, entry_});
}

void Tape::watch(const NodeRef& tensor) {
  const bool added = tensors_.try_emplace(tensor.get(), WatchedTensor{tensor, next_seq()}).second;
  if (added) count_holder(tensor.get(), +1);
  if (added && recording()) count_watcher(tensor.get(), +1);
}

void Tape::watch(const Ref<Variable>& variable) {
  variables_.try_emplace(variable->id, WatchedVariable{variable, next_seq()});
}

const Tape* Tape::differentiating(const NodeRef& node) {
  GradientRequest request;
  request.ys = {node};
  const Tape* found = nullptr;
  const TapeEntries& here = entries_here();  // a copy: a visit may enter and leave tapes
  const TapeEntries entries(here.begin(), here.end());
  each_recording(entries, [&](const Tape& tape) {
    for (const NodeRef& input : tape.exempt_) request.stop.push_back({input});
    if (tape.transform_.empty()) return true;
    request.xs.clear();
    for (const auto& [x, entry] : tape.tensors_) {
      const auto is_x = [x = x](const Source& stop) { return stop.node.get() == x; };
      if (std::none_of(request.stop.begin(), request.stop.end(), is_x)) {
        request.xs.push_back({entry.node});
      }
    }
    if (request.xs.empty()) return true;
    Connectivity connectivity(request);
    const size_t at = connectivity.position(node.get());
    if (at != Connectivity::kAbsent && connectivity.live(at)) found = &tape;
    return !found;
  });
  return found;
}

void Tape::end_histories(const std::vector<NodeRef>& results) const {
  uint64_t oldest = kNever;
  for (const auto& [x, entry] : tensors_) {
    if (x->tracked()) return;
    oldest = std::min(oldest, x->seq);
  }
  std::vector<Node*> roots, below;
  for (const NodeRef& result : results) {
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
  std::vector<NodeRef> computed;
  for (Node* node : below) {
    if (!node->tracked()) continue;
    node->flags &= ~kTracked;
    if (node->has_value()) {
      computed.emplace_back(node);
    } else if (kMakesSmallResults[static_cast<int>(node->op)]) {
      note_pending_result(node);
    }
  }
  for (const NodeRef& node : computed) seal(node.get());
}

bool Tape::recorded(const Node* node) const {
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), node->seq,
                       [](uint64_t seq, const Interval& interval) { return seq < interval.begin; });
  if (after == intervals_.begin()) return false;
  const Interval& interval = *std::prev(after);
  return node->seq < interval.end && interval.entry->has_scope(node->scope);
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
