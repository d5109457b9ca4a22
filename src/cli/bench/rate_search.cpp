#include "cli/bench/rate_search.h"

#include <algorithm>

namespace millrace::cli {
namespace {

constexpr double kPrecision = 0.03;
constexpr double kLeastShare = 0.01;  // of the capacity

}  // namespace

std::optional<double> RateSearch::next() const {
  const bool is_found = holds_at_ > 0 && too_high_ - holds_at_ <= kPrecision * holds_at_;
  if (is_found || too_high_ < kLeastShare * capacity_) return std::nullopt;
  return (holds_at_ + too_high_) / 2;
}

void RateSearch::note(double rate, bool holds) {
  if (holds)
    holds_at_ = std::max(holds_at_, rate);
  else
    too_high_ = std::min(too_high_, rate);
}

std::optional<double> RateSearch::found() const {
  return holds_at_ > 0 ? std::optional(holds_at_) : std::nullopt;
}

}  // namespace millrace::cli
