#include "base/settings/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace millrace {
namespace {

struct DurationUnit {
  std::string_view name;
  int64_t ns;
};
constexpr std::array<DurationUnit, 4> kUnits = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
// The longest duration, a year. It is far below the range of 64-bit nanoseconds, so that sums of
// durations do not overflow.
constexpr int64_t kLongestSeconds = 365 * 24 * 3600;

// Parses the whole of `text` as an integer; false if it is not one.
bool read_number(std::string_view text, int64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

std::string read_duration(std::string_view text, std::chrono::nanoseconds& duration) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view name = text.substr(digits);
  const auto* const unit = std::ranges::find(kUnits, name, &DurationUnit::name);
  int64_t number = 0;
  if (unit == kUnits.end() || !read_number(text.substr(0, digits), number) || number == 0)
    return "is no duration: a whole number with its unit, for example 500us, 2ms or 1s";
  if (number > kLongestSeconds * (kUnits.back().ns / unit->ns)) return "is longer than a year";
  duration = std::chrono::nanoseconds(number * unit->ns);
  return {};
}

}  // namespace millrace
