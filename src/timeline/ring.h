// Ring: the last events of one thread at a time. It never grows: a new event takes the place of the
// oldest one.
//
// One thread may append while others read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "timeline/event.h"

namespace millrace::timeline {

class Ring {
 public:
  // Makes a ring with room for that many events, a power of two; null when memory is exhausted. The
  // memory becomes resident as it is used.
  static std::unique_ptr<Ring> make(size_t room) noexcept;

  void append(const Event& event) noexcept;
  // Returns the number of events that were ever appended.
  uint64_t appended() const noexcept { return appended_.load(std::memory_order_acquire); }
  // Adds the events from number `first` on, counted from 0, to `events`, in order. Returns how many
  // of them are lost because newer ones have taken their places. A full ring has one event less
  // than it has room for, since the oldest one may be the one that is just replaced.
  uint64_t read(uint64_t first, std::vector<Event>& events) const;

 private:
  static constexpr size_t kWords = 4;
  struct Free {
    void operator()(uint64_t* words) const noexcept { std::free(words); }
  };
  using Words = std::unique_ptr<uint64_t[], Free>;

  Ring(Words words, size_t room) noexcept : room_(room), words_(std::move(words)) {}
  uint64_t* place(uint64_t number) const noexcept {
    return words_.get() + (number & (room_ - 1)) * kWords;
  }

  const size_t room_;
  const Words words_;
  std::atomic<uint64_t> appended_{0};
};

}  // namespace millrace::timeline
