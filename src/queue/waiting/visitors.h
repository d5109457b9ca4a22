// Visitors: counts the threads that are inside an object and will soon leave it by themselves. The
// thread that destroys the object waits until they have left. That makes it safe for a callback to
// destroy the object while the submitter that caused the callback is still returning.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace millrace::queue {

class Visitors {
 public:
  // Sequentially consistent: a visitor enters and then asks whether the object is closed; the
  // closing thread closes it and then looks for visitors. At least one of the two sees the other.
  void enter() noexcept { inside_.fetch_add(1, std::memory_order_seq_cst); }
  // Release pairs with the load in wait_until_gone: everything that the visitor did to the object
  // happens before its destruction. The visitor must not access the object afterwards.
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }
  void wait_until_gone() const noexcept {
    while (inside_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }

 private:
  std::atomic<uint32_t> inside_{0};
};

// Keeps the calling thread counted as a visitor for the lifetime of this object.
class Visit {
 public:
  explicit Visit(Visitors& visitors) noexcept : visitors_(&visitors) { visitors.enter(); }
  ~Visit() {
    if (visitors_ != nullptr) visitors_->leave();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // Lets the visit outlast this object: other code has to call Visitors::leave().
  void stay() noexcept { visitors_ = nullptr; }

 private:
  Visitors* visitors_;
};

}  // namespace millrace::queue
