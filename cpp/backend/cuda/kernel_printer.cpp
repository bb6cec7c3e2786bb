// Prints loads, instructions and stores. m:: in a row is that of the headers of the CPU kernels.
#include "backend/cuda/kernel_printer.h"

#include <string_view>
#include <utility>

#include "backend/cpu/tiles/strided.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {

KernelPrinter::KernelPrinter(const TileGroup& group,
                             const std::vector<std::optional<int64_t>>& folded, bool rows)
    : group_(group), folded_(folded), rows_(rows), required_(folded.size(), 0) {}

void KernelPrinter::require(int32_t value) {
  if (std::exchange(required_[value], 1) || value < leaves() || folded_[value]) return;
  for (const int32_t in : group_.instructions[value - leaves()].in) require(in);
}

std::string KernelPrinter::parameter(const std::string& declaration,
                                     KernelText::Parameter parameter) {
  parameters_ += ", " + declaration;
  out_.parameters.push_back(parameter);
  return declaration.substr(declaration.rfind(' ') + 1);
}

std::string KernelPrinter::size(int64_t size) {
  return parameter(text("int64_t n", sizes_++), {.bits = static_cast<uint64_t>(size)});
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

// The offset of entry `index` of a view, as an expression; may print lines before.
std::string KernelPrinter::offset_of(const View& view, const std::string& index) {
  const Axes axes = merged_axes(view);
  const auto times = [&](const std::string& position, int64_t stride) {
    if (stride == 1) return position;
    return text("static_cast<int64_t>(", position, ") * ", size(stride));
  };
  if (axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0)) return "0";
  if (axes.rank == 1) return times(index, axes.stride[0]);
  const int number = offsets_++;
  const std::string rest = text("q", number), at = text("at", number);
  line("uint64_t ", rest, " = ", index, ";");
  line("int64_t ", at, " = 0;");
  for (int axis = axes.rank; axis-- > 0;) {
    const std::string dim = axis ? size(axes.dim[axis]) : "";
    if (axes.stride[axis] != 0) {
      const std::string position = axis ? text("(", rest, " % ", dim, ")") : rest;
      line(at, " += ", times(position, axes.stride[axis]), ";");
    }
    if (axis) line(rest, " /= ", dim, ";");
  }
  return at;
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
  functions_ +=
      text("template <", row.operands == 3 ? "class P, " : "", "class T> PULLBACK_INLINE auto row_",
           name_of(op), "(", kTypes[row.operands], ") { return ", row.value, "; }\n");
  uses_functions_ |= std::string_view(row.value).find("m::") != std::string_view::npos;
}

void KernelPrinter::print_instruction(int32_t value, const Instruction& instruction) {
  const Op op = instruction.op;
  const char* const type = type_of(instruction.dtype);
  const char* const result = type_of(instruction.result);
  std::string arguments;
  for (const int32_t in : instruction.in) arguments += text(arguments.empty() ? "v" : ", v", in);
  if (is_cast(instruction)) {
    uses_functions_ = true;
    line("const ", result, " v", value, " = m::cast<", result, ", ", type, ">(", arguments, ");");
    return;
  }
  print_row(op);
  std::string types = type;
  if (wraps(op) && is_signed(instruction.dtype)) types = text("u", type);
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
    } else if (folded_[value]) {
      const std::string pointer =
          parameter(text("const ", type, "* f", value),
                    {.scratch = true, .bits = static_cast<uint64_t>(*folded_[value])});
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

KernelText KernelPrinter::finish(int64_t count) {
  out_.count = count;
  out_.parameters.insert(out_.parameters.begin(), {.bits = static_cast<uint64_t>(count)});
  out_.text = kernel_text(uses_functions_, functions_, parameters_, body_);
  return std::move(out_);
}

std::string kernel_text(bool uses_functions, const std::string& functions,
                        const std::string& parameters, const std::string& body) {
  return text("#include \"backend/cuda/device_prelude.h\"\n#include \"backend/cpu/kernels/",
              uses_functions ? "vec_math.h" : "vec_exp.h", "\"\nusing namespace pullback;\n",
              functions, "PULLBACK_KERNEL(", kKernelName, ", (uint64_t count", parameters,
              ")) {\nfor (uint64_t t = device::first(); t < count; t += device::stride()) {\n",
              body, "}\n}\n");
}

}  // namespace pullback::cuda
