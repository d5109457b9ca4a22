// Seats: one execution unit of a session, and how many of its places are taken.
//
// Counted here, so that whoever has taken a place finds the unit with room: a place is given back
// only after the job's completion. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "queue/unit.h"
#include "runtime/job_sync.h"
#include "runtime/job_task.h"
#include "runtime/profile.h"

namespace millrace::runtime {

class Seats final : public JobTask::Listener {
 public:
  // Told when a job of submit() has completed, as JobTask::Listener is. The place is still taken.
  class Owner {
   public:
    virtual void on_job_completed(Seats& seats, Job* job,
                                  const queue::Completion& completion) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  // `count` places, all free; `owner` must outlive the unit.
  Seats(Owner& owner, uint32_t count) noexcept : owner_(owner), count_(count) {}

  // To be called once, before anything but close(). `tensors` is how many a job has at most,
  // `watchdog` as UnitOptions has it.
  Status make_unit(device::Device& device, queue::Lanes& lanes, std::string name, size_t tensors,
                   JobSync sync, std::shared_ptr<Profile> profile,
                   std::chrono::nanoseconds watchdog);
  queue::Unit& unit() noexcept { return *unit_; }
  // See Unit::close; nothing where there is no unit.
  void close() {
    if (unit_ != nullptr) unit_->close();
  }

  uint32_t count() const noexcept { return count_; }
  // Takes a place if no more than `occupied` are taken; `occupied` is less than count().
  bool try_take(uint32_t occupied) noexcept {
    uint32_t taken = taken_.load(std::memory_order_relaxed);
    while (taken <= occupied) {
      // Acquire: with the place comes what the job that had it has done.
      if (taken_.compare_exchange_weak(taken, taken + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void give_back() noexcept { taken_.fetch_sub(1, std::memory_order_release); }

  void on_job_completed(Job* job, const queue::Completion& completion) noexcept override {
    owner_.on_job_completed(*this, job, completion);
  }

 private:
  Owner& owner_;
  const uint32_t count_;
  std::atomic<uint32_t> taken_{0};
  std::unique_ptr<queue::Unit> unit_;
};

}  // namespace millrace::runtime
