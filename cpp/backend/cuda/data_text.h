// The texts of steps that move, order or draw entries. A string is what of a step has no kernel.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "backend/cuda/kernel_text.h"
#include "plan/steps.h"

namespace pullback::cuda {

using Printed = std::variant<StepText, std::string>;

Printed gather_text(const Gather& gather);
Printed scatter_text(const ScatterAdd& scatter);
Printed arg_reduce_text(const ArgReduce& arg);
Printed scan_text(const Scan& scan);
Printed sort_text(const Sort& sort);
Printed search_text(const Search& search);
Printed random_text(const Random& random);
Printed pool_text(const Pool& pool);
Printed convolution_text(const Convolution& conv);

// Sorts the words (sort_keys.h) of [rows, length]; returns their offset in scratch memory. `key` is
// an expression of `row` and `at`; `declare` adds its parameters.
int64_t sorted_words(StepText& out, int64_t rows, int64_t length, const std::string& key,
                     const std::function<void(KernelBuilder&)>& declare);

// Adds the kernels that find the first index outside of [0, axis), or if it wraps [-axis, axis),
// and the check of their result. The view is row-major, of int32 or int64; `axis` is a number.
void print_check(StepText& out, const View& indices, bool wraps, const KernelText::Parameter& axis);

// The entry of the axis at a position, as an expression; negative ones count from the end.
std::string entry_of(const std::string& index, const std::string& axis);

// The unsigned integer type of this size; null for sizes without one.
const char* word_type(int64_t bytes);

}  // namespace pullback::cuda
