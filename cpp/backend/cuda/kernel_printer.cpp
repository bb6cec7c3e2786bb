// Prints loads, instructions and stores. m:: in a row is that of the headers of the CPU kernels.
#include "backend/cuda/kernel_printer.h"

#include <string_view>
#include <utility>

#include "backend/cuda/row_text.h"

namespace pullback::cuda {

KernelPrinter::KernelPrinter(const TileGroup& group,
                             const std::vector<std::optional<int64_t>>& folded, bool rows)
    : group_(group), folded_(folded), rows_(rows), required_(folded.size(), 0) {}

void KernelPrinter::require(int32_t value) {
  if (std::exchange(required_[value], 1) || value < leaves() || folded_[value]) return;
  for (const int32_t in : group_.instructions[value - leaves()].in) require(in);
}

DType KernelPrinter::dtype_of(int32_t value) const {
  if (value < loads()) return group_.loads[value].dtype;
  if (value < leaves()) return group_.scalars[value - loads()].dtype;
  return group_.instructions[value - leaves()].result;
}

// A fold of a single element is a cast.
bool KernelPrinter::is_cast(const Instruction& instruction) const {
  return instruction.op == Op::cast || is_fold(instruction.op);
}

void KernelPrinter::print_load(int32_t value) {
  const View& view = group_.loads[value];
  const char* const type = type_of(view.dtype);
  const std::string pointer = parameter(text("const ", type, "* l", value), {.view = &view});
  const bool elements = group_.length == 1 || view.shape.size() == group_.count;
  const std::string offset = offset_of(view, elements || rows_ ? "i" : "row");
  line("const ", type, " v", value, " = ", pointer, "[", offset, "];");
}

void KernelPrinter::print_row(Op op) {
  if (!printed_.insert(op).second) return;
  const RowText row = row_text(op);
  static constexpr const char* kTypes[] = {"", "T a", "T a, T b", "P a, T b, T c"};
  function(text("template <", row.operands == 3 ? "class P, " : "",
                "class T> PULLBACK_INLINE auto row_", name_of(op), "(", kTypes[row.operands],
                ") { return ", row.value, "; }\n"));
  if (std::string_view(row.value).find("m::") != std::string_view::npos) use_functions();
}

void KernelPrinter::print_instruction(int32_t value, const Instruction& instruction) {
  const Op op = instruction.op;
  const char* const type = type_of(instruction.dtype);
  const char* const result = type_of(instruction.result);
  std::string arguments;
  for (const int32_t in : instruction.in) arguments += text(arguments.empty() ? "v" : ", v", in);
  if (is_cast(instruction)) {
    use_functions();
    line("const ", result, " v", value, " = ",
         cast_text(instruction.dtype, instruction.result, arguments), ";");
    return;
  }
  if (op == Op::place) {  // of a value and a position for each row
    line("const ", result, " v", value, " = i - row * length == static_cast<uint64_t>(v",
         instruction.in[1], ") ? v", instruction.in[0], " : ", result, "(0);");
    return;
  }
  print_row(op);
  std::string types = type;
  if (wraps(op) && is_signed(instruction.dtype)) types = text("u", type);
  if (wraps(op) && is_storage(instruction.dtype)) types = "uint32_t";  // a product fits no int
  if (row_text(op).operands == 3) {
    types = text(op == Op::where ? type_of(dtype_of(instruction.in[0])) : type, ", ", types);
  }
  line("const ", result, " v", value, " = static_cast<", result, ">(row_", name_of(op), "<", types,
       ">(", arguments, "));");
}

void KernelPrinter::print_values() {
  if (group_.length > 1 && !rows_) {
    line("const uint64_t row = i / ",
         parameter("uint64_t length", {.bits = static_cast<uint64_t>(group_.length)}), ";");
  }
  for (int32_t value = 0; value < static_cast<int32_t>(required_.size()); ++value) {
    if (!required_[value]) continue;
    const char* const type = type_of(dtype_of(value));
    if (value < loads()) {
      print_load(value);
    } else if (value < leaves()) {
      parameter(text("const ", type, " v", value), {.scalar = &group_.scalars[value - loads()]});
    } else if (const std::optional<int64_t>& folded = folded_[value]; folded) {
      const std::string pointer =
          parameter(text("const ", type, "* f", value),
                    {.scratch = true, .bits = static_cast<uint64_t>(*folded)});
      line("const ", type, " v", value, " = ", pointer, rows_ ? "[i];" : "[row];");
    } else {
      print_instruction(value, group_.instructions[value - leaves()]);
    }
  }
}

void KernelPrinter::print_store(const Store& store) {
  const std::string pointer =
      parameter(text(type_of(store.view.dtype), "* o", stores_++), {.view = &store.view});
  const std::string offset = offset_of(store.view, "i");
  line(pointer, "[", offset, "] = v", store.value, ";");
}

}  // namespace pullback::cuda
