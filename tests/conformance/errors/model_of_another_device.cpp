// A unit refuses an empty model, and a model of another device.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(model_of_another_device) {
  Unit unit = make_unit();
  const std::string other_name = device_name() == "null" ? "faulty-null" : "null";
  Device other = Device::open(other_name, {.lanes = kLanes}).value();
  Unit elsewhere = other.create_unit().value();
  EXPECT_STATUS(elsewhere.submit(model(), args()).status(), kInvalidArgument);
  EXPECT_STATUS(elsewhere.execute(model(), args()), kInvalidArgument);
  EXPECT_STATUS(unit.submit(Model(), args()).status(), kInvalidArgument);
  EXPECT_STATUS(unit.execute(Model(), args()), kInvalidArgument);
  EXPECT_EQ(elsewhere.in_flight() + unit.in_flight(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
