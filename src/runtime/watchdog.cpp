#include "runtime/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/duration.h"

namespace millrace::runtime {

Result<std::chrono::nanoseconds> watchdog_in_force(std::chrono::nanoseconds own) {
  constexpr const char* kVariable = "MILLRACE_WATCHDOG";
  const char* const text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return own;
  std::chrono::nanoseconds patience{0};
  const std::string complaint = read_duration(text, patience);
  if (!complaint.empty())
    return invalid_argument(fmt::format("{}: \"{}\" {}", kVariable, text, complaint));
  return own.count() > 0 ? std::min(own, patience) : patience;
}

}  // namespace millrace::runtime
