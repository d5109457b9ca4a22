#include "base/settings/guarded_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "base/files/trusted_file.h"
#include "base/settings/environment.h"

namespace millrace {
namespace {

constexpr std::string_view kGuarded[] = {
    "MILLRACE_CHECK",
    "MILLRACE_COLLECTIVE_FAULTS",
    "MILLRACE_COLUMN_TABLE",
    "MILLRACE_DEVICE",  // another device computes other results, or none
    "MILLRACE_FAULTS",
    "MILLRACE_FLIGHT_RECORDER",
    "MILLRACE_LOG_FILE",
    "MILLRACE_NRT_EXCLUSIVE_CORES",  // creates a file
    "MILLRACE_NRT_FAULT_STATUS",
    "MILLRACE_PACE",  // makes jobs take longer
    "MILLRACE_PACKED_WEIGHTS",
    "MILLRACE_PLUGIN_DIR",
    "MILLRACE_PL_KERNELS",
    "MILLRACE_RECORD",
    "MILLRACE_TOP",  // makes a file in memory
    "MILLRACE_TRACE",
    "MILLRACE_TRANSFER_FAULTS",
    "MILLRACE_TUNE",
    "MILLRACE_TUNING",
    "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR",  // writes into the current folder
    "NEURON_RT_INSPECT_ENABLE",          // likewise
    "NEURON_RT_INSPECT_OUTPUT_DIR",
    "NEURON_RT_LOG_LOCATION_NRT",
};

}  // namespace

bool is_guarded_variable(std::string_view name) noexcept {
  return std::ranges::find(kGuarded, name) != std::end(kGuarded);
}

std::vector<std::string> ignored_variables() {
  if (!has_raised_rights()) return {};
  std::vector<std::string> names = variables_with_prefix("MILLRACE_");
  for (std::string& name : variables_with_prefix("NEURON_RT_")) names.push_back(std::move(name));
  std::erase_if(names, [](const std::string& name) { return !is_guarded_variable(name); });
  return names;
}

std::string warning_of_ignored_variables() {
  static std::atomic<bool> warned{false};
  const std::vector<std::string> names = ignored_variables();
  if (names.empty() || warned.exchange(true)) return {};
  return fmt::format("set, but not read by a process with raised rights (docs/security.md): {}",
                     fmt::join(names, ", "));
}

}  // namespace millrace
