// A tile group: a straight-line program of elementwise operations over `count` elements.
//
// The elements lie in row-major order and are seen as rows of `length` (1 if rows are of no
// importance). A value has one entry an element or one entry a row. Values are numbered: first the
// loads, then the scalars, then the instructions. A load's view has `count` or `rows` elements in
// row-major order, whatever its own shape is, so reshapes cost nothing. Instructions over elements
// may read values over rows: each entry is repeated along its row. Folds turn elements into rows,
// so a softmax with its gradient is one group.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "graph/op.h"
#include "plan/operand.h"

namespace pullback {

struct Instruction {
  // Numbers of values.
  class Inputs {
   public:
    Inputs() = default;
    Inputs(std::initializer_list<int32_t> of) {
      for (const int32_t value : of) push_back(value);
    }
    void push_back(int32_t value) { of_[count_++] = value; }
    int size() const { return count_; }
    int32_t& operator[](int k) { return of_[k]; }
    int32_t operator[](int k) const { return of_[k]; }
    int32_t* begin() { return of_; }
    int32_t* end() { return of_ + count_; }
    const int32_t* begin() const { return of_; }
    const int32_t* end() const { return of_ + count_; }

   private:
    int32_t of_[3] = {};
    uint8_t count_ = 0;
  };

  Op op;         // elementwise, cast; over rows also sum, max, min, all, any of elements in[0] and
                 // pick (entry in[1] of each row of in[0]); over elements also place (in[0] of each
                 // row at its entry in[1], zeros elsewhere)
  DType dtype;   // compute dtype (`where`: of its branches; cast, folds: of the input)
  DType result;  // dtype of the value
  Inputs in;
  bool row = false;  // its value has one entry a row
};

struct ScalarLoad {
  std::optional<RunScalar> scalar;  // without one, it is `constant`
  DType dtype;                      // floats are read from Scalar::f, the others from Scalar::i
  Scalar constant{};

  const auto& operand() const { return scalar; }
};

// The view may be the memory of a flat load that no instruction reads after the value is computed:
// the group then works in place.
struct Store {
  int32_t value;
  View view;  // as many elements as the value has entries; row-major with offset 0, or in order of
              // memory in a slot that the group neither reads nor writes in the same place

  const View& operand() const { return view; }
};

// The value's entries, seen as [outer, reduced, inner], folded over the middle axis into out =
// [outer, inner], which is known only when the group is done.
struct Reduction {
  Op op;  // of kind Fold
  int32_t value;
  DType dtype;  // of the value; out.dtype may differ (sums of bool and int32 are int64)
  int64_t outer, reduced, inner;
  View out;  // row-major, offset 0

  const View& operand() const { return out; }
};

// One reduction may have any form if length is 1. Otherwise each folds everything (outer = inner =
// 1) or the columns of elements (outer = 1, inner = length).
struct TileGroup {
  int64_t count = 0;
  int64_t length = 1;
  std::vector<View> loads;
  std::vector<ScalarLoad> scalars;
  std::vector<Instruction> instructions;
  std::vector<Store> stores;
  std::vector<Reduction> reductions;

  int64_t rows() const { return count / length; }

  // See plan/steps.h.
  static constexpr const char* kKind = "tiles";
  auto operands() const {
    return std::tuple(strided(loads), dense(scalars), Operand{stores, kWriteStrided},
                      written(reductions));
  }
  bool can_fail() const;
  int64_t operations() const;
  std::string title() const;
  void check(const Require&) const {}  // verify_group() checks groups
  int64_t bytes() const { return bytes_of(instructions); }
};

// True if it can fail at run time.
bool can_fail(const Instruction& instruction);

}  // namespace pullback
