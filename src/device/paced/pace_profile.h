// PaceProfile: the times of another device, which a paced device takes (paced_device.h). Its text
// is JSON; docs/pace.md describes the keys.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "device/paced/operator_pace.h"
#include "device/paced/service_times.h"

namespace millrace::device {

// The time of a transfer is `fixed` and, for its bytes, their number over the bandwidth.
struct TransferPace {
  std::chrono::nanoseconds fixed{0};
  double bytes_per_second = 0;  // 0: bytes take no time

  std::chrono::nanoseconds time_of(size_t bytes) const noexcept;
};

struct PaceProfile {
  // The name under which a profile states times of all models that it does not name.
  static constexpr std::string_view kAnyModel = "*";

  std::string device;  // a human-readable name of the device whose times these are
  // How many jobs that device runs at a time, and so the lanes of the paced device unless the
  // program or MILLRACE_LANES says otherwise; 0: not stated.
  uint32_t lanes = 0;
  uint64_t seed = 1;
  std::map<std::string, ServiceTimes, std::less<>> models;
  // The mean times of the operators of models that state them.
  std::map<std::string, OperatorTimes, std::less<>> operators;
  std::optional<TransferPace> transfers;

  // Returns the times of a model; null if the profile has none.
  const ServiceTimes* times_of(std::string_view model) const noexcept;
  // Returns the times of the operators of a model; null if the profile has none. They are for
  // models that it names: nodes of other models may have the same names.
  const OperatorTimes* operators_of(std::string_view model) const noexcept;

  // kInvalidArgument says which key is wrong, and why.
  static Result<PaceProfile> parse(std::string_view json);
  // Reads a file; its path is part of each message. kNotFound or kIoError if it cannot be read.
  static Result<PaceProfile> read(const std::string& path);
  // Returns the JSON text of the profile, which parse() reads.
  std::string text() const;
};

}  // namespace millrace::device
