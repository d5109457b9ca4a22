// Random faults come from a hash of seed, job, frame and kind (splitmix64), so they do not depend
// on the order in which frames arrive.
#include "device/faulty/fault_rule.h"

#include "base/mix_bits.h"

namespace millrace::device {
namespace {

// The kinds below belong to the random faults of settings (fault_plan_frames.cpp).
constexpr uint64_t kFirstKindOfRules = 16;

// Returns the number by which the rule counts the job.
uint64_t number_for(const FaultRule& rule, const FaultedJob& job) noexcept {
  return rule.unit.empty() ? job.number : job.number_in_unit;
}

}  // namespace

bool is_drawn(uint64_t seed, uint64_t job, uint16_t frame, uint64_t kind,
              double probability) noexcept {
  const uint64_t bits =
      mix_bits(mix_bits(seed + kGoldenRatio * job) + kGoldenRatio * (uint64_t{frame} << 8 | kind));
  return static_cast<double>(bits >> 11) < probability * 0x1p53;
}

bool selects(const FaultRule& rule, size_t index, uint64_t seed, const FaultedJob& job) noexcept {
  if (job.frame != 0) return false;
  if (!rule.model.empty() && rule.model != job.model) return false;
  if (!rule.unit.empty() && rule.unit != job.unit) return false;
  const uint64_t number = number_for(rule, job);
  if (number < rule.first || number > rule.last) return false;
  if ((number - rule.first + 1) % rule.every != 0) return false;
  return is_drawn(seed, number, job.frame, kFirstKindOfRules + index, rule.probability);
}

// The seed of a rule is one of its own, so that two rules draw different times.
std::chrono::nanoseconds delay_of(const FaultRule& rule, size_t index, uint64_t seed,
                                  const FaultedJob& job) noexcept {
  if (!rule.times) return rule.time;
  const uint64_t own_seed = mix_bits(seed + kGoldenRatio * (index + 1));
  return rule.times->draw(own_seed, number_for(rule, job));
}

}  // namespace millrace::device
