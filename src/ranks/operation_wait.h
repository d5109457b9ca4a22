// OperationWait: limits how long one operation waits for other ranks, and logs a warning every 30 s
// while it waits. For the thread of the operation.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "ranks/communicator.h"
#include "ranks/signature.h"
#include "ranks/transport.h"

namespace millrace::ranks {

class OperationWait final : public WaitCheck {
 public:
  // `timeout` is that of the communicator; zero means none.
  OperationWait(const Signature& signature, const Limit& limit, std::chrono::nanoseconds timeout);

  // Sets the rank (of the transport) that is waited for from now on.
  void set_peer(uint32_t rank) noexcept { peer_ = rank; }
  Status check() noexcept override;
  // Adds the operation and the rank that is waited for to the message of a failure.
  Status explain(const Status& failure) const;

 private:
  using Clock = std::chrono::steady_clock;

  const Signature& signature_;
  const Limit& limit_;
  const std::chrono::nanoseconds timeout_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_warning_;
  uint32_t peer_ = 0;
};

}  // namespace millrace::ranks
