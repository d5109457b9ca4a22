// WaitingLog: logs at intervals for which ranks this rank waits at a rendezvous. Otherwise nothing
// would be logged until the deadline. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "ranks/communicator.h"

namespace millrace::ranks {

class WaitingLog final : public StopCheck {
 public:
  // `missing` returns a text about the missing ranks: "rank 1 has not come to 10.0.0.1:5000".
  // `inner` must outlive this object, and may be null.
  WaitingLog(StopCheck* inner, std::chrono::nanoseconds interval,
             std::function<std::string()> missing);

  // Logs a line when one is due. Returns the result of `inner`; false if there is none.
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
