// Fusion in six passes over nodes sorted by creation, each linear or n log n:
//
//   depths     the schedule depth of each node: how many values must be finished before it, in turn
//   cheap      values that cost less to compute again than to store and load
//   sink       moves nodes whose value is used at larger depths only to the smallest of these
//   group      nodes of one iteration domain and one depth become a group
//   cut        divides groups that are too long for the first-level cache where few values are live
//   schedule   an order near the program's own; a group follows the product that it waits for
#include "plan/passes/fuse.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace pullback {
namespace {

class Fuser {
 public:
  Fuser(const Analysis& a, const Limits& limits) : analysis_(a), limits_(limits), size_(a.size()) {}

  Fusion run() {
    out_.domains = find_iteration_domains(analysis_, limits_);
    find_depths();
    find_cheap();
    sink();
    group();
    cut();
    schedule();
    return std::move(out_);
  }

 private:
  const IterationDomains& domains() const { return out_.domains; }
  bool inside(uint32_t i, const Read& read) const { return domains().inside(analysis_, i, read); }
  static uint64_t key(uint32_t domain, uint32_t depth) {
    return static_cast<uint64_t>(domain) << 32 | depth;
  }

  uint32_t depth_after(uint32_t i) const {
    uint32_t depth = 0;
    for (const Read& read : analysis_.reads(i)) {
      if (!analysis_.computed(read.base)) continue;
      const bool together = analysis_.tile(i) && inside(i, read);
      depth = std::max(depth, depth_[read.base] + !together);
    }
    return depth;
  }

  void find_depths() {
    depth_.assign(size_, 0);
    // A group with a general reduction contains no other reduction.
    std::unordered_map<uint64_t, FoldKind> folds;
    for (uint32_t i = 0; i < size_; ++i) {
      if (!analysis_.computed(i)) continue;
      depth_[i] = depth_after(i);
      if (!analysis_.tile(i)) continue;
      const FoldKind kind = domains().fold[i];
      if (kind != FoldKind::End && kind != FoldKind::General) continue;
      const auto [it, first] = folds.try_emplace(key(domains().domain[i], depth_[i]), kind);
      if (first || (kind == FoldKind::End && it->second == FoldKind::End)) continue;
      out_.domains.domain[i] = static_cast<uint32_t>(out_.domains.count.size());
      out_.domains.count.push_back(analysis_.views.elements(analysis_.reads(i)[0].view));
      out_.domains.length.push_back(1);
      out_.domains.row[i] = 0;
      depth_[i] = depth_after(i);
    }
  }

  // Cheap to compute again, in a large domain: arithmetic on numbers, on much smaller values, and
  // on at most one argument of the plan, directly or through a few such operations.
  void find_cheap() {
    constexpr uint32_t kNothing = UINT32_MAX;
    std::vector<uint32_t> chain(size_, 0);
    std::vector<uint32_t> argument(size_, kNothing);
    out_.cheap.assign(size_, 0);
    for (uint32_t i = 0; i < size_; ++i) {
      if (analysis_.kind[i] != Analysis::Elementwise || analysis_.stored[i] || domains().row[i] ||
          analysis_.elements(i) < limits_.large_domain ||
          traits(analysis_.node(i)->op).cost != Cost::Arithmetic) {
        continue;
      }
      bool cheap = true;
      for (const Read& read : analysis_.reads(i)) {
        const uint32_t base = read.base;
        if (analysis_.elements(base) <= analysis_.elements(i) / 16) continue;
        const bool known = analysis_.kind[base] == Analysis::Input ||
                           (out_.cheap[base] && analysis_.is_flat(read));
        const uint32_t from = analysis_.kind[base] == Analysis::Input ? base : argument[base];
        cheap &= known && (argument[i] == kNothing || from == kNothing || argument[i] == from);
        if (from != kNothing) argument[i] = from;
        chain[i] = std::max(chain[i], chain[base]);
      }
      out_.cheap[i] = cheap && ++chain[i] <= limits_.repeated;
    }
  }

  // Moves nodes whose value is used at larger depths only to the smallest of these, if no more
  // memory is needed: their operands are in memory anyway, or moves as well because it has no
  // earlier reader, or (in a large domain) takes no more memory than they do.
  void sink() {
    constexpr uint32_t kNever = UINT32_MAX;
    std::vector<uint32_t> unseen(size_, 0);          // uses by nodes that are not decided yet
    std::vector<uint32_t> first_use(size_, kNever);  // smallest depth of the decided uses
    std::vector<uint8_t> joins(size_, 1);            // whether it could be computed there
    for (uint32_t i = 0; i < size_; ++i) {
      for (const Read& read : analysis_.reads(i)) ++unseen[read.base];
    }
    const auto movable = [&](uint32_t i) {
      const uint32_t to = first_use[i];
      if (to == kNever || to <= depth_[i] || !joins[i]) return false;
      const bool stored = analysis_.stored[i] || out_.cheap[i];
      const bool large = analysis_.elements(i) >= limits_.large_domain;
      int64_t saved = large && !stored ? analysis_.node(i)->bytes() : 0;
      uint32_t counted = kNever;
      for (const Read& read : analysis_.reads(i)) {
        const uint32_t base = read.base;
        if (base == counted) continue;
        const bool in_memory = !analysis_.tile(base) || analysis_.stored[base] ||
                               depth_[base] < depth_[i] || out_.cheap[base];
        const bool follows = unseen[base] == 1 && first_use[base] >= to;
        if (in_memory || follows) continue;
        saved -= analysis_.node(base)->bytes();
        counted = base;
        if (saved < 0) return false;
      }
      return true;
    };
    for (uint32_t i = size_; i-- > 0;) {
      if (!analysis_.computed(i)) continue;
      if (analysis_.tile(i) && movable(i)) depth_[i] = first_use[i];
      for (const Read& read : analysis_.reads(i)) {
        const uint32_t base = read.base;
        --unseen[base];
        if (!analysis_.tile(base)) continue;
        const bool together = analysis_.tile(i) && inside(i, read);
        if (depth_[i] < first_use[base]) {
          first_use[base] = depth_[i];
          joins[base] = together;
        } else if (depth_[i] == first_use[base]) {
          joins[base] &= together;
        }
      }
    }
  }

  void group() {
    std::unordered_map<uint64_t, int32_t> groups;
    out_.group_of.assign(size_, -1);
    for (uint32_t i = 0; i < size_; ++i) {
      if (!analysis_.computed(i)) continue;
      auto group = static_cast<int32_t>(out_.groups.size());
      if (analysis_.tile(i)) {
        const uint32_t domain = domains().domain[i];
        group = groups.try_emplace(key(domain, depth_[i]), group).first->second;
        if (group == static_cast<int32_t>(out_.groups.size())) {
          out_.groups.push_back({true, domains().count[domain], domains().length[domain], {}, -1});
        }
      } else {
        out_.groups.push_back({});
      }
      out_.groups[group].members.push_back(i);
      out_.group_of[i] = group;
    }
  }

  // Divides long groups into parts that run one after the other: in a large domain every live value
  // of a group takes a tile of the nearest cache.
  void cut() {
    std::vector<uint32_t> last_use(size_, 0);
    const size_t groups = out_.groups.size();
    for (size_t g = 0; g < groups; ++g) {
      if (!out_.groups[g].tiles || out_.groups[g].count < limits_.large_domain ||
          out_.groups[g].members.size() <= limits_.long_group) {
        continue;
      }
      const std::vector<uint32_t> members = std::move(out_.groups[g].members);
      for (uint32_t i : members) {
        last_use[i] = i;
        for (const Read& read : analysis_.reads(i)) {
          if (out_.group_of[read.base] == static_cast<int32_t>(g)) last_use[read.base] = i;
        }
      }
      std::vector<uint32_t> ends;  // last uses of the live values, as a heap
      std::vector<uint32_t> part;
      const auto finish = [&] {
        FusionGroup group{true, out_.groups[g].count, out_.groups[g].length, std::move(part), -1};
        part.clear();
        for (uint32_t i : group.members) {
          out_.group_of[i] = static_cast<int32_t>(out_.groups.size());
        }
        out_.groups.push_back(std::move(group));
      };
      for (uint32_t i : members) {
        part.push_back(i);
        ends.push_back(last_use[i]);
        std::push_heap(ends.begin(), ends.end(), std::greater<>());
        while (!ends.empty() && ends.front() <= i) {
          std::pop_heap(ends.begin(), ends.end(), std::greater<>());
          ends.pop_back();
        }
        if (part.size() >= limits_.longest_group ||
            (part.size() >= limits_.long_group && ends.size() <= limits_.few_live)) {
          finish();
        }
      }
      // The last part replaces the whole.
      out_.groups[g].members = std::move(part);
    }
    std::erase_if(out_.groups, [](const FusionGroup& group) { return group.members.empty(); });
    for (size_t g = 0; g < out_.groups.size(); ++g) {
      for (uint32_t i : out_.groups[g].members) out_.group_of[i] = static_cast<int32_t>(g);
    }
  }

  static bool has_epilogue(Op op) { return op == Op::matmul || op == Op::convolve; }

  // True if group `next` can run on the result of the product while that is being computed.
  bool follows(uint32_t product, const FusionGroup& next) const {
    if (!next.tiles || next.count != analysis_.elements(product) || next.count == 0) return false;
    bool reads = false;
    for (uint32_t i : next.members) {
      if (domains().fold[i] == FoldKind::General) return false;
      for (const Read& read : analysis_.reads(i)) {
        if (read.base != product) continue;
        if (!analysis_.is_flat(read)) return false;
        reads = true;
      }
    }
    return reads;
  }

  // Every order that respects reads is valid. Oldest first keeps little memory alive, since it is
  // nearly the order of the program. A group follows the product that it waits for. Units of one
  // element run first: an optimizer's rate must be known when the first gradient is.
  void schedule() {
    const size_t groups = out_.groups.size();
    std::vector<std::vector<uint32_t>> readers(groups);
    std::vector<uint32_t> waits(groups, 0);
    for (uint32_t i = 0; i < size_; ++i) {
      for (const Read& read : analysis_.reads(i)) {
        const int32_t from = out_.group_of[read.base];
        if (from < 0 || from == out_.group_of[i]) continue;
        if (!readers[from].empty() &&
            readers[from].back() == static_cast<uint32_t>(out_.group_of[i])) {
          continue;
        }
        readers[from].push_back(static_cast<uint32_t>(out_.group_of[i]));
        ++waits[out_.group_of[i]];
      }
    }
    using Entry = std::pair<uint32_t, uint32_t>;  // newest member, group
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto push = [&](uint32_t g) {
      const FusionGroup& group = out_.groups[g];
      ready.push({group.tiles && group.count == 1 ? 0 : group.members.back(), g});
    };
    for (uint32_t g = 0; g < groups; ++g) {
      if (waits[g] == 0) push(g);
    }
    std::vector<uint32_t> order;
    order.reserve(groups);
    // Returns the epilogue, if g is a product that has one.
    const auto run = [&](uint32_t g, bool may_have_epilogue) {
      order.push_back(g);
      const uint32_t newest = out_.groups[g].members.back();
      const bool product = may_have_epilogue && has_epilogue(analysis_.node(newest)->op);
      int64_t epilogue = -1;
      for (uint32_t reader : readers[g]) {
        if (--waits[reader] != 0) continue;
        if (product && epilogue < 0 && follows(newest, out_.groups[reader])) {
          epilogue = reader;
        } else {
          push(reader);
        }
      }
      return epilogue;
    };
    while (!ready.empty()) {
      const uint32_t g = ready.top().second;
      ready.pop();
      const int64_t epilogue = run(g, true);
      if (epilogue < 0) continue;
      out_.groups[g].epilogue =
          static_cast<int32_t>(order.size());  // its position in the new order
      run(static_cast<uint32_t>(epilogue), false);
    }
    std::vector<FusionGroup> sorted;
    sorted.reserve(groups);
    for (uint32_t g : order) sorted.push_back(std::move(out_.groups[g]));
    out_.groups = std::move(sorted);
    for (size_t g = 0; g < groups; ++g) {
      for (uint32_t i : out_.groups[g].members) out_.group_of[i] = static_cast<int32_t>(g);
    }
  }

  const Analysis& analysis_;
  const Limits& limits_;
  uint32_t size_;
  Fusion out_;
  std::vector<uint32_t> depth_;
};

}  // namespace

Fusion fuse(const Analysis& analysis, const Limits& limits) {
  return Fuser(analysis, limits).run();
}

}  // namespace pullback
