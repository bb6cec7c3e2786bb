// NativeStores: finds the results that native code need not store in the frame, because later codes
// read them from registers.
//
// A program is translated once with all stores, which notes each store and each read of the frame.
// A store is dropped if nothing in its straight line reads it there, and if what reads its place
// without a store before, in any straight line, comes after a jump that the value does not reach:
// another store overwrites it first. Ranges that are too large only keep stores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace pullback {

class NativeStores {
 public:
  // Before each translation; stores are dropped from the one after find_dropped() on.
  void start() {
    next_ = 0;
    last_.clear();
  }
  // True if the next store, of some bytes, is part of the code.
  bool add(int32_t at, int32_t bytes) {
    if (is_known_) return !dropped_[next_++];
    const auto [last, is_new] = last_.try_emplace(at, next_);
    if (!is_new) {
      if (bytes < all_[last->second].bytes) all_[last->second].read = true;  // in part
      last->second = next_;
    }
    all_.push_back({at, bytes});
    ++next_;
    return true;
  }
  void read(int32_t at, int64_t bytes) {
    if (is_known_) return;
    for (auto store = last_.lower_bound(at - kMostBytes); store != last_.end(); ++store) {
      if (store->first >= at + bytes) break;
      if (store->first + all_[store->second].bytes > at) all_[store->second].read = true;
    }
    const auto same = last_.find(at);
    if (same == last_.end() || all_[same->second].bytes < bytes) exposed_.push_back({at, bytes});
  }
  // At a jump to another straight line.
  void leave() {
    if (is_known_) return;
    for (const auto& [at, store] : last_) all_[store].leaves = true;
  }
  // At the first code of a straight line.
  void forget() { last_.clear(); }

  void find_dropped() {
    std::ranges::sort(exposed_, {}, &Range::at);
    int64_t end = 0;  // ranges to their furthest end so far
    for (Range& range : exposed_) {
      end = std::max(end, range.at + range.bytes);
      range.bytes = end - range.at;
    }
    const auto is_exposed = [&](const Store& store) {
      const auto after = std::ranges::lower_bound(exposed_, store.at + store.bytes, {}, &Range::at);
      if (after == exposed_.begin()) return false;
      const Range& range = *(after - 1);
      return range.at + range.bytes > store.at;
    };
    for (const Store& store : all_) {
      dropped_.push_back(!store.read && !(store.leaves && is_exposed(store)));
    }
    is_known_ = true;
  }

 private:
  static constexpr int32_t kMostBytes = 8;  // of a store
  struct Store {
    int32_t at, bytes;
    bool read = false, leaves = false;
  };
  struct Range {
    int64_t at, bytes;
  };
  std::vector<Store> all_;
  std::map<int32_t, int32_t> last_;  // by place: the last store of the straight line
  std::vector<Range> exposed_;       // what a straight line reads without a store of its own
  std::vector<uint8_t> dropped_;
  int32_t next_ = 0;
  bool is_known_ = false;
};

}  // namespace pullback
