// Interned strided views: while planning, a Read is eight bytes, the node that owns the memory and
// the number of a view into it. A graph of a million nodes has few different views, so each is
// stored once (StridedViews), and equal reads have equal numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/view.h"

namespace pullback {

struct Read {
  uint32_t base = 0;  // position of the node that owns the memory
  uint32_t view = 0;  // number in StridedViews

  bool operator==(const Read& other) const = default;
};

// A hash table of numbers, by open addressing: equal items share the number of the first.
class InternTable {
 public:
  InternTable() : places_(64) {}

  // The first item with this hash for which `equal(item)` is true; else stores and returns this
  // one.
  template <class Equal>
  uint32_t find(uint64_t hash, uint32_t item, const Equal& equal) {
    if (2 * ++count_ > places_.size()) grow();
    for (size_t at = start(hash);; at = next(at)) {
      Place& place = places_[at];
      if (place.item == kEmpty) {
        place = {hash, item};
        return item;
      }
      if (place.hash == hash && equal(place.item)) {
        --count_;
        return place.item;
      }
    }
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  struct Place {
    uint64_t hash = 0;
    uint32_t item = kEmpty;
  };

  size_t start(uint64_t hash) const { return (hash ^ hash >> 32) & (places_.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (places_.size() - 1); }
  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.item == kEmpty) continue;
      size_t at = start(place.hash);
      while (places_[at].item != kEmpty) at = next(at);
      places_[at] = place;
    }
  }

  std::vector<Place> places_;
  size_t count_ = 0;
};

class StridedViews {
 public:
  uint32_t number(Strided strided);
  // The view of all of a row-major array; nodes of one shape often follow each other, so the last
  // is cached.
  uint32_t whole(const Shape& shape) {
    if (last_whole_ >= views_.size() || !(views_[last_whole_].strided.shape == shape)) {
      last_whole_ = number(pullback::whole(shape));
    }
    return last_whole_;
  }

  const Strided& operator[](uint32_t number) const { return views_[number].strided; }
  int64_t elements(uint32_t number) const { return views_[number].elements; }
  bool is_flat(uint32_t number) const { return views_[number].flat; }

 private:
  struct Known {
    Strided strided;
    int64_t elements;
    bool flat;
  };

  std::vector<Known> views_;
  InternTable interned_;
  uint32_t last_whole_ = UINT32_MAX;
};

}  // namespace pullback
