// Memory of nodes: slabs with a free list, and release by a worklist, so that nothing recurses.
#include "graph/node.h"

#include <mutex>
#include <utility>
#include <vector>

#include "graph/rule.h"

// The address sanitizer does not know our cells: told which are free, it finds who still looks.
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
  Cell* next;
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
      slab[i].next = free_cells;
      free_cells = &slab[i];
    }
  }
  Cell* cell = std::exchange(free_cells, free_cells->next);
  ASAN_UNPOISON_MEMORY_REGION(cell, sizeof(Cell));
  __builtin_prefetch(free_cells, 1);  // the next one: nodes of a large graph die out of the cache
  return cell;
}

// Numbers of threads that ended are given again: a tape looks at nodes from after its own thread's
// start only. Threads past the last number share it.
class ThreadNumbers {
 public:
  uint16_t take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return last_ < UINT16_MAX ? ++last_ : last_;
    const uint16_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give_back(uint16_t number) {
    const std::lock_guard lock(mutex_);
    if (number < UINT16_MAX) free_.push_back(number);
  }

 private:
  std::mutex mutex_;
  std::vector<uint16_t> free_;
  uint16_t last_ = 0;
};

struct ThreadNumber {
  static ThreadNumbers& all() {
    static auto* numbers = new ThreadNumbers;  // threads may end after static objects do
    return *numbers;
  }
  uint16_t number = all().take();
  ThreadNumber() = default;
  ThreadNumber(const ThreadNumber&) = delete;
  ThreadNumber& operator=(const ThreadNumber&) = delete;
  ~ThreadNumber() { all().give_back(number); }
};

// Inputs whose count reached zero wait here; one loop drains them.
std::vector<Node*>& pending() {
  static auto* list = new std::vector<Node*>;
  return *list;
}
bool draining = false;

int threads_wanted = 0;

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
    node->~Node();  // may release a rule and, through it, tensors: they join the list
    --live;
    auto* cell = reinterpret_cast<Cell*>(node);
    cell->next = free_cells;
    free_cells = cell;
    ASAN_POISON_MEMORY_REGION(cell->node + sizeof(void*), sizeof(Cell) - sizeof(void*));
  }
  draining = false;
}

}  // namespace

void free_unused(Node* node) {
  pending().push_back(node);
  drain();
}

void seal(Node* node) {
  drop_inputs(node);
  node->depth = 0;
  drain();
}

uint16_t thread_number() {
  thread_local uint16_t number = 0;  // a plain copy: the object's own access is guarded
  if (number == 0) {
    thread_local const ThreadNumber owned;
    number = owned.number;
  }
  return number;
}

void want_threads(int change) { threads_wanted += change; }

int64_t live_nodes() { return live; }

void clear_marks() {
  for (Cell* slab : slabs()) {
    for (int i = 0; i < kSlab; ++i) {
      // Free cells too: they hold nothing but the next one's address, at their beginning.
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
  if (threads_wanted) node->thread = thread_number();
  ++live;
  return node;
}

}  // namespace pullback
