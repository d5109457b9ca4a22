#include "quantise/accuracy_search.h"

namespace millrace::quantise {
namespace {

// Measures the error with the first `count` layers kept.
Result<KeptLayers> keep(std::span<const uint32_t> ranked, size_t count, double target,
                        const MeasureError& measure) {
  const auto kept = ranked.first(count);
  MILLRACE_ASSIGN_OR_RETURN(const double error, measure(kept));
  return KeptLayers{{kept.begin(), kept.end()}, error, error <= target};
}

}  // namespace

Result<KeptLayers> keep_worst(std::span<const uint32_t> ranked, double target,
                              const MeasureError& measure) {
  MILLRACE_ASSIGN_OR_RETURN(KeptLayers none, keep(ranked, 0, target, measure));
  if (none.target_holds || ranked.empty()) return none;
  MILLRACE_ASSIGN_OR_RETURN(KeptLayers best, keep(ranked, ranked.size(), target, measure));
  if (!best.target_holds) return best;
  size_t too_few = 0;
  while (best.layers.size() - too_few > 1) {
    const size_t middle = too_few + (best.layers.size() - too_few) / 2;
    MILLRACE_ASSIGN_OR_RETURN(KeptLayers tried, keep(ranked, middle, target, measure));
    if (tried.target_holds)
      best = std::move(tried);
    else
      too_few = middle;
  }
  return best;
}

}  // namespace millrace::quantise
