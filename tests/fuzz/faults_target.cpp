// The text of a fault plan is refused with a reason, or gives settings that a plan takes.
#include "device/faulty/fault_plan.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto settings = device::FaultPlan::parse(text_of(input));
  if (!settings.ok()) return expect_refusal(settings.status(), {StatusCode::kInvalidArgument});
  for (const double rate : {settings->rates.fail, settings->rates.hang, settings->rates.slow})
    expect(rate >= 0 && rate <= 1, "a probability");
  device::FaultPlan plan;
  plan.apply(*settings);
}

}  // namespace millrace::fuzz
