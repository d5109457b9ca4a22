#include "runtime/jobs/job_mode.h"

#include <fmt/format.h>
#include <strings.h>

#include <string>

#include "base/settings/environment.h"

namespace millrace::runtime {

Result<JobMode> job_mode_in_force(std::optional<JobMode> own) {
  constexpr const char* kVariable = "MILLRACE_JOB_MODE";
  if (own) return *own;
  const std::string text(environment_variable(kVariable));
  if (text.empty()) return JobMode::kAdaptive;
  for (size_t i = 0; i < kJobModeNames.size(); ++i)
    if (strcasecmp(text.c_str(), kJobModeNames[i].data()) == 0) return static_cast<JobMode>(i);
  return invalid_argument(
      fmt::format("{} is \"{}\": it takes adaptive, latency or throughput", kVariable, text));
}

}  // namespace millrace::runtime
