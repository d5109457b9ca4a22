// Reads how long jobs took from the logs of a device, for a profile of its pace. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/paced/pace_profile.h"

namespace millrace::cli {

// Transfers between host and device, as the sums from which a line through them is found.
class RecordedTransfers {
 public:
  void add(uint64_t bytes, std::chrono::nanoseconds time) noexcept;
  void add(const RecordedTransfers& others) noexcept;
  // Returns a fixed time and a bandwidth, in bytes per second, by least squares; the bandwidth
  // alone if the sizes do not tell them apart, and nothing without transfers.
  std::optional<device::TransferPace> pace() const noexcept;

 private:
  double count_ = 0, bytes_ = 0, ns_ = 0, bytes_squared_ = 0, bytes_ns_ = 0;
};

// The times of one model.
struct RecordedTimes {
  // The times of single executions; empty if the log has only totals.
  std::vector<std::chrono::nanoseconds> samples;
  std::chrono::nanoseconds total{0};  // of the frames of which the log has totals
  uint64_t frames = 0;                // their number
  // The times of operators, by the name of the node, in all of `operator_frames` frames.
  std::map<std::string, std::chrono::nanoseconds> operators;
  uint64_t operator_frames = 0;
};

struct RecordedLogs {
  std::map<std::string, RecordedTimes> models;  // by name
  RecordedTransfers transfers;
};

// Adds the times of a log to `logs`. Three kinds of logs are known by their contents:
//   a system trace of NRT     {"events": [...]}: executions and transfers, from the start of
//                             nc_exec_running, tensor_read_running and so on to its stop
//                             (docs/nrt.md)
//   a profile of VART         {"model": ..., "frames": ..., "execute_us": ...} (docs/vart.md), with
//                             its operators
//   a model profile of NRT    {"traceEvents": [...]} with tracks of executions and of operators
// kInvalidArgument if the text is none of them, or has neither a job nor a transfer.
Status add_recorded_times(std::string_view text, RecordedLogs& logs);

}  // namespace millrace::cli
