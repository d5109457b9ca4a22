// A job without progress fails, and the report names job, model, frame, partition and operator.
#include <fmt/format.h>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/support/log_capture.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(hung_job_is_reported) {
  test::LogCapture lines;
  HookGate starts;
  Unit unit = make_unit({.name = "watched", .watchdog = kWatchdog});
  starts.hold(next_id(unit));
  Job job = submit(unit);
  const std::string id = fmt::format("{:#x}", job.id());
  const Status status = job.wait(kPatience);
  EXPECT_STATUS(status, kHung);
  std::vector<std::string> words = {"'watched'",   id,         "frame 0",
                                    "partition 0", "\"tiny\"", "undefined"};
  if (has(Tag::kComputes)) words.insert(words.end(), {"operator 0 (", "writing \""});
  for (const std::string& word : words)
    EXPECT_NE(status.message().find(word), std::string::npos) << word << ": " << status.message();
  EXPECT_EQ(lines.count(status.message()), 1u);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
