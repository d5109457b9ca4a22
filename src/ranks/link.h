// Link: the transport that the channels of one set of ranks share, and the cause of its first
// failure. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "ranks/transport.h"

namespace millrace::ranks {

class Link {
 public:
  explicit Link(std::unique_ptr<Transport> transport) noexcept : transport_(std::move(transport)) {}

  Transport& transport() noexcept { return *transport_; }
  // Returns the cause of the first failure; OK if there was none.
  Status failure() const noexcept {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // Records `cause` unless there was a failure before, and ends the connections, so that the other
  // ranks fail, too, instead of waiting for this one.
  void fail(const Status& cause) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (failure_.ok()) failure_ = cause;
    }
    transport_->close();
  }

 private:
  mutable std::mutex mutex_;
  Status failure_;
  const std::unique_ptr<Transport> transport_;
};

}  // namespace millrace::ranks
