// MemoryCharge: bytes taken from an upper limit that many share, given back when it is destroyed.
// One thread at a time; the limit is thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace millrace::serve {

class MemoryCharge {
 public:
  using Limit = std::shared_ptr<std::atomic<uint64_t>>;  // the bytes that are left

  explicit MemoryCharge(Limit limit) : limit_(std::move(limit)) {}
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;
  ~MemoryCharge() { limit_->fetch_add(taken_, std::memory_order_relaxed); }

  // Takes more bytes. False, with nothing taken, if fewer are left.
  bool take(uint64_t bytes) noexcept {
    uint64_t left = limit_->load(std::memory_order_relaxed);
    do {
      if (bytes > left) return false;
    } while (!limit_->compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
    taken_ += bytes;
    return true;
  }

 private:
  const Limit limit_;
  uint64_t taken_ = 0;
};

}  // namespace millrace::serve
