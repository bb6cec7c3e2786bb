// TileCompiler: compiles a tile group to a TileProgram. tile_program.cpp allocates places and
// registers, tile_emit.cpp emits the code of each instruction. Start at TileCompiler::compile
// (tile_program.cpp) and emit().
#pragma once

#include <utility>
#include <vector>

#include "backend/common/slots.h"
#include "backend/cpu/tiles/tile_program.h"
#include "backend/cpu/tiles/tile_values.h"

namespace pullback {

class TileCompiler {
 public:
  TileCompiler(const TileGroup& group, TileOrder order)
      : group_(group),
        order_(order),
        values_(group),
        place_(values_.size(), -1),
        spread_(values_.size(), -1),
        owns_(values_.size(), 0) {}
  TileProgram compile();

 private:
  using Kind = TileProgram::Kind;
  using Code = TileProgram::Code;

  int32_t leaves() const { return values_.leaves(); }
  int64_t per_row(bool row, int64_t element) const {
    return row ? element : element * program_.length;
  }
  int32_t new_place() { return program_.places++; }
  int32_t direct(const View& view, int64_t per_row);
  int32_t take_register(bool row, int64_t element);
  void give_register(bool row, int64_t element, int32_t place);
  void free_if_dead(int32_t value, int32_t now);

  void choose_segment();
  void place_load(int32_t value);
  void bring(int32_t value);
  bool repeats(const ValueInfo& info);
  // The place of a value, over rows or over elements. Emits the code that loads or spreads it.
  int32_t operand(int32_t value, bool row);
  int32_t destination(int32_t value);

  Code& add_code(Kind kind, bool row, double cost);
  void emit(int32_t index);
  void emit_elementwise(int32_t index, Code code);
  bool emit_arithmetic(int32_t index);
  bool emit_product_sum(int32_t index);
  bool emit_sum_of_products(int32_t index);
  void emit_pair(int32_t index, int32_t partner);
  void emit_partner(int32_t index);
  void emit_rows(int32_t index);
  void emit_placed(int32_t index);
  std::pair<Fold, int32_t> find_fold(Op op, DType dtype, int32_t value) const;
  void emit_fold(const Fold& fold, DType value, DType result, int64_t reduced, int64_t inner,
                 int32_t in, int32_t out);
  void emit_scatter(int32_t index);
  Code& add_interleave(Kind kind, const View& first, const std::vector<int32_t>& columns, bool row);
  void store_leaves();
  void place_reductions();
  void choose_tile();

  const TileGroup& group_;
  const TileOrder order_;
  const TileValues values_;
  TileProgram program_;
  std::vector<int32_t> place_;   // of each value; -1: none yet
  std::vector<int32_t> spread_;  // per value over rows: the register with its repeated entries
  std::vector<uint8_t> owns_;    // place_ is a register
  std::vector<int32_t> free_[2][kSizes];  // free registers by level and size
  std::vector<int32_t> gather_;           // per load: its source, until it is gathered
};

}  // namespace pullback
