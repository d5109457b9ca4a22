// Tests what jobs convert between their caller's memory and the device, and how that is forbidden.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A BF16 model on the software NPU, which does not take the CPU views (FLOAT32).
class ConversionsOfJobs : public NativeApi {
 protected:
  ~ConversionsOfJobs() override { unsetenv("MILLRACE_STRICT_ZERO_COPY"); }

  Model load_bf16() { return load_tiny(cpu_, {.precision = graph::Precision::kBf16}); }
  // The memory of one job whose input and output are in these views.
  static std::array<TensorArg, 2> tensors(const Model& model, View input, View output) {
    const auto allocate = [](const TensorInfo& info, View view) {
      const size_t bytes = view == View::kHw ? info.hw->bytes : info.cpu.bytes;
      return TensorArg(Buffer::allocate(bytes).value(), view);
    };
    return {allocate(model.inputs()[0], input), allocate(model.outputs()[0], output)};
  }
  static JobArgs args(const std::array<TensorArg, 2>& tensors, BoundaryConversions* conversions) {
    return {.inputs = {&tensors[0], 1}, .outputs = {&tensors[1], 1}, .conversions = conversions};
  }

  Device cpu_ = Device::open("cpu").value();
  Unit unit_ = cpu_.create_unit({.depth = 2}).value();
};

TEST_F(ConversionsOfJobs, EveryJobReportsItsOwn) {
  const Model model = load_bf16();
  const size_t in_bytes = model.inputs()[0].cpu.bytes, out_bytes = model.outputs()[0].cpu.bytes;
  const auto cpu = tensors(model, View::kCpu, View::kCpu);
  const auto mixed = tensors(model, View::kCpu, View::kHw);
  const auto hw = tensors(model, View::kHw, View::kHw);
  BoundaryConversions of_cpu, of_mixed, of_hw{7, 7};
  EXPECT_TRUE(unit_.execute(model, args(cpu, &of_cpu)).ok());
  EXPECT_TRUE(unit_.execute(model, args(hw, &of_hw)).ok());
  Job job = unit_.submit(model, args(mixed, &of_mixed)).value();
  EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(of_cpu, (BoundaryConversions{2, in_bytes + out_bytes}));
  EXPECT_EQ(of_hw, BoundaryConversions{});
  EXPECT_EQ(of_mixed, (BoundaryConversions{1, in_bytes}));
}

TEST_F(ConversionsOfJobs, AStrictJobThatWouldConvertIsRefused) {
  const Model model = load_bf16();
  const auto cpu = tensors(model, View::kHw, View::kCpu);
  const auto hw = tensors(model, View::kHw, View::kHw);
  JobArgs strict = args(cpu, nullptr);
  strict.strict_zero_copy = true;
  const Status refused = unit_.execute(model, strict);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("output \"probs\""), HasSubstr("CPU view")));
  strict.outputs = {&hw[1], 1};
  EXPECT_TRUE(unit_.execute(model, strict).ok());
}

TEST_F(ConversionsOfJobs, TheEnvironmentMakesAllJobsOfAModelStrict) {
  setenv("MILLRACE_STRICT_ZERO_COPY", "1", 1);
  const Model model = load_bf16();
  const auto cpu = tensors(model, View::kCpu, View::kHw);
  EXPECT_EQ(unit_.submit(model, args(cpu, nullptr)).status().code(), StatusCode::kInvalidArgument);
  setenv("MILLRACE_STRICT_ZERO_COPY", "perhaps", 1);
  EXPECT_EQ(cpu_.load("any.rai").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::test
