#include "vart/misname_warnings.h"

#include <fmt/format.h>

namespace millrace::vartml {

void MisnameWarnings::warn(std::span<const Misname> misnames, const RunnerLog& log) {
  if (!log.enabled(LogLevel::kWarning)) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [expected, given] : misnames) {
    if (warned_.contains(expected)) continue;
    warned_.emplace(expected);
    log.write(LogLevel::kWarning,
              fmt::format("a tensor \"{}\" is passed in the place of \"{}\"; tensors are taken in "
                          "the order of get_tensors_info (said once)",
                          given, expected));
  }
}

}  // namespace millrace::vartml
