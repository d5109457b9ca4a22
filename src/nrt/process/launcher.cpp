#include "nrt/process/launcher.h"

#include <fmt/format.h>

#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

struct Variables {
  const char* rank;
  const char* ranks;
};
// The innermost launcher takes precedence: torchrun may have been started by srun.
constexpr Variables kLaunchers[] = {
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};
constexpr uint64_t kMost = 1'000'000;

}  // namespace

Result<std::optional<LaunchedRank>> rank_of_launcher() {
  for (const auto& [rank_variable, ranks_variable] : kLaunchers) {
    if (environment_variable(rank_variable).empty() || environment_variable(ranks_variable).empty())
      continue;
    MILLRACE_ASSIGN_OR_RETURN(const uint64_t rank, number_variable(rank_variable, 0, 0, kMost));
    MILLRACE_ASSIGN_OR_RETURN(const uint64_t ranks, number_variable(ranks_variable, 1, 1, kMost));
    return std::optional(LaunchedRank{static_cast<uint32_t>(rank), static_cast<uint32_t>(ranks)});
  }
  return std::optional<LaunchedRank>();
}

std::string meeting_place() {
  const std::string_view place = environment_variable("NEURON_RT_ROOT_COMM_ID");
  if (!place.empty()) return std::string(place);
  const std::string_view host = environment_variable("MASTER_ADDR");
  const Result<uint64_t> port = parse_number(environment_variable("MASTER_PORT"));
  if (host.empty() || !port.ok() || *port >= 65535) return {};
  const bool in_digits = host.find(':') != host.npos;  // a numeric IPv6 address needs brackets
  return fmt::format("{}{}{}:{}", in_digits ? "[" : "", host, in_digits ? "]" : "", *port + 1);
}

}  // namespace millrace::nrt
