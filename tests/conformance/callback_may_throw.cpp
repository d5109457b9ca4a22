// An exception from a callback is contained and logged; the callbacks after it are called.
#include <stdexcept>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/support/log_capture.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callback_may_throw) {
  test::LogCapture lines;
  CallbackLog log;
  Unit unit = make_unit();
  JobArgs throwing = args(0), unusual = args(1), usual = args(2);
  throwing.callback = [](JobId, const Status&) { throw std::runtime_error("a lost shoe"); };
  unusual.callback = [](JobId, const Status&) { throw 42; };
  usual.callback = log.callback();
  EXPECT_STATUS(submit(unit, throwing).wait(kPatience), kOk);
  EXPECT_STATUS(submit(unit, unusual).wait(kPatience), kOk);
  EXPECT_STATUS(submit(unit, usual).wait(kPatience), kOk);
  EXPECT_TRUE(log.await(1));
  EXPECT_EQ(lines.count("a lost shoe"), 1u);
  EXPECT_EQ(lines.count("callback threw"), 2u);
}

}  // namespace
}  // namespace millrace::conformance
