#include "cli/report/numbers.h"

#include <fmt/format.h>

#include <cmath>

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

std::string milliseconds_text(const std::optional<double>& milliseconds) {
  return milliseconds ? fmt::format("{:.3f}", *milliseconds) : "-";
}

std::string ratio_text(double larger, double smaller) {
  if (!(larger > 0) || !(smaller > 0)) return {};
  return fmt::format("{:.2f} times", larger / smaller);
}

}  // namespace millrace::cli
