// Steps of scans, sorts, and searches in sorted numbers.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

Status run_scan(const Scan& scan, const Slots& slots);
Status run_sort(const Sort& sort, const Slots& slots);
Status run_search(const Search& search, const Slots& slots);

}  // namespace pullback
