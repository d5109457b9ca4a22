// Reads how long jobs took from the logs of a device, for a profile of its pace. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// The times of one model.
struct RecordedTimes {
  // The times of single executions; empty if the log has only totals.
  std::vector<std::chrono::nanoseconds> samples;
  std::chrono::nanoseconds total{0};  // of the frames of which the log has totals
  uint64_t frames = 0;                // their number
};

// By the name of the model.
using RecordedModels = std::map<std::string, RecordedTimes>;

// Adds the times of a log to `models`. Two kinds of logs are known by their contents:
//   a system trace of NRT  {"events": [...]}: executions, from the start of nc_exec_running to its
//                          stop (docs/nrt.md)
//   a profile of VART      {"model": ..., "frames": ..., "execute_us": ...} (docs/vart.md)
// kInvalidArgument if the text is none of them, or has no job.
Status add_recorded_times(std::string_view text, RecordedModels& models);

}  // namespace millrace::cli
