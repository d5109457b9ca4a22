// Settings: what the environment asks of the NRT face. Read anew by every nrt_init, since programs
// set variables just before it. docs/nrt.md lists the variables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "nrt/nrt_status.h"

namespace millrace::nrt {

// Consecutive logical cores of the machine. Everything else counts cores from the first of these.
struct VisibleCores {
  uint32_t first = 0;
  uint32_t count = 1;
};

struct Settings {
  VisibleCores cores;
  uint32_t all_cores = 1;  // visible or not
  std::chrono::seconds exec_timeout{600};
  // How long a request may run without progress: MILLRACE_WATCHDOG, if that is less.
  std::chrono::nanoseconds watchdog = exec_timeout;
  uint32_t compute_depth = 64;
  uint32_t collectives_depth = 64;
  uint32_t transfer_depth = 4096;
  uint64_t core_memory = 0;  // bytes of device memory per core
  // What a request comes to that the device fails; none: NRT_HW_ERROR.
  std::optional<NRT_STATUS> fault_status;
  bool nan_check = false;              // executions that write a NaN have failed
  std::string inspect_dir;             // where the system profile of this life goes; empty: nowhere
  bool implicit_async_wanted = false;  // a mode that no longer exists
};

// kInvalidArgument names the variable and what it takes.
Result<Settings> settings_of_environment();

// MILLRACE_NRT_CORES; one per two cores of the processor, at least one.
Result<uint32_t> total_cores();
// NEURON_RT_VISIBLE_CORES, or else NEURON_RT_NUM_CORES, or else all.
Result<VisibleCores> visible_cores();

// What a log level comes to: none for silence. Where there is no such level, warnings, as a program
// must not fail because of what its log is to show, and the variable that says so.
struct LogLevelChoice {
  std::optional<LogLevel> level = LogLevel::kWarning;
  const char* wrong_variable = nullptr;
  bool asked_for = false;  // by one of the variables
};
// NEURON_RT_LOG_LEVEL_NRT, or else NEURON_RT_LOG_LEVEL, in any case.
LogLevelChoice log_level();

// The variables NEURON_RT_... and MILLRACE_... that are set and that nothing here reads.
std::vector<std::string> variables_without_effect();

}  // namespace millrace::nrt
