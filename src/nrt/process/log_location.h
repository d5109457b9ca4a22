// The destination of the log lines that the NRT face prints by itself: NEURON_RT_LOG_LOCATION.
#pragma once

#include <string>

#include "base/log.h"

namespace millrace::nrt {

inline constexpr const char* kLogLocation = "NEURON_RT_LOG_LOCATION";
inline constexpr const char* kLogLocationOfNrt = "NEURON_RT_LOG_LOCATION_NRT";

struct LogLocation {
  LogSink sink;
  std::string complaint;  // why it is standard error after all; empty when it is what was asked for
  bool asked_for = false;  // by one of the variables
};

// "console", which is standard error, or "syslog"; NEURON_RT_LOG_LOCATION_NRT takes precedence, and
// may name a file, to which lines are appended.
LogLocation log_location();

}  // namespace millrace::nrt
