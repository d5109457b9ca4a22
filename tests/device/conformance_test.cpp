// Tests the requirements on every device that implements device/device.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/registry.h"
#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::device {
namespace {

// Memory for one view of a boundary tensor, `shift` bytes past a 64-byte boundary.
class ViewMemory {
 public:
  ViewMemory(const graph::Boundary& boundary, View view, size_t shift = 0)
      : view_(view),
        bytes_(view == View::kHw ? boundary.hw->bytes() : boundary.cpu.bytes()),
        storage_(bytes_ + 128),
        data_(storage_.data() + 64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64 + shift) {}

  Binding binding() { return {data_, view_}; }
  // Small numbers that are exact in the view's type.
  void fill(const tensor::TensorDesc& desc) {
    const std::vector<float> numbers = test::tiny_numbers(desc.elements(), 3);
    std::memcpy(data_, numbers.data(), bytes_);
  }
  std::vector<std::byte> bytes() const { return {data_, data_ + bytes_}; }

 private:
  View view_;
  size_t bytes_;
  std::vector<std::byte> storage_;
  std::byte* data_;
};

class DeviceConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Device>> device = open_device(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *std::move(device);
    program_ = load({});
  }

  std::shared_ptr<const Program> load(const test::TinyModelOptions& options) {
    Result<std::shared_ptr<const Program>> program =
        device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model(options)));
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    return program.ok() ? *program : nullptr;
  }

  // Runs one frame on a new context.
  static Status run_under(const Program& program, queue::RunControl& control) {
    ViewMemory input(program.model().inputs[0], View::kHw);
    ViewMemory output(program.model().outputs[0], View::kHw);
    const Binding inputs[] = {input.binding()}, outputs[] = {output.binding()};
    return program.create_context().value()->run(inputs, outputs, control);
  }

  // The same, and returns what it writes; the input's memory is `shift` bytes off alignment.
  static std::vector<std::byte> run_once(const Program& program, View view, size_t shift = 0) {
    const graph::CompiledModel& model = program.model();
    ViewMemory input(model.inputs[0], view, shift), output(model.outputs[0], view, shift);
    input.fill(view == View::kHw ? *model.inputs[0].hw : model.inputs[0].cpu);
    const std::vector<std::byte> before = input.bytes();

    Result<std::unique_ptr<Context>> context = program.create_context();
    EXPECT_TRUE(context.ok()) << context.status().to_string();
    if (!context.ok()) return {};
    const Binding inputs[] = {input.binding()}, outputs[] = {output.binding()};
    test::TestRun control;
    const Status status = (*context)->run(inputs, outputs, control);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(input.bytes(), before) << "an input was written to";
    return output.bytes();
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<const Program> program_;
};

TEST_P(DeviceConformance, IsNamedAsItWasAskedFor) {
  EXPECT_EQ(device_->name(), GetParam());
  EXPECT_FALSE(device_->description().empty());
  EXPECT_GE(device_->lanes().count(), 1u);
}

TEST_P(DeviceConformance, ProgramKeepsTheModelItWasLoadedFrom) {
  EXPECT_EQ(program_->model().name, "tiny");
  EXPECT_EQ(program_->info().device, GetParam());
}

TEST_P(DeviceConformance, StatesThatItCanRunWhatItLoads) {
  const Status status = device_->capabilities().check(program_->model().graph);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST_P(DeviceConformance, AcceptsTheHwViewWhereThereIsOne) {
  EXPECT_TRUE(program_->accepts(Direction::kInput, 0, View::kHw));
  EXPECT_TRUE(program_->accepts(Direction::kOutput, 0, View::kHw));
}

TEST_P(DeviceConformance, AcceptsTheCpuViewWhereThereIsNoOther) {
  const std::shared_ptr<const Program> program = load({.hw_views = false});
  ASSERT_NE(program, nullptr);
  EXPECT_TRUE(program->accepts(Direction::kInput, 0, View::kCpu));
  EXPECT_TRUE(program->accepts(Direction::kOutput, 0, View::kCpu));
}

TEST_P(DeviceConformance, RunsTheSameBitsOnEveryContext) {
  EXPECT_EQ(run_once(*program_, View::kHw), run_once(*program_, View::kHw));
}

TEST_P(DeviceConformance, CopesWithMemoryThatIsOnlyAlignedToItsElements) {
  EXPECT_EQ(run_once(*program_, View::kHw, sizeof(float)), run_once(*program_, View::kHw));
}

TEST_P(DeviceConformance, ContextsRunAtTheSameTimeOnDifferentThreads) {
  const std::vector<std::byte> expected = run_once(*program_, View::kHw);
  const auto run_often = [&] {
    for (int round = 0; round < 100; ++round) ASSERT_EQ(run_once(*program_, View::kHw), expected);
  };
  std::thread other(run_often);
  run_often();
  other.join();
}

TEST_P(DeviceConformance, ReportsHowFarItIs) {
  const std::vector<StepInfo> steps = program_->info().steps;
  for (const StepInfo& step : steps) EXPECT_FALSE(step.operation.empty());
  test::TestRun control;
  control.begin_partition(3);
  const uint64_t before = control.marks();
  ASSERT_TRUE(run_under(*program_, control).ok());
  if (steps.empty()) return;
  EXPECT_GT(control.marks(), before);
  EXPECT_LE(control.marks(), before + steps.size() + program_->model().partitions.size());
  EXPECT_LT(control.position().step, steps.size());
  EXPECT_EQ(control.position().partition, steps.back().partition);
}

TEST_P(DeviceConformance, StopsWhereAStepWouldBegin) {
  test::TestRun control;
  control.stop();
  const bool has_steps = !program_->info().steps.empty();
  EXPECT_EQ(run_under(*program_, control).code(),
            has_steps ? StatusCode::kCancelled : StatusCode::kOk);
}

TEST_P(DeviceConformance, AStopDoesNotHarmTheFramesBehindIt) {
  const std::vector<std::byte> expected = run_once(*program_, View::kHw);
  test::TestRun too_late(Deadline::min());
  if (!program_->info().steps.empty()) {
    EXPECT_EQ(run_under(*program_, too_late).code(), StatusCode::kDeadlineExceeded);
  }
  EXPECT_EQ(run_once(*program_, View::kHw), expected);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance,
                         ::testing::Values("null", "cpu", "faulty-null", "faulty-cpu"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace millrace::device
