#include "runtime/units/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/settings/duration.h"
#include "base/settings/environment.h"

namespace millrace::runtime {

Result<std::chrono::nanoseconds> watchdog_in_force(std::chrono::nanoseconds own) {
  constexpr const char* kVariable = "MILLRACE_WATCHDOG";
  const std::string_view text = environment_variable(kVariable);
  if (text.empty()) return own;
  std::chrono::nanoseconds patience{0};
  const std::string complaint = read_duration(text, patience);
  if (!complaint.empty())
    return invalid_argument(fmt::format("{}: \"{}\" {}", kVariable, text, complaint));
  return own.count() > 0 ? std::min(own, patience) : patience;
}

}  // namespace millrace::runtime
