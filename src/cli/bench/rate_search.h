// RateSearch: the search for the highest rate of arrivals at which a condition holds, by bisection.
// It measures nothing itself. One thread.
//
// It assumes that latency grows with the rate: if the condition holds at a rate, it holds at all
// lower ones. Each rate is measured once, so one noisy run can shift the result for good.
#pragma once

#include <cstdint>
#include <optional>

namespace millrace::cli {

class RateSearch {
 public:
  // `capacity` is the greatest number of jobs per second, more than zero. That rate and higher ones
  // are taken for too high without a run, since queues then grow as long as the run lasts.
  explicit RateSearch(double capacity) : capacity_(capacity), too_high_(capacity) {}

  // Returns the rate of the next run; nothing once the rate is known to a few per cent, or no rate
  // down to a hundredth of the capacity holds.
  std::optional<double> next() const;

  // Notes whether the condition held in a run at the rate that next() returned.
  void note(double rate, bool holds);

  // Returns the highest rate at which the condition held; nothing if there was none.
  std::optional<double> found() const;

 private:
  double capacity_;
  double holds_at_ = 0;  // 0: at no rate yet
  double too_high_;
};

}  // namespace millrace::cli
