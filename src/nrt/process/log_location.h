// The destination of log lines in programs that install no log sink: NEURON_RT_LOG_LOCATION.
#pragma once

#include <string>

#include "base/log.h"

namespace millrace::nrt {

inline constexpr const char* kLogLocation = "NEURON_RT_LOG_LOCATION";
inline constexpr const char* kLogLocationOfNrt = "NEURON_RT_LOG_LOCATION_NRT";

struct LogLocation {
  LogSink sink;
  std::string complaint;   // why it is standard error instead of the requested one; usually empty
  bool asked_for = false;  // one of the variables is set
};

// Returns the sink that the variables choose: "console", which is standard error, or "syslog".
// NEURON_RT_LOG_LOCATION_NRT takes precedence and may also name a file, to which lines are
// appended. Opens that file; falls back to standard error for an invalid value.
LogLocation log_location();

}  // namespace millrace::nrt
