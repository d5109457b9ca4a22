// WaitingLog: logs at intervals for which ranks a rank waits at a rendezvous. Otherwise nothing
// would be logged until the deadline. For one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "ranks/communicator.h"

namespace millrace::ranks {

class WaitingLog final : public StopCheck {
 public:
  // `missing` names the ranks that have not come: "rank 1 has not come to 10.0.0.1:5000". `inner`
  // is borrowed, and may be null.
  WaitingLog(StopCheck* inner, std::chrono::nanoseconds interval,
             std::function<std::string()> missing);

  // Logs a line when one is due. Returns the answer of `inner`.
  bool stop_requested() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  StopCheck* const inner_;
  const std::chrono::nanoseconds interval_;
  const std::function<std::string()> missing_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace millrace::ranks
