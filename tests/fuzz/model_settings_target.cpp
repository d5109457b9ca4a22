// The settings of a model are refused with a reason, or are within their limits.
#include "serve/models/model_settings.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  serve::ModelSettings settings;
  const Status status = serve::read_settings(text_of(input), "/models", settings);
  if (!status.ok()) return expect_refusal(status, {StatusCode::kInvalidArgument});
  expect(settings.batch >= 1 && settings.batch <= 4096, "a batch");
  expect(settings.units <= 1024 && settings.queue_depth >= 1, "units and their queues");
  expect(settings.batch_delay_seconds >= 0 && settings.request_seconds >= 0, "times");
  expect(settings.warm_up <= 1000, "jobs of the warm-up");
}

}  // namespace millrace::fuzz
