#include "device/paced/service_times.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/format_status.h"
#include "base/mix_bits.h"

namespace millrace::device {
namespace {

using std::chrono::nanoseconds;

// The 99th percentile of the standard normal distribution.
constexpr double kNormalP99 = 2.3263478740408408;
// As many quantiles describe samples. Their distances are a tenth of a percent, so that the 99th
// percentile lies among ten of the tail.
constexpr size_t kQuantilesOfSamples = 1'001;

Status check(nanoseconds time, const char* name) {
  if (time > nanoseconds::zero() && time <= kLongestService) return {};
  return format_status(StatusCode::kInvalidArgument,
                       "{} of {} us is not between 0.001 us and an hour", name,
                       static_cast<double>(time.count()) / 1'000);
}

// Returns a number above 0 and below 1; those of different `kind` are independent.
double uniform(uint64_t seed, uint64_t number, uint64_t kind) noexcept {
  const uint64_t bits =
      mix_bits(mix_bits(seed + kGoldenRatio * (number + 1)) + kGoldenRatio * kind);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

// Returns a normally distributed number (Box-Muller transform).
double normal(uint64_t seed, uint64_t number) noexcept {
  const double radius = std::sqrt(-2 * std::log(uniform(seed, number, 1)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, number, 2));
}

// Returns the value at `position`, from 0 to 1, of a function that is linear between `points`.
nanoseconds between(const std::vector<nanoseconds>& points, double position) noexcept {
  const double index = position * static_cast<double>(points.size() - 1);
  const size_t below = std::min(static_cast<size_t>(index), points.size() - 2);
  const double share = index - static_cast<double>(below);
  const auto step = static_cast<double>((points[below + 1] - points[below]).count());
  return points[below] + nanoseconds(std::llround(share * step));
}

}  // namespace

Result<ServiceTimes> ServiceTimes::constant(nanoseconds time) {
  MILLRACE_RETURN_IF_ERROR(check(time, "the time"));
  ServiceTimes times;
  times.log_mean_ = std::log(static_cast<double>(time.count()));
  return times;
}

// The mean is exp(m + d^2 / 2) and the percentile exp(m + 2.33 d), for the mean m and the deviation
// d of the logarithm. Their ratio is a quadratic equation for d, whose smaller root is used: the
// greater one is a distribution whose mean is that of rare, extremely long jobs.
Result<ServiceTimes> ServiceTimes::from_mean_and_p99(nanoseconds mean, nanoseconds p99) {
  MILLRACE_RETURN_IF_ERROR(check(mean, "the mean"));
  MILLRACE_RETURN_IF_ERROR(check(p99, "the 99th percentile"));
  const double ratio = static_cast<double>(p99.count()) / static_cast<double>(mean.count());
  const double discriminant = kNormalP99 * kNormalP99 - 2 * std::log(ratio);
  if (ratio < 1 || discriminant < 0)
    return format_status(StatusCode::kInvalidArgument,
                         "the 99th percentile is {:.3g} times the mean, and must be 1 to 14 times "
                         "as long; state quantiles for another distribution",
                         ratio);
  ServiceTimes times;
  times.stated_p99_ = p99;
  times.log_deviation_ = kNormalP99 - std::sqrt(discriminant);
  times.log_mean_ =
      std::log(static_cast<double>(mean.count())) - times.log_deviation_ * times.log_deviation_ / 2;
  return times;
}

Result<ServiceTimes> ServiceTimes::from_quantiles(std::vector<nanoseconds> quantiles) {
  if (quantiles.size() < 2)
    return Status(StatusCode::kInvalidArgument,
                  "a distribution has at least two quantiles, the shortest and the longest time");
  for (const nanoseconds time : quantiles) MILLRACE_RETURN_IF_ERROR(check(time, "a quantile"));
  if (!std::ranges::is_sorted(quantiles))
    return Status(StatusCode::kInvalidArgument, "quantiles must be in ascending order");
  ServiceTimes times;
  times.quantiles_ = std::move(quantiles);
  return times;
}

Result<ServiceTimes> ServiceTimes::from_samples(std::vector<nanoseconds> samples) {
  if (samples.empty()) return Status(StatusCode::kInvalidArgument, "there are no measured times");
  std::ranges::sort(samples);
  if (samples.size() == 1) samples.push_back(samples.front());
  if (samples.size() <= kQuantilesOfSamples) return from_quantiles(std::move(samples));
  std::vector<nanoseconds> quantiles(kQuantilesOfSamples);
  for (size_t i = 0; i < quantiles.size(); ++i)
    quantiles[i] =
        between(samples, static_cast<double>(i) / static_cast<double>(kQuantilesOfSamples - 1));
  return from_quantiles(std::move(quantiles));
}

nanoseconds ServiceTimes::draw(uint64_t seed, uint64_t number) const noexcept {
  if (!quantiles_.empty()) return between(quantiles_, uniform(seed, number, 1));
  const double deviation = log_deviation_ == 0 ? 0 : log_deviation_ * normal(seed, number);
  const auto longest = static_cast<double>(nanoseconds(kLongestService).count());
  return nanoseconds(std::llround(std::min(std::exp(log_mean_ + deviation), longest)));
}

nanoseconds ServiceTimes::mean() const noexcept {
  if (quantiles_.empty())
    return nanoseconds(std::llround(std::exp(log_mean_ + log_deviation_ * log_deviation_ / 2)));
  double sum = 0;
  for (size_t i = 1; i < quantiles_.size(); ++i)
    sum += static_cast<double>((quantiles_[i - 1] + quantiles_[i]).count()) / 2;
  return nanoseconds(std::llround(sum / static_cast<double>(quantiles_.size() - 1)));
}

}  // namespace millrace::device
