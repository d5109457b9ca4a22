// WaitingLog: says now and then for whom a rank waits at a rendezvous, as it would otherwise say
// nothing until its time is over. For one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "ranks/communicator.h"

namespace millrace::ranks {

class WaitingLog final : public StopCheck {
 public:
  // `missing` says who is waited for: "rank 1 has not come to 10.0.0.1:5000". `inner` is borrowed,
  // and may be null.
  WaitingLog(StopCheck* inner, std::chrono::nanoseconds interval,
             std::function<std::string()> missing);

  // Logs a line when one is due. What `inner` says.
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
