#include "base/settings/variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "base/settings/environment.h"

namespace millrace {
namespace {

constexpr std::string_view kKnown[] = {
    "MILLRACE_CHECK",
    "MILLRACE_CHECK_CALLBACK_MS",
    "MILLRACE_COLLECTIVE_FAULTS",
    "MILLRACE_COLUMNS",
    "MILLRACE_COLUMN_TABLE",
    "MILLRACE_DEVICE",
    "MILLRACE_FAILING",        // tests
    "MILLRACE_FAILING_STACK",  // tests
    "MILLRACE_FAULTS",
    "MILLRACE_FLIGHT_RECORDER",
    "MILLRACE_JOB_MODE",
    "MILLRACE_LANES",
    "MILLRACE_LANES_PER_JOB",
    "MILLRACE_LOG",
    "MILLRACE_LOG_FILE",
    "MILLRACE_LOG_FORMAT",
    "MILLRACE_MAX_ISA",
    "MILLRACE_MEMORY_BANKS",
    "MILLRACE_MEMORY_LIMIT",
    "MILLRACE_NO_BF16",
    "MILLRACE_NO_VNNI",
    "MILLRACE_NRT_COLLECTIVES_DEPTH",
    "MILLRACE_NRT_COLLECTIVE_TIMEOUT",
    "MILLRACE_NRT_COMPUTE_DEPTH",
    "MILLRACE_NRT_CORES",
    "MILLRACE_NRT_EXCLUSIVE_CORES",
    "MILLRACE_NRT_FAULT_STATUS",
    "MILLRACE_NRT_MEMORY",
    "MILLRACE_NRT_RANKS_INTERFACE",
    "MILLRACE_NRT_RANKS_TOKEN",
    "MILLRACE_NRT_SENDRECV_PORT",
    "MILLRACE_NRT_SENDRECV_TIMEOUT",
    "MILLRACE_NRT_TRANSFER_DEPTH",
    "MILLRACE_ONNX_TESTS",  // tests
    "MILLRACE_PACE",
    "MILLRACE_PACKED_WEIGHTS",
    "MILLRACE_PEERS",  // benchmarks
    "MILLRACE_PLANS",
    "MILLRACE_PLUGIN_DIR",
    "MILLRACE_PL_BEAT_BYTES",
    "MILLRACE_PL_KERNELS",
    "MILLRACE_PROFILE",
    "MILLRACE_PROGRAM",  // tests
    "MILLRACE_RECORD",
    "MILLRACE_RECORD_INPUTS",
    "MILLRACE_RECORD_LIMIT",
    "MILLRACE_SHARED_MEMORY",
    "MILLRACE_STRICT_SYNC",
    "MILLRACE_STRICT_ZERO_COPY",
    "MILLRACE_TEST_ATTACK",         // tests
    "MILLRACE_TEST_MODELS",         // tests
    "MILLRACE_TEST_RANK_FAILURES",  // tests
    "MILLRACE_TEST_STRANGERS",      // tests
    "MILLRACE_TOP",
    "MILLRACE_TRACE",
    "MILLRACE_TRACE_EVENTS",
    "MILLRACE_TRANSFER_FAULTS",
    "MILLRACE_TUNE",
    "MILLRACE_TUNING",
    "MILLRACE_WATCHDOG",
};

}  // namespace

std::span<const std::string_view> known_variables() noexcept {
  return kKnown;
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string> names = variables_with_prefix("MILLRACE_");
  std::erase_if(names,
                [](const std::string& name) { return std::ranges::count(kKnown, name) != 0; });
  return names;
}

std::string warning_of_unknown_variables() {
  static std::atomic<bool> warned{false};
  const std::vector<std::string> names = unknown_variables();
  if (names.empty() || warned.exchange(true)) return {};
  return fmt::format("set, but nothing reads it (is it misspelt?): {}", fmt::join(names, ", "));
}

}  // namespace millrace
