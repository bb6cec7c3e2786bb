// Prints kernel texts. A row of elementwise.def is printed as the function that the CPU compiles,
// and m:: is that of the CPU's headers.
#include "backend/cuda/group_text.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "backend/cpu/tiles/strided.h"
#include "base/error.h"

namespace pullback::cuda {
namespace {

// A kernel has at most 4 KiB of parameters.
constexpr size_t kMostParameters = 512;

struct Row {
  const char* value;
  int operands;
};

Row row_of(Op op) {
  switch (op) {
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                      \
    return {#value, 1};
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                       \
    return {#value, 2};
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                        \
    return {#value, 3};
#include "graph/elementwise.def"
    default:
      return {nullptr, 0};
  }
}

// True if the value of a row calls functions that are compiled once for all processors (special::),
// for all or a part of its domain.
bool has_only_host_code(Op op, std::string_view value) {
  switch (op) {
    case Op::gammaln:
    case Op::digamma:
    case Op::polygamma:
    case Op::gamma:
    case Op::gamma_nth:
    case Op::rgamma:
    case Op::rgamma_nth:
    case Op::betaln:
    case Op::beta:
    case Op::zeta:
    case Op::zeta_dq:
    case Op::zeta_ds:
    case Op::erfcx_derivative:
    case Op::sinc:
    case Op::sinc_derivative:
    case Op::j0:
    case Op::j1:
    case Op::y0:
    case Op::y1:
    case Op::jn:
    case Op::jn_derivative:
    case Op::yn:
    case Op::yn_derivative:
    case Op::iv:
    case Op::ive:
    case Op::ive_derivative:
      return true;
    default:
      return value.starts_with("special::");
  }
}

// Overflow of signed numbers is undefined in CUDA C++, so these are computed with unsigned ones.
bool wraps(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::negative ||
         op == Op::square;
}

bool is_signed(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

// Null for a dtype that kernels do not compute.
const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "uint8_t";
    case DType::Int32:
      return "int32_t";
    case DType::Int64:
      return "int64_t";
    case DType::UInt64:
      return "uint64_t";
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
    default:
      return nullptr;
  }
}

class Printer {
 public:
  explicit Printer(const TileGroup& group) : group_(group) {}

  std::variant<GroupText, std::string> print() {
    if (std::string reason = refusal(); !reason.empty()) return reason;
    add_parameter("uint64_t count", {.bits = static_cast<uint64_t>(group_.count)});
    if (group_.length > 1) {
      add_parameter("uint64_t length", {.bits = static_cast<uint64_t>(group_.length)});
    }
    for (const View& view : group_.loads) print_load(view);
    for (const ScalarLoad& scalar : group_.scalars) {
      const std::string name = new_value(scalar.dtype);
      add_parameter(text("const ", type_of(scalar.dtype), " ", name), {.scalar = &scalar});
    }
    for (const Instruction& instruction : group_.instructions) print_instruction(instruction);
    for (const Store& store : group_.stores) print_store(store);
    if (out_.parameters.size() > kMostParameters) return std::string("its number of operands");
    out_.text =
        text("#include \"backend/cuda/device_prelude.h\"\n#include \"backend/cpu/kernels/",
             uses_functions_ ? "vec_math.h" : "vec_exp.h", "\"\nusing namespace pullback;\n", rows_,
             "PULLBACK_KERNEL(", kKernelName, ", (", parameters_,
             ")) {\n  for (uint64_t i = device::first(); i < count; i += device::stride()) {\n",
             group_.length > 1 ? "    const uint64_t row = i / length;\n" : "", body_, "  }\n}\n");
    return std::move(out_);
  }

 private:
  // What the group has that a kernel has not; empty if there is nothing.
  std::string refusal() const {
    if (!group_.reductions.empty()) return name_of(group_.reductions.front().op);
    const auto unknown = [](DType dtype) { return !type_of(dtype); };
    for (const View& view : group_.loads) {
      if (unknown(view.dtype)) return name_of(view.dtype);
    }
    for (const ScalarLoad& scalar : group_.scalars) {
      if (unknown(scalar.dtype)) return name_of(scalar.dtype);
    }
    for (const Instruction& instruction : group_.instructions) {
      const Op op = instruction.op;
      const Row row = row_of(op);
      if (op != Op::cast && (!row.value || has_only_host_code(op, row.value))) return name_of(op);
      // The absolute value of the smallest integer overflows.
      if (can_fail(instruction) || (op == Op::abs && is_signed(instruction.dtype))) {
        return name_of(op);
      }
      if (unknown(instruction.dtype)) return name_of(instruction.dtype);
      if (unknown(instruction.result)) return name_of(instruction.result);
    }
    for (const Store& store : group_.stores) {
      if (unknown(store.view.dtype)) return name_of(store.view.dtype);
      // Its memory may be that of a load, which other threads of the row still read.
      if (group_.length > 1 && store.view.shape.size() != group_.count) return "a store of rows";
    }
    return {};
  }

  void add_parameter(const std::string& declaration, GroupText::Parameter parameter) {
    parameters_ += (out_.parameters.empty() ? "" : ", ") + declaration;
    out_.parameters.push_back(parameter);
  }
  std::string size_parameter(int64_t size) {
    const std::string name = text("n", sizes_++);
    add_parameter("int64_t " + name, {.bits = static_cast<uint64_t>(size)});
    return name;
  }
  std::string new_value(DType dtype) {
    types_.push_back(dtype);
    return text("v", types_.size() - 1);
  }
  template <class... Parts>
  void line(const Parts&... parts) {
    body_ += text("    ", parts..., "\n");
  }

  // The offset of entry `index` of a view, as an expression; may print lines before.
  std::string offset_of(const View& view, const std::string& index) {
    const Axes axes = merged_axes(view);
    const auto times = [&](const std::string& position, int64_t stride) {
      return stride == 1 ? position
                         : text("static_cast<int64_t>(", position, ") * ", size_parameter(stride));
    };
    if (axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0)) return "0";
    if (axes.rank == 1) return times(index, axes.stride[0]);
    const int number = offsets_++;
    const std::string rest = text("q", number), at = text("at", number);
    line("uint64_t ", rest, " = ", index, ";");
    line("int64_t ", at, " = 0;");
    for (int axis = axes.rank; axis-- > 0;) {
      const std::string size = axis ? size_parameter(axes.dim[axis]) : "";
      if (axes.stride[axis] != 0) {
        const std::string position = axis ? text(rest, " % ", size) : rest;
        line(at, " += ", times(axis ? "(" + position + ")" : position, axes.stride[axis]), ";");
      }
      if (axis) line(rest, " /= ", size, ";");
    }
    return at;
  }

  void print_load(const View& view) {
    const std::string name = new_value(view.dtype), pointer = "l" + name.substr(1);
    const char* const type = type_of(view.dtype);
    add_parameter(text("const ", type, "* ", pointer), {.view = &view});
    const bool elements = group_.length == 1 || view.shape.size() == group_.count;
    const std::string offset = offset_of(view, elements ? "i" : "row");
    line("const ", type, " ", name, " = ", pointer, "[", offset, "];");
  }

  void print_row(Op op, const Row& row) {
    if (!printed_.insert(op).second) return;
    static constexpr const char* kTypes[] = {"", "T a", "T a, T b", "P a, T b, T c"};
    rows_ += text("template <", row.operands == 3 ? "class P, " : "",
                  "class T> PULLBACK_INLINE auto row_", name_of(op), "(", kTypes[row.operands],
                  ") { return ", row.value, "; }\n");
    uses_functions_ |= std::string_view(row.value).find("m::") != std::string_view::npos;
  }

  void print_instruction(const Instruction& instruction) {
    const Op op = instruction.op;
    const char* const type = type_of(instruction.dtype);
    const char* const result = type_of(instruction.result);
    std::string arguments;
    for (const int32_t in : instruction.in) arguments += text(arguments.empty() ? "v" : ", v", in);
    const DType condition = types_[instruction.in[0]];
    const std::string name = new_value(instruction.result);
    if (op == Op::cast) {
      uses_functions_ = true;
      line("const ", result, " ", name, " = m::cast<", result, ", ", type, ">(", arguments, ");");
      return;
    }
    const Row row = row_of(op);
    print_row(op, row);
    std::string types = type;
    if (wraps(op) && is_signed(instruction.dtype)) types = text("u", type);
    if (row.operands == 3) types = text(op == Op::where ? type_of(condition) : type, ", ", types);
    line("const ", result, " ", name, " = static_cast<", result, ">(row_", name_of(op), "<", types,
         ">(", arguments, "));");
  }

  void print_store(const Store& store) {
    const std::string pointer = text("o", stores_++);
    add_parameter(text(type_of(store.view.dtype), "* ", pointer), {.view = &store.view});
    const std::string offset = offset_of(store.view, "i");
    line(pointer, "[", offset, "] = v", store.value, ";");
  }

  const TileGroup& group_;
  GroupText out_;
  std::string parameters_, rows_, body_;
  std::vector<DType> types_;  // of each value
  std::set<Op> printed_;      // rows
  bool uses_functions_ = false;
  int sizes_ = 0, offsets_ = 0, stores_ = 0;
};

}  // namespace

std::variant<GroupText, std::string> group_text(const TileGroup& group) {
  return Printer(group).print();
}

}  // namespace pullback::cuda
