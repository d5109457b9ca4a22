// The text of a fault plan is refused with a reason, or gives settings that a plan takes; so is
// that of the faults of collectives.
#include "device/faulty/fault_plan.h"
#include "ranks/faulty/collective_faults.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto collectives = ranks::CollectiveFaults::parse(text_of(input));
  if (!collectives.ok()) expect_refusal(collectives.status(), {StatusCode::kInvalidArgument});
  const auto settings = device::FaultPlan::parse(text_of(input));
  if (!settings.ok()) return expect_refusal(settings.status(), {StatusCode::kInvalidArgument});
  for (const double rate : {settings->rates.fail, settings->rates.hang, settings->rates.slow})
    expect(rate >= 0 && rate <= 1, "a probability");
  device::FaultPlan plan;
  plan.apply(*settings);
}

}  // namespace millrace::fuzz
