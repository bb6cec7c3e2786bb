// The text of a tile group as kernels, which run one after another.
//
// No thread waits for another: a fold is a kernel whose threads fold parts of rows, and kernels
// that combine the parts. The order of a fold depends on sizes alone. Start at group_text().
#pragma once

#include <string>
#include <variant>

#include "backend/cuda/kernel_text.h"
#include "plan/tile_group.h"

namespace pullback::cuda {

// The texts, which refer to `group`; or why it has none: a name of an operation or of a dtype.
std::variant<StepText, std::string> group_text(const TileGroup& group);

}  // namespace pullback::cuda
