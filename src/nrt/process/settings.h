// Settings: the environment variables of the NRT face. Every nrt_init reads them anew, since
// programs set them just before it. docs/nrt.md lists the variables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "nrt/nrt_status.h"
#include "nrt/process/rank_world.h"
#include "runtime/jobs/job_mode.h"

namespace millrace::nrt {

// Consecutive logical cores of the machine. The calls count cores from the first of these.
struct VisibleCores {
  uint32_t first = 0;
  uint32_t count = 1;
};

struct Settings {
  VisibleCores cores;
  uint32_t all_cores = 1;  // visible or not
  std::chrono::seconds exec_timeout{600};
  // How long a request may run without progress: the lesser of exec_timeout and MILLRACE_WATCHDOG.
  std::chrono::nanoseconds watchdog = exec_timeout;
  uint32_t compute_depth = 64;
  uint32_t collectives_depth = 64;
  uint32_t transfer_depth = 4096;
  uint16_t send_receive_port = 27180;  // of core 0; that of core N is N higher
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(60);  // of sends and receives
  uint64_t core_memory = 0;  // bytes of device memory per core
  // The status of requests that the device fails; none: NRT_HW_ERROR.
  std::optional<NRT_STATUS> fault_status;
  bool nan_check = false;  // executions that write a NaN fail
  runtime::JobMode job_mode = runtime::JobMode::kAdaptive;
  std::string inspect_dir;  // for a system profile until nrt_close; empty: no profile
  RankSettings ranks;
  bool implicit_async_wanted = false;  // a mode that no longer exists
};

// kInvalidArgument names a variable with a wrong value, and says which values it takes.
Result<Settings> settings_of_environment();

// MILLRACE_NRT_CORES; without it one per core of the processor, or as many as the variables below
// ask for. Logical cores beyond those of the processor share its lanes.
Result<uint32_t> total_cores();
// NEURON_RT_VISIBLE_CORES, or else NEURON_RT_NUM_CORES, or else all.
Result<VisibleCores> visible_cores();

// The level of the log; none for silence. A value that is no level means warnings, as a program
// must not fail because of its log, and `wrong_variable` then names the variable.
struct LogLevelChoice {
  std::optional<LogLevel> level = LogLevel::kWarning;
  const char* wrong_variable = nullptr;
  bool asked_for = false;  // by one of the variables
};
// NEURON_RT_LOG_LEVEL_NRT, or else NEURON_RT_LOG_LEVEL, in any case.
LogLevelChoice log_level();

// The variables NEURON_RT_... that are set and that nothing here reads.
std::vector<std::string> variables_without_effect();

}  // namespace millrace::nrt
