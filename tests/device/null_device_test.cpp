#include "device/null/null_device.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::device {
namespace {

class NullDevice : public ::testing::Test {
 protected:
  std::shared_ptr<Device> device_ = create_null_device({.lanes = 2}).value();
  std::shared_ptr<const Program> program_ =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
};

TEST_F(NullDevice, HasTheLanesItWasAskedFor) {
  EXPECT_EQ(device_->lanes().count(), 2u);
  EXPECT_GE(create_null_device({}).value()->lanes().count(), 1u);
}

TEST_F(NullDevice, AcceptsBothViewsSoThatNothingIsConverted) {
  for (const Direction direction : {Direction::kInput, Direction::kOutput})
    for (const View view : {View::kCpu, View::kHw})
      EXPECT_TRUE(program_->accepts(direction, 0, view));
}

TEST_F(NullDevice, LeavesOutputsAsTheyAre) {
  std::vector<std::byte> input(4096), output(4096, std::byte{42});
  const Binding inputs[] = {{input.data(), View::kHw}}, outputs[] = {{output.data(), View::kHw}};
  test::TestRun control;
  EXPECT_TRUE(program_->create_context().value()->run(inputs, outputs, control).ok());
  EXPECT_EQ(output, std::vector<std::byte>(4096, std::byte{42}));
}

TEST_F(NullDevice, ReportsWhichPartitionItIsInAndStopsBetweenTwo) {
  const auto model = test::tiny_model({.cpu_partition = true});
  const auto program = device_->load(std::make_shared<graph::CompiledModel>(model)).value();
  test::TestRun control;
  EXPECT_TRUE(program->create_context().value()->run({}, {}, control).ok());
  EXPECT_EQ(control.position().partition, 2u);
  control.stop();
  EXPECT_EQ(program->create_context().value()->run({}, {}, control).code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace millrace::device
