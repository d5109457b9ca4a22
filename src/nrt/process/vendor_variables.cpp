#include "nrt/process/vendor_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string_view>

#include "base/log.h"
#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

// Variables that are read, or whose request is always fulfilled.
constexpr std::string_view kSupported[] = {
    "NEURON_FAIL_ON_NAN",
    "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR",
    "NEURON_RT_EXEC_TIMEOUT",
    "NEURON_RT_INSPECT_ENABLE",
    "NEURON_RT_INSPECT_EVENT_FILTER_NC",
    "NEURON_RT_INSPECT_EVENT_FILTER_TYPE",
    "NEURON_RT_INSPECT_OUTPUT_DIR",
    "NEURON_RT_INSPECT_SYSTEM_PROFILE",
    "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC",
    "NEURON_RT_LOG_LEVEL",
    "NEURON_RT_LOG_LEVEL_NRT",
    "NEURON_RT_LOG_LOCATION",
    "NEURON_RT_LOG_LOCATION_NRT",
    "NEURON_RT_MULTI_INSTANCE_SHARED_WEIGHTS",
    "NEURON_RT_NUMERICAL_ERRORS_VERBOSITY",
    "NEURON_RT_NUM_CORES",
    "NEURON_RT_ROOT_COMM_ID",
    "NEURON_RT_VALIDATE_HASH",
    "NEURON_RT_VISIBLE_CORES",
};

// Variables of hardware, of drivers, of NEFF files or of components that the software NPU does not
// have.
constexpr const char* kMeaningless[] = {
    "NEURON_LOGICAL_NC_CONFIG",
    "NEURON_RT_ALLOW_LEGACY_NEFF",
    "NEURON_RT_ASYNC_EXEC_MODE",
    "NEURON_RT_DBG_A2A_CC",
    "NEURON_RT_DEBUG_STREAM_BUFFER_SIZE",
    "NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG",
    "NEURON_RT_ENABLE_DGE_NOTIFICATIONS",
    "NEURON_RT_ENABLE_VERBOSE_NUMERICAL_ERRORS",
    "NEURON_RT_INSPECT_DEVICE_PROFILE_NUM_WARMUP",
    "NEURON_RT_INSPECT_PRECACHE_ENABLE",
    "NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY",
    "NEURON_RT_LOG_LEVEL_NMGR",
    "NEURON_RT_LOG_LEVEL_TDRV",
    "NEURON_RT_LOG_LOCATION_NMGR",
    "NEURON_RT_LOG_LOCATION_TDRV",
    "NEURON_RT_LOW_LATENCY_TASKS_CPU_AFFINITY",
    "NEURON_RT_ONE_THREAD_PER_CORE",
    "NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB",
    "NEURON_RT_RANKS_PER_NETWORK_PROXY",
    "NEURON_RT_RESET_CORES",
    "NEURON_RT_S3_CORE_DUMP_PREFIX",
    "NEURON_RT_STOCHASTIC_ROUNDING_SEED",
    "NEURON_RT_VIRTUAL_CORE_SIZE",
    "NEURON_SCRATCHPAD_PAGE_SIZE",
};

// Variables that ask for something which a program would miss.
struct Refused {
  const char* name;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS",
     "the implicit asynchronous mode no longer exists: nrt_execute waits; use "
     "nrta_execute_schedule"},
    {"NEURON_RT_INSPECT_DEVICE_PROFILE", "only the system profile is supported"},
    {"NEURON_RT_INSPECT_ON_FAIL", "only the system profile is supported"},
    {"NEURON_RT_STOCHASTIC_ROUNDING_EN", "results are rounded to the nearest value"},
};

// True if the variable has another value than those by which one turns things off.
bool asks_for_something(const char* name) {
  const std::string text(environment_variable(name));
  return !text.empty() && text != "0" && strcasecmp(text.c_str(), "false") != 0;
}

bool is_published(std::string_view name) {
  return std::ranges::find(kSupported, name) != std::end(kSupported) ||
         std::ranges::find(kMeaningless, name) != std::end(kMeaningless) ||
         std::ranges::find(kRefused, name, &Refused::name) != std::end(kRefused);
}

void warn_of_refused() {
  static std::array<std::atomic<bool>, std::size(kRefused)> warned{};
  for (size_t i = 0; i < std::size(kRefused); ++i) {
    if (!asks_for_something(kRefused[i].name) || warned[i].exchange(true)) continue;
    log(LogLevel::kWarning, "nrt",
        fmt::format("{} is set, but {}", kRefused[i].name, kRefused[i].why));
  }
}

}  // namespace

std::vector<std::string> meaningless_variables() {
  std::vector<std::string> names;
  for (const char* const name : kMeaningless)
    if (!environment_variable(name).empty()) names.emplace_back(name);
  return names;
}

std::vector<std::string> unpublished_variables() {
  std::vector<std::string> names = variables_with_prefix("NEURON_RT_");
  std::erase_if(names, is_published);
  return names;
}

void warn_of_vendor_variables() {
  warn_of_refused();
  static std::atomic<bool> warned{false};
  const std::vector<std::string> names = unpublished_variables();
  if (names.empty() || warned.exchange(true)) return;
  log(LogLevel::kWarning, "nrt",
      fmt::format("set, but no published variable of the runtime (is it misspelt?): {}",
                  fmt::join(names, ", ")));
}

}  // namespace millrace::nrt
