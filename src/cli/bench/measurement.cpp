#include "cli/bench/measurement.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::cli {
namespace {

constexpr std::pair<const char*, Scenario> kScenarios[] = {
    {"single-stream", Scenario::kSingleStream},
    {"multi-stream", Scenario::kMultiStream},
    {"offline", Scenario::kOffline},
    {"server", Scenario::kServer},
};

bool is_ours(const LibraryAllocations& one) {
  return one.library.starts_with("libmillrace") || one.library == program_invocation_short_name;
}

double per_job(const Allocations& allocations, bool ours) {
  uint64_t count = 0;
  for (const LibraryAllocations& one : allocations.libraries)
    if (is_ours(one) == ours) count += one.count;
  return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(allocations.jobs, 1));
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& text) {
  const auto* const found =
      std::ranges::find(kScenarios, text, &std::pair<const char*, Scenario>::first);
  if (found != std::end(kScenarios)) return found->second;
  return invalid_argument(fmt::format("--scenario: there is no scenario \"{}\"", text));
}

const char* name_of(Scenario scenario) {
  return std::ranges::find(kScenarios, scenario, &std::pair<const char*, Scenario>::second)->first;
}

std::vector<double> Measurement::latencies_ms() const {
  std::vector<double> times;
  times.reserve(queries.size());
  for (const Query& query : queries) times.push_back(static_cast<double>(query.latency_ns) * 1e-6);
  return times;
}

double Allocations::ours() const {
  return per_job(*this, true);
}

double Allocations::others() const {
  return per_job(*this, false);
}

}  // namespace millrace::cli
