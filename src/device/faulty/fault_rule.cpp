// Random faults come from a hash of seed, job, frame and kind (splitmix64), so they do not depend
// on the order in which frames arrive.
#include "device/faulty/fault_rule.h"

namespace millrace::device {
namespace {

// The finaliser of splitmix64: every bit of the result depends on every bit of `x`.
uint64_t mix(uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// The kinds below belong to the random faults of settings (fault_plan_frames.cpp).
constexpr uint64_t kFirstKindOfRules = 16;

}  // namespace

bool is_drawn(uint64_t seed, uint64_t job, uint16_t frame, uint64_t kind,
              double probability) noexcept {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
  const uint64_t bits = mix(mix(seed + kGolden * job) + kGolden * (uint64_t{frame} << 8 | kind));
  return static_cast<double>(bits >> 11) < probability * 0x1p53;
}

bool selects(const FaultRule& rule, size_t index, uint64_t seed, const FaultedJob& job) noexcept {
  if (job.frame != 0) return false;
  if (!rule.model.empty() && rule.model != job.model) return false;
  if (!rule.unit.empty() && rule.unit != job.unit) return false;
  const uint64_t number = rule.unit.empty() ? job.number : job.number_in_unit;
  if (number < rule.first || number > rule.last) return false;
  if ((number - rule.first + 1) % rule.every != 0) return false;
  return is_drawn(seed, number, job.frame, kFirstKindOfRules + index, rule.probability);
}

}  // namespace millrace::device
