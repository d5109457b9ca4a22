// CoreRange: consecutive logical cores, and the notation of cores in environment variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::nrt {

struct CoreRange {
  uint32_t first = 0;
  uint32_t count = 1;
};

// Parses a list of cores and ranges, such as "2", "0-3" or "0, 1, 4-5". Spaces may stand around the
// numbers. nullopt for anything else, and for core numbers above a million.
std::optional<std::vector<CoreRange>> parse_core_ranges(std::string_view text);

}  // namespace millrace::nrt
