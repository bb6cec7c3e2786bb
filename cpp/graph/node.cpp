#include "graph/node.h"

#include <utility>
#include <vector>

#include "graph/rule.h"

namespace pullback {
namespace {

int64_t live = 0;
uint64_t last_seq = 0;

// Nodes come from slabs that are never given back: a node costs a free-list pop.
constexpr int kSlab = 512;

union Cell {
  Cell* next;
  alignas(Node) unsigned char node[sizeof(Node)];
};
Cell* free_cells = nullptr;

Cell* take_cell() {
  if (!free_cells) {
    auto* slab = new Cell[kSlab];
    for (int i = 0; i < kSlab; ++i) {
      slab[i].next = free_cells;
      free_cells = &slab[i];
    }
  }
  Cell* cell = std::exchange(free_cells, free_cells->next);
  __builtin_prefetch(free_cells, 1);  // the next one: nodes of a large graph die out of the cache
  return cell;
}

// Inputs whose count reached zero wait here; one loop drains them.
std::vector<Node*>& pending() {
  static auto* list = new std::vector<Node*>;
  return *list;
}
bool draining = false;

void drop_inputs(Node* node) {
  for (Node* input : node->inputs()) {
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
    node->~Node();  // may release a rule and, through it, tensors: they join the list
    --live;
    auto* cell = reinterpret_cast<Cell*>(node);
    cell->next = free_cells;
    free_cells = cell;
  }
  draining = false;
}

}  // namespace

void add_ref(Node* node) { ++node->refs; }

void release(Node* node) {
  if (--node->refs) return;
  pending().push_back(node);
  drain();
}

void seal(Node* node) {
  drop_inputs(node);
  node->flags |= kSealed;
  node->depth = 0;
  drain();
}

int64_t live_nodes() { return live; }
uint64_t next_seq() { return last_seq + 1; }

uint64_t reserve_seqs(uint64_t count) {
  const uint64_t first = last_seq + 1;
  last_seq += count;
  return first;
}

Node* new_node() {
  auto* node = new (take_cell()) Node;
  node->seq = ++last_seq;
  ++live;
  return node;
}

}  // namespace pullback
