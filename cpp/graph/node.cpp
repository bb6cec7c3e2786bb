// Memory of nodes: slabs with a free list. Nodes are released by a worklist, so nothing recurses;
// rules and origins, whose deletion may run Python, are deleted after the nodes. Start at drain().
#include "graph/node.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "graph/operation.h"
#include "graph/rule.h"
#include "graph/runtime.h"

// Tells the address sanitizer which cells are free, so that it reports uses of freed nodes.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address))
#endif

namespace pullback {
namespace {

int64_t live = 0;
uint64_t last_seq = 0;

// Nodes come from slabs that are never given back: a node costs a free-list pop.
constexpr int kSlab = 512;

union Cell {
  // A free cell. Its number is 0, so that handles of the former node return null.
  struct Free {
    Cell* next;
    uint64_t seq;
  } free;
  alignas(Node) unsigned char node[sizeof(Node)];
};
Cell* free_cells = nullptr;

std::vector<Cell*>& slabs() {
  static auto* list = new std::vector<Cell*>;
  return *list;
}

Cell* take_cell() {
  if (!free_cells) {
    slabs().reserve(slabs().size() + 1);
    auto* slab = new Cell[kSlab];
    slabs().push_back(slab);
    for (int i = 0; i < kSlab; ++i) {
      slab[i].free = {free_cells, 0};
      free_cells = &slab[i];
    }
  }
  Cell* cell = std::exchange(free_cells, free_cells->free.next);
  ASAN_UNPOISON_MEMORY_REGION(cell, sizeof(Cell));
  __builtin_prefetch(free_cells, 1);  // prefetches the next one: freed nodes of a large graph are
                                      // in no cache
  return cell;
}

// Inputs whose count reached zero wait here; one loop drains them.
std::vector<Node*>& pending() {
  static auto* list = new std::vector<Node*>;
  return *list;
}
bool draining = false;

bool ending_rules = false;
thread_local bool ends_rules_here = false;

// Rules and origins may own Python callables, whose destruction can run arbitrary code. Those
// without references wait here until all nodes are freed.
struct DeferredDeletions {
  std::vector<std::unique_ptr<Rule>> rules;
  std::vector<std::unique_ptr<Origin>> origins;
};
DeferredDeletions& deferred() {
  static auto* lists = [] {
    // Such code may let another thread run, which may fork. In the child the loop belongs to no
    // thread.
    at_fork(nullptr, nullptr, [] { ending_rules = ends_rules_here; });
    return new DeferredDeletions;
  }();
  return *lists;
}

template <class T>
void end_last(std::vector<std::unique_ptr<T>>* list) {
  const std::unique_ptr<T> last = std::move(list->back());
  list->pop_back();
}

// Rules that are released meanwhile join the list, so a chain of rules ends without recursion.
void end_rules() {
  if (std::exchange(ending_rules, true)) return;
  ends_rules_here = true;
  while (!deferred().rules.empty() || !deferred().origins.empty()) {
    deferred().rules.empty() ? end_last(&deferred().origins) : end_last(&deferred().rules);
  }
  ending_rules = ends_rules_here = false;
}

void drop_inputs(Node* node) {
  for (Node* input : node->inputs()) {
    --input->users;
    if (--input->refs == 0) pending().push_back(input);
  }
  node->inputs_count = 0;
  node->rest.reset();
}

void drain() {
  if (draining) return;
  draining = true;
  auto& list = pending();
  while (!list.empty()) {
    Node* node = list.back();
    list.pop_back();
    drop_inputs(node);
    node->~Node();  // may release further nodes, which join the list
    --live;
    auto* cell = reinterpret_cast<Cell*>(node);
    cell->free = {free_cells, 0};
    free_cells = cell;
    ASAN_POISON_MEMORY_REGION(cell->node + sizeof(Cell::Free), sizeof(Cell) - sizeof(Cell::Free));
  }
  draining = false;
  end_rules();
}

}  // namespace

void end(Rule* rule) {
  deferred().rules.emplace_back(rule);
  if (!draining) end_rules();
}

void end(Origin* origin) {
  deferred().origins.emplace_back(origin);
  if (!draining) end_rules();
}

void free_unused(Node* node) {
  pending().push_back(node);
  drain();
}

void seal(Node* node) {
  drop_inputs(node);
  node->depth = 0;
  drain();
}

// A free cell has 0 where the node had its number.
static_assert(offsetof(NodeHead, seq) == sizeof(Cell*));
Node* NodeHandle::get() const {
  return node_ && node_->seq == seq_ && node_->refs > 0 ? node_
                                                        : nullptr;  // 0: it is about to be freed
}

int64_t live_nodes() { return live; }

void clear_marks() {
  for (Cell* slab : slabs()) {
    for (int i = 0; i < kSlab; ++i) {
      // In a free cell the mark is unused memory, so it may be written.
      auto* node = reinterpret_cast<Node*>(slab[i].node);
      ASAN_UNPOISON_MEMORY_REGION(&node->mark, sizeof node->mark);
      node->mark = 0;
    }
  }
}

uint64_t next_seq() { return last_seq + 1; }

uint64_t reserve_seqs(uint64_t count) {
  const uint64_t first = last_seq + 1;
  last_seq += count;
  return first;
}

Node* new_node() {
  auto* node = new (take_cell()) Node;
  node->seq = ++last_seq;
  node->scope = current_scope();
  ++live;
  return node;
}

}  // namespace pullback
