#include "cli/arguments/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace millrace::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 4> kThousands = {{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}};
constexpr std::array<Unit, 7> kSeconds = {
    {{"", 1}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
constexpr double kLongestSeconds = 365.0 * 24 * 3600;
// The greatest number up to which every whole number has a double of its own.
constexpr double kMostWhole = 9007199254740992.0;

// Returns the number at the beginning of the text, multiplied by the factor of its unit.
std::optional<double> scaled(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  return number * unit->factor;
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  if (const auto number = scaled(text, kThousands)) return *number;
  return invalid_argument(
      fmt::format("\"{}\" is not a number; write it like 0.5, 1e3 or 10k", text));
}

Result<uint64_t> parse_count(std::string_view text) {
  // Digits alone are read exactly, however many there are.
  uint64_t digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error == std::errc() && end == text.data() + text.size()) return digits;
  const auto number = scaled(text, kThousands);
  if (number && *number >= 0 && *number <= kMostWhole && std::floor(*number) == *number)
    return static_cast<uint64_t>(*number);
  return invalid_argument(
      fmt::format("\"{}\" is not a count; write it like 1000, 1e3 or 1k", text));
}

Result<std::chrono::nanoseconds> parse_time(std::string_view text) {
  const auto seconds = scaled(text, kSeconds);
  if (!seconds || *seconds * 1e9 < 1)
    return invalid_argument(
        fmt::format("\"{}\" is not a time; write it like 10, 10s or 500ms", text));
  if (*seconds > kLongestSeconds)
    return invalid_argument(fmt::format("\"{}\" is longer than a year", text));
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

}  // namespace millrace::cli
