// Settings: the environment variables of the NRT API. Every nrt_init reads them again, since
// programs set them just before that call. docs/nrt.md lists the variables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "nrt/nrt_status.h"
#include "nrt/process/core_range.h"
#include "nrt/process/rank_world.h"
#include "nrt/recording/environment_inspection.h"
#include "nrt/requests/execution_checks.h"
#include "runtime/jobs/job_mode.h"

namespace millrace::nrt {

struct Settings {
  CoreRange cores;         // those that the program sees; calls number them from 0
  uint32_t all_cores = 1;  // the number of logical cores, visible or not
  // Other cores would do as well, since NEURON_RT_VISIBLE_CORES does not say which.
  bool any_cores = false;
  // The file by which processes exclude each other from cores; empty: cores are shared.
  std::string exclusive_cores;
  std::chrono::seconds exec_timeout{600};
  // How long a request may run without progress: the smaller of exec_timeout and MILLRACE_WATCHDOG.
  std::chrono::nanoseconds watchdog = exec_timeout;
  uint32_t compute_depth = 64;
  uint32_t collectives_depth = 64;
  uint32_t transfer_depth = 4096;
  uint16_t send_receive_port = 27180;  // TCP port of core 0; core N has this + N
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(60);  // of sends and receives
  uint64_t core_memory = 0;  // bytes of device memory per core
  // The status of requests that fail in the device; if empty, NRT_HW_ERROR.
  std::optional<NRT_STATUS> fault_status;
  ExecutionChecks checks;
  runtime::JobMode job_mode = runtime::JobMode::kAdaptive;
  trace::EnvironmentProfile profile;
  RankSettings ranks;
};

// Reads all settings. kInvalidArgument names a variable with an invalid value and the valid ones.
Result<Settings> settings_of_environment();

// Returns the number of logical cores: MILLRACE_NRT_CORES, or else one for each processor that the
// process may use, or as many as the variables of visible_cores() require if that is more. Logical
// cores in excess of the lanes share them.
Result<uint32_t> total_cores();
// Returns the cores of NEURON_RT_VISIBLE_CORES, or else the first NEURON_RT_NUM_CORES, or else all.
Result<CoreRange> visible_cores();

// The log level; none turns logging off. An invalid value gives kWarning, since a program must not
// fail because of its logging, and `wrong_variable` then names the variable.
struct LogLevelChoice {
  std::optional<LogLevel> level = LogLevel::kWarning;
  const char* wrong_variable = nullptr;
  bool asked_for = false;  // one of the variables is set
};
// Reads NEURON_RT_LOG_LEVEL_NRT, or else NEURON_RT_LOG_LEVEL. Upper and lower case are equivalent.
LogLevelChoice log_level();

}  // namespace millrace::nrt
