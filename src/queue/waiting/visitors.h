// Visitors: the threads that are inside an object and will leave it by themselves soon. Lets the
// object's destroyer wait until it may free the memory, also when a callback destroys the object
// while the submitter that caused the callback is still on its way out.
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
  // Release pairs with the load in wait_until_gone: all that the visitor did to the object happens
  // before its destruction. The visitor touches nothing of the object afterwards.
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }
  void wait_until_gone() const noexcept {
    while (inside_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }

 private:
  std::atomic<uint32_t> inside_{0};
};

class Visit {
 public:
  explicit Visit(Visitors& visitors) noexcept : visitors_(&visitors) { visitors.enter(); }
  ~Visit() {
    if (visitors_ != nullptr) visitors_->leave();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // The visit outlasts this object: Visitors::leave is called by other code.
  void stay() noexcept { visitors_ = nullptr; }

 private:
  Visitors* visitors_;
};

}  // namespace millrace::queue
