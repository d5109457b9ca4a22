#include "runtime/watchdog.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "base/duration.h"

namespace millrace::runtime {

Result<std::chrono::nanoseconds> watchdog_of_environment() {
  constexpr const char* kVariable = "MILLRACE_WATCHDOG";
  std::chrono::nanoseconds patience{0};
  const char* const text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return patience;
  const std::string complaint = read_duration(text, patience);
  if (complaint.empty()) return patience;
  return invalid_argument(fmt::format("{}: \"{}\" {}", kVariable, text, complaint));
}

}  // namespace millrace::runtime
