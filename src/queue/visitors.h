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
  // destroyer closes it and then looks for visitors.
  void enter() noexcept { inside_.fetch_add(1, std::memory_order_seq_cst); }
  // Release: pairs with wait_until_gone. Nothing of the object is touched after it.
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

  // Goes on without this object: somebody calls Visitors::leave.
  void stay() noexcept { visitors_ = nullptr; }

 private:
  Visitors* visitors_;
};

}  // namespace millrace::queue
