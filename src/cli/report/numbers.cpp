#include "cli/report/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace millrace::cli {

std::string snr_text(double snr_db) {
  if (std::isnan(snr_db)) return "none";
  if (std::isinf(snr_db)) return snr_db > 0 ? "exact" : "none";
  return fmt::format("{:.1f}", snr_db);
}

std::string cosine_text(double cosine) {
  return std::isnan(cosine) ? "-" : fmt::format("{:.6f}", cosine);
}

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kSmall = 10'000;
  if (bytes < kSmall) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.2f} MB", static_cast<double>(bytes) * 1e-6);
}

std::string time_text(double nanoseconds) {
  struct Unit {
    const char* name;
    double nanoseconds;
  };
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  // Four digits of 999.96 are 1000, which is one of the next unit.
  constexpr double kNext = 999.95;
  const Unit* unit = kUnits;
  while (unit != std::end(kUnits) - 1 && nanoseconds / unit->nanoseconds >= kNext) ++unit;
  const double value = nanoseconds / unit->nanoseconds;
  const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < kNext ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit->name);
}

std::string milliseconds_text(const std::optional<double>& milliseconds) {
  if (!milliseconds) return "-";
  // Three decimals of less than a microsecond would be 0.000.
  constexpr double kMicrosecond = 0.001;
  return *milliseconds < kMicrosecond ? fmt::format("{:.2g}", *milliseconds)
                                      : fmt::format("{:.3f}", *milliseconds);
}

std::string ratio_text(double larger, double smaller) {
  if (!(larger > 0) || !(smaller > 0)) return {};
  return fmt::format("{:.2f} times", larger / smaller);
}

}  // namespace millrace::cli
