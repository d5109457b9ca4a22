// ServiceTimes: how long a device takes for a job of a model, as a distribution. Immutable and
// thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"

namespace millrace::device {

// No job takes longer.
inline constexpr std::chrono::hours kLongestService{1};

class ServiceTimes {
 public:
  // Every job takes `time`.
  static Result<ServiceTimes> constant(std::chrono::nanoseconds time);
  // A log-normal distribution with this mean and this 99th percentile, the usual form of latencies:
  // bounded below, with a long tail. kInvalidArgument where there is none: the percentile must be
  // at least the mean, and at most 14 times as long.
  static Result<ServiceTimes> from_mean_and_p99(std::chrono::nanoseconds mean,
                                                std::chrono::nanoseconds p99);
  // Quantiles at equal distances from 0 to 1, at least two, in ascending order; linear between
  // them.
  static Result<ServiceTimes> from_quantiles(std::vector<std::chrono::nanoseconds> quantiles);
  // The distribution of measured times, at least one, in any order.
  static Result<ServiceTimes> from_samples(std::vector<std::chrono::nanoseconds> samples);

  // Returns the time of the job with that number. It depends on nothing else, so that the same seed
  // gives the same times in every run.
  std::chrono::nanoseconds draw(uint64_t seed, uint64_t number) const noexcept;
  std::chrono::nanoseconds mean() const noexcept;
  // Returns the quantiles of a distribution that was made from such or from samples; nothing for
  // the others.
  const std::vector<std::chrono::nanoseconds>& quantiles() const noexcept { return quantiles_; }
  // Returns the percentile from which a distribution was made; nothing for the others.
  std::optional<std::chrono::nanoseconds> stated_p99() const noexcept { return stated_p99_; }

 private:
  ServiceTimes() = default;

  // The parameters of the logarithm of the time in nanoseconds; used if there are no quantiles.
  double log_mean_ = 0, log_deviation_ = 0;
  std::optional<std::chrono::nanoseconds> stated_p99_;
  std::vector<std::chrono::nanoseconds> quantiles_;
};

}  // namespace millrace::device
