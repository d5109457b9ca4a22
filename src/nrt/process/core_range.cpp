#include "nrt/process/core_range.h"

#include <algorithm>

#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

constexpr uint64_t kLargestNumber = 1'000'000;  // so that sums of core numbers cannot overflow

Result<uint64_t> parse_core(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of(' '), text.size());
  return parse_number(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

// Parses "2" or "0-3".
std::optional<CoreRange> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const Result<uint64_t> first = parse_core(text.substr(0, dash));
  const Result<uint64_t> last =
      dash == std::string_view::npos ? first : parse_core(text.substr(dash + 1));
  if (!first.ok() || !last.ok() || *last < *first || *last > kLargestNumber) return std::nullopt;
  return CoreRange{static_cast<uint32_t>(*first), static_cast<uint32_t>(*last - *first + 1)};
}

}  // namespace

std::optional<std::vector<CoreRange>> parse_core_ranges(std::string_view text) {
  std::vector<CoreRange> ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::optional<CoreRange> range = parse_range(text.substr(at, comma - at));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    at = comma + 1;
  }
  return ranges;
}

}  // namespace millrace::nrt
